/* Every figure from a result as the other commands write it, and from ones it must refuse. */
#include "tests/plots/figure_check.h"

/* For each figure a result, and what its picture must say. */
static const struct {
    const char *name, *fixture, *says[12];
} cases[] = {
    {"energy-time",
     "phantom.json",
     {"Least energy: phantom tp 8 x dp 1, k 16 on 8 ranks, 11.8 kJ in 2.95 s",
      "energy to the loss", "time to the loss", "20 kJ", "1 MJ", "10 s", "phantom, k = 6",
      "ranks", "cluster frontier   model ffn-16384   forerun 0.1.0   energy estimated", NULL}},
    {"grid",
     "grid.json",
     {"best of 512 ranks: 4 x 128, 61.62 ms", "time per iteration [ms]", "4 x 128",
      "best 61.62", "redistribution", "P_r x P_c", NULL}},
    {"fit",
     "fit.json",
     {"all_reduce", "send_recv", "4 KiB", "10 us", "1 ms", "50 %", "form chosen", "8 ranks",
      "cpu AMD EPYC 7763", NULL}},
    {"pareto",
     "front.json",
     {"best: phantom tp 4 x dp 16, k 2", "phantom tp 16 x dp 1, k 2", "time per iteration",
      "energy per iteration", "100 J", "50 ms", "energy measured", NULL}},
    {"scaling",
     "front.json",
     {"fastest: phantom tp 4 x dp 16, k 2 on 64 ranks, 18.3 ms", "ideal", "100 %", "100 ms",
      "tensor", NULL}},
    {"breakdown",
     "stages.json",
     {"Where an iteration goes; all: 1f1b, batch 512, micro-batch 8",
      "tensor tp 8 x dp 4 x pp 4 on 128 ranks", "SC 2 r128", "SC 4 r128", "dp comm", "bubble",
      "time [s]", "4.18 s", "(+1.7 %)", NULL}},
    {"speed-up",
     "stages.json",
     {"Compressed gradients: speed-up by stages; fastest: tensor tp 8 x dp 4 x pp 4, SC 2 r128 "
      "on 128 ranks, 4.18 s",
      "stages with compressed gradients", "share of gradient bytes compressed",
      "tensor tp 8 x dp 4 x pp 4, SC r128", NULL}},
    {"break-even",
     "break_even.json",
     {"Break-even: tensor tp 8 x dp 4 x pp 4, SC 4 r128 wins below 1.48 times the iterations",
      "time to the loss over the exact plan", "iterations over those of the exact plan",
      "exact", "below 1.07: tensor tp 8 x dp 4 x pp 4, SC 1 r128",
      "Marks: a lossy plan costs as much as the exact one.", NULL}},
    {"ways",
     "ways.json",
     {"Strong scaling; all: overlap, batch 128", "data parallel", "4-way D&amp;SP",
      "4-way D&amp;SP, naive order", "time per iteration",
      "speed-up over data parallelism on the same ranks", "0.8",
      "cluster lassen   model transformer-base", NULL}},
    {"score",
     "score.json",
     {"3 runs: mean error 6.7 %, 67 % in their interval", "measured",
      "predicted, with 90 % interval", "predicted / measured - 1",
      "1 run could not be predicted", NULL}},
    {"validate",
     "validate.json",
     {"8 real configurations: median error 5.7 %, median regret 0.0 %", "measured", "predicted",
      "predicted / measured - 1", "phantom", "tensor", NULL}},
    {"ghost",
     "validate.json",
     {"Phantom width: least measured energy at k = 16", "energy of one iteration",
      "time of one iteration", "ghost neurons k", "ffn n=1024 b=128 p=2, predicted",
      "tensor, measured", NULL}},
    {"clusters",
     "clusters.json",
     {"A training of llama-3-8b: the best plan of each", "dgx-h100", "dgx-b200", "time [days]",
      "energy [MWh]", "money [thousand USD]",
      "Bars of time: predicted, with the 90 % interval.", NULL}},
    {"frontier",
     "frontier.json",
     {"Energy saved by the clocks of stages, dgx-a100", "more time of an iteration",
      "less energy", "tensor tp 8 x dp 1 x pp 8, 1f1b", "tensor tp 4 x dp 1 x pp 16, 1f1b",
      "18.9 s", "413 kJ", "Power: estimated (stated watts)", "-30 to +30 %", NULL}},
    {"memory",
     "explain.json",
     {"Memory of stage 0, which has the peak: ", "pass, in the order of the schedule",
      "tensors [GB]", "after the pass", "in a backward pass, at most", NULL}},
    {"quality",
     "quality.json",
     {"Learning grammar: 3 seeds a plan", "loss against iterations", "loss against time",
      "loss against energy", "priced time [", "time to the loss", "energy to the loss",
      "last loss against the compression ratio", "no compression", "CB all r2",
      "1 of 2 plans did not reach it with every seed", NULL}},
    {"gemm",
     "fit.json",
     {"rate [GFLOP/s]", "m = 512, n = 2,048, fp32", "19 of 20 products drawn",
      "131.1 GFLOP/s at 2,048 x 2,048 x 2,048, fp32", NULL}},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static char *fixture(int i) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", FIXTURES, cases[i].fixture);
    return read_text(path);
}

