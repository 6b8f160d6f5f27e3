// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes of entries: which claims decide, and the correction of a report's verdicts together.
#include "tests/claims_fixture.h"

static void test_outcome(void) {
    static const char text[] =
        ENTRY "    claims:\n"
              "      - {name: up, statement: s, " KNN_ABOVE "}\n"
              "      - {name: down, statement: s, " KNN_BELOW "}\n"
              "    levels:\n"
              "      - {what: cut, as: reduction, scale: 100, of: {column: fn, rows: {sampler: "
              "uniform}}, than: {rows: {sampler: knn}}}\n"
              "  - {id: b, title: t, source: s}\n";
    HN_SCOPE(&ctx);
    struct hn_results r = begin(), kept = {.n_env = 0};
    struct hn_claim_book book;
    struct hn_claim_outcome o;
    put_seeds(&r, 0, "knn", (double[]){.30, .33, .36}, 3);
    put_seeds(&r, 0, "uniform", (double[]){.15, .165, .18}, 3);
    HN_CHECK(&ctx, hn_claims_read(&ctx, "c.yaml", text, &book));
    HN_CHECK(&ctx, hn_claims_judge(&ctx, &book.entry[0], &r, "", &o));
    CU_ASSERT_EQUAL(o.verdict, HN_FAILS);
    CU_ASSERT_PTR_NOT_NULL(strstr(o.reason, "down: "));
    CU_ASSERT_EQUAL_FATAL(o.level[0].parts, 1);
    CU_ASSERT_DOUBLE_EQUAL(o.level[0].part[0].difference, 50, 1e-9);
    HN_CHECK(&ctx, hn_claims_store(&ctx, &o, &kept));
    const struct hn_table *claims = hn_results_table(&kept, "claims");
    CU_ASSERT_PTR_NOT_NULL_FATAL(claims);
    CU_ASSERT_EQUAL(claims->rows, 2);
    CU_ASSERT_STRING_EQUAL(hn_table_text(claims, 0, "verdict"), "holds");
    CU_ASSERT_STRING_EQUAL(hn_table_text(claims, 1, "verdict"), "fails");
    CU_ASSERT_EQUAL(hn_results_table(&kept, "claim_parts")->rows, 2);
    CU_ASSERT_EQUAL(hn_results_table(&kept, "claim_levels")->rows, 1);
    CU_ASSERT_STRING_EQUAL(hn_table_text(hn_results_table(&kept, "claim_ids"), 0, "verdict"),
                           "fails");
    HN_CHECK(&ctx, hn_claims_judge(&ctx, &book.entry[0], NULL, "no such data", &o));
    CU_ASSERT_EQUAL(o.verdict, HN_NOT_TESTED);
    CU_ASSERT_STRING_EQUAL(o.reason, "no such data");
    HN_CHECK(&ctx, hn_claims_judge(&ctx, &book.entry[1], &r, "", &o));
    CU_ASSERT_EQUAL(o.verdict, HN_NOT_TESTED);
    hn_results_free(&ctx, &kept);
    hn_results_free(&ctx, &r);
}

// Only the paper's claims decide; an identity that fails is counted apart.
static void test_owners(void) {
    static const char text[] = ENTRY
        "    claims:\n"
        "      - {name: up, statement: s, " KNN_ABOVE "}\n"
        "      - {name: no, kind: identity, statement: s, " KNN_BELOW "}\n"
        "      - {name: own, kind: ours, statement: s, " KNN_BELOW "}\n"
        "  - {id: b, title: t, source: s, claims: [{name: own, kind: ours, statement: s, " KNN_ABOVE
        "}]}\n"
        "  - {id: c, title: t, source: s, no_encoder: true, claims: [{name: up, statement: "
        "s, " KNN_ABOVE "}]}\n";
    HN_SCOPE(&ctx);
    struct hn_results r = begin(), kept = {.n_env = 0};
    struct hn_claim_book book;
    struct hn_claim_outcome o;
    put_seeds(&r, 0, "knn", (double[]){.30, .33, .36}, 3);
    put_seeds(&r, 0, "uniform", (double[]){.15, .165, .18}, 3);
    HN_CHECK(&ctx, hn_claims_read(&ctx, "c.yaml", text, &book));
    HN_CHECK(&ctx, hn_claims_judge(&ctx, &book.entry[2], &r, "", &o));
    CU_ASSERT(o.encoders == 0 && o.datasets == 0 && o.verdict == HN_HOLDS);
    HN_CHECK(&ctx, hn_claims_judge(&ctx, &book.entry[0], &r, "", &o));
    CU_ASSERT_EQUAL(o.verdict, HN_HOLDS);
    CU_ASSERT(o.encoders == 1 && o.datasets == 1);
    CU_ASSERT(o.claims == 1 && o.holding == 1 && o.failing == 0 && o.broken == 1);
    CU_ASSERT(o.p > 0 && o.p < .025);
    HN_CHECK(&ctx, hn_claims_store(&ctx, &o, &kept));
    const struct hn_table *claims = hn_results_table(&kept, "claims");
    CU_ASSERT_STRING_EQUAL(hn_table_text(claims, 0, "kind"), "claim");
    CU_ASSERT_STRING_EQUAL(hn_table_text(claims, 1, "kind"), "identity");
    CU_ASSERT_STRING_EQUAL(hn_table_text(claims, 2, "kind"), "ours");
    CU_ASSERT_EQUAL(hn_table_real(hn_results_table(&kept, "claim_ids"), 0, "broken"), 1);
    HN_CHECK(&ctx, hn_claims_judge(&ctx, &book.entry[1], &r, "", &o));
    CU_ASSERT_EQUAL(o.verdict, HN_NOT_TESTED);
    CU_ASSERT(isnan(o.p));
    hn_results_free(&ctx, &kept);
    hn_results_free(&ctx, &r);
}

