/* All figures and tables of a paper that `forerun reproduce PAPER --json` has rows of, into one
 * folder: a picture a figure, one column wide, and LaTeX and Markdown a table. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "plots/paper/sheet.h"

/* Where @p prefix@p name.@p ending goes. */
static void path_of(const char *folder, const char *prefix, const char *name,
                    const char *ending, struct fr_text *path) {
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    fr_text_addf(path, "%.*s/%s%s.%s", (int)length, folder, prefix, name, ending);
}

static fr_status draw_sheet(const struct fr_sheet *sheet, const struct fr_paper_rows *rows,
                            const char *prefix, const struct fr_figure_options *o,
                            struct fr_error *err) {
    struct fr_text path = {0};
    struct fr_picture p;
    struct fr_figure_options own = *o;
    path_of(o->output, prefix, sheet->name, o->format ? o->format : "svg", &path);
    own.output = fr_text_get(&path);
    fr_picture_begin(&p, 1, 1);
    p.o = &own;
    fr_sheet_draw(sheet, rows, &p);
    fr_status status = fr_picture_end(&p, FR_OK, &own, err);
    fr_text_free(&path);
    return status;
}

static fr_status write_table(const struct fr_sheet_table *table,
                             const struct fr_paper_rows *rows, bool tex, const char *prefix,
                             const char *folder, struct fr_error *err) {
    struct fr_text text = {0}, path = {0};
    (tex ? fr_sheet_table_latex : fr_sheet_table_markdown)(table, rows, &text);
    path_of(folder, prefix, table->name, tex ? "tex" : "md", &path);
    fr_status status = FR_OK;
    if (text.failed || path.failed)
        status = fr_fail(err, FR_ERR_NOMEM, folder, "out of memory");
    else if (text.length)
        status = fr_file_write_last(path.data, text.data, text.length, err);
    fr_text_free(&text), fr_text_free(&path);
    return status;
}

static fr_status draw_rows(const struct fr_paper_rows *rows, const char *prefix,
                           const struct fr_figure_options *o, struct fr_error *err) {
    fr_status status = FR_OK;
    for (const struct fr_sheet *s = fr_sheets; s->name && status == FR_OK; s++)
        if (strcmp(s->paper, rows->paper) == 0 && fr_sheet_stated(s, rows))
            status = draw_sheet(s, rows, prefix, o, err);
    for (const struct fr_sheet_table *t = fr_sheet_tables; t->name && status == FR_OK; t++) {
        if (strcmp(t->paper, rows->paper) != 0) continue;
        status = write_table(t, rows, true, prefix, o->output, err);
        if (status == FR_OK) status = write_table(t, rows, false, prefix, o->output, err);
    }
    return status;
}

/* ---- one paper, or several -------------------------------------------------------------------- */

/* The rows from @p from on that are of one paper, borrowed.  @return where the next begin. */
static size_t part_of(const struct fr_json *root, const struct fr_paper_rows *rows, size_t from,
                      struct fr_paper_rows *part) {
    const struct fr_json titles = fr_json_member(root, "papers");
    const char *paper = from < rows->n ? rows->row[from].paper : "";
    size_t end = from;
    while (end < rows->n && strcmp(rows->row[end].paper, paper) == 0) end++;
    *part = *rows;
    part->row = rows->row + from;
    part->n = end - from;
    if (!*paper) return end;
    snprintf(part->paper, sizeof part->paper, "%s", paper);
    snprintf(part->title, sizeof part->title, "%s",
             fr_json_is_object(&titles) ? fr_json_text_at(&titles, paper) : "");
    return end;
}

static bool is_stated(const struct fr_paper_rows *rows) {
    for (const struct fr_sheet *s = fr_sheets; s->name; s++)
        if (strcmp(s->paper, rows->paper) == 0 && fr_sheet_stated(s, rows)) return true;
    return false;
}

/* Is there anything to draw?  Else the papers that have figures are named. */
static fr_status check(const struct fr_json *root, const struct fr_paper_rows *rows,
                       struct fr_error *err) {
    struct fr_text papers = {0};
    struct fr_paper_rows part;
    for (size_t from = 0; from < rows->n;) {
        from = part_of(root, rows, from, &part);
        if (is_stated(&part)) return FR_OK;
    }
    for (const struct fr_sheet *s = fr_sheets; s->name; s++)
        if (s == fr_sheets || strcmp(s->paper, s[-1].paper) != 0)
            fr_text_addf(&papers, "%s%s", papers.length ? ", " : "", s->paper);
    fr_status status =
        fr_json_fail(root, err, "has no figures of \"%s\"; there are those of %s", rows->paper,
                     fr_text_get(&papers));
    fr_text_free(&papers);
    return status;
}

/* Of several papers each file says whose it is: phantom-fig5.svg. */
static fr_status draw_parts(const struct fr_json *root, const struct fr_paper_rows *rows,
                            const struct fr_figure_options *o, struct fr_error *err) {
    struct fr_paper_rows part;
    fr_status status = FR_OK;
    for (size_t from = 0; from < rows->n && status == FR_OK;) {
        char prefix[48] = "";
        from = part_of(root, rows, from, &part);
        if (*part.row->paper) snprintf(prefix, sizeof prefix, "%s-", part.paper);
        if (is_stated(&part)) status = draw_rows(&part, prefix, o, err);
    }
    return status;
}

static fr_status draw_folder(const struct fr_json *root, const struct fr_figure_options *o,
                             struct fr_error *err) {
    struct fr_paper_rows rows;
    fr_status status = fr_paper_rows_read(root, &rows, err);
    if (status == FR_OK) status = check(root, &rows, err);
    bool made = status == FR_OK && mkdir(o->output, 0777) == 0;
    if (status == FR_OK && !made && errno != EEXIST)
        status = fr_fail(err, FR_ERR_IO, o->output, "%s", strerror(errno));
    if (status == FR_OK) status = draw_parts(root, &rows, o, err);
    if (status != FR_OK && made) rmdir(o->output); /* outputs that wait are not in it yet */
    fr_paper_rows_free(&rows);
    return status;
}

const struct fr_figure fr_figure_paper = {
    .name = "paper",
    .summary = "the figures and tables of a paper, published beside ours, into a folder",
    .inputs = "one result of forerun reproduce PAPER... --json",
    .one_input = true,
    .draw_folder = draw_folder,
};
