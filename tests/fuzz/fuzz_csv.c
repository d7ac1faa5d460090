/* Any bytes are a table or are refused with a place; a cell written comes back as it was, and
 * begins like no formula. */
#include "base/csv.h"
#include "tests/fuzz/fuzz.h"

static void comes_back(const char *cell) {
    struct fr_text text = {0};
    struct fr_csv csv;
    fr_text_addf(&text, "a\n");
    fr_csv_put(&text, cell);
    fr_text_addf(&text, ",\n");
    FR_FUZZ_REQUIRE(!strchr("=@\t\r", text.data[2]));
    /* The comma makes a row of two cells, so an empty one is a row too. */
    text.data[0] = 'a';
    struct fr_text whole = {0};
    fr_text_addf(&whole, "a,b\n%s", text.data + 2);
    FR_FUZZ_REQUIRE(fr_csv_parse(whole.data, whole.length, "back", &csv, NULL) == FR_OK);
    bool marked = cell[0] == '\'' && cell[1] && strchr("=+-@\t\r", cell[1]);
    FR_FUZZ_REQUIRE(strcmp(fr_csv_get(&csv, 0, "a"), cell + marked) == 0);
    fr_csv_free(&csv);
    fr_text_free(&whole);
    fr_text_free(&text);
}

FR_FUZZ_TEXT(text, size) {
    struct fr_csv csv;
    struct fr_error err = {0};
    if (fr_csv_parse(text, size, "fuzz", &csv, &err) == FR_OK) {
        for (int i = 0; i < csv.n_rows * csv.n_columns && i < 64; i++) comes_back(csv.cell[i]);
        for (int c = 0; c < csv.n_columns && csv.n_rows > 0; c++)
            FR_FUZZ_REQUIRE(fr_csv_get(&csv, csv.n_rows - 1, csv.column[c]) != NULL);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_csv_free(&csv);
}
