// SPDX-License-Identifier: GPL-3.0-or-later
// A small results file, made up, from which every figure can be drawn.
#pragma once

#include "results/store.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURES_STEPS = 2, FIGURES_SEEDS = 3, FIGURES_BINS = 40, FIGURES_BATCHES = 3 };

static inline void figures_must(enum hn_code code) {
    if (code != HN_OK)
        abort();
}

struct figures_cell {
    const char *sampler, *params;
    int batch_size;
    double beta, tau_plus; // of the weighting, NaN = none
};

#define WALK "cap=50, graph=proximity, t=100, walk=rwr"

static const struct figures_cell figures_cells[] = {
    {"uniform", "draw=shuffle", 64, NAN, NAN},
    {"uniform", "draw=shuffle", 64, 1, NAN},
    {"uniform", "draw=shuffle", 64, 1, 0.1},
    {"uniform", "draw=shuffle", 64, 2, 0.1},
    {"uniform", "draw=shuffle", 128, NAN, NAN},
    {"knn", "", 64, NAN, NAN},
    {"batchsampler", "K=100, M=500, alpha=0.2, " WALK, 64, NAN, NAN},
    {"batchsampler", "K=100, M=500, alpha=0.2, cap=50, graph=proximity, t=100, walk=bfs", 64, NAN,
     NAN},
    {"batchsampler", "K=100, M=500, alpha=0.2, cap=50, graph=knn, t=100, walk=rwr", 64, NAN, NAN},
    {"batchsampler", "K=100, M=1000, alpha=0.2, " WALK, 64, NAN, NAN},
    {"batchsampler", "K=200, M=1000, alpha=0.2, " WALK, 64, NAN, NAN},
    {"batchsampler", "K=100, M=500, alpha=0.5, " WALK, 64, NAN, NAN},
    {"batchsampler", "K=100, M=500, alpha=1, " WALK, 64, NAN, NAN},
    {"gcbs", "quantile=0.999", 64, NAN, NAN},
    {"ring", "hi=50, lo=0, n=63, space=features", 64, NAN, NAN},
    {"ring", "hi=100, lo=50, n=63, space=features", 64, NAN, NAN},
};
enum { FIGURES_CELLS = sizeof figures_cells / sizeof figures_cells[0] };

// Whole numbers; `run` and `study_row` are rows of other tables.
static const char *const figures_whole[] = {"run", "study_row", "step", "seed", "batch_size", NULL};

static inline void figures_table(struct hn_context *ctx, struct hn_table *t, const char *name,
                                 const char *texts, const char *numbers) {
    figures_must(hn_table_init(ctx, t, name));
    for (int kind = 0; kind < 2; kind++) {
        char *copy = strdup(kind ? numbers : texts), *save = NULL;
        for (char *c = strtok_r(copy, " ", &save); c; c = strtok_r(NULL, " ", &save)) {
            struct hn_column column = {.name = c,
                                       .kind = !kind                           ? HN_COLUMN_TEXT
                                               : hn_is_among(c, figures_whole) ? HN_COLUMN_INT
                                                                               : HN_COLUMN_REAL,
                                       .units = kind ? "1" : "",
                                       .long_name = c};
            column.direction = HN_NEITHER;
            column.role = strstr(" batch_size temperature beta tau_plus seed params ", c) &&
                                  strcmp(name, "runs") == 0
                              ? HN_ROLE_SETTING
                              : HN_ROLE_AUTO;
            figures_must(hn_table_add_column(ctx, t, &column));
        }
        free(copy);
    }
}

static inline void figures_text(struct hn_context *ctx, struct hn_table *t, const char *column,
                                const char *value) {
    figures_must(hn_table_set_text(ctx, t, t->rows - 1, column, value));
}

