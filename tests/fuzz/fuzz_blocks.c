/* Any lines of a checkpoint are blocks of a search, or are refused; joined, the search ranks its own
 * plans, and its counts are counts. */
#include <math.h>

#include "answer/outcome/report.h"
#include "search/blocks.h"
#include "tests/fuzz/fuzz.h"

struct search {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_options options;
};

/* Made once: 12 plans, in blocks as the program cuts them. */
static const struct search *the_search(void) {
    static struct search s;
    static const char *const vary[] = {"method=tensor,phantom", "ghost=2,4,8", "tp=4,8"};
    static bool made;
    const struct fr_job_names names = {.cluster = "frontier", .model = "ffn-4096"};
    struct fr_error err = {0};
    if (made) return &s;
    s.options = (struct fr_search_options){
        .top = 5, .max_lossy = 1, .per_iteration = true, .threads = 1};
    FR_FUZZ_REQUIRE(fr_job_load(&names, &s.job, &err) == FR_OK);
    FR_FUZZ_REQUIRE(
        fr_space_make("8", vary, 3, &s.job.plan, false, true, NULL, &s.space, &err) == FR_OK);
    made = true;
    return &s;
}

static void take(struct fr_blocks *blocks, char *text) {
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct fr_error err = {0};
        if (fr_blocks_take(blocks, line, &err) != FR_OK)
            FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    }
}

/* No line stated this. */
static void search_rest(struct fr_blocks *blocks) {
    for (int64_t i; (i = fr_blocks_next(blocks, 0)) >= 0;) {
        struct fr_text line = {0};
        FR_FUZZ_REQUIRE(fr_blocks_search(blocks, i, 1, &line, NULL) == FR_OK);
        FR_FUZZ_REQUIRE(fr_blocks_take(blocks, fr_text_get(&line), NULL) == FR_OK);
        fr_text_free(&line);
    }
}

FR_FUZZ_TEXT(text, size) {
    const struct search *s = the_search();
    struct fr_blocks blocks;
    struct fr_search_result result = {0};
    struct fr_error err = {0};
    (void)size;
    FR_FUZZ_REQUIRE(fr_blocks_open(&s->job, &s->space, &s->options, &blocks, &err) == FR_OK);
    take(&blocks, text);
    search_rest(&blocks);
    if (fr_blocks_join(&blocks, &result, &err) == FR_OK) {
        FR_FUZZ_REQUIRE(result.feasible >= 0 && result.infeasible >= 0);
        FR_FUZZ_REQUIRE(result.evaluated <= s->space.size);
        for (size_t i = 0; i < result.top.count; i++)
            FR_FUZZ_REQUIRE(result.top.items[i].index < s->space.size &&
                            isfinite(result.top.items[i].outcome.time_s));
        for (int r = 0; r < FR_REASON_COUNT; r++) {
            struct fr_text text_of = {0};
            if (result.example[r].index < 0) continue;
            fr_report_reason(&s->job, &result.example[r].outcome, r, &text_of);
            fr_text_free(&text_of);
        }
    } else
        FR_FUZZ_REQUIRE(err.detail[0]);
    fr_search_result_free(&result);
    fr_blocks_free(&blocks);
}
