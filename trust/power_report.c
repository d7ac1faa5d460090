#include "trust/power_report.h"

#include <math.h>
#include <stdio.h>

#include "trust/fitted_row.h"

static const char *value_text(int j, double value, char *out, size_t capacity) {
    if (fr_power_terms[j].share)
        snprintf(out, capacity, "%.2f %%", 100 * value);
    else
        fr_quantity_format(value, FR_QUANTITY_POWER, out, capacity);
    return out;
}

static bool print_term(const struct fr_power_fit *fit, int j, struct fr_text *text) {
    const struct fr_power_fitted *t = &fit->term[j];
    char prior[48], value[48];
    const struct fr_fitted_row row = {.name = fr_power_terms[j].name,
                                      .group = "power",
                                      .prior = value_text(j, t->prior, prior, sizeof prior),
                                      .value = value_text(j, t->value, value, sizeof value),
                                      .sigma_prior = t->sigma_prior,
                                      .sigma = t->sigma,
                                      .learned = t->learned,
                                      .rows = t->rows,
                                      .fixed = t->fitted     ? NULL
                                               : t->rows > 0 ? "held"
                                                             : "not metered"};
    return fr_fitted_row_print(&row, text);
}

static void print_errors(const struct fr_power_fit *fit, struct fr_text *text) {
    fr_text_addf(text, "\nmean power of %d metered run%s (", fit->rows,
                 fit->rows == 1 ? "" : "s");
    for (int m = 0, first = 1; m < FR_METER_COUNT; m++) {
        if (!fit->metered[m]) continue;
        fr_text_addf(text, "%s%d at %s", first ? "" : ", ", fit->metered[m],
                     fr_run_meter_names[m]);
        first = 0;
    }
    fr_text_addf(text, "): mean error %.2f %% on them (fitted)", 100 * fit->mean_error);
    if (isnan(fit->held_out_error))
        fr_text_addf(text, "; all of one kind, so nothing says how far off another is\n");
    else
        fr_text_addf(text, ", %.2f %% of each of %d kinds from the others\n",
                     100 * fit->held_out_error, fit->kinds);
    fr_text_addf(text, "energy of a run of another kind: +-%.0f %% (90 %%), given its time\n",
                 100 * fit->uncertainty);
}

void fr_power_fit_print(const struct fr_power_fit *fit, struct fr_text *text) {
    if (fit->joules > 0 && !fit->known)
        fr_text_addf(text, "measured_J left out: the cluster file states no power to start "
                           "from\n");
    if (fit->unsaid)
        fr_text_addf(text,
                     "measured_J of %d run%s left out: measured_at does not say what it\n"
                     "includes (device, node, plug, network, facility)\n",
                     fit->unsaid, fit->unsaid == 1 ? "" : "s");
    if (fit->rows == 0) return;
    fr_text_addf(text, "\n");
    fr_fitted_head_print("term", text);
    bool marked = false;
    for (int j = 0; j < FR_POWER_TERMS; j++)
        if (fit->term[j].present) marked |= print_term(fit, j, text);
    if (marked) fr_fitted_mark_print(text);
    print_errors(fit, text);
}

static void json_terms(struct fr_json_writer *w, const struct fr_power_fit *fit) {
    fr_json_add_array(w, "terms");
    for (int j = 0; j < FR_POWER_TERMS; j++) {
        const struct fr_power_fitted *t = &fit->term[j];
        if (!t->present) continue;
        fr_json_begin_object(w);
        fr_json_add_string(w, "name", fr_power_terms[j].name);
        fr_json_add_string(w, "unit", fr_power_terms[j].share ? "1" : "W");
        fr_json_add_bool(w, "fitted", t->fitted);
        fr_json_add_number(w, "prior", t->prior);
        fr_json_add_number(w, "value", t->value);
        fr_json_add_number(w, "sigma_prior", t->sigma_prior);
        fr_json_add_number(w, "sigma", t->sigma);
        fr_json_add_number(w, "learned", t->fitted ? t->learned : 0);
        fr_json_add_integer(w, "rows", t->rows);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

void fr_power_fit_json(struct fr_json_writer *w, const struct fr_power_fit *fit) {
    fr_json_begin_object(w);
    fr_json_add_integer(w, "rows", fit->rows);
    fr_json_add_integer(w, "kinds", fit->kinds);
    fr_json_add_integer(w, "unsaid", fit->unsaid);
    fr_json_add_number(w, "mean_error", fit->mean_error);
    fr_json_add_number(w, "held_out_error", fit->held_out_error);
    fr_json_add_number(w, "spread", fit->spread);
    fr_json_add_number(w, "uncertainty", fit->uncertainty);
    json_terms(w, fit);
    fr_json_end_object(w);
}

/* ---- into the cluster file --------------------------------------------------------------------- */

static fr_status set_W(struct fr_json_document *document, const char *path, double power_W,
                       struct fr_error *err) {
    char value[64];
    fr_quantity_write(power_W, FR_QUANTITY_POWER, value, sizeof value);
    return fr_json_set(document, path, value, "tune", err);
}

static fr_status set_number(struct fr_json_document *document, const char *path, double number,
                            struct fr_error *err) {
    char value[64];
    fr_number_write(number, value, sizeof value);
    return fr_json_set(document, path, value, "tune", err);
}

static fr_status apply_level(struct fr_json_document *document, int l,
                             const struct fr_level *level, bool node, struct fr_error *err) {
    const struct fr_level_power *p = &level->power;
    char path[64];
    if (node && p->busy_W > 0) {
        snprintf(path, sizeof path, "levels.%d.power.idle", l);
        FR_TRY(set_W(document, path, p->idle_W, err));
        snprintf(path, sizeof path, "levels.%d.power.busy", l);
        FR_TRY(set_W(document, path, p->busy_W, err));
    }
    if (node && p->efficiency < 1) {
        snprintf(path, sizeof path, "levels.%d.power.efficiency", l);
        FR_TRY(set_number(document, path, p->efficiency, err));
    }
    if (!(p->switches_W > 0)) return FR_OK;
    snprintf(path, sizeof path, "levels.%d.power.switches", l);
    return set_W(document, path, p->switches_W, err);
}

fr_status fr_power_fit_apply(struct fr_json_document *document,
                             const struct fr_cluster *cluster, const struct fr_power_fit *fit,
                             struct fr_error *err) {
    const struct fr_power *power = &cluster->device.power;
    char source[160];
    if (fit->rows == 0) return FR_OK;
    FR_TRY(set_W(document, "device.power.busy", power->busy_W, err));
    FR_TRY(set_W(document, "device.power.communicating", power->communicating_W, err));
    for (int l = 0; l < cluster->levels.count; l++)
        FR_TRY(apply_level(document, l, &cluster->levels.level[l],
                           l == fr_levels_node(&cluster->levels), err));
    if (cluster->pue > 1) FR_TRY(set_number(document, "pue", cluster->pue, err));
    FR_TRY(set_number(document, "device.power.uncertainty", power->uncertainty, err));
    FR_TRY(fr_json_set(document, "device.power.quality", "\"measured\"", "tune", err));
    snprintf(source, sizeof source, "\"forerun tune: %d metered runs of %d kinds\"", fit->rows,
             fit->kinds);
    return fr_json_set(document, "device.power.source", source, "tune", err);
}
