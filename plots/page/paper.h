// Published numbers, claims and the jobs that test them, as part of the program, so that an
// installed one needs no file.
#ifndef HN_PLOTS_PAGE_PAPER_H
#define HN_PLOTS_PAGE_PAPER_H

#include <stdbool.h>
#include <stdint.h>

// Text of plots/paper/<name> ("bs-fig7.tsv", "bs.yaml"), or of harness/jobs/reproduce/<name> for
// "jobs/<name>"; NULL if there is none.
const char *hn_paper_text(const char *name);
// Name of file number i, in alphabetical order of the folders' names; NULL beyond the last.
const char *hn_paper_name(int64_t i);

// A number that a paper prints. Texts are cut to fit.
struct hn_published {
    double value, deviation; // deviation: NaN where none is printed
    char unit[16], table[32];
};
// The number of <id>.tsv whose series and x are these; false if there is none. The first, should
// two tables of a paper print it.
bool hn_paper_number(const char *id, const char *series, const char *x, struct hn_published *out);

#endif
