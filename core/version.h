// Version of the program and of the library.
#ifndef HN_CORE_VERSION_H
#define HN_CORE_VERSION_H

extern const char hn_version[];

#endif