// "name value name value ..."
static inline void figures_reals(struct hn_context *ctx, struct hn_table *t, const char *format,
                                 ...) {
    char text[512], *save = NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *name = strtok_r(text, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        char *value = strtok_r(NULL, " ", &save);
        figures_must(hn_is_among(name, figures_whole)
                         ? hn_table_set_int(ctx, t, t->rows - 1, name, atoll(value))
                         : hn_table_set_real(ctx, t, t->rows - 1, name, strtod(value, NULL)));
    }
}

static inline void figures_row(struct hn_context *ctx, struct hn_table *t) {
    figures_must(hn_table_add_row(ctx, t));
}

static const char figures_dataset[] = "data/cifar10-mini.h5";

static inline void figures_run(struct hn_context *ctx, struct hn_table *t, int cell, int step,
                               int seed) {
    const struct figures_cell *c = &figures_cells[cell];
    const double mass = isnan(c->beta) ? 0 : 0.03 * c->beta;
    cell = isnan(c->beta) ? cell : 0; // a weighting sees the batches of Uniform
    double hard = 0.05 * cell * (step + 1), fn = 0.1 + 0.2 * hard + 0.001 * seed;
    figures_row(ctx, t);
    figures_text(ctx, t, "dataset", figures_dataset);
    figures_text(ctx, t, "sampler", c->sampler);
    figures_text(ctx, t, "params", c->params);
    figures_text(ctx, t, "status", "ok");
    figures_text(ctx, t, "weighting", isnan(c->beta) ? "none" : "hcl");
    if (!isnan(c->beta)) {
        char options[64];
        snprintf(options, sizeof options, "beta=%g, tau_plus=%g", c->beta, c->tau_plus);
        figures_text(ctx, t, "weighting_params", options);
    }
    figures_text(ctx, t, "task", step ? "views-mlp" : ""); // the later rows were trained as well
    figures_reals(ctx, t, "step %d seed %d batch_size %d temperature 0.5 beta %g tau_plus %g",
                  step * 100, seed + 1, c->batch_size, c->beta, c->tau_plus);
    figures_reals(ctx, t, "fn_ratio %g fn_ratio_lo %g fn_ratio_hi %g fn_start %g cos_mean %g", fn,
                  fn - 0.01, fn + 0.01, fn + 0.05, hard + 0.001 * seed);
    figures_reals(ctx, t, "cos_p99 %g hard_true_mean %g gap %g bound_36 %g bound_37 %g", hard + 0.3,
                  0.5 + 0.4 * hard, 3 - hard, 4 - hard, 5 - hard);
    figures_reals(ctx, t, "loss_global 7 loss_train %g pos_prob %g pos_prob_global 0.001", 4 + hard,
                  0.02 - 0.002 * hard);
    figures_reals(ctx, t, "fn_mass %g fn_loss_mass %g cost_s %g cost_g %g cost_g_over_t %g",
                  0.1 + mass, 0.2, 1e-6 * (cell + 1), 0.01 * cell, 1e-4 * cell);
    figures_reals(ctx, t, "coverage 1 n_dot %d", 1000 * cell);
}

static inline void figures_runs(struct hn_context *ctx, struct hn_results *r) {
    figures_table(ctx, &r->runs, "runs",
                  "dataset dataset_sha256 sampler params status weighting "
                  "error task weighting_params",
                  "step seed batch_size temperature beta tau_plus fn_ratio fn_ratio_lo fn_ratio_hi "
                  "fn_start cos_mean cos_p99 hard_true_mean gap bound_36 bound_37 loss_global "
                  "loss_train pos_prob pos_prob_global fn_mass fn_loss_mass cost_s cost_g "
                  "cost_g_over_t coverage n_dot");
    for (int step = 0; step < FIGURES_STEPS; step++)
        for (int cell = 0; cell < FIGURES_CELLS; cell++)
            for (int seed = 0; seed < FIGURES_SEEDS; seed++)
                figures_run(ctx, &r->runs, cell, step, seed);
}