static void every_figure_is_tried(void **state) {
    (void)state;
    for (int i = 0; fr_figures[i]; i++) {
        bool tried = !strcmp(fr_figures[i]->name, "gantt") || /* reads a trace: test_gantt.c */
                     fr_figures[i]->draw_folder;              /* test_paper.c */
        for (int j = 0; j < N_CASES; j++)
            tried = tried || !strcmp(cases[j].name, fr_figures[i]->name);
        if (!tried) fail_msg("figure %s has no case here", fr_figures[i]->name);
        assert_true(*fr_figures[i]->summary && *fr_figures[i]->inputs);
    }
}

static void pictures_say_what_they_show(void **state) {
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        char *json = fixture(i);
        draws(cases[i].name, json, "a.svg");
        char *svg = read_text("a.svg");
        holds(cases[i].name, svg, "<svg");
        holds(cases[i].name, svg, "</svg>");
        for (const char *const *says = cases[i].says; *says; says++)
            holds(cases[i].name, svg, *says);
        free(svg);
        free(json);
    }
    unlink("a.svg");
}

static void same_input_same_bytes(void **state) {
    static const char *const pairs[][2] = {{"a.svg", "b.svg"}, {"a.png", "b.png"}};
    (void)state;
    for (int i = 0; i < N_CASES; i++)
        for (int j = 0; j < 2; j++) {
            char *json = fixture(i), *bytes[2];
            size_t length[2];
            struct fr_error err = {0};
            for (int k = 0; k < 2; k++) {
                draws(cases[i].name, json, pairs[j][k]);
                assert_int_equal(
                    fr_file_read(pairs[j][k], FR_FILE_MAX_B, &bytes[k], &length[k], &err),
                    FR_OK);
                unlink(pairs[j][k]);
            }
            if (length[0] != length[1] || memcmp(bytes[0], bytes[1], length[0]) != 0)
                fail_msg("%s, %s: two drawings differ", cases[i].name, pairs[j][0]);
            free(bytes[0]), free(bytes[1]), free(json);
        }
}

/* Refused at @p place with @p says in the sentence, and nothing written. */
static void refuses(const char *name, const char *json, const char *place, const char *says) {
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "refused.svg"};
    fr_status status = draw_text(name, json, "results.json", &o, &err);
    if (status != FR_ERR_INPUT) fail_msg("%s: status %d (%s)", name, status, err.detail);
    assert_string_equal(err.where, place);
    holds(name, err.detail, says);
    assert_false(fr_file_exists("refused.svg"));
}

static void another_schema_is_refused(void **state) {
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        refuses(cases[i].name, "{\"schema\": \"forerun/other/1\"}", "results.json#/schema",
                "forerun/other/1");
        refuses(cases[i].name, "{}", "results.json#/schema", "");
        refuses(cases[i].name, "[1]", "results.json#/schema", "");
    }
}

