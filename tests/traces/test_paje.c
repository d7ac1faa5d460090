/* Paje traces, line by line: every event defined with as many fields as it is given, times that
 * ascend, states pushed and popped in turn, links that start before they end. */
#include "tests/traces/timelines.h"

#include <ctype.h>

enum { EVENTS_MAX = 16, FIELDS_MAX = 8, STACKS = 256 };

struct reader {
    char name[EVENTS_MAX][40];
    int fields[EVENTS_MAX], defining;
    double now_s;
    int open[STACKS];
    int64_t pushed, popped, started, ended;
    char link[RANDOM_SPANS_MAX]; /* 0, started, ended */
};

/* Split at blanks, quoted parts whole.  @return the number of fields. */
static int split(char *line, char *field[FIELDS_MAX]) {
    int n = 0;
    for (char *c = line; *c;) {
        while (*c == ' ' || *c == '\t') *c++ = '\0';
        if (!*c) break;
        bool quoted = *c == '"';
        FR_TRUE(n < FIELDS_MAX, "too many fields");
        field[n++] = quoted ? c + 1 : c;
        c = quoted ? strchr(c + 1, '"') : c + strcspn(c, " \t");
        FR_TRUE(c, "a quote is not closed");
        if (quoted) *c++ = '\0';
    }
    return n;
}

static void define(struct reader *r, const char *line) {
    if (sscanf(line, "%%EventDef %*s %d", &r->defining) == 1)
        sscanf(line, "%%EventDef %39s", r->name[r->defining]);
    else if (strncmp(line, "%EndEventDef", 12) != 0)
        r->fields[r->defining]++;
}

/* "R3S1L0" */
static int *stack_of(struct reader *r, const char *container) {
    int rank, stream, lane;
    assert_int_equal(sscanf(container, "R%dS%dL%d", &rank, &stream, &lane), 3);
    return &r->open[(rank * FR_STREAM_COUNT + stream) * 4 + lane];
}

static void follow_link(struct reader *r, const char *key, bool starts) {
    int message;
    assert_int_equal(sscanf(key, "m%d", &message), 1);
    FR_TRUE(r->link[message] == (starts ? 0 : 1), "link %d starts %d", message, starts);
    r->link[message]++;
    starts ? r->started++ : r->ended++;
}

static void read_event(struct reader *r, char *line) {
    char *field[FIELDS_MAX];
    int n = split(line, field), event = atoi(field[0]);
    FR_TRUE(isdigit((unsigned char)*field[0]) && event < EVENTS_MAX && *r->name[event],
            "event %s is not defined", field[0]);
    assert_int_equal(n, r->fields[event] + 1);
    const char *name = r->name[event];
    if (!strncmp(name, "PajeDefine", 10)) return;
    double at_s = strtod(field[1], NULL);
    FR_TRUE(at_s >= r->now_s, "%s at %s, before %.9f", name, field[1], r->now_s);
    FR_TRUE(strlen(strchr(field[1], '.')) == 10, "%s has not nine decimals", field[1]);
    r->now_s = at_s;
    if (!strcmp(name, "PajePushState")) {
        FR_TRUE((*stack_of(r, field[3]))++ == 0, "two states in %s at %s", field[3], field[1]);
        r->pushed++;
    } else if (!strcmp(name, "PajePopState")) {
        FR_TRUE(--*stack_of(r, field[3]) == 0, "no state in %s at %s", field[3], field[1]);
        r->popped++;
    } else if (!strcmp(name, "PajeStartLink") || !strcmp(name, "PajeEndLink"))
        follow_link(r, field[6], name[4] == 'S');
}

static struct reader read_trace(const struct fr_timeline *t, const struct fr_trace_options *o) {
    struct fr_text text = written(&fr_format_paje, t, o);
    struct reader r = {.now_s = 0};
    for (char *line = text.data, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        FR_TRUE(end, "the last line is not ended");
        *end = '\0';
        if (*line == '%')
            define(&r, line);
        else if (*line != '#')
            read_event(&r, line);
    }
    fr_text_free(&text);
    return r;
}

static void laws(void **state) {
    static struct fr_span spans[RANDOM_SPANS_MAX];
    (void)state;
    for (uint64_t seed = 0; seed <= 10; seed++) {
        struct fr_timeline t = seed ? random_timeline(seed, spans) : hand;
        int64_t messages = 0;
        for (int64_t i = 0; i < t.count; i++) messages += t.spans[i].stream == FR_STREAM_SEND;
        struct reader r = read_trace(&t, &(struct fr_trace_options){0});
        assert_int_equal(r.pushed, t.count);
        assert_int_equal(r.popped, t.count);
        assert_int_equal(r.started, messages);
        assert_int_equal(r.ended, messages);
        assert_true(fabs(r.now_s - t.makespan_s) < 1e-9);
    }
}

static void hostile_texts_stay_in_their_line(void **state) {
    static const struct fr_trace_note notes[] = {{"a\nb", "x\n0 Y \"unclosed"}};
    static const char wanted[] = "# title: t %EventDef\n# a b: x 0 Y 'unclosed\n%EventDef ";
    struct fr_trace_options o = {.title = "t\n%EventDef", .notes = notes, .n_notes = 1};
    struct fr_text text = written(&fr_format_paje, &hand, &o);
    (void)state;
    assert_int_equal(strncmp(text.data, wanted, strlen(wanted)), 0);
    fr_text_free(&text);
    read_trace(&hand, &o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws),
        cmocka_unit_test(hostile_texts_stay_in_their_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
