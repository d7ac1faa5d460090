#include "plots/paper/sheet_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Both may be fields of one layout: snprintf would have to know that they do not overlap. */
static void copy_word(char to[FR_PAPER_WORD], const char *word) {
    size_t length = strlen(word);
    if (length >= FR_PAPER_WORD) length = FR_PAPER_WORD - 1;
    memmove(to, word, length);
    to[length] = '\0';
}

static int find_or_add(char words[][FR_PAPER_WORD], int *n, int max, const char *word) {
    for (int i = 0; i < *n; i++)
        if (strcmp(words[i], word) == 0) return i;
    if (*n == max) return -1;
    copy_word(words[*n], word);
    return (*n)++;
}

double fr_sheet_number_of(const char *word) {
    double value = strcmp(word, "0") == 0 ? 0 : atof(word);
    return strcmp(word, "0") == 0 || (value >= 1e-9 && value <= 1e15) ? value : 1;
}

static int by_number(const void *a, const void *b) {
    double x = fr_sheet_number_of(a), y = fr_sheet_number_of(b);
    return FR_ORDER(x, y);
}

static void take_unit(struct fr_sheet_field *f, const char *unit) {
    static const struct {
        const char *unit;
        double factor;
        fr_quantity quantity;
    } units[] = {{"s", 1, FR_QUANTITY_TIME},
                 {"ms", 1e-3, FR_QUANTITY_TIME},
                 {"us", 1e-6, FR_QUANTITY_TIME},
                 {"J", 1, FR_QUANTITY_ENERGY}};
    f->percent = f->panel->percent;
    f->factor = f->percent ? 100 : 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].unit) == 0) {
            f->factor = units[i].factor;
            f->quantity = units[i].quantity;
            f->has_quantity = true;
        }
}

/* A panel whose ids have no {s} but several: what the id ends in. */
static void fill(struct fr_sheet_layout *s, struct fr_sheet_field *f,
                 const struct fr_paper_rows *rows) {
    for (size_t i = 0; i < rows->n; i++) {
        struct fr_sheet_spot *spot = &f->spot[f->n];
        if (f->n == FR_SHEET_PLACES_MAX * FR_SHEET_SERIES_MAX) return;
        if (!fr_paper_id_fits(f->panel->ids, rows->row[i].id, spot->x, spot->s)) continue;
        if (f->panel->unit && strcmp(f->panel->unit, rows->row[i].unit) != 0) continue;
        spot->row = &rows->row[i];
        spot->series = find_or_add(s->series, &s->n_series, FR_SHEET_SERIES_MAX, spot->s);
        int place = find_or_add(f->place, &f->n_places, FR_SHEET_PLACES_MAX, spot->x);
        if (spot->series < 0 || place < 0) continue;
        if (f->n++ == 0) take_unit(f, spot->row->unit);
        s->published = s->published || isfinite(spot->row->published);
    }
}

/* Bars stand side by side among the series of their own panel. */
static void number_bars(struct fr_sheet_field *f) {
    for (int s = 0; s < FR_SHEET_SERIES_MAX; s++) {
        bool shown = false;
        for (int i = 0; i < f->n; i++) shown = shown || f->spot[i].series == s;
        f->bar[s] = f->n_bars;
        f->n_bars += shown;
    }
}

static void place_all(struct fr_sheet_field *f) {
    if (fr_sheet_has_curves(f->panel))
        fr_sort_items(f->place, f->n_places, sizeof *f->place, by_number);
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->n_places; k++)
            if (strcmp(f->place[k], f->spot[i].x) == 0) f->spot[i].place = k;
}

void fr_sheet_lay_out(const struct fr_sheet *of, const struct fr_paper_rows *rows,
                      struct fr_sheet_layout *s) {
    s->of = of;
    for (int k = 0; k < FR_SHEET_PANELS && of->panel[k].ids; k++) {
        struct fr_sheet_field *f = &s->field[s->n_fields];
        f->panel = &of->panel[k];
        fill(s, f, rows);
        place_all(f);
        number_bars(f);
        s->n_fields += f->n > 0;
    }
}

bool fr_sheet_stated(const struct fr_sheet *sheet, const struct fr_paper_rows *rows) {
    char x[FR_PAPER_WORD], s[FR_PAPER_WORD];
    for (int k = 0; k < FR_SHEET_PANELS && sheet->panel[k].ids; k++)
        for (size_t i = 0; i < rows->n; i++)
            if (fr_paper_id_fits(sheet->panel[k].ids, rows->row[i].id, x, s)) return true;
    return false;
}

const char *fr_sheet_series_name(const char *id, char out[FR_PAPER_WORD]) {
    static const char *const names[][2] = {{"2_way", "2-way"},
                                           {"4_way", "4-way"},
                                           {"8_way", "8-way"},
                                           {"4_way_cSub", "4-way cSub"},
                                           {"aware", "topology-aware"},
                                           {"data_over", "data parallel"},
                                           {"over", "D&SP"},
                                           {"cb", "CB"},
                                           {"fe", "+FE"},
                                           {"sc_75", "+SC 3/4"},
                                           {"sc", "+SC"},
                                           {"model", "communication by model"},
                                           {"data", "by data"},
                                           {"cb_fe", "CB+FE"},
                                           {"cb_fe_sc", "CB+FE+SC"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], id) == 0) id = names[i][1];
    copy_word(out, id);
    for (char *c = out; *c; c++)
        if (*c == '_') *c = ' ';
    return out;
}