static void what_is_needed_and_missing_is_named(void **state) {
    char *phantom = read_text(FIXTURES "phantom.json"), *fit = read_text(FIXTURES "fit.json");
    char *grid = read_text(FIXTURES "grid.json"), *bad;
    (void)state;
    refuses("energy-time", bad = with(phantom, "\"total_time_s\"", "\"x\""),
            "results.json#/top/0/total_time_s", "");
    free(bad);
    refuses("scaling", bad = with(phantom, "\"ranks\"", "\"x\""), "results.json#/top/0/ranks",
            "");
    free(bad);
    refuses("pareto", bad = with(phantom, "\"plan\"", "\"x\""), "results.json#/top/0", "plan");
    free(bad);
    refuses("fit", bad = with(fit, "\"median_s\"", "\"x\""),
            "results.json#/series/0/points/0/median_s", "");
    free(bad);
    refuses("gemm", bad = with(fit, "\"dtype\"", "\"x\""), "results.json#/gemm/0/dtype", "");
    free(bad);
    refuses("pareto", grid, "results.json#/top", "no configuration has an energy");
    refuses("grid", phantom, "results.json#/top", "no configuration has method \"grid\"");
    refuses("grid", bad = with(grid, "breakdown_s", "x"), "results.json#/top", "breakdown_s");
    free(bad);
    refuses("fit", "{\"schema\": \"forerun/fit/1\"}", "results.json#/",
            "no measured collective");
    refuses("gemm", "{\"schema\": \"forerun/fit/1\"}", "results.json#/", "square or skinny");
    refuses("grid",
            "{\"schema\": \"forerun/search/1\", \"ranked_by\": \"total_time_s\", "
            "\"top\": [], \"pareto\": []}",
            "results.json#/", "no feasible configuration");
    free(phantom), free(fit), free(grid);
}

static void impossible_numbers_are_refused(void **state) {
    char *phantom = read_text(FIXTURES "phantom.json"), *bad;
    (void)state;
    refuses("scaling", bad = with(phantom, "\"iteration_time_s\": ", "\"iteration_time_s\": -"),
            "results.json#/top/0/iteration_time_s", "");
    free(bad);
    refuses("pareto", bad = with(phantom, "\"ranks\": ", "\"ranks\": 0."),
            "results.json#/top/0/ranks", "");
    free(bad);
    free(phantom);
}

/* However far a break-even is behind the best, its line is drawn: on logarithmic axes (test_whole.c) it flattens none. */
static void lines_far_behind_are_drawn(void **state) {
    static const double ratios[] = {0.1, 0.5, 0.69, 0.7, 1.9};
    (void)state;
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        struct fr_text json = {0};
        fr_text_addf(&json, "{\"schema\": \"forerun/search/1\", \"ranked_by\": "
                            "\"iteration_time_s\", \"pareto\": [], \"top\": [");
        for (int k = 0; k < 2; k++)
            fr_text_addf(&json,
                         "%s{\"plan\": {\"method\": \"grid\", \"tp\": %d, \"dp\": 1}, "
                         "\"ranks\": %d, \"iteration_time_s\": 1e-3, "
                         "\"break_even_iterations\": %g}",
                         k ? ", " : "", k + 1, k + 1, k ? ratios[i] : 2.08);
        fr_text_addf(&json, "]}");
        draws("break-even", fr_text_get(&json), "far.svg");
        char *svg = read_text("far.svg");
        char below[32];
        snprintf(below, sizeof below, "below %.3g: ", ratios[i]);
        if (strstr(svg, "not drawn") || !strstr(svg, below)) fail_msg("%g", ratios[i]);
        free(svg);
        fr_text_free(&json);
    }
    unlink("far.svg");
}

