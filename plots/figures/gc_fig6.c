// GC figure 6: the softmax probability that the positive gets among the keys of its batch, against
// the one among all keys.
#include "plots/page/curves.h"

static void draw_place(struct hn_page *page, const struct hn_groups *g, int d, int temperature) {
    char title[HN_TITLE_SIZE];
    hn_place_title(g, d, temperature, title, sizeof title);
    struct hn_panel *panel =
        hn_page_panel(page, title, "training step", "probability of the positive");
    panel->y.log = true;
    hn_axis_steps(page, &panel->x, g);
    struct hn_series *all = hn_panel_series(page, panel, "among all keys", HN_LOOK_PLAIN, 0);
    for (int64_t step = 0; step < g->steps; step++)
        hn_series_add(
            all, (double)step,
            hn_groups_first_mean(g, (struct hn_where){d, temperature, 0, step}, "pos_prob_global"));
    for (int s = 0; s < g->settings; s++) {
        struct hn_series *own =
            hn_panel_series(page, panel, g->setting[s].label, HN_LOOK_LINE, g->setting[s].line);
        for (int64_t step = 0; step < g->steps; step++) {
            struct hn_mean m =
                hn_groups_mean(g, (struct hn_where){d, temperature, s, step}, "pos_prob");
            hn_series_add_interval(own, (double)step, m.mean, m.half);
        }
    }
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_choice choice = {
        .wanted = "pos_prob",
        .nothing = "no run has a positive: give snapshots with a second view or /positive"};
    struct hn_groups g;
    if (hn_groups_make(page->ctx, r, choice, &g))
        return page->ctx->code;
    for (int d = 0; d < g.datasets; d++)
        for (int temperature = 0; temperature < g.temperatures; temperature++)
            draw_place(page, &g, d, temperature);
    hn_page_left_out(page, &g);
    return hn_page_finish(page, "no run has a probability of the positive");
}

const struct hn_figure hn_gc_fig6 = {
    .id = "gc-fig6",
    .title = "probability of the positive, in batches and among all items",
    .caption =
        "Softmax probability of the positive among the keys of its batch, by sampler, and "
        "among all keys. The closer the two, the better the batches represent the whole data "
        "set. Logarithmic axis.",
    .source = "Global Selection of Contrastive Batches (ICML 2023), figure 6",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "temperature", "pos_prob",
                          "pos_prob_global"),
    .page = draw};
