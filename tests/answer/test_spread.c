/* test_spread [CHANGES] -- a checkpoint of which a byte was changed, cut off or put in, or a line taken away, doubled
 * or swapped: the search that goes on with it has the answer of an unharmed one, or refuses it with the line. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer/search/spread.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "tests/job.h"

static char path[] = "/tmp/forerun-spread-XXXXXX";
static int n_changes = 60;

static struct fr_job job;
static struct fr_space space;
static const struct fr_search_options options = {.top = 12, .max_lossy = 1, .threads = 1};
static struct fr_search_result whole;

static int n_known;
static void count(const char *place, const char *why) {
    (void)place;
    (void)why;
    n_known++;
}

static void load(void) {
    static const char *const vary[] = {"tp=1,2,4,8",
                                       "pp=1,2,4,8",
                                       "global_batch=64,128,256",
                                       "chunks=1,2,4",
                                       "schedule=1f1b,interleaved,gpipe",
                                       "zero=0..3"};
    struct fr_error err = {0};
    fr_test_job("a100-hdr", "gpt-2.5b", NULL, &job);
    if (fr_space_make("16,32,64,128", vary, 6, &job.plan, false, true, NULL, &space, &err) !=
        FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
}

static fr_status search(bool resume, bool force, struct fr_search_result *result,
                        struct fr_error *err) {
    const struct fr_spread spread = {
        .checkpoint = path, .reads = true, .resume = resume, .force = force};
    *result = (struct fr_search_result){0};
    *err = (struct fr_error){.status = FR_OK};
    n_known = 0;
    return fr_spread_search(&spread, &job, &space, &options, result, err);
}

static bool same_list(const struct fr_found_list *a, const struct fr_found_list *b) {
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->items[i].index == b->items[i].index &&
               a->items[i].outcome.time_s == b->items[i].outcome.time_s &&
               a->items[i].outcome.memory_peak_B == b->items[i].outcome.memory_peak_B;
    return same;
}

static bool same_answer(const struct fr_search_result *a, const struct fr_search_result *b) {
    bool same = a->evaluated == b->evaluated && a->feasible == b->feasible &&
                a->read == b->read && a->ranked.count == b->ranked.count &&
                memcmp(a->because, b->because, sizeof a->because) == 0 &&
                memcmp(a->of_method, b->of_method, sizeof a->of_method) == 0 &&
                same_list(&a->top, &b->top) && same_list(&a->pareto, &b->pareto);
    for (size_t i = 0; same && i < a->ranked.count; i++)
        same = memcmp(&a->ranked.items[i], &b->ranked.items[i], sizeof *a->ranked.items) == 0;
    for (int r = 0; same && r < FR_REASON_COUNT; r++)
        same = a->example[r].index == b->example[r].index;
    return same;
}

static uint64_t draw(uint64_t *random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return *random >> 33;
}

/* Begin and end of a line drawn. */
static void draw_line(const char *data, size_t length, uint64_t *random, size_t *begin,
                      size_t *end) {
    size_t at = (size_t)draw(random) % length;
    while (at > 0 && data[at - 1] != '\n') at--;
    *begin = at;
    while (data[at] != '\n') at++;
    *end = at + 1;
}