/* Results that leave out all a figure can do without. */
static void the_least_that_draws(void **state) {
    static const char search[] =
        "{\"schema\": \"forerun/search/1\", \"ranked_by\": \"iteration_time_s\", \"top\": [{"
        "\"plan\": {\"method\": \"grid\", \"tp\": 1, \"dp\": 1}, \"ranks\": 1, "
        "\"iteration_time_s\": 1e-3, \"iteration_energy_J\": 2, \"breakdown_s\": {\"compute\": "
        "0.001}}, {\"plan\": {\"method\": \"grid\", \"tp\": 1, \"dp\": 1, \"compression\": "
        "{\"gradient\": {\"stages\": 1}}}, \"ranks\": 1, \"iteration_time_s\": 2e-3, "
        "\"break_even_iterations\": 0.5, "
        "\"breakdown_s\": {\"compute\": 0.002}}], \"pareto\": []}";
    static const char fit[] =
        "{\"schema\": \"forerun/fit/1\", \"series\": [{\"op\": \"reduce\", \"ranks\": 2, "
        "\"points\": [{\"size_B\": 0, \"median_s\": 1e-6}, {\"size_B\": 8, \"median_s\": 1e-6, "
        "\"log_s\": null}]}], \"gemm\": [{\"dtype\": \"fp32\", \"m\": 8, \"n\": 8, \"k\": 8, "
        "\"median_s\": 1e-6}]}";
    static const char validate[] =
        "{\"schema\": \"forerun/validate/1\", \"rows\": [{\"configuration\": {\"app\": "
        "\"phantom\", \"group\": \"g\", \"model\": \"{}\", \"plan\": \"{\\\"ghost\\\": 4}\"}, "
        "\"scored\": true, \"measured_s\": 1, \"predicted_s\": 1, \"predicted_J\": 1}]}";
    static const char score[] =
        "{\"schema\": \"forerun/score/1\", \"rows\": [{\"measured_s\": 1, "
        "\"predicted_s\": 1}]}";
    static const char clusters[] =
        "{\"schema\": \"forerun/clusters/1\", \"rows\": [{\"cluster\": \"a\", \"model\": "
        "\"b\", \"outcome\": {\"iteration_time_s\": 1}}, {\"cluster\": \"c\", \"model\": "
        "\"b\", "
        "\"outcome\": null}]}";
    static const char frontier[] =
        "{\"schema\": \"forerun/search/1\", \"max_slowdown\": {\"curve\": {\"plan\": \"a\", "
        "\"points\": [{\"iteration_time_s\": 1, \"iteration_energy_J\": 2, "
        "\"iteration_energy_low_J\": 1, \"iteration_energy_high_J\": 3}]}}}";
    static const char quality[] =
        "{\"schema\": \"forerun/quality/1\", \"rows\": [{\"label\": \"a\", \"loss\": 2, "
        "\"curve\": [{\"iteration\": 0}, {\"iteration\": 1, \"loss\": 2}]}]}";
    static const char explain[] =
        "{\"schema\": \"forerun/explain/1\", \"outcome\": {\"fullest_stage\": 0}, \"explain\": "
        "{\"memory\": {\"moment\": \"loss\", \"steps\": [{\"pass\": \"forward\", \"held_B\": "
        "1, "
        "\"peak_B\": 2}]}}}";
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        const char *fixture_of = cases[i].fixture;
        draws(cases[i].name,
              !strcmp(fixture_of, "fit.json")        ? fit
              : !strcmp(fixture_of, "quality.json")  ? quality
              : !strcmp(fixture_of, "score.json")    ? score
              : !strcmp(fixture_of, "validate.json") ? validate
              : !strcmp(fixture_of, "clusters.json") ? clusters
              : !strcmp(fixture_of, "frontier.json") ? frontier
              : !strcmp(fixture_of, "explain.json")  ? explain
                                                     : search,
              "least.svg");
    }
    unlink("least.svg");
}

/* The fastest plan's energy is null, and a whole method's: the rest is still drawn. */
static void unknown_energies_are_left_out(void **state) {
    static const char search[] =
        "{\"schema\": \"forerun/search/1\", \"ranked_by\": \"iteration_time_s\", \"top\": ["
        "{\"plan\": {\"method\": \"tensor\", \"tp\": 8, \"dp\": 1}, \"ranks\": 8, "
        "\"iteration_time_s\": 1e-3, \"iteration_energy_J\": null},"
        "{\"plan\": {\"method\": \"phantom\", \"tp\": 8, \"dp\": 1, \"ghost\": 4}, \"ranks\": "
        "8, \"iteration_time_s\": 2e-3, \"iteration_energy_J\": 5}], \"pareto\": []}";
    static const char *const names[] = {"energy-time", "pareto", "scaling"};
    (void)state;
    for (int i = 0; i < 3; i++) draws(names[i], search, "unknown.svg");
    unlink("unknown.svg");
}

/* More grids than the heat map has columns, and a row that has only such ones. */
static void grids_without_room_are_counted(void **state) {
    struct fr_text json = {0};
    (void)state;
    fr_text_addf(&json, "{\"schema\": \"forerun/search/1\", \"ranked_by\": "
                        "\"iteration_time_s\", \"pareto\": [], \"top\": [");
    for (int tp = 1; tp <= 20; tp++)
        fr_text_addf(
            &json,
            "%s{\"plan\": {\"method\": \"grid\", \"tp\": %d, \"dp\": 1}, \"ranks\": %d, "
            "\"iteration_time_s\": 0.%d, \"breakdown_s\": {\"compute\": 0.1}}",
            tp > 1 ? ", " : "", tp, tp == 20 ? 512 : 8, 10 + tp);
    fr_text_addf(&json, "]}");
    draws("grid", json.data, "many.svg");
    char *svg = read_text("many.svg");
    holds("many", svg, "8 grids do not fit here");
    holds("many", svg, "best of 8 ranks: 1 x 1, 110 ms");
    unlink("many.svg");
    free(svg);
    fr_text_free(&json);
}

