/* Blocks, searched apart in any order, some twice, and joined, are the search in one piece. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/blocks.h"
#include "tests/job.h"

struct spaces {
    const char *cluster, *model, *ranks, *vary[6];
    int n_vary;
    fr_objective objective;
    size_t top;
};

static const struct spaces spaces[] = {
    {"frontier",
     "ffn-16384",
     "8..256*2",
     {"method=tensor,phantom", "ghost=1..64", "tp=1..256*2", "zero=0"},
     4,
     FR_OBJECTIVE_ENERGY,
     5},
    {"frontier",
     "ffn-4096",
     "1..64",
     {"method=tensor,grid", "tp=1..64"},
     2,
     FR_OBJECTIVE_TIME,
     0},
    {"cori-knl",
     "alexnet",
     "1..64",
     {"method=grid,tensor", "tp=1..64", "overlap=none,gradient"},
     3,
     FR_OBJECTIVE_TIME,
     3},
    {"a100-hdr",
     "gpt-2.5b",
     "16",
     {"tp=1,2,4,8", "pp=1,2,4,8,16", "micro_batch=1,2,4,8", "recompute=none,selective,full",
      "schedule=1f1b,interleaved,gpipe,zero-bubble", "zero=0..3"},
     6,
     FR_OBJECTIVE_TIME,
     10},
    {"a100-hdr",
     "gpt-2.5b",
     "16,32",
     {"tp=1,2,4,8", "pp=1,2,4,8", "global_batch=64,128,256", "chunks=1,2,4",
      "schedule=1f1b,interleaved,gpipe", "zero=0..3"},
     6,
     FR_OBJECTIVE_EDP,
     20},
};
enum { SPACES = sizeof spaces / sizeof *spaces };

struct search {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_options options;
};

static void start(const struct spaces *of, struct search *s) {
    struct fr_error err = {0};
    *s = (struct search){.options = {.objective = of->objective,
                                     .top = of->top,
                                     .max_lossy = 1,
                                     .per_iteration = true,
                                     .threads = 2}};
    fr_test_job(of->cluster, of->model, NULL, &s->job);
    if (fr_space_make(of->ranks, of->vary, of->n_vary, &s->job.plan, false, true, NULL,
                      &s->space, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static void end(struct search *s) {
    fr_space_free(&s->space);
    fr_job_free(&s->job);
}

static void same_found(const struct fr_found_list *a, const struct fr_found_list *b,
                       const char *what) {
    FR_TRUE(a->count == b->count, "%s: %zu, %zu", what, a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        FR_TRUE(a->items[i].index == b->items[i].index, "%s %zu: plan %ld, %ld", what, i,
                (long)a->items[i].index, (long)b->items[i].index);
        FR_TRUE(a->items[i].outcome.time_s == b->items[i].outcome.time_s, "%s %zu: %a, %a",
                what, i, a->items[i].outcome.time_s, b->items[i].outcome.time_s);
    }
}

static void same(const struct fr_search_result *a, const struct fr_search_result *b) {
    FR_TRUE(a->evaluated == b->evaluated && a->feasible == b->feasible &&
                a->infeasible == b->infeasible && a->by == b->by && a->read == b->read,
            "%ld, %ld evaluated; %ld, %ld feasible", (long)a->evaluated, (long)b->evaluated,
            (long)a->feasible, (long)b->feasible);
    for (int r = 0; r < FR_REASON_COUNT; r++)
        FR_TRUE(a->because[r] == b->because[r] && a->example[r].index == b->example[r].index,
                "reason %d: %ld, %ld", r, (long)a->because[r], (long)b->because[r]);
    FR_TRUE(a->ranked.count == b->ranked.count, "%zu, %zu", a->ranked.count, b->ranked.count);
    for (size_t i = 0; i < a->ranked.count; i++)
        FR_TRUE(a->ranked.items[i].index == b->ranked.items[i].index &&
                    a->ranked.items[i].value == b->ranked.items[i].value,
                "rank %zu", i);
    same_found(&a->top, &b->top, "top");
    same_found(&a->pareto, &b->pareto, "front");
}

/* Every block, in an order of its own, one of them twice; what is taken twice changes nothing. */
static void all_blocks(const struct search *s, uint64_t seed, struct fr_search_result *result) {
    struct fr_blocks b;
    struct fr_error err = {0};
    if (fr_blocks_open(&s->job, &s->space, &s->options, &b, &err) != FR_OK)
        fail_msg("%s", err.detail);
    FR_TRUE(b.n >= 2, "%ld blocks of %ld", (long)b.n, (long)b.size);
    for (int64_t k = 0; k <= b.n; k++) {
        struct fr_text line = {0};
        int64_t number = (int64_t)(seed % (uint64_t)b.n) + k * 1; /* from anywhere, round */
        fr_status status = fr_blocks_search(&b, number % b.n, 1 + (int)(k % 3), &line, &err);
        if (status == FR_OK) status = fr_blocks_take(&b, fr_text_get(&line), &err);
        if (status != FR_OK) fail_msg("%s", err.detail);
        fr_text_free(&line);
    }
    FR_TRUE(b.n_done == b.n && fr_blocks_next(&b, 0) == -1, "%ld of %ld", (long)b.n_done,
            (long)b.n);
    if (fr_blocks_join(&b, result, &err) != FR_OK) fail_msg("%s", err.detail);
    fr_blocks_free(&b);
    assert_true(fr_blocks_next(&b, 0) == -1); /* none are left */
    fr_blocks_free(&b);
}

