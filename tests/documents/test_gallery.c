/* Pictures of docs/ state the version that drew them, which is the program's.  The table of docs/gallery.md has published
 * steps beside what `forerun score` predicts of docs/gallery/published.csv. */
#include <glob.h>
#include <stdio.h>

#include "base/csv.h"
#include "base/text/version.h"
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

/* Length of the version, three numbers with points between them, that begins at @p at; 0: none does. */
static size_t version_at(const char *at) {
    int n = 0;
    return sscanf(at, "%*[0-9].%*[0-9].%*[0-9]%n", &n) == 0 ? (size_t)n : 0;
}

/* Hold every word of @p svg that is a version against the program's; texts stand between > and <. @return how many */
static int versions_of(const char *svg, const char *path) {
    bool text = false;
    int found = 0;
    for (const char *at = svg + 1; *at; at++) {
        text = at[-1] == '>' || (text && *at != '<');
        bool begins = text && (at[-1] == '>' || at[-1] == ' ');
        size_t n = begins ? version_at(at) : 0;
        if (n == 0) continue;
        FR_TRUE(n == strlen(fr_version) && strncmp(at, fr_version, n) == 0,
                "%s was drawn by %.*s, this is %s: try cmake --build build/release --target "
                "pictures",
                path, (int)n, at, fr_version);
        found++;
    }
    return found;
}

static void pictures_are_of_this_version(void **state) {
    static const char *const folders[] = {"gallery", "pictures", "explanation/pictures"};
    (void)state;
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        char pattern[512];
        glob_t all;
        snprintf(pattern, sizeof pattern, FR_SOURCE_DIR "/docs/%s/*.svg", folders[f]);
        assert_int_equal(glob(pattern, 0, NULL, &all), 0);
        for (size_t i = 0; i < all.gl_pathc; i++) {
            char *svg = NULL;
            size_t length = 0;
            assert_int_equal(fr_file_read(all.gl_pathv[i], 1 << 24, &svg, &length, NULL),
                             FR_OK);
            FR_TRUE(versions_of(svg, all.gl_pathv[i]) > 0, "%s states no version",
                    all.gl_pathv[i]);
            free(svg);
        }
        globfree(&all);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(published),
                                       cmocka_unit_test(pictures_are_of_this_version)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