static void several_results_must_agree(void **state) {
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "two.svg"};
    struct fr_json_document *documents[2] = {NULL};
    (void)state;
    assert_int_equal(fr_json_read(FIXTURES "phantom.json", &documents[0], &err), FR_OK);
    assert_int_equal(fr_json_read(FIXTURES "front.json", &documents[1], &err), FR_OK);
    struct fr_json same[] = {fr_json_root(documents[1]), fr_json_root(documents[1])};
    struct fr_json other[] = {fr_json_root(documents[0]), fr_json_root(documents[1])};
    assert_int_equal(fr_figure_draw(&fr_figure_scaling, same, 2, &o, &err), FR_OK);
    unlink("two.svg");
    assert_int_equal(fr_figure_draw(&fr_figure_scaling, other, 2, &o, &err), FR_ERR_INPUT);
    holds("two", err.where, "front.json#/ranked_by");
    assert_int_equal(fr_figure_draw(&fr_figure_fit, same, 2, &o, &err), FR_ERR_USAGE);
    assert_false(fr_file_exists("two.svg"));
    fr_json_free(documents[0]), fr_json_free(documents[1]);
}

/* Predictions, a bar each, joined as a search's list is. */
static void predictions_are_bars(void **state) {
    static const char text[] =
        "{\"schema\": \"forerun/outcome/1\", \"plan\": {\"method\": \"tensor\", \"tp\": 8, "
        "\"dp\": 1, \"schedule\": \"gpipe\", \"pp\": 4, \"recompute\": \"full\"}, \"ranks\": "
        "32, "
        "\"iteration_time_s\": 0.25, \"breakdown_s\": {\"compute\": 0.2, \"bubble\": 0.05}}";
    char *half = with(text, "0.25", "0.5");
    struct fr_json_document *documents[2] = {NULL};
    struct fr_json roots[2];
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "bars.svg"};
    const char *texts[] = {text, half};
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            fr_json_parse(texts[i], strlen(texts[i]), "p.json", &documents[i], &err), FR_OK);
        roots[i] = fr_json_root(documents[i]);
    }
    assert_int_equal(fr_figure_draw(&fr_figure_breakdown, roots, 2, &o, &err), FR_OK);
    char *svg = read_text("bars.svg");
    holds("bars", svg, "; all: gpipe, recompute full");
    holds("bars", svg, "tensor tp 8 x dp 1 x pp 4 on 32 ranks");
    holds("bars", svg, "500 ms (+100.0 %)");
    unlink("bars.svg");
    free(svg), free(half);
    fr_json_free(documents[0]), fr_json_free(documents[1]);
    char *none = with(text, "breakdown_s", "x");
    refuses("breakdown", none, "results.json#/", "breakdown_s");
    free(none);
    refuses("speed-up", text, "results.json#/", "vary it in the search");
    refuses("break-even", text, "results.json#/", "search with --max-lossy");
}

/* A result of @p stages compressed: `words` are of the plan, `coded` of its compression, `gradient` of that. */
struct compressed {
    const char *words, *coded, *gradient;
};

static void add_compressed(struct fr_text *json, const struct compressed *x, int stages,
                           const char *time_s) {
    bool first = fr_text_get(json)[json->length - 1] == '[';
    fr_text_addf(json,
                 "%s{\"plan\": {\"method\": \"tensor\", \"tp\": 8, \"dp\": 4, \"pp\": 4%s, "
                 "\"compression\": {%s\"gradient\": {%s\"stages\": %d}}}, \"ranks\": 128, "
                 "\"iteration_time_s\": %s}",
                 first ? "" : ", ", x->words, x->coded, x->gradient, stages, time_s);
}

/* Two plans that differ in a key are two curves, each with a label and its own speed-up: over its own plan
 * without compressed stages, which is one where the key says how stages are compressed. */