static inline void figures_arrays(struct hn_context *ctx, struct hn_results *r) {
    int64_t rows = r->runs.rows;
    r->kinds = 4, r->bins = FIGURES_BINS, r->bin_lo = -1, r->bin_hi = 1;
    r->histogram = hn_zalloc(ctx, rows * 4 * FIGURES_BINS, sizeof *r->histogram);
    r->batch_start = hn_zalloc(ctx, rows + 1, sizeof *r->batch_start);
    r->batch_fn_ratio = hn_zalloc(ctx, rows * FIGURES_BATCHES, sizeof(double));
    r->batch_cos_mean = hn_zalloc(ctx, rows * FIGURES_BATCHES, sizeof(double));
    if (!r->histogram || !r->batch_start || !r->batch_fn_ratio || !r->batch_cos_mean)
        abort();
    for (int64_t row = 0; row < rows; row++) {
        double middle = 0.5 * hn_table_real(&r->runs, row, "cos_mean");
        for (int kind = 0; kind < 3; kind++)
            for (int b = 0; b < FIGURES_BINS; b++) {
                double z = (-1 + (b + 0.5) * 2 / FIGURES_BINS - middle - (kind ? 0 : 0.3)) / 0.2;
                r->histogram[(row * 4 + kind) * FIGURES_BINS + b] =
                    (uint64_t)(1000 * exp(-0.5 * z * z));
            }
        r->batch_start[row + 1] = r->batch_start[row] + FIGURES_BATCHES;
        for (int b = 0; b < FIGURES_BATCHES; b++) {
            int64_t at = r->batch_start[row] + b;
            r->batch_fn_ratio[at] =
                fmax(0, fmin(1, hn_table_real(&r->runs, row, "fn_ratio") + 0.01 * (b - 1)));
            r->batch_cos_mean[at] =
                fmin(1, hn_table_real(&r->runs, row, "cos_mean") + 0.01 * (b - 1));
        }
    }
}

static inline void figures_prop1(struct hn_context *ctx, struct hn_table *t) {
    figures_table(ctx, t, "prop1", "dataset by",
                  "study_row step M K s measured measured_lo measured_hi exact binomial claimed");
    for (int i = 0; i < 9; i++) {
        double s = -1 + 0.25 * i, p = 1 / (1 + exp(8 * s));
        figures_row(ctx, t);
        figures_text(ctx, t, "dataset", figures_dataset);
        figures_text(ctx, t, "by", "similarity");
        figures_reals(ctx, t, "step 0 M 500 K 100 s %g measured %g measured_lo %g measured_hi %g",
                      s, p, p - 0.01, p + 0.01);
        figures_reals(ctx, t, "exact %g binomial %g claimed %g", p, 0.99 * p, 0.9 * p);
    }
}

static inline void figures_prop2(struct hn_context *ctx, struct hn_table *t) {
    figures_table(ctx, t, "prop2", "dataset",
                  "study_row step M K alpha bound escape_mean escape_max escape_by_degree");
    for (int i = 0; i < 8; i++) {
        figures_row(ctx, t);
        figures_text(ctx, t, "dataset", figures_dataset);
        figures_reals(ctx, t, "step 100 M 500 K 100 alpha %g bound %g escape_mean %g",
                      i % 2 ? 0.2 : 0.9, 0.1 + 0.05 * i, 0.05 + 0.02 * i);
        figures_reals(ctx, t, "escape_max %g escape_by_degree %g", 0.2 + 0.02 * i, 0.04 + 0.02 * i);
    }
}

static inline void figures_prop3(struct hn_context *ctx, struct hn_table *t) {
    figures_table(ctx, t, "prop3", "dataset",
                  "study_row step temperature beta ratio ratio_lo ratio_hi");
    for (int i = 0; i < 6; i++) {
        double ratio = 1 - 0.8 / (1 + i);
        figures_row(ctx, t);
        figures_text(ctx, t, "dataset", figures_dataset);
        figures_reals(ctx, t, "step 0 temperature 0.5 beta %d ratio %g ratio_lo %g ratio_hi %g",
                      i * i, ratio, ratio - 0.01, ratio + 0.01);
    }
}

