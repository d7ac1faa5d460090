/* The values of a file's settings, and the keys that they become. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "answer/trainer/reading.h"

bool fr_value_is_off(const char *value) {
    static const char *const words[] = {"",   "None", "null", "~",  "False", "0",  "0.0",
                                        "[]", "()",   "{}",   "no", "off",   "-1", NULL};
    for (int i = 0; words[i]; i++)
        if (strcasecmp(value, words[i]) == 0) return true;
    return false;
}

bool fr_value_mentions(const char *value, const char *word) {
    size_t n = strlen(word);
    for (; value && *value; value++)
        if (strncasecmp(value, word, n) == 0) return true;
    return false;
}

bool fr_value_is_none(const char *value) {
    return !*value || strcasecmp(value, "None") == 0 || strcasecmp(value, "null") == 0 ||
           strcmp(value, "~") == 0;
}

bool fr_reading_ignores(const struct fr_reading *r, const char *name) {
    char plain[200];
    for (int i = 0; i < r->n_ignore; i++) {
        const char *word = r->ignore[i] + strspn(r->ignore[i], "-");
        snprintf(plain, sizeof plain, "%s", word);
        for (char *c = plain; *c; c++) *c = *c == '-' ? '_' : *c;
        if (fr_setting_is(name, plain)) return true;
    }
    return false;
}

static const struct fr_setting *find(const struct fr_reading *r, const char *name) {
    const struct fr_setting *s = fr_settings_find(r->settings, name);
    return s && !fr_reading_ignores(r, s->name) ? s : NULL;
}

const char *fr_reading_value(const struct fr_reading *r, const char *name) {
    const struct fr_setting *s = find(r, name);
    return s && !fr_value_is_none(s->value) ? s->value : NULL;
}

bool fr_reading_on(const struct fr_reading *r, const char *name) {
    const struct fr_setting *s = find(r, name);
    return s && !fr_value_is_off(s->value);
}

bool fr_reading_off(const struct fr_reading *r, const char *name) {
    const struct fr_setting *s = find(r, name);
    return s && fr_value_is_off(s->value);
}

int64_t fr_reading_integer(const struct fr_reading *r, const char *name, int64_t otherwise) {
    const char *value = fr_reading_value(r, name);
    char *end = NULL;
    double number = value ? strtod(value, &end) : NAN;
    if (!value || end == value || *end || !(fabs(number) < 1e15) || number != floor(number))
        return otherwise;
    return (int64_t)number;
}

void fr_reading_say(struct fr_reading *r, const char *key, const char *fmt, ...) {
    char value[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof value, fmt, args);
    va_end(args);
    fr_run_row_set(r->row, key, "%s", value);
}

const char *fr_reading_stated(const struct fr_reading *r, const char *key) {
    const char *value = fr_run_row_get(r->given, key);
    return value ? value : fr_run_row_get(r->row, key);
}

void fr_reading_tell(struct fr_reading *r, const char *fmt, ...) {
    char sentence[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    fr_text_addf(r->stated, "%s\n", sentence);
}

fr_status fr_reading_refuse(struct fr_reading *r, const char *name, const char *key,
                            struct fr_error *err, const char *fmt, ...) {
    char why[400], where[300];
    const struct fr_setting *s = find(r, name);
    if ((key && *key && fr_run_row_get(r->given, key)) || fr_reading_ignores(r, name))
        return FR_OK;
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    snprintf(where, sizeof where, "%.250s:%d", r->name, s ? s->line : 1);
    return fr_fail(err, FR_ERR_INPUT, where,
                   "%.80s %.60s: %s; %s%s%sto leave it out of account give --ignore %.80s",
                   name, s ? s->value : "", why, key && *key ? "state it by hand as " : "",
                   key && *key ? key : "", key && *key ? "=VALUE; " : "", name);
}

bool fr_reading_model(struct fr_reading *r, const char *title) {
    char words[200];
    size_t n = 0;
    for (; title[n] && n + 1 < sizeof words; n++) words[n] = title[n];
    words[n] = '\0';
    return fr_run_find_model(words, r->row);
}

int64_t fr_reading_stated_integer(const struct fr_reading *r, const char *key,
                                  int64_t otherwise) {
    const char *value = fr_reading_stated(r, key);
    int64_t number = value ? strtoll(value, NULL, 10) : 0;
    return number > FR_STATED_MOST ? FR_STATED_MOST : number > 0 ? number : otherwise;
}

void fr_reading_ranks(struct fr_reading *r) {
    int64_t ranks = fr_reading_stated_integer(r, "ranks", 0),
            dp = fr_reading_stated_integer(r, "plan.dp", 0);
    int64_t tp = fr_reading_stated_integer(r, "plan.tp", 1),
            pp = fr_reading_stated_integer(r, "plan.pp", 1),
            cp = fr_reading_stated_integer(r, "plan.cp", 1);
    if (ranks <= 0 || tp > 1 << 20 || pp > 1 << 20 || cp > 1 << 20) return;
    const int64_t replicas = ranks / (tp * pp * cp);
    if (ranks % (tp * pp * cp) != 0 || (dp && dp != replicas)) return;
    if (!dp) fr_reading_say(r, "plan.dp", "%" PRId64, replicas);
    int64_t printed = fr_reading_stated_integer(r, "note.dp", 0);
    if (printed && printed != replicas)
        fr_reading_tell(r,
                        "data_parallel_size says %" PRId64
                        " replicas, world_size and the other "
                        "degrees %" PRId64 ": they disagree, and the latter are taken",
                        printed, replicas);
}
