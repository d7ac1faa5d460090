/* The growing text, and suggestions for misspelt words. */
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void text_grows(void **state) {
    struct fr_text text = {0};
    (void)state;
    assert_string_equal(fr_text_get(&text), "");
    for (int i = 0; i < 1000; i++) fr_text_addf(&text, "%03d,", i);
    fr_text_add(&text, "a\0b", 3);
    assert_false(text.failed);
    assert_int_equal(text.length, 4003);
    assert_memory_equal(text.data + 3996, "999,a\0b", 8);
    fr_text_free(&text);
    assert_string_equal(fr_text_get(&text), "");
}

static const char *const keys[] = {"dp",      "pp",           "tp",          "method",
                                   "ghost",   "global_batch", "micro_batch", "bandwidth",
                                   "latency", "iterations",   NULL};

static void suggests(const char *word, const char *want) {
    const char *got = fr_suggest(word, keys);
    if (got != want && (!got || !want || strcmp(got, want) != 0))
        fail_msg("\"%s\": got %s, wanted %s", word, got ? got : "nothing",
                 want ? want : "nothing");
}

static void a_slip_finds_its_word(void **state) {
    (void)state;
    suggests("gohst", "ghost");
    suggests("bandwith", "bandwidth");
    suggests("Latency", "latency");
    suggests("globalbatch", "global_batch");
    suggests("iter", "iterations"); /* a beginning of it */
    suggests("tpx", "tp");
    suggests("mehtod", "method");
}

static void a_strange_word_finds_none(void **state) {
    char long_word[301];
    (void)state;
    suggests("colour", NULL);
    suggests("zzzzzzzzzz", NULL);
    suggests("", NULL);
    memset(long_word, 'x', 300);
    long_word[300] = '\0';
    suggests(long_word, NULL);
}

/* A full line stays full: the byte behind it is never touched, and later words are cut. */
static void a_line_keeps_to_its_room(void **state) {
    char line[10] = ".........";
    size_t used = 0;
    (void)state;
    for (int i = 0; i < 5; i++) fr_line_addf(line, 8, &used, "%d-", 12 + i);
    assert_string_equal(line, "12-13-1");
    assert_int_equal(used, 7);
    assert_int_equal(line[8], '.');
    fr_line_addf(line, 8, &used, "%s", "");
    assert_string_equal(line, "12-13-1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(a_line_keeps_to_its_room),
        cmocka_unit_test(a_slip_finds_its_word),
        cmocka_unit_test(a_strange_word_finds_none),
    };
    return cmocka_run_group_tests_name("base.text", tests, NULL, NULL);
}
