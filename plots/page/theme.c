// The theme is part of the program, so that the installed program needs no file.
#include "plots/page/figure.h"

__asm__(".section .rodata\n"
        ".global hn_theme\n"
        "hn_theme:\n"
        ".incbin \"plots/page/theme.gp\"\n"
        ".byte 0\n"
        ".previous\n");