/* One of the ways that a file is damaged, in words. */
static void damage(const char *data, size_t length, uint64_t *random, struct fr_text *out,
                   char *what, size_t capacity) {
    size_t at = (size_t)draw(random) % length, begin, end, begin2, end2;
    draw_line(data, length, random, &begin, &end);
    draw_line(data, length, random, &begin2, &end2);
    switch (draw(random) % 10) {
    case 0:
        fr_text_add(out, data, at);
        snprintf(what, capacity, "cut at %zu", at);
        return;
    case 1:
        fr_text_add(out, data, at);
        fr_text_add(out, data + at + 1, length - at - 1);
        snprintf(what, capacity, "byte %zu deleted", at);
        return;
    case 2:
        fr_text_add(out, data, at);
        fr_text_add(out, draw(random) & 1 ? "\n" : "", 1);
        fr_text_add(out, data + at, length - at);
        snprintf(what, capacity, "a byte put in at %zu", at);
        return;
    case 3:
        fr_text_add(out, data, end);
        fr_text_add(out, data + begin, length - begin);
        snprintf(what, capacity, "line at %zu doubled", begin);
        return;
    case 4:
        fr_text_add(out, data, begin);
        fr_text_add(out, data + end, length - end);
        snprintf(what, capacity, "line at %zu deleted", begin);
        return;
    case 5:
        if (begin2 <= begin) break;
        fr_text_add(out, data, begin);
        fr_text_add(out, data + begin2, end2 - begin2);
        fr_text_add(out, data + end, begin2 - end);
        fr_text_add(out, data + begin, end - begin);
        fr_text_add(out, data + end2, length - end2);
        snprintf(what, capacity, "lines at %zu and %zu swapped", begin, begin2);
        return;
    default:
        break;
    }
    fr_text_add(out, data, length);
    out->data[at] = (char)(data[at] ^ (1 + (int)(draw(random) % 255)));
    snprintf(what, capacity, "byte %zu changed to %d", at, out->data[at]);
}

static void a_damaged_one_gives_the_same_answer_or_none(void **state) {
    uint64_t random = 77003;
    char *data = NULL, what[100];
    size_t length = 0;
    int n_same = 0, n_refused = 0, n_dropped = 0;
    (void)state;
    assert_int_equal(fr_file_read(path, 1 << 26, &data, &length, NULL), FR_OK);
    for (int i = 0; i < n_changes; i++) {
        struct fr_text text = {0};
        struct fr_search_result again;
        struct fr_error err;
        damage(data, length, &random, &text, what, sizeof what);
        assert_int_equal(fr_file_write(path, fr_text_get(&text), text.length, NULL), FR_OK);
        fr_status status = search(true, false, &again, &err);
        if (status == FR_OK && !same_answer(&whole, &again))
            fail_msg("%s: another answer", what);
        if (status != FR_OK && (status != FR_ERR_INPUT ||
                                !(strstr(err.where, "line") || strstr(err.detail, "line"))))
            fail_msg("%s: %s: %s", what, err.where, err.detail);
        n_same += status == FR_OK;
        n_refused += status != FR_OK;
        n_dropped += n_known > 0;
        fr_search_result_free(&again);
        fr_text_free(&text);
        /* A resumed search is whole again. */
        if (status != FR_OK) continue;
        assert_int_equal(search(true, false, &again, &err), FR_OK);
        if (n_known > 0) fail_msg("%s: dropped once more", what);
        fr_search_result_free(&again);
    }
    print_message("%d as undisturbed, %d refused; of %d lines were dropped\n", n_same,
                  n_refused, n_dropped);
    assert_true(n_same > n_refused && n_dropped > n_changes / 3);
    assert_int_equal(fr_file_write(path, data, length, NULL), FR_OK);
    free(data);
}

/* A file of another search, or of no search, is refused and left as it is. */
static void what_is_none_of_ours_is_refused(void **state) {
    static const char unknown[] =
        "{\"kind\": \"search\", \"schema\": \"forerun/search-checkpoint/99\", \"question\": "
        "\"0123456789abcdef\", \"digest\": \"0123456789abcdef\"}\n";
    static const char *const texts[] = {
        "[1, 2]",
        "{\"kind\": \"search\"}",
        "{}\n",
        "block 0 1 1 end\n",
        "forerun/search-checkpoint/1 0123456789abcdef 4 blocks of 2048\n",
        unknown};
    char *before = NULL;
    size_t length = 0;
    (void)state;
    assert_int_equal(fr_file_read(path, 1 << 26, &before, &length, NULL), FR_OK);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fr_search_result result;
        struct fr_error err;
        char *now = NULL;
        size_t n = 0;
        assert_int_equal(fr_file_write(path, texts[i], strlen(texts[i]), NULL), FR_OK);
        assert_int_equal(search(true, false, &result, &err), FR_ERR_INPUT);
        assert_int_equal(search(false, false, &result, &err), FR_ERR_USAGE);
        assert_int_equal(fr_file_read(path, 1 << 20, &now, &n, NULL), FR_OK);
        assert_string_equal(now, texts[i]);
        free(now);
    }
    assert_int_equal(fr_file_write(path, before, length, NULL), FR_OK);
    free(before);
}