static void a_curve_for_each_plan(void **state) {
    static const struct {
        struct compressed a, b;
        bool one_base;
        const char *names[2];
    } rows[] = {
        {{"", "", "\"rank\": 32, "}, {"", "", "\"rank\": 64, "}, true, {"SC r32'", "SC r64'"}},
        {{"", "", ""},
         {"", "\"codec\": \"topk\", ", ""},
         true,
         {"x pp 4, SC r128'", "SC r128, topk'"}},
        {{"", "", ""},
         {", \"zero\": 1", "", ""},
         false,
         {"x pp 4, SC r128'", "SC r128, zero 1'"}},
        {{"", "", ""},
         {", \"micro_batch\": 2", "", ""},
         false,
         {"x pp 4, SC r128'", "SC r128, micro-batch 2'"}},
        {{"", "", ""},
         {", \"overlap\": \"gradient\"", "", ""},
         false,
         {"x pp 4, SC r128'", "SC r128, overlap'"}},
        {{", \"recompute\": \"full\"", "", ""},
         {"", "", ""},
         false,
         {"x pp 4, SC r128'", "SC r128, recompute full'"}},
        {{"", "", ""},
         {"", "\"embedding\": \"fused\", ", ""},
         false,
         {"x pp 4, SC r128'", "FE, SC r128'"}},
        {{"", "", ""},
         {"", "\"forward\": {\"rank\": 8}, ", ""},
         false,
         {"x pp 4, SC r128'", "CF r8, SC r128'"}},
        {{"", "\"backward\": {\"scope\": \"all\", \"rank\": 4}, ", ""},
         {"", "\"backward\": {\"scope\": \"all\", \"rank\": 8}, ", ""},
         false,
         {"CB all r4, SC r128'", "CB all r8, SC r128'"}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct fr_text json = {0};
        struct fr_figure_options o = {.output = "curves.svg", .keep_script = true};
        struct fr_error err = {0};
        fr_text_addf(&json, "{\"schema\": \"forerun/search/1\", \"ranked_by\": "
                            "\"iteration_time_s\", \"pareto\": [], \"top\": [");
        const struct compressed *a = &rows[k].a, *b = &rows[k].b;
        add_compressed(&json, b, 1, rows[k].one_base ? "0.625" : "1.25");
        add_compressed(&json, a, 2, "0.5");
        add_compressed(&json, a, 0, "1");
        add_compressed(&json, a, 2, "0.6"); /* the same told again, slower */
        if (!rows[k].one_base) add_compressed(&json, b, 0, "2");
        add_compressed(&json, a, 1, "0.8");
        fr_text_addf(&json, "]}");
        if (draw_text("speed-up", fr_text_get(&json), "results.json", &o, &err) != FR_OK)
            fail_msg("%zu: %s: %s", k, err.where, err.detail);
        char *data = read_text("curves.dat"), *script = read_text("curves.gp");
        holds("a", data, "0 0\n1 25\n2 100\n\n");
        holds("b", data, "0 0\n1 60\n\n");
        for (int n = 0; n < 2; n++) holds("curves.gp", script, rows[k].names[n]);
        free(data), free(script);
        fr_text_free(&json);
        unlink("curves.svg"), unlink("curves.dat"), unlink("curves.gp");
    }
}

static char *draw_ghost(const char *const texts[2], int n, fr_status wanted,
                        struct fr_error *err) {
    struct fr_json_document *documents[2] = {NULL};
    struct fr_json roots[2];
    struct fr_figure_options o = {.output = "ghost.svg"};
    for (int i = 0; i < n; i++) {
        assert_int_equal(fr_json_parse(texts[i], strlen(texts[i]), "a", &documents[i], err),
                         FR_OK);
        roots[i] = fr_json_root(documents[i]);
    }
    fr_status status = fr_figure_draw(&fr_figure_ghost, roots, n, &o, err);
    if (status != wanted) fail_msg("status %d (%s)", status, err->detail);
    for (int i = 0; i < n; i++) fr_json_free(documents[i]);
    char *svg = status == FR_OK ? read_text("ghost.svg") : NULL;
    unlink("ghost.svg");
    return svg;
}

/* Runs and trainings on the same axes: 16 ghosts take 505 iterations of the 1024 wide network. */
static void energy_to_a_loss_is_measured_and_predicted(void **state) {
    (void)state;
    struct fr_error err = {0};
    char *runs = read_text(FIXTURES "validate.json"),
         *trained = read_text(FIXTURES "iterations.json");
    const char *const both[2] = {runs, trained}, *const alone[2] = {trained, NULL},
                      *const twice[2] = {trained, trained};
    char *svg = draw_ghost(both, 2, FR_OK, &err);
    static const char *const says[] = {
        "energy to the loss",
        "time to the loss",
        "ffn n=1024 b=128 p=2, predicted",
        "phantom, measured",
        "tensor, predicted",
        "tensor, measured",
        "least energy",
        "To a mean squared error of 0.13; bars: range over seeds"};
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) holds("ghost", svg, says[i]);
    if (strstr(svg, "n=512")) fail_msg("runs of a network that was not trained are drawn");
    free(svg);
    /* Trainings without the energy of an iteration have nothing to draw. */
    draw_ghost(alone, 1, FR_ERR_INPUT, &err);
    holds("ghost", err.detail, "give forerun iterations a --cluster");
    draw_ghost(twice, 2, FR_ERR_USAGE, &err);
    free(runs);
    free(trained);
}