static void as_in_one_piece(void **state) {
    (void)state;
    for (int i = 0; i < SPACES; i++) {
        struct search s;
        struct fr_search_result whole, joined = {0};
        struct fr_error err = {0};
        start(&spaces[i], &s);
        if (fr_search(&s.job, &s.space, &s.options, &whole, &err) != FR_OK)
            fail_msg("%s", err.detail);
        FR_TRUE(whole.feasible > 0, "space %d", i);
        all_blocks(&s, 7919u * (uint64_t)(i + 1), &joined);
        same(&whole, &joined);
        fr_search_result_free(&joined);
        fr_search_result_free(&whole);
        end(&s);
    }
}

static bool taken(struct fr_blocks *b, const char *line) {
    struct fr_error err = {0};
    return fr_blocks_take(b, line, &err) == FR_OK;
}

/* A line that was cut anywhere, or is of another search, is none; nothing of it is kept. */
static void lines_that_are_none(void **state) {
    struct search s;
    struct fr_blocks b;
    struct fr_text line = {0};
    struct fr_error err = {0};
    (void)state;
    start(&spaces[3], &s);
    assert_int_equal(fr_blocks_open(&s.job, &s.space, &s.options, &b, &err), FR_OK);
    assert_int_equal(fr_blocks_search(&b, 1, 1, &line, &err), FR_OK);
    char *text = line.data;
    for (size_t cut = 0; cut < line.length; cut++) {
        char saved = text[cut];
        text[cut] = '\0';
        FR_TRUE(!taken(&b, text), "cut at %zu: %s", cut, text);
        text[cut] = saved;
    }
    FR_TRUE(!taken(&b, "block 99999999 0 0 0 0 0 0 end"), "%s", "no such block");
    FR_TRUE(!taken(&b, "block -1 0 0 0 0 0 0 end"), "%s", "no such block");
    FR_TRUE(!taken(&b, "block 0 1 1 0 30 99999999999999999999 end"), "%s", "no counts");
    assert_int_equal(b.n_done, 0);
    text[6] = '0'; /* as if of block 0: its plans are not that block's */
    FR_TRUE(!taken(&b, text), "%s", "another block's plans");
    text[6] = '1';
    FR_TRUE(taken(&b, text) && b.n_done == 1, "%s", text);
    fr_text_free(&line);
    fr_blocks_free(&b);
    end(&s);
}

/* Every number of a line replaced by that of a plan just before the block, or just behind it: what is still
 * taken holds no plan but the block's own. */
