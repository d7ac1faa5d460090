/* docs/evidence/ and docs/explanation/accuracy.md hold what tables say today: `cmake --build BUILD --target accuracy`. */
#ifndef FR_TESTS_PAPER_ACCURACY_H
#define FR_TESTS_PAPER_ACCURACY_H

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/json.h"
#include "base/text/marked.h"
#include "studies/training/markdown.h"
#include "tests/cmocka.h"

/* Step over a number that is the same but for its last place (another libm), or an equal byte. */
static inline bool accuracy_agree(const char **a, const char **b) {
    char *end[2] = {NULL, NULL};
    if (!isdigit((unsigned char)**a) || !isdigit((unsigned char)**b)) return *(*a)++ == *(*b)++;
    double x = strtod(*a, &end[0]), y = strtod(*b, &end[1]);
    *a = end[0];
    *b = end[1];
    return fabs(x - y) <= 0.02;
}

static inline void accuracy_agrees(const char *file, const char *mark, const char *now) {
    struct fr_text written = {0};
    struct fr_error err = {0};
    char path[512];
    snprintf(path, sizeof path, FR_SOURCE_DIR "/docs/%s", file);
    if (fr_marked_read(path, mark, &written, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    const char *a = now, *b = fr_text_get(&written);
    while (*a && accuracy_agree(&a, &b)) continue;
    FR_TRUE(!*a && !*b, "%s: \"%.80s\", the tables: \"%.80s\"; build accuracy", path, b, a);
    fr_text_free(&written);
}

/* The whole tables in docs/@p file, the short one in docs/explanation/accuracy.md. */
static inline void accuracy_is_up_to_date(const struct fr_reproduction *r, const char *mark,
                                          const char *file) {
    struct fr_text whole = {0}, brief = {0};
    char brief_mark[96];
    snprintf(brief_mark, sizeof brief_mark, "%s" FR_BRIEF_MARK, mark);
    fr_training_markdown(r, &whole);
    fr_training_brief(r, &brief);
    accuracy_agrees(file, mark, fr_text_get(&whole));
    accuracy_agrees("explanation/accuracy.md", brief_mark, fr_text_get(&brief));
    fr_text_free(&whole);
    fr_text_free(&brief);
}

/* Judged rows hold, but for those of @p known_misses (NULL ends), which must really miss; every row has a
 * value and none is skipped.  @return rows of single runs */
static inline size_t accuracy_rows_hold(const struct fr_reproduction *r,
                                        const char *const *known_misses) {
    size_t runs = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct fr_reproduce_row *x = &r->rows[i];
        bool known = false;
        for (size_t k = 0; known_misses[k]; k++) known |= strcmp(known_misses[k], x->id) == 0;
        runs += x->detail;
        FR_TRUE(isfinite(x->ours), "%s has no value", x->id);
        FR_TRUE(strncmp(x->id, "skipped", 7) != 0, "%s: %s", x->id, x->note);
        if (x->judged && !x->detail)
            FR_TRUE(x->holds != known, "%s: got %g, %s", x->id, x->ours, x->note);
    }
    return runs;
}

/* The value of `mape` that a command of the page prints with --json; @p data is where "../shared/data" is here. */
static inline double accuracy_printed(const char *command, const char *data) {
    static const char shared[] = "../shared/data";
    struct fr_text line = {0}, out = {0};
    struct fr_json_document *document = NULL;
    double mape = NAN;
    fr_text_addf(&line, "PATH='%s':$PATH; ", FR_BIN_DIR);
    for (const char *at = command, *next; *at; at = next) {
        next = strstr(at, shared);
        size_t length = next ? (size_t)(next - at) : strlen(at);
        fr_text_add(&line, at, length);
        if (next) fr_text_addf(&line, "'%s'", data);
        next = next ? next + sizeof shared - 1 : at + length;
    }
    fr_text_addf(&line, " --json");
    FILE *pipe = popen(fr_text_get(&line), "r");
    char piece[4096];
    for (size_t n; pipe && (n = fread(piece, 1, sizeof piece, pipe)) > 0;)
        fr_text_add(&out, piece, n);
    FR_TRUE(pipe && pclose(pipe) == 0, "%s: fails", fr_text_get(&line));
    assert_int_equal(fr_json_parse(fr_text_get(&out), out.length, command, &document, NULL),
                     FR_OK);
    struct fr_json root = fr_json_root(document);
    fr_json_get_number(&root, "mape", true, 0, 1e9, &mape, NULL);
    fr_json_free(document);
    fr_text_free(&line);
    fr_text_free(&out);
    return mape;
}

/* Every table of runs says the command that a user would type, and that prints what the table claims of the preset
 * alone.  @return how many tables */
static inline int accuracy_commands_agree(const struct fr_reproduction *r, const char *file) {
    static const char alone[] = "/preset_alone", command[] = "/command";
    char data[512];
    int tables = 0;
    if (!fr_data_find(file, data, sizeof data)) return 0;
    data[strlen(data) - strlen(file) - 1] = '\0';
    for (size_t i = 0; i < r->count; i++) {
        const char *end = strrchr(r->rows[i].id, '/');
        if (!end || strcmp(end, alone) != 0) continue;
        size_t length = (size_t)(end - r->rows[i].id), k = i + 1;
        while (k < r->count && (strncmp(r->rows[k].id, r->rows[i].id, length) != 0 ||
                                strcmp(r->rows[k].id + length, command) != 0))
            k++;
        FR_TRUE(k < r->count, "%.*s: no command prints it", (int)length, r->rows[i].id);
        double printed = accuracy_printed(r->rows[k].note, data);
        FR_TRUE(fabs(printed / r->rows[i].ours - 1) < 1e-9, "%s: prints %.9g, the table %.9g",
                r->rows[k].note, printed, r->rows[i].ours);
        tables++;
    }
    return tables;
}

#endif
