/* The meaning of a file's settings, by the rows of its trainer. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "answer/trainer/reading.h"

/* Is @p value one of the words up to the end, in any case of letters? */
static bool is_one_of(const char *value, const char *words) {
    for (;; words++) {
        size_t n = strcspn(words, ",");
        if (strlen(value) == n && strncasecmp(value, words, n) == 0) return true;
        words += n;
        if (!*words) return false;
    }
}

static bool fits(const struct fr_meaning_row *row, const struct fr_setting *s) {
    if (!fr_setting_is(s->name, row->name)) return false;
    if (!*row->where) return true;
    if (strcmp(row->where, "on") == 0) return !fr_value_is_off(s->value);
    if (strcmp(row->where, "off") == 0) return fr_value_is_off(s->value);
    return *row->where == '!' ? !is_one_of(s->value, row->where + 1)
                              : is_one_of(s->value, row->where);
}

/* A setting that another turns off counts for nothing.  A script sets nothing that it does not name, nor does what prints
 * all that there is. */
static bool is_switched_off(const struct fr_reading *r, const char *needs) {
    enum { ALL = 40 };
    if (!needs || fr_reading_on(r, needs)) return false;
    if (strcmp(needs, "num_experts") == 0 && fr_reading_on(r, "num_moe_experts")) return false;
    static const char *const formats[] = {"fp8_format", "fp8_hybrid", "fp8_e4m3"};
    for (int i = 0; i < 3 && strcmp(needs, "fp8") == 0; i++)
        if (fr_reading_on(r, formats[i])) return false;
    if (strcmp(needs, "hybrid_layer_pattern") == 0 &&
        fr_reading_on(r, "hybrid_override_pattern"))
        return false; /* its older name */
    return fr_reading_off(r, needs) || r->whole || r->settings->n >= ALL;
}

static void take_value(struct fr_reading *r, const struct fr_meaning_row *row,
                       const char *value) {
    char out[256];
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = row->text; *at;) {
        bool hole = at[0] == '{' && at[1] == '}';
        fr_line_addf(out, sizeof out, &used, hole ? "%s" : "%.1s", hole ? value : at);
        at += hole ? 2 : 1;
    }
    fr_reading_say(r, row->key, "%.140s", out);
}

static const char *last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* No row and no option is it; does its name say that it alters the work? */
static fr_status take_unknown(struct fr_reading *r, const struct fr_setting *s,
                              struct fr_error *err) {
    const char *name = last_part(s->name);
    for (int i = 0; r->by->families && r->by->families[i]; i++) {
        const char *family = r->by->families[i];
        if (strncmp(name, family, strlen(family)) != 0 || fr_value_is_off(s->value)) continue;
        return fr_reading_refuse(
            r, name, NULL, err,
            "no setting that is known, and its name says that it may alter "
            "the work");
    }
    return FR_OK;
}

/* "$TP", "${TP}", "$((...))" that the script gives no value. */
static bool is_open(const char *value) {
    const char *at = strchr(value, '$');
    return at && (isalnum((unsigned char)at[1]) || strchr("_{(@", at[1])) && at[1];
}

static fr_status take(struct fr_reading *r, const struct fr_setting *s, struct fr_error *err) {
    const struct fr_meaning_row *row = r->by->rows;
    bool known = false;
    if (is_open(s->value) && !fr_reading_ignores(r, s->name))
        for (int i = 0; row && row[i].name; i++)
            if (fr_setting_is(s->name, row[i].name))
                return fr_reading_refuse(r, last_part(s->name), row[i].key, err,
                                         "the script does not say what this variable is");
    for (; row && row->name && !fits(row, s); row++) known |= fr_setting_is(s->name, row->name);
    if (fr_reading_ignores(r, s->name)) return FR_OK;
    if (!row || !row->name) {
        if (r->by->emitter && !fr_value_is_none(s->value) &&
            fr_emitted_take(r->by->emitter, s->name, s->value, r->row))
            return FR_OK;
        return known ? FR_OK : take_unknown(r, s, err);
    }
    if (is_switched_off(r, row->needs)) return FR_OK;
    if (row->kind == FR_MEANS_KEY && (!fr_value_is_none(s->value) || !strstr(row->text, "{}")))
        take_value(r, row, s->value);
    if (row->kind == FR_MEANS_REFUSAL)
        return fr_reading_refuse(r, last_part(s->name), row->key, err, "%s", row->text);
    if (row->kind == FR_MEANS_NOTE) {
        char key[48];
        snprintf(key, sizeof key, "note.%.42s", last_part(s->name));
        fr_reading_say(r, key, "%.140s", s->value);
        fr_reading_tell(r, "%s %.60s: %s", last_part(s->name), s->value, row->text);
    }
    return FR_OK;
}