// Holm's procedure by hand: .001 x 4, .008 x 3 and then .02 x 2 > .025, which stops it.
static void test_correction(void) {
    struct hn_claim_outcome o[] = {{.verdict = HN_HOLDS, .p = .02},
                                   {.verdict = HN_FAILS, .p = .001},
                                   {.verdict = HN_NOT_TESTED, .p = NAN},
                                   {.verdict = HN_HOLDS, .p = .008},
                                   {.verdict = HN_HOLDS, .p = .021}};
    static const enum hn_verdict wanted[] = {HN_INCONCLUSIVE, HN_FAILS, HN_NOT_TESTED, HN_HOLDS,
                                             HN_INCONCLUSIVE};
    for (int i = 0; i < 5; i++)
        o[i].corrected = o[i].verdict;
    HN_CHECK(&ctx, hn_claims_correct(&ctx, o, 5));
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(o[i].corrected, wanted[i]);
    o[0].verdict = HN_HOLDS;
    HN_CHECK(&ctx, hn_claims_correct(&ctx, o, 1)); // alone, as it was
    CU_ASSERT_EQUAL(o[0].corrected, HN_HOLDS);
    o[3].encoders = 3; // too few to be corrected: none is
    HN_CHECK(&ctx, hn_claims_correct(&ctx, o, 5));
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(o[i].corrected, i == 2 ? HN_NOT_TESTED : HN_NOT_CORRECTED);
    o[3].encoders = 4;
    HN_CHECK(&ctx, hn_claims_correct(&ctx, o, 5));
    CU_ASSERT_EQUAL(o[3].corrected, HN_HOLDS);
    atomic_store(&ctx.memory.calls, 0);
    ctx.memory.fail_at = 1;
    CU_ASSERT_EQUAL(hn_claims_correct(&ctx, o, 5), HN_MEMORY);
    ctx.memory.fail_at = 0;
}

// Of reports of ten entries without any difference, those in which a verdict stands the correction:
// at most 2.5 % for either verdict, and without correction most of them have one.
static void test_correction_rate(void) {
    enum { ENTRIES = 10, REPORTS = 400 };
    struct hn_stream stream;
    hn_stream_open(&stream, 1, "test.correction", 0, 0, 0);
    gsl_rng rng = hn_stream_gsl(&stream);
    static const char text[] =
        ENTRY "    claims: [{name: n, statement: s, test: above, of: {column: fn}, than: {value: "
              "0}}]\n";
    HN_SCOPE(&ctx);
    struct hn_claim_book book;
    struct hn_results r = begin();
    for (int s = 1; s <= 3; s++)
        put(&r, (struct row){0, "knn", NAN, NULL, s, 0});
    HN_CHECK(&ctx, hn_claims_read(&ctx, "c.yaml", text, &book));
    int plain = 0, corrected = 0;
    for (int report = 0; report < REPORTS; report++) {
        struct hn_claim_outcome o[ENTRIES];
        bool any = false, stands = false;
        for (int i = 0; i < ENTRIES; i++) {
            for (int64_t row = 0; row < 3; row++)
                must(hn_table_set_real(&ctx, &r.runs, row, "fn", gsl_ran_gaussian(&rng, 1)));
            must(hn_claims_judge(&ctx, &book.entry[0], &r, "", &o[i]));
        }
        must(hn_claims_correct(&ctx, o, ENTRIES));
        for (int i = 0; i < ENTRIES; i++) {
            any |= o[i].verdict != HN_INCONCLUSIVE;
            stands |= o[i].corrected != HN_INCONCLUSIVE;
        }
        plain += any;
        corrected += stands;
    }
    CU_ASSERT(plain > REPORTS * .3); // 1 - .95^10 = .40
    CU_ASSERT(corrected <= REPORTS * .05 + 3 * sqrt(REPORTS * .05 * .95));
    hn_results_free(&ctx, &r);
}

static const struct hn_test tests[] = {
    {"whose a claim is", test_owners},
    {"corrected together", test_correction},
    {"error rate of a report", test_correction_rate},
    {"outcomes", test_outcome},
};

int main(int argc, char **argv) {
    hn_context_init(&ctx, 1);
    return hn_test_main(argc, argv, "claims_outcome", tests, (int)(sizeof tests / sizeof tests[0]));
}
