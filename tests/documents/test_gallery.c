/* The table of docs/gallery.md: published steps beside what `forerun score` predicts of docs/gallery/published.csv. */
#include <stdio.h>

#include "base/csv.h"
#include "tests/documents/schema.h"

static const char command[] =
    FR_BIN_DIR "/forerun score --json --runs " FR_SOURCE_DIR "/docs/gallery/published.csv";

static void read_answer(struct fr_text *out) {
    char piece[4096];
    FILE *pipe = popen(command, "r");
    for (size_t n; pipe && (n = fread(piece, 1, sizeof piece, pipe)) > 0;)
        fr_text_add(out, piece, n);
    FR_TRUE(pipe && pclose(pipe) == 0, "%s: fails", command);
}

static double number(const struct fr_json *row, const char *key) {
    double value = 0;
    assert_int_equal(fr_json_get_number(row, key, true, -1e9, 1e9, &value, NULL), FR_OK);
    return value;
}

static void put_row(struct fr_text *rows, const struct fr_csv *csv, int i,
                    const struct fr_json *row) {
    const char *const notes[] = {"note.name", "note.devices", "note.source"};
    const char *cell[3];
    for (int k = 0; k < 3; k++) cell[k] = fr_csv_get(csv, i, notes[k]);
    assert_string_equal(fr_csv_get(csv, i, "id"), fr_json_text_at(row, "id"));
    fr_text_addf(rows, "| %s | %s | %.3g s | %.3g s | %.3g to %.3g s | %+.0f %% | %s |\n",
                 cell[0], cell[1], number(row, "measured_s"), number(row, "predicted_s"),
                 number(row, "low_s"), number(row, "high_s"), 100 * number(row, "error"),
                 cell[2]);
}

static void published(void **state) {
    struct fr_text answer = {0}, table = {0};
    struct fr_json_document *document = NULL;
    struct fr_csv csv;
    (void)state;
    read_answer(&answer);
    assert_int_equal(
        fr_json_parse(fr_text_get(&answer), answer.length, "score", &document, NULL), FR_OK);
    assert_int_equal(fr_csv_read(FR_SOURCE_DIR "/docs/gallery/published.csv", &csv, NULL),
                     FR_OK);
    struct fr_json root = fr_json_root(document), rows = fr_json_member(&root, "rows");
    assert_int_equal(fr_json_array(&rows, csv.n_rows, csv.n_rows, NULL), FR_OK);
    for (int i = 0; i < csv.n_rows; i++) {
        struct fr_json row = fr_json_element(&rows, i);
        put_row(&table, &csv, i, &row);
    }
    hold_table("docs/gallery.md",
               "| model | devices | published step | predicted step | 90 % interval | error | "
               "published in |\n|---|---|---|---|---|---|---|\n",
               fr_text_get(&table));
    fr_csv_free(&csv);
    fr_json_free(document);
    fr_text_free(&answer);
    fr_text_free(&table);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(published)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