/* The last counts of a setting that stands several times. */
static bool is_last(const struct fr_settings *all, int i) {
    for (int k = i + 1; k < all->n && k < i + 2000; k++)
        if (strcmp(all->item[k].name, all->item[i].name) == 0) return false;
    return true;
}

fr_status fr_reading_take(struct fr_reading *r, struct fr_error *err) {
    for (int i = 0; i < r->settings->n; i++)
        if (is_last(r->settings, i)) FR_TRY(take(r, &r->settings->item[i], err));
    return r->by->finish ? r->by->finish(r, err) : FR_OK;
}

/* ---- settings that a trainer leaves without effect ------------------------------------------------ */

static void drop(struct fr_run_row *row, const char *key) {
    for (int i = 0; i < row->n; i++)
        if (strcmp(row->item[i].key, key) == 0) {
            memmove(&row->item[i], &row->item[i + 1],
                    (size_t)(row->n - i - 1) * sizeof row->item[0]);
            row->n--;
            return;
        }
}

static bool is_stated(const struct fr_reading *r, const char *key, const char *value) {
    const char *stated = fr_reading_stated(r, key);
    return stated && strcmp(stated, value) == 0;
}

/* A plan refuses what nothing reads, a trainer passes it over: sequence parallelism of one rank, the reduction of one
 * replica.  Such keys go. */
void fr_reading_drop_idle(struct fr_reading *r) {
    const bool alone = is_stated(r, "plan.dp", "1") && !fr_reading_stated(r, "plan.cp"),
               one = is_stated(r, "plan.dp", "1") && is_stated(r, "plan.cp", "1"),
               experts = fr_reading_stated(r, "model.experts") ||
                         fr_reading_stated_integer(r, "plan.ep", 1) > 1;
    const struct {
        bool holds;
        const char *keys[6];
    } rules[] = {
        {fr_reading_stated_integer(r, "plan.tp", 2) == 1,
         {"plan.sequence_parallel", "plan.overlap_tp"}},
        {is_stated(r, "plan.sequence_parallel", "false"), {"plan.overlap_tp"}},
        {fr_reading_stated_integer(r, "plan.pp", 2) == 1,
         {"plan.schedule", "plan.chunks", "plan.p2p", "plan.stage_layers"}},
        {fr_reading_stated_integer(r, "plan.cp", 2) == 1, {"plan.context"}},
        {!experts,
         {"plan.ep", "plan.etp", "plan.dispatch_ranks", "plan.overlap_experts",
          "model.experts_per_token"}},
        {fr_reading_stated_integer(r, "plan.ep", 2) == 1,
         {"plan.dispatch_ranks", "plan.overlap_experts"}},
        {alone || one,
         {"plan.zero", "plan.overlap", "plan.bucket", "plan.zero_ranks",
          "plan.reshard_after_forward"}},
        {is_stated(r, "plan.zero", "0"), {"plan.zero_ranks"}},
        {is_stated(r, "plan.overlap", "none"), {"plan.bucket"}},
        {fr_reading_stated(r, "plan.zero") && !is_stated(r, "plan.zero", "3"),
         {"plan.reshard_after_forward"}},
        {is_stated(r, "plan.recompute", "none"), {"plan.recompute_layers"}},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int k = 0; rules[i].holds && k < 6 && rules[i].keys[k]; k++)
            drop(r->row, rules[i].keys[k]);
}
