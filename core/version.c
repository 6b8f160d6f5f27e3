#include "core/context.h"

const char hn_version[] = "0.1.0";