static inline void figures_ages(struct hn_context *ctx, struct hn_table *t) {
    figures_table(ctx, t, "staleness", "dataset",
                  "study_row step build_step seed batch_size M K cos_mean fn_ratio fn_ratio_lo "
                  "fn_ratio_hi graph_overlap");
    for (int i = 0; i < 6; i++) {
        int build = i < 3   ? 0
                    : i < 5 ? 100
                            : 200,
            step = build + 100 * (i < 3   ? i
                                  : i < 5 ? i - 3
                                          : 0);
        figures_row(ctx, t);
        figures_text(ctx, t, "dataset", figures_dataset);
        figures_reals(
            ctx, t,
            "step %d build_step %d seed 1 batch_size 64 M 500 K 100 cos_mean %g fn_ratio %g", step,
            build, 0.2 - 0.0005 * (step - build), 0.15 - 0.0001 * (step - build));
        figures_reals(ctx, t, "fn_ratio_lo 0.1 fn_ratio_hi 0.16 graph_overlap %g",
                      1 - 0.002 * (step - build));
    }
}

static inline void figures_purity(struct hn_context *ctx, struct hn_table *t) {
    figures_table(ctx, t, "purity", "dataset graph",
                  "study_row step M K item rank_lo rank_hi purity purity_lo purity_hi chance");
    for (int i = 0; i < 8; i++) {
        double purity = 0.2 + 0.05 * (i % 4);
        figures_row(ctx, t);
        figures_text(ctx, t, "dataset", figures_dataset);
        figures_text(ctx, t, "graph", i < 4 ? "proximity" : "knn");
        figures_reals(ctx, t, "step %d M 500 K 100 item -1 rank_lo 1 rank_hi %d purity %g",
                      i / 2 % 2 * 100, i % 2 ? 100 : 10, purity);
        figures_reals(ctx, t, "purity_lo %g purity_hi %g chance 0.1", purity - 0.01, purity + 0.01);
    }
}

static inline void figures_heat(struct hn_context *ctx, struct hn_table *t) {
    static const char *const order[] = {"file", "random", "gcbs"};
    figures_table(ctx, t, "heatmap", "dataset order",
                  "study_row step cell_row cell_col mean top_share blocks_share");
    for (int o = 0; o < 6; o++) // three orders of each of two seeds
        for (int i = 0; i < 36; i++) {
            int row = i / 6, col = i % 6;
            figures_row(ctx, t);
            figures_text(ctx, t, "dataset", figures_dataset);
            figures_text(ctx, t, "order", order[o % 3]);
            figures_reals(ctx, t,
                          "study_row %d step 100 cell_row %d cell_col %d mean 0.1 top_share %g "
                          "blocks_share %g",
                          o / 3, row, col, o == 2 && row == col ? 0.9 : 0.1, o == 2 ? 0.5 : 0.1);
        }
}

static inline void figures_others(struct hn_context *ctx, struct hn_table *assignments,
                                  struct hn_table *costs, struct hn_table *snapshots) {
    figures_table(ctx, assignments, "random_assignments", "dataset",
                  "study_row step temperature batch_size loss_mean loss_sd");
    figures_table(ctx, snapshots, "snapshots", "dataset", "step overlap_view");
    for (int step = 0; step < FIGURES_STEPS; step++) {
        figures_row(ctx, assignments);
        figures_text(ctx, assignments, "dataset", figures_dataset);
        figures_reals(ctx, assignments,
                      "step %d temperature 0.5 batch_size 64 loss_mean 4 loss_sd 0.004",
                      100 * step);
        figures_row(ctx, snapshots);
        figures_text(ctx, snapshots, "dataset", figures_dataset);
        figures_reals(ctx, snapshots, "step %d overlap_view %g", 100 * step, 0.6 - 0.3 * step);
    }
    figures_table(ctx, costs, "costs", "name sampler params entries",
                  "items cost_g cost_s cost_epoch");
    for (int i = 0; i < 3; i++) {
        figures_row(ctx, costs);
        figures_text(ctx, costs, "name", i ? "own" : "STL10"); // one of the paper's
        figures_text(ctx, costs, "sampler", "gcbs");
        figures_text(ctx, costs, "params", "t=100");
        figures_text(ctx, costs, "entries", "uniform");
        figures_reals(ctx, costs, "items %d cost_g %g cost_s 0.001 cost_epoch 0.5", 10000 * (i + 1),
                      2.0 * (i + 1) * (i + 1));
    }
}

