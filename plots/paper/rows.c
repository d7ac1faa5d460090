#include "plots/paper/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const double most = 1e30;

static fr_status read_row(const struct fr_json *node, struct fr_paper_row *row,
                          struct fr_error *err) {
    FR_TRY(fr_json_get_string(node, "paper", false, row->paper, sizeof row->paper, err));
    FR_TRY(fr_json_get_string(node, "id", true, row->id, sizeof row->id, err));
    FR_TRY(fr_json_get_string(node, "unit", true, row->unit, sizeof row->unit, err));
    FR_TRY(fr_json_get_string(node, "role", true, row->role, sizeof row->role, err));
    FR_TRY(fr_json_get_known(node, "published", -most, most, &row->published, err));
    FR_TRY(fr_json_get_known(node, "low", -most, most, &row->low, err));
    FR_TRY(fr_json_get_known(node, "high", -most, most, &row->high, err));
    return fr_json_get_known(node, "ours", -most, most, &row->ours, err);
}

fr_status fr_paper_rows_read(const struct fr_json *root, struct fr_paper_rows *rows,
                             struct fr_error *err) {
    static const char *const schemas[] = {"forerun/reproduce/1", NULL};
    int schema = 0;
    *rows = (struct fr_paper_rows){0};
    FR_TRY(fr_json_get_choice(root, "schema", true, schemas, &schema, err));
    FR_TRY(fr_json_get_string(root, "paper", true, rows->paper, sizeof rows->paper, err));
    FR_TRY(fr_json_get_string(root, "title", false, rows->title, sizeof rows->title, err));
    FR_TRY(
        fr_json_get_string(root, "version", false, rows->version, sizeof rows->version, err));
    struct fr_json list = fr_json_member(root, "rows");
    if (!fr_json_is_array(&list)) return fr_json_fail(root, err, "has no list \"rows\"");
    int64_t n = fr_json_array_length(&list);
    rows->row = fr_calloc((size_t)n + 1, sizeof *rows->row);
    if (!rows->row) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        struct fr_json node = fr_json_element(&list, i);
        FR_TRY(read_row(&node, &rows->row[rows->n++], err));
    }
    return FR_OK;
}

void fr_paper_rows_free(struct fr_paper_rows *rows) {
    free(rows->row);
    *rows = (struct fr_paper_rows){0};
}

/* The word at @p id, up to what the pattern goes on with, added to @p word.  @return its length, 0:
 * none. */
static size_t word_at(const char *id, char end, char word[FR_PAPER_WORD]) {
    size_t n = 0, used = strlen(word);
    if (used > 0 && used + 1 < FR_PAPER_WORD) word[used++] = ' ';
    bool to_the_end = end == '/' || !end; /* else to the last one of it */
    for (size_t i = 0; id[i] && id[i] != '/' && used + i + 1 < FR_PAPER_WORD; i++)
        if (to_the_end || id[i + 1] == end) n = i + 1;
    memcpy(word + used, id, n);
    word[used + n] = '\0';
    return n;
}

bool fr_paper_id_fits(const char *pattern, const char *id, char x[FR_PAPER_WORD],
                      char s[FR_PAPER_WORD]) {
    *x = *s = '\0';
    while (*pattern && *id) {
        bool word = pattern[0] == '{' && pattern[1] && pattern[2] == '}';
        if (word) {
            char any[FR_PAPER_WORD] = "";
            char *into = pattern[1] == 'x' ? x : pattern[1] == 's' ? s : any;
            size_t n = word_at(id, pattern[3], into);
            if (n == 0) return false;
            pattern += 3, id += n;
        } else if (*pattern++ != *id++)
            return false;
    }
    return !*pattern && !*id;
}
