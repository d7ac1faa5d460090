/* Tables of docs/reference/ that `forerun list` prints too, and the readers of published files, as their rows have them. */
#include "calibrate/samples/import.h"
#include "models/network/collective.h"
#include "models/plan/compression.h"
#include "models/plan/method.h"
#include "models/plan/schedule.h"
#include "tests/documents/schema.h"
#include "traces/format.h"
#include "trust/runs/reader.h"

/* A cell, and the bar behind it. */
static void cell(struct fr_text *row, const char *words) {
    fr_text_addf(row, " ");
    for (const char *at = words; *at; at++)
        fr_text_addf(row, "%s%c", strchr("|*", *at) ? "\\" : "", *at);
    fr_text_addf(row, " |");
}

static void name(struct fr_text *row, const char *word) { fr_text_addf(row, "| `%s` |", word); }

static void hold(const char *file, const char *head, struct fr_text *rows) {
    hold_table(file, head, fr_text_get(rows));
    fr_text_free(rows);
}

static void collectives(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_collective *const *c = fr_collectives; *c; c++) {
        name(&rows, (*c)->name);
        cell(&rows, fr_op_names[(*c)->op]);
        cell(&rows, (*c)->equation);
        cell(&rows, (*c)->source);
        fr_text_addf(&rows, "\n");
    }
    hold("docs/reference/collectives.md",
         "| algorithm | operation | time | source |\n|---|---|---|---|\n", &rows);
}

static void forms(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_form *const *f = fr_forms; *f; f++) {
        name(&rows, (*f)->name);
        cell(&rows, "collectives");
        cell(&rows, (*f)->equation);
        cell(&rows, (*f)->source);
        fr_text_addf(&rows, "\n");
    }
    for (const struct fr_gemm_form *const *g = fr_gemm_forms; *g; g++) {
        name(&rows, (*g)->name);
        cell(&rows, "products");
        cell(&rows, (*g)->equation);
        cell(&rows, (*g)->source);
        fr_text_addf(&rows, "\n");
    }
    hold("docs/reference/collectives.md",
         "| form | of | equation | source |\n|---|---|---|---|\n", &rows);
}

static void methods(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_method *const *m = fr_methods; *m; m++) {
        name(&rows, (*m)->name);
        cell(&rows, (*m)->exact ? "yes" : "no");
        cell(&rows, (*m)->summary);
        cell(&rows, (*m)->source);
        fr_text_addf(&rows, "\n");
    }
    hold("docs/reference/schedules.md",
         "| method | exact | divides | source |\n|---|---|---|---|\n", &rows);
}

static void schedules(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_schedule *const *s = fr_schedules; *s; s++) {
        name(&rows, (*s)->name);
        cell(&rows, (*s)->summary);
        cell(&rows, (*s)->source);
        fr_text_addf(&rows, "\n");
    }
    hold("docs/reference/schedules.md", "| schedule | order | source |\n|---|---|---|\n",
         &rows);
}

static void codecs(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_compression *const *c = fr_compressions; *c; c++) {
        name(&rows, (*c)->name);
        cell(&rows, (*c)->summary);
        cell(&rows, (*c)->source);
        fr_text_addf(&rows, "\n");
    }
    hold("docs/reference/schedules.md", "| codec | compresses | source |\n|---|---|---|\n",
         &rows);
}

static void importers(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_importer *const *i = fr_importers; *i; i++) {
        name(&rows, (*i)->spelling);
        cell(&rows, (*i)->reads);
        fr_text_addf(&rows, "\n");
    }
    hold("docs/reference/formats.md", "| format | reads |\n|---|---|\n", &rows);
}

static void traces(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_format *const *f = fr_formats; *f; f++) {
        name(&rows, (*f)->name);
        cell(&rows, (*f)->ending);
        cell(&rows, (*f)->summary);
        fr_text_addf(&rows, "\n");
    }
    hold("docs/reference/formats.md", "| format | ending | contents |\n|---|---|---|\n", &rows);
}

/* `about`, `source` and `columns` go together. */
static void readers(void **state) {
    struct fr_text rows = {0};
    (void)state;
    for (const struct fr_description *d = fr_run_readers; d->name; d++) {
        struct fr_run_reader reader;
        assert_int_equal(fr_run_reader_open(d, &reader, NULL), FR_OK);
        const char *about = fr_run_reader_says(&reader, "about"),
                   *source = fr_run_reader_says(&reader, "source");
        bool whole = fr_run_reader_says(&reader, "columns") != NULL;
        FR_TRUE(whole == (about && source), "%s: `about`, `source` and `columns` go together",
                d->name);
        if (whole) {
            name(&rows, d->name);
            cell(&rows, about);
            cell(&rows, source);
            fr_text_addf(&rows, "\n");
        }
        fr_run_reader_close(&reader);
    }
    hold("docs/reference/formats.md", "| reader | of | source |\n|---|---|---|\n", &rows);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collectives), cmocka_unit_test(forms),  cmocka_unit_test(methods),
        cmocka_unit_test(schedules),   cmocka_unit_test(codecs), cmocka_unit_test(importers),
        cmocka_unit_test(traces),      cmocka_unit_test(readers)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
