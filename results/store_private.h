// The schema `hardneg-results` version 1, for its writer and its readers.
#ifndef HN_RESULTS_STORE_PRIVATE_H
#define HN_RESULTS_STORE_PRIVATE_H

#include "datasets/h5.h"
#include "results/store.h"

#define HN_STORE_SCHEMA "hardneg-results"
enum { HN_STORE_VERSION = 1 };

// The dimension scale of a table's rows: no column may have this name.
#define HN_STORE_ROW "row"

// True if the splits rise from 0.
bool hn_store_rises(const int64_t *split, int64_t n);

// Tables that stand at the root; every other table of a file stands in /tables.
static inline bool hn_store_at_root(const char *name) {
    return __builtin_strcmp(name, "snapshots") == 0 || __builtin_strcmp(name, "training") == 0;
}

#define HN_STORE_MEND "make it again with hardneg run"
enum { HN_STORE_NAME_SIZE = 256 };

// A results file that is read.
struct hn_store_reader {
    struct hn_context *ctx;
    const char *path;
    hid_t file;
    int64_t bytes; // of the file
};
// HN_DATA: "<file>: <group>/<name> <what>: <remedy>"; name may be "".
enum hn_code hn_store_bad(const struct hn_store_reader *r, const char *group, const char *name,
                          const char *what);
// *group is negative if there is none of that name and it is not required.
enum hn_code hn_store_open_group(const struct hn_store_reader *r, hid_t parent, const char *name,
                                 bool required, hid_t *group);
// Opens dataset `name` of the group at `parent`; `group` names it in messages.
enum hn_code hn_store_open_data(const struct hn_store_reader *r, hid_t parent, const char *group,
                                const char *name, struct hn_h5_data *s);
// Checks whether it is of one dimension and length n.
enum hn_code hn_store_check_length(const struct hn_store_reader *r, const char *group,
                                   const char *name, const struct hn_h5_data *s, int64_t n);
// Reads the table of that name into the zeroed *t; leaves it zeroed if there is none.
enum hn_code hn_store_read_table(const struct hn_store_reader *r, hid_t parent, const char *name,
                                 bool required, struct hn_table *t);
// The further tables of a file.
enum hn_code hn_store_read_tables(const struct hn_store_reader *r, struct hn_results *out);

#endif
