/** @file
 *  Which rows of a paper a sheet shows, and where: the series and the places along x of its panels. */
#ifndef FR_PLOTS_PAPER_SHEET_LAYOUT_H
#define FR_PLOTS_PAPER_SHEET_LAYOUT_H

#include "base/units.h"
#include "plots/paper/sheet.h"

enum { FR_SHEET_SERIES_MAX = 14, FR_SHEET_PLACES_MAX = 128 };

/** A row that a panel shows. */
struct fr_sheet_spot {
    const struct fr_paper_row *row;
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    int series, place; /**< of the sheet; of the panel */
};

/** One panel's rows, and its places along x: numbers in order, words as they come. */
struct fr_sheet_field {
    const struct fr_sheet_panel *panel;
    struct fr_sheet_spot spot[FR_SHEET_PLACES_MAX * FR_SHEET_SERIES_MAX];
    int n, n_places;
    int n_bars;                   /**< series that it shows */
    int bar[FR_SHEET_SERIES_MAX]; /**< of each series of the sheet, its place among them */
    char place[FR_SHEET_PLACES_MAX][FR_PAPER_WORD];
    double factor; /**< to SI units */
    fr_quantity quantity;
    bool has_quantity;
    bool percent;
};

struct fr_sheet_layout {
    const struct fr_sheet *of;
    char series[FR_SHEET_SERIES_MAX][FR_PAPER_WORD];
    int n_series;
    struct fr_sheet_field field[FR_SHEET_PANELS];
    int n_fields;
    bool published;
};

/** Lay @p rows out for sheet @p of into @p s, which is zeroed. */
void fr_sheet_lay_out(const struct fr_sheet *of, const struct fr_paper_rows *rows,
                      struct fr_sheet_layout *s);

static inline bool fr_sheet_has_curves(const struct fr_sheet_panel *panel) {
    return panel->kind == FR_SHEET_CURVES || panel->kind == FR_SHEET_LINES;
}

/** The value of a number on an x axis, from 0 on; 1 for any other word. */
double fr_sheet_number_of(const char *word);

/** A series as readers know it: "2_way" is "2-way".  @return @p out. */
const char *fr_sheet_series_name(const char *id, char out[FR_PAPER_WORD]);

#endif