static void plans_of_a_line_are_its_own(void **state) {
    struct search s;
    struct fr_blocks first;
    struct fr_text line = {0};
    struct fr_error err = {0};
    int refused = 0;
    (void)state;
    start(&spaces[3], &s);
    assert_int_equal(fr_blocks_open(&s.job, &s.space, &s.options, &first, &err), FR_OK);
    assert_int_equal(fr_blocks_search(&first, 1, 1, &line, &err), FR_OK);
    const int64_t begin = first.size, end_at = 2 * first.size, others[] = {begin - 1, end_at};
    const char *text = fr_text_get(&line);
    for (const char *at = strchr(text, ' '); at; at = strchr(at + 1, ' '))
        for (int k = 0; k < 2; k++) {
            struct fr_blocks b;
            struct fr_text changed = {0};
            size_t length = strcspn(at + 1, " ");
            fr_text_addf(&changed, "%.*s %lld%s", (int)(at - text), text, (long long)others[k],
                         at + 1 + length);
            assert_int_equal(fr_blocks_open(&s.job, &s.space, &s.options, &b, &err), FR_OK);
            bool good = taken(&b, fr_text_get(&changed)) && b.block[1].done;
            const struct fr_part *part = &b.block[1];
            refused += !good;
#define OWN(i) FR_TRUE((i) >= begin && (i) < end_at, "%s", fr_text_get(&changed))
            for (int r = 0; good && r < FR_REASON_COUNT; r++)
                if (part->example[r] != -1) OWN(part->example[r]);
            for (int m = 0; good && fr_methods[m]; m++)
                if (part->of_method[m].index != -1) OWN(part->of_method[m].index);
            for (size_t i = 0; good && i < part->n_ranked; i++) OWN(part->ranked[i].index);
            for (size_t i = 0; good && i < part->n_front; i++) OWN(part->front[i].index);
            fr_text_free(&changed);
            fr_blocks_free(&b);
        }
    FR_TRUE(refused > 20, "%d", refused);
    fr_text_free(&line);
    fr_blocks_free(&first);
    end(&s);
}

/* The facts of a plan are checked once more where it is shown.  No result comes of a reason that plan 0 has not, of a
 * list with a plan that cannot be, or of a plan that is said to be better than it is. */
static void joined_is_what_is_so(void **state) {
    struct search s;
    struct fr_search_result result = {0};
    struct fr_error err = {0};
    (void)state;
    start(&spaces[1], &s);
    for (int lie = 0; lie < 6; lie++) {
        struct fr_blocks b;
        assert_int_equal(fr_blocks_open(&s.job, &s.space, &s.options, &b, &err), FR_OK);
        for (int64_t i = fr_blocks_next(&b, 0); i >= 0; i = fr_blocks_next(&b, 0)) {
            struct fr_text line = {0};
            assert_int_equal(fr_blocks_search(&b, i, 1, &line, &err), FR_OK);
            FR_TRUE(taken(&b, fr_text_get(&line)), "%s", fr_text_get(&line));
            fr_text_free(&line);
        }
        int64_t cannot = b.block[0].example[FR_REASON_MESH];
        FR_TRUE(cannot >= 0 && b.block[0].n_ranked > 0 && b.block[0].n_front > 0, "%ld",
                (long)cannot);
        if (lie == 0) b.block[0].example[FR_REASON_MESH] = b.block[0].front[0].index;
        if (lie == 1) b.block[0].ranked[0].index = cannot;
        if (lie == 2) b.block[0].front[0].index = cannot;
        if (lie == 3) b.block[0].ranked[0].value *= 0.01;
        if (lie == 4) b.block[0].of_method[0].value *= 0.01;
        if (lie == 5) b.block[0].exact.value *= 0.01;
        fr_status status = fr_blocks_join(&b, &result, &err);
        FR_TRUE(status == FR_ERR_INPUT && strstr(err.detail, "plan "), "lie %d: %s", lie,
                err.detail);
        fr_search_result_free(&result);
        fr_blocks_free(&b);
    }
    end(&s);
}