static void trainings_alone_show_their_minimum(void **state) {
    (void)state;
    static const char trained[] =
        "{\"schema\": \"forerun/iterations/1\", \"width\": 64, \"loss\": 0.12, \"rows\": ["
        "{\"tp\": 4, \"ghost\": 0, \"iterations\": 10, \"iteration_energy_J\": 9, "
        "\"total_energy_J\": 90},"
        "{\"tp\": 4, \"ghost\": 2, \"iterations\": null, \"iteration_energy_J\": 1, "
        "\"total_energy_J\": null},"
        "{\"tp\": 4, \"ghost\": 4, \"iterations\": 40, \"iterations_low\": 30, "
        "\"iterations_high\": 50, \"iteration_energy_J\": 2, \"total_energy_J\": 80},"
        "{\"tp\": 4, \"ghost\": 8, \"iterations\": 20, \"iteration_energy_J\": 3, "
        "\"total_energy_J\": 60}]}";
    const char *const alone[2] = {trained, NULL};
    struct fr_error err = {0};
    char *svg = draw_ghost(alone, 1, FR_OK, &err);
    static const char *const says[] = {"least energy at k = 8, 60 J", "energy of one iteration",
                                       "n=64 p=4", "bars: range over seeds"};
    for (size_t i = 0; i < sizeof says / sizeof *says; i++) holds("ghost", svg, says[i]);
    free(svg);
}

/* One plan at each of three values of model.sequence and two of zero: by hand. */
static const char curve_over[] =
    "{\"schema\": \"forerun/search/1\", \"ranked_by\": \"iteration_time_s\", \"pareto\": [], "
    "\"top\": [{\"plan\": {\"method\": \"tensor\", \"tp\": 8, \"dp\": 8, \"zero\": 0, "
    "\"recompute\": \"none\"}, \"varied\": {\"model.sequence\": \"16384\"}, \"ranks\": 64, "
    "\"iteration_time_s\": 4, \"iteration_energy_J\": 400}, "
    "{\"plan\": {\"method\": \"tensor\", \"tp\": 8, \"dp\": 8, \"zero\": 1, \"recompute\": "
    "\"full\"}, \"varied\": {\"model.sequence\": \"2048\"}, \"ranks\": 64, "
    "\"iteration_time_s\": 1, \"iteration_energy_J\": 100}, "
    "{\"plan\": {\"method\": \"tensor\", \"tp\": 8, \"dp\": 8, \"zero\": 0, \"recompute\": "
    "\"none\"}, \"varied\": {\"model.sequence\": \"4096\"}, \"ranks\": 64, "
    "\"iteration_time_s\": 2, \"iteration_energy_J\": 200}]}";

