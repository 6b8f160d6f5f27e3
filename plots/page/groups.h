// What the rows of /runs have in common: data sets, temperatures, steps and settings of samplers.
// Figures draw one curve per setting, over steps, in a panel per data set or temperature.
#ifndef HN_PLOTS_PAGE_GROUPS_H
#define HN_PLOTS_PAGE_GROUPS_H

#include "plots/page/figure.h"

enum { HN_MOST_PANELS = 4, HN_MOST_SETTINGS = 40, HN_LABEL_SIZE = 64 };

// A sampler with its parameters and batch size. Texts are borrowed from the results.
struct hn_setting {
    const char *sampler, *params;
    int64_t batch_size;
    char label[HN_LABEL_SIZE]; // the sampler, and the options in which its settings differ
};

struct hn_groups {
    const char *dataset[HN_MOST_PANELS]; // in the order of the file, like settings and temperatures
    double temperature[HN_MOST_PANELS];
    struct hn_setting *setting; // [settings]
    int datasets, temperatures, settings;
    bool more_datasets, more_temperatures, more_settings; // than are kept here
    int64_t *step;                                        // [steps], increasing
    int64_t steps;
    struct hn_place {
        int dataset, temperature, setting; // -1: not kept
        int64_t step;                      // index into `step`
    } * place;                             // [runs.rows]
    const struct hn_results *results;
};

// Which rows are grouped: those whose status is ok, whose column `wanted` (NULL: any) is no NaN and
// that `keep` (NULL: all) lets through.
struct hn_choice {
    const char *wanted;
    bool (*keep)(const struct hn_table *runs, int64_t row);
    int most_settings; // kept at most, figures up to HN_MOST_SETTINGS; 0 = HN_THEME_LINES
};

// HN_NOT_APPLICABLE if no row is left.
HN_MUST_USE enum hn_code hn_groups_make(struct hn_context *ctx, const struct hn_results *r,
                                        struct hn_choice choice, struct hn_groups *out);
void hn_groups_free(struct hn_context *ctx, struct hn_groups *g); // zeroed is fine

// The mean of a column over rows of one place: seeds, which stand for draws of batches from the
// same snapshot. Weightings of the same batches count once: the first with a value. half:
// half-width of the 95 % interval, pooled from the columns <name>_lo and <name>_hi of the rows;
// without them, of cos_mean over its batches, of others over at least three seeds; else NaN.
struct hn_mean {
    double mean, half;
    int64_t rows;
};
// Where to look; -1 for any data set or temperature.
struct hn_where {
    int dataset, temperature, setting;
    int64_t step;
};
struct hn_mean hn_groups_mean(const struct hn_groups *g, struct hn_where where, const char *name);

// Rows of the place, at most `most`, in the order of the file; returns their number. A seed comes
// once, with the first row that has a value in column `name`.
int hn_groups_rows(const struct hn_groups *g, struct hn_where where, const char *name, int64_t *row,
                   int most);

// How many values of an option the settings have; settings without it do not count.
int hn_groups_values(const struct hn_groups *g, const char *option);
// The value of an option in canonical parameters "K=100, M=500"; false if it is not there.
bool hn_option_value(const char *params, const char *option, char *value, size_t size);
// Its number, NaN if it is none ("0.2~0.05").
double hn_option_number(const char *params, const char *option);

// What the groups leave out, in one line ("" if nothing): for the .tsv and as a note.
void hn_groups_left_out(const struct hn_groups *g, char *text, size_t size);

// The axis of steps: places 0, 1, ... evenly spaced, labelled by their steps.
void hn_groups_tics(FILE *gp, const struct hn_groups *g);

// A key in a strip at the top of the page, `width` inches wide: the settings, and before them, with
// `reference`, a curve of that name. Drawn after all panels. Its height in inches.
double hn_groups_key_height(const struct hn_groups *g, double width, const char *reference);
void hn_groups_key(FILE *gp, const struct hn_groups *g, double width, double page_height,
                   const char *reference);

// A panel's place on the page: inches from the left and from the top.
struct hn_box {
    double left, top, width, height;
};
void hn_place_panel(FILE *gp, struct hn_box box, double page_width, double page_height);

// Title of an axis with its middle at (x, y), inches from the left and from the top, as gnuplot
// label `tag`; upright along the vertical axis.
void hn_axis_title(FILE *gp, int tag, const char *text, double x, double y, bool upright,
                   double page_width, double page_height);

// A distance of tics, 1, 2 or 5 times a power of ten, so that at most `most` of them fit into
// range.
double hn_tic_step(double range, int most);

#endif