/* A line tells of no more plans than its block has, nor of fewer than none. */
static void counts_of_a_line_are_counts(void **state) {
    static const struct {
        int64_t evaluated, feasible, because;
        bool good;
    } lines[] = {
        {5, 5, 0, true},    {5, 0, 5, true},          {5, 6, 0, false},
        {-1, -1, 0, false}, {5, -1, 0, false},        {5, 5, 6, false},
        {5, 5, -1, false},  {INT64_MAX, 0, 0, false}, {INT64_MAX, INT64_MAX, INT64_MAX, false}};
    struct search s;
    struct fr_blocks b;
    (void)state;
    start(&spaces[0], &s);
    assert_int_equal(fr_blocks_open(&s.job, &s.space, &s.options, &b, NULL), FR_OK);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct fr_text line = {0};
        fr_text_addf(&line, "block 0 %ld %ld 0 %d", (long)lines[i].evaluated,
                     (long)lines[i].feasible, (int)FR_REASON_COUNT);
        for (int r = 0; r < FR_REASON_COUNT; r++)
            fr_text_addf(&line, " %ld -1", (long)(r == 3 ? lines[i].because : 0));
        for (int m = 0; m < FR_SEARCH_METHODS && fr_methods[m]; m++)
            fr_text_addf(&line, " inf 0 -1");
        for (int u = 0; u <= FR_UNSURE; u++) /* the best exact plan, and these */
            fr_text_addf(&line, " inf 0 -1");
        fr_text_addf(&line, " 0 0 end");
        FR_TRUE(taken(&b, fr_text_get(&line)) == lines[i].good, "%s", fr_text_get(&line));
        fr_text_free(&line);
    }
    fr_blocks_free(&b);
    end(&s);
}

static uint64_t print_of(const struct search *s) {
    struct fr_blocks b;
    struct fr_error err = {0};
    assert_int_equal(fr_blocks_open(&s->job, &s->space, &s->options, &b, &err), FR_OK);
    uint64_t print = fr_blocks_print(&b);
    fr_blocks_free(&b);
    return print;
}

/* A name with its last letter changed is another search's, though all its times are the same. */
static void name_counts(const struct search *s, char *name, uint64_t first) {
    char *last = name + strlen(name) - 1, was = *last;
    *last = '~';
    FR_TRUE(print_of(s) != first, "%s", name);
    *last = was;
    FR_TRUE(print_of(s) == first, "%s", name);
}

static void number_counts(const struct search *s, double *number, uint64_t first) {
    double was = *number;
    *number = 0.25;
    FR_TRUE(print_of(s) != first, "%g and %g", was, *number);
    *number = was;
}

/* Another machine, other options or other plans are another search; threads are not. */
static void prints(void **state) {
    struct search s;
    (void)state;
    start(&spaces[3], &s);
    uint64_t first = print_of(&s);
    name_counts(&s, s.job.cluster.name, first);
    name_counts(&s, s.job.workload.name, first);
    name_counts(&s, s.job.cluster.runtime, first);
    number_counts(&s, &s.options.max_lossy, first);
    number_counts(&s, &s.options.fit, first);
    number_counts(&s, &s.options.memory_limit_B, first);
    s.options.threads = 7;
    assert_true(print_of(&s) == first);
    s.options.top = 11;
    assert_true(print_of(&s) != first);
    s.options.top = 10;
    s.job.cluster.levels.level[1].rate_B_per_s *= 1.001;
    assert_true(print_of(&s) != first);
    s.job.cluster.levels.level[1].rate_B_per_s /= 1.001;
    s.options.objective = FR_OBJECTIVE_EDP;
    assert_true(print_of(&s) != first);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_in_one_piece),
                                       cmocka_unit_test(lines_that_are_none),
                                       cmocka_unit_test(plans_of_a_line_are_its_own),
                                       cmocka_unit_test(counts_of_a_line_are_counts),
                                       cmocka_unit_test(joined_is_what_is_so),
                                       cmocka_unit_test(prints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
