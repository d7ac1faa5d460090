/* Runtimes side by side as JSON (docs/reference/outputs.md). */
#include "answer/upgrade/upgrade.h"

static void put_steps(struct fr_json_writer *w, const struct fr_upgrade_row *row) {
    fr_json_add_array(w, "facts");
    for (int i = 0; i < row->n_steps; i++) {
        const struct fr_upgrade_step *step = &row->step[i];
        fr_json_begin_object(w);
        fr_json_add_string(w, "key", step->key);
        fr_json_add_string(w, "term", fr_upgrade_terms[step->term]);
        fr_json_add_string(w, "from", step->from);
        fr_json_add_string(w, "to", step->to);
        fr_json_add_number(w, "before_s", step->before_s);
        fr_json_add_number(w, "after_s", step->after_s);
        fr_json_add_number(w, "worth_s", step->before_s - step->after_s);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void put_terms(struct fr_json_writer *w, const struct fr_upgrade_row *row) {
    fr_json_add_object(w, "terms");
    for (int term = 0; term < FR_UPGRADE_TERMS; term++) {
        double gain_s = 0;
        for (int i = 0; i < row->n_steps; i++)
            if ((int)row->step[i].term == term)
                gain_s += row->step[i].before_s - row->step[i].after_s;
        fr_json_add_number(w, fr_upgrade_terms[term], gain_s);
    }
    fr_json_end_object(w);
}

static void put_parts(struct fr_json_writer *w, const struct fr_upgrade *u, int row) {
    fr_json_add_object(w, "parts");
    for (int i = 0; i <= FR_PART_COUNT; i++)
        fr_json_add_number(w, i < FR_PART_COUNT ? fr_part_names[i] : "overlap",
                           fr_upgrade_part_s(u, 0, i) - fr_upgrade_part_s(u, row, i));
    fr_json_end_object(w);
}

static void put_row(struct fr_json_writer *w, const struct fr_upgrade *u, int i) {
    const struct fr_upgrade_row *row = &u->row[i];
    const struct fr_outcome *out = fr_upgrade_outcome(u, i);
    fr_json_begin_object(w);
    fr_json_add_string(w, "runtime", row->runtime);
    if (u->searched) {
        fr_json_add_integer(w, "plans_evaluated", row->of->result.evaluated);
        fr_json_add_integer(w, "plans_feasible", row->of->result.feasible);
    }
    fr_json_add_number(w, "time_s", row->time_s);
    fr_json_add_number(w, "gain", row->gain);
    if (i > 0) {
        put_steps(w, row);
        put_terms(w, row);
        put_parts(w, u, i);
    }
    fr_searched_put_best(w, out ? fr_upgrade_job(u, i) : NULL, out, &u->training, &row->cost);
    fr_json_end_object(w);
}

void fr_upgrades_json(struct fr_text *text, const struct fr_upgrade *u, int n) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/compare-runtimes/1");
    fr_json_add_array(&w, "comparisons");
    for (int k = 0; k < n; k++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "cluster", u[k].cluster);
        fr_json_add_string(&w, "model", u[k].model);
        fr_json_add_bool(&w, "searched", u[k].searched);
        fr_json_add_array(&w, "rows");
        for (int i = 0; i < u[k].n; i++) put_row(&w, &u[k], i);
        fr_json_end_array(&w);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}