// Accuracy rises from one level, for every row that has a task.
static inline void figures_training(struct hn_context *ctx, struct hn_table *t,
                                    const struct hn_table *runs) {
    figures_table(ctx, t, "training", "",
                  "run step loss learning_rate knn_acc cost_t loss_expected");
    for (int64_t run = 0; run < runs->rows; run++)
        for (int step = 0; *hn_table_text(runs, run, "task") && step < 4; step++) {
            figures_row(ctx, t);
            figures_reals(ctx, t, "run %d step %d loss %g learning_rate 0.001 cost_t 0.01",
                          (int)run, 100 * step, 5.0 / (1 + step));
            figures_reals(ctx, t, "loss_expected %g", 5.5 / (1 + step));
            figures_reals(ctx, t, "knn_acc %g",
                          0.3 + 0.1 * step + 0.001 * (double)(run % 7) * (step > 0));
        }
}

// Twenty bins: same-label pairs a little to the right of the others.
static inline void figures_cosines(struct hn_context *ctx, struct hn_table *t,
                                   const struct hn_table *runs) {
    figures_table(ctx, t, "cosines", "kind", "run step bin_lo bin_hi count");
    for (int64_t run = 0; run < runs->rows; run++)
        for (int i = 0; *hn_table_text(runs, run, "task") && i < 40; i++) {
            double low = -1 + 0.1 * (i % 20), off = low - (i < 20 ? 0.3 : 0);
            figures_row(ctx, t);
            figures_text(ctx, t, "kind", i < 20 ? "same_label" : "different_label");
            figures_reals(ctx, t, "run %d step 300 bin_lo %g bin_hi %g count %d", (int)run, low,
                          low + 0.1, (int)(1000 * exp(-8 * off * off)));
        }
}

static inline void figures_price(struct hn_context *ctx, struct hn_table *t) {
    figures_table(ctx, t, "price", "dataset family by",
                  "value hardness hardness_lo hardness_hi false_negatives false_lo false_hi none "
                  "front");
    for (int i = 0; i < 6; i++) {
        double hard = 8 - i, wrong = 0.05 / (1 + i);
        figures_row(ctx, t);
        figures_text(ctx, t, "dataset", figures_dataset);
        figures_text(ctx, t, "family", i % 2 ? "relative-margin" : "min-rank");
        figures_text(ctx, t, "by", "truth");
        figures_reals(ctx, t, "value %g hardness %g hardness_lo %g hardness_hi %g", 0.1 * i, hard,
                      hard - 0.1, hard + 0.1);
        figures_reals(ctx, t, "false_negatives %g false_lo %g false_hi %g none %g front %d", wrong,
                      0.8 * wrong, 1.2 * wrong, i % 2 ? 0.1 * i : 0, i != 3);
    }
}

static const struct {
    const char *study, *params;
} figures_studies[] = {{"prop1", "K=100, M=500, graphs=5, points=9"},
                       {"prop2", "K=100, M=500, alpha=0.2, sweeps=8"},
                       {"prop2", "K=100, M=500, alpha=0.9, sweeps=8"},
                       {"prop3", "anchors=1000"},
                       {"staleness", "K=100, M=500, alpha=0.2, batches=300"},
                       {"purity", "K=100, M=500"},
                       {"heatmap", "quantile=0.99, size=6"},
                       {"heatmap", "quantile=0.99, size=6"}, // of the second seed
                       {"random_assignments", "count=100"}};