/* A second search is refused by the first one's process and host, --force too, and changes nothing. */
static void one_search_at_a_time(void **state) {
    struct fr_keep keep;
    struct fr_search_result result;
    struct fr_error err;
    char wanted[64], host[65] = "";
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        fr_status held = fr_keep_take(path, &keep, NULL);
        (void)!write(ends[1], held == FR_OK ? "y" : "n", 1);
        for (;;) pause();
    }
    assert_int_equal(read(ends[0], wanted, 1), 1);
    assert_int_equal(*wanted, 'y');
    char *before = NULL, *after = NULL;
    size_t n_before = 0, n_after = 0;
    assert_int_equal(fr_file_read(path, 1 << 26, &before, &n_before, NULL), FR_OK);
    gethostname(host, sizeof host - 1);
    snprintf(wanted, sizeof wanted, "process %d on host %.30s", (int)child, host);
    for (int force = 0; force < 2; force++) {
        assert_int_equal(search(!force, force, &result, &err), FR_ERR_IO);
        if (!strstr(err.detail, wanted)) fail_msg("%s; wanted %s", err.detail, wanted);
    }
    assert_int_equal(fr_file_read(path, 1 << 26, &after, &n_after, NULL), FR_OK);
    assert_true(n_before == n_after && memcmp(before, after, n_after) == 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(search(true, false, &result, &err), FR_OK);
    assert_true(same_answer(&whole, &result));
    fr_search_result_free(&result);
    free(before);
    free(after);
    close(ends[0]);
    close(ends[1]);
}

/* A line of plans of this search that are not as it says, with a digest that fits: refused, not printed. */
static void a_forged_line_is_refused(void **state) {
    struct fr_journal journal;
    struct fr_search_result result;
    struct fr_error err = {0};
    (void)state;
    assert_int_equal(fr_journal_read(path, 1 << 26, &journal, &err), FR_OK);
    char *value = strstr(journal.text, "0x1."); /* of the best of a method */
    assert_non_null(value);
    value[4] = value[4] == '1' ? '2' : '1';
    assert_int_equal(
        fr_journal_write(path, journal.text, journal.length, journal.question, &err), FR_OK);
    fr_status status = search(true, false, &result, &err);
    if (status == FR_OK) assert_true(same_answer(&whole, &result));
    fr_search_result_free(&result);
    fr_journal_free(&journal);
    assert_int_equal(search(false, true, &result, &err), FR_OK);
    assert_true(same_answer(&whole, &result));
    fr_search_result_free(&result);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_one_gives_the_same_answer_or_none),
        cmocka_unit_test(what_is_none_of_ours_is_refused),
        cmocka_unit_test(one_search_at_a_time),
        cmocka_unit_test(a_forged_line_is_refused),
    };
    struct fr_error err;
    int fd = mkstemp(path);
    if (argc > 1) n_changes = atoi(argv[1]);
    if (fd < 0) return 1;
    close(fd);
    load();
    if (search(false, false, &whole, &err) != FR_OK) {
        printf("%s: %s\n", err.where, err.detail);
        return 1;
    }
    fr_journal_on_message(count);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fr_search_result_free(&whole);
    fr_space_free(&space);
    fr_job_free(&job);
    unlink(path);
    return failed;
}
