// Version of the program and of the library.
#pragma once

extern const char hn_version[];