enum { FIGURES_STUDIES = sizeof figures_studies / sizeof *figures_studies };

// Rows of studies point to a row of /tables/studies, with their options: /tables/prop2 by alpha.
static inline void figures_study(struct hn_context *ctx, struct hn_results *r, int i,
                                 struct hn_table *studies) {
    figures_row(ctx, studies);
    figures_text(ctx, studies, "dataset", figures_dataset);
    figures_text(ctx, studies, "study", figures_studies[i].study);
    figures_text(ctx, studies, "params", figures_studies[i].params);
    for (int64_t k = 0; k < r->n_tables; k++) {
        struct hn_table *t = &r->table[k];
        for (int64_t row = 0; row < t->rows && strcmp(t->name, figures_studies[i].study) == 0;
             row++) {
            bool second = strcmp(t->name, "prop2") == 0
                              ? hn_table_real(t, row, "alpha") > 0.5
                              : strcmp(t->name, "heatmap") == 0 && row >= t->rows / 2;
            bool later = i > 0 && strcmp(figures_studies[i - 1].study, t->name) == 0;
            if (second == later)
                figures_must(hn_table_set_int(ctx, t, row, "study_row", i));
        }
    }
}

// Gives rings the name of a sampler that nobody registered, which draws whole batches then.
static inline void figures_one_league(struct hn_context *ctx, struct hn_table *runs) {
    for (int64_t row = 0; row < runs->rows; row++)
        if (strcmp(hn_table_text(runs, row, "sampler"), "ring") == 0)
            figures_must(hn_table_set_text(ctx, runs, row, "sampler", "stranger"));
}

// Takes all weightings away, for tests that fill options of samplers row by row.
static inline void figures_unweighted(struct hn_context *ctx, struct hn_table *runs) {
    for (int64_t row = 0; row < runs->rows; row++) {
        figures_must(hn_table_set_text(ctx, runs, row, "weighting", "none"));
        figures_must(hn_table_set_text(ctx, runs, row, "weighting_params", ""));
        figures_must(hn_table_set_real(ctx, runs, row, "beta", NAN));
        figures_must(hn_table_set_real(ctx, runs, row, "tau_plus", NAN));
    }
}

// Owned: hn_results_free().
static inline struct hn_results figures_results(struct hn_context *ctx) {
    enum { TABLES = 13 };
    struct hn_results r = {0};
    figures_must(hn_results_set(ctx, &r, "status", "complete"));
    figures_must(hn_results_set(ctx, &r, "argv", "hardneg run -c job.yaml"));
    figures_must(hn_results_set(ctx, &r, "config", "version: 1\nsnapshots: [a.h5]\n"));
    figures_must(hn_results_set_env(ctx, &r, "tool_version", "2.7"));
    figures_runs(ctx, &r);
    figures_arrays(ctx, &r);
    r.table = hn_zalloc(ctx, TABLES, sizeof *r.table);
    if (!r.table)
        abort();
    r.n_tables = TABLES;
    figures_prop1(ctx, &r.table[0]);
    figures_prop2(ctx, &r.table[1]);
    figures_prop3(ctx, &r.table[2]);
    figures_ages(ctx, &r.table[3]);
    figures_purity(ctx, &r.table[4]);
    figures_heat(ctx, &r.table[5]);
    figures_others(ctx, &r.table[6], &r.table[7], &r.table[8]);
    figures_training(ctx, &r.table[9], &r.runs);
    figures_cosines(ctx, &r.table[10], &r.runs);
    figures_price(ctx, &r.table[11]);
    figures_table(ctx, &r.table[12], "studies", "dataset study params", "step");
    for (int i = 0; i < FIGURES_STUDIES; i++)
        figures_study(ctx, &r, i, &r.table[12]);
    return r;
}
