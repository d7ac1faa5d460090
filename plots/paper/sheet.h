/** @file
 *  The figures and tables of a paper, drawn from the rows of `forerun reproduce PAPER --json`.
 *
 *  A sheet is one picture, one column wide: up to eight panels below each other.  A pattern of
 *  row ids chooses the rows of a panel.  In it {x} stands for the place on the x axis and {s}
 *  for the series.  The words of two {x} are joined:
 *      "table1/p={x}/{s}/energy_per_epoch"
 *  Published values are marks, ours lines or bars.  A table is likewise a pattern a column.
 *
 *  To add a figure: a row of plots/paper/sheets.c. */
#ifndef FR_PLOTS_PAPER_SHEET_H
#define FR_PLOTS_PAPER_SHEET_H

#include "plots/paper/rows.h"
#include "plots/picture.h"

enum { FR_SHEET_PANELS = 8, FR_SHEET_COLUMNS = 6 };

typedef enum {
    FR_SHEET_CURVES, /**< a line a series over {x}, a number, on a logarithmic axis ... */
    FR_SHEET_LINES,  /**< ... and on one from 0 */
    FR_SHEET_BARS,   /**< bars side by side at each {x}, a word */
    FR_SHEET_STACK   /**< bars on each other */
} fr_sheet_kind;

struct fr_sheet_panel {
    const char *heading, *ids;
    const char *x; /**< name of the x axis, or "" */
    fr_sheet_kind kind;
    bool linear;      /**< the y axis from 0, else logarithmic */
    const char *unit; /**< rows of another are none of it; NULL: any */
    bool percent;     /**< shares are drawn as such */
};

struct fr_sheet {
    const char *paper, *name; /**< name: of the file, without its ending */
    const char *title, *note;
    struct fr_sheet_panel panel[FR_SHEET_PANELS]; /**< ends at one without ids */
};

/** In order of papers, then one whose name is NULL. */
extern const struct fr_sheet fr_sheets[];

struct fr_sheet_column {
    const char *heading, *ids; /**< of {x} alone */
};

/** Published and ours in every cell. */
struct fr_sheet_table {
    const char *paper, *name, *title, *x;
    struct fr_sheet_column column[FR_SHEET_COLUMNS]; /**< ends at one without ids */
};
extern const struct fr_sheet_table fr_sheet_tables[];

/** Draw @p sheet, of which @p rows tell at least one.  Nothing fails before fr_picture_end. */
void fr_sheet_draw(const struct fr_sheet *sheet, const struct fr_paper_rows *rows,
                   struct fr_picture *p);
/** Is anything of it stated? */
bool fr_sheet_stated(const struct fr_sheet *sheet, const struct fr_paper_rows *rows);

/** Append the table in LaTeX or Markdown; nothing where no row tells of it. */
void fr_sheet_table_latex(const struct fr_sheet_table *table, const struct fr_paper_rows *rows,
                          struct fr_text *out);
void fr_sheet_table_markdown(const struct fr_sheet_table *table,
                             const struct fr_paper_rows *rows, struct fr_text *out);

#endif
