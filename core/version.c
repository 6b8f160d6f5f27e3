#include "core/version.h"

const char hn_version[] = "0.1.0";