/* The figure's data: its first curve, x and energy a line. */
static void draws_along(const char *key, const char *data, const char *axis) {
    struct fr_figure_options o = {.output = "along.svg", .keep_script = true, .along = key};
    struct fr_error err = {0};
    if (draw_text("energy-time", curve_over, "results.json", &o, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    char *points = read_text("along.dat"), *svg = read_text("along.svg");
    holds(key ? key : "the likeliest", points, data);
    holds(key ? key : "the likeliest", svg, axis);
    free(points), free(svg);
    unlink("along.svg"), unlink("along.dat"), unlink("along.gp");
}

/* Values of three results, in their order and where numbers lie; words stand side by side by name, full
 * before none; what else is varied of the model makes curves of its own. */
static void curves_run_along_any_key(void **state) {
    struct fr_figure_options o = {.output = "refused.svg", .along = "model.width"};
    struct fr_error err = {0};
    (void)state;
    draws_along(NULL, "2048 100\n4096 200\n16384 400\n", "model.sequence");
    draws_along("model.sequence", "2048 100\n4096 200\n16384 400\n", "16384");
    draws_along("recompute", "2 200\n\n", "none");
    draws_along("plan.recompute", "1 100\n\n", "full");
    draws_along("ranks", "64 200\n\n", "ranks");
    assert_int_equal(draw_text("energy-time", curve_over, "results.json", &o, &err),
                     FR_ERR_INPUT);
    holds("an unknown key", err.detail, "\"model.width\"");
    holds("an unknown key", err.detail, "model.sequence, zero, recompute");
    assert_false(fr_file_exists("refused.svg"));
}

/* One column: panels below each other, what the wide picture says in it, nothing beyond its edge. */
static void narrow_pictures_are_stacked(void **state) {
    struct fr_error err = {0};
    struct fr_figure_options o = {.output = "narrow.svg", .width_in = 3.3};
    (void)state;
    for (int i = 0; i < N_CASES; i++) {
        const struct fr_figure *figure = NULL;
        assert_int_equal(fr_figure_find(cases[i].name, &figure, &err), FR_OK);
        char *json = fixture(i);
        if (draw_text(cases[i].name, json, cases[i].fixture, &o, &err) != FR_OK)
            fail_msg("%s: %s", cases[i].name, err.detail);
        char *svg = read_text("narrow.svg");
        holds(cases[i].name, svg, "width=\"3.3in\"");
        if (!figure->stacks) fail_msg("%s has no narrow layout", figure->name);
        holds(cases[i].name, svg, "viewBox=\"0 0 316 ");
        free(svg), free(json);
        unlink("narrow.svg");
    }
}

/* A band and a sentence where there is an interval; neither where there is none. */
static void intervals_are_bands(void **state) {
    char *plain = read_text(FIXTURES "phantom.json"),
         *known = with(plain, "\"iteration_time_s\":",
                       "\"iteration_time_low_s\": 0.01, \"iteration_time_high_s\": 0.02, "
                       "\"iteration_time_s\":");
    (void)state;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            draws(k ? "scaling" : "energy-time", i ? known : plain, "band.svg");
            char *svg = read_text("band.svg");
            assert_int_equal(
                strstr(svg, "Bands and bars: 90 % intervals, where they are known") != NULL, i);
            assert_int_equal(strstr(svg, "fill-opacity") != NULL, i);
            free(svg);
            unlink("band.svg");
        }
    free(plain), free(known);
}

/* Where the cluster states no power there is a time still: of every width, and with nothing of energy. */
static void time_stands_alone(void **state) {
    static const double widths_in[] = {0, 3.3};
    char *plain = read_text(FIXTURES "grid.json");
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct fr_figure_options o = {.output = "alone.svg", .width_in = widths_in[i]};
        struct fr_error err = {0};
        if (draw_text("energy-time", plain, "results.json", &o, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        char *svg = read_text("alone.svg");
        holds("alone", svg, "time per iteration");
        holds("alone", svg, "Least time: ");
        holds("alone", svg, "energy unavailable");
        if (strstr(svg, "energy per iteration")) fail_msg("draws an energy that nobody knows");
        free(svg);
        unlink("alone.svg");
    }
    free(plain);
}

static void unknown_figures_are_suggested(void **state) {
    const struct fr_figure *figure = NULL;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_figure_find("energy_time", &figure, &err), FR_ERR_USAGE);
    holds("find", err.detail, "did you mean \"energy-time\"?");
    assert_int_equal(fr_figure_find("zzzzzz", &figure, &err), FR_ERR_USAGE);
    holds("find", err.detail, "forerun list figures");
    assert_null(figure);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_is_tried),
        cmocka_unit_test(pictures_say_what_they_show),
        cmocka_unit_test(same_input_same_bytes),
        cmocka_unit_test(narrow_pictures_are_stacked),
        cmocka_unit_test(intervals_are_bands),
        cmocka_unit_test(another_schema_is_refused),
        cmocka_unit_test(what_is_needed_and_missing_is_named),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(lines_far_behind_are_drawn),
        cmocka_unit_test(the_least_that_draws),
        cmocka_unit_test(unknown_energies_are_left_out),
        cmocka_unit_test(grids_without_room_are_counted),
        cmocka_unit_test(several_results_must_agree),
        cmocka_unit_test(predictions_are_bars),
        cmocka_unit_test(a_curve_for_each_plan),
        cmocka_unit_test(energy_to_a_loss_is_measured_and_predicted),
        cmocka_unit_test(trainings_alone_show_their_minimum),
        cmocka_unit_test(curves_run_along_any_key),
        cmocka_unit_test(time_stands_alone),
        cmocka_unit_test(unknown_figures_are_suggested),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
