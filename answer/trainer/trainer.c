#include "answer/trainer/trainer.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text/launch.h"
#include "base/text/log_lines.h"

extern const struct fr_syntax fr_syntax_json, fr_syntax_dump, fr_syntax_yaml, fr_syntax_flags;
#define FR_TRAINER(name) extern const struct fr_trainer fr_trainer_##name;
#include "answer/trainer/framework_list.h"
#undef FR_TRAINER

const struct fr_trainer *const fr_trainers[] = {
#define FR_TRAINER(name) &fr_trainer_##name,
#include "answer/trainer/framework_list.h"
#undef FR_TRAINER
    NULL};

enum { LINE_MAX_B = 8192, LAUNCHES_MOST = 4000 /* lines in which something is started */ };

const struct fr_trainer *fr_trainer_find(const char *name) {
    for (int i = 0; fr_trainers[i]; i++)
        if (strcmp(fr_trainers[i]->name, name) == 0) return fr_trainers[i];
    return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

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

static bool is_none(const char *value) {
    return !*value || strcasecmp(value, "None") == 0 || strcasecmp(value, "null") == 0 ||
           strcmp(value, "~") == 0;
}

static bool is_ignored(const struct fr_reading *r, const char *name) {
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
    return s && !is_ignored(r, s->name) ? s : NULL;
}

const char *fr_reading_value(const struct fr_reading *r, const char *name) {
    const struct fr_setting *s = find(r, name);
    return s && !is_none(s->value) ? s->value : NULL;
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

const char *fr_reading_said(const struct fr_reading *r, const char *key) {
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
    if ((key && *key && fr_run_row_get(r->given, key)) || is_ignored(r, name)) return FR_OK;
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

int64_t fr_reading_said_integer(const struct fr_reading *r, const char *key,
                                int64_t otherwise) {
    const char *value = fr_reading_said(r, key);
    int64_t number = value ? strtoll(value, NULL, 10) : 0;
    return number > FR_SAID_MOST ? FR_SAID_MOST : number > 0 ? number : otherwise;
}

void fr_reading_ranks(struct fr_reading *r) {
    int64_t ranks = fr_reading_said_integer(r, "ranks", 0),
            dp = fr_reading_said_integer(r, "plan.dp", 0);
    int64_t tp = fr_reading_said_integer(r, "plan.tp", 1),
            pp = fr_reading_said_integer(r, "plan.pp", 1),
            cp = fr_reading_said_integer(r, "plan.cp", 1);
    if (ranks <= 0 || tp > 1 << 20 || pp > 1 << 20 || cp > 1 << 20) return;
    const int64_t replicas = ranks / (tp * pp * cp);
    if (ranks % (tp * pp * cp) != 0 || (dp && dp != replicas)) return;
    if (!dp) fr_reading_say(r, "plan.dp", "%" PRId64, replicas);
    int64_t printed = fr_reading_said_integer(r, "note.dp", 0);
    if (printed && printed != replicas)
        fr_reading_tell(r,
                        "data_parallel_size says %" PRId64
                        " replicas, world_size and the other "
                        "degrees %" PRId64 ": they disagree, and the latter are taken",
                        printed, replicas);
}

/* ---- rows of a trainer's table ----------------------------------------------------------------- */

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

static fr_status take(struct fr_reading *r, const struct fr_setting *s, struct fr_error *err) {
    const struct fr_meaning_row *row = r->by->rows;
    bool known = false;
    for (; row && row->name && !fits(row, s); row++) known |= fr_setting_is(s->name, row->name);
    if (is_ignored(r, s->name)) return FR_OK;
    if (!row || !row->name) {
        if (r->by->emitter && !is_none(s->value) &&
            fr_emitted_take(r->by->emitter, s->name, s->value, r->row))
            return FR_OK;
        return known ? FR_OK : take_unknown(r, s, err);
    }
    if (is_switched_off(r, row->needs)) return FR_OK;
    if (row->kind == FR_MEANS_KEY && (!is_none(s->value) || !strstr(row->text, "{}")))
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

static fr_status take_all(struct fr_reading *r, struct fr_error *err) {
    for (int i = 0; i < r->settings->n; i++)
        if (is_last(r->settings, i)) FR_TRY(take(r, &r->settings->item[i], err));
    return r->by->finish ? r->by->finish(r, err) : FR_OK;
}

/* ---- settings and steps of a text ---------------------------------------------------------------- */

/* JSON that a log prints among its lines: the first object that can be read. */
static void read_printed_json(const char *text, size_t length, struct fr_settings *s) {
    enum { TRIES = 64 };
    int tries = 0, before = s->n;
    for (size_t i = 0; i + 1 < length && tries < TRIES && s->n == before; i++) {
        size_t next = i + 1;
        if (text[i] != '{') continue;
        while (next < length && isspace((unsigned char)text[next])) next++;
        if (next == length || text[next] != '"') continue;
        int depth = 0;
        bool quoted = false;
        size_t end = i;
        for (; end < length; end++) {
            if (text[end] == '\\' && quoted)
                end++;
            else if (text[end] == '"')
                quoted = !quoted;
            else if (!quoted && text[end] == '{')
                depth++;
            else if (!quoted && text[end] == '}' && --depth == 0)
                break;
        }
        tries++;
        if (end < length) fr_syntax_json.read(text + i, end + 1 - i, s);
    }
}

/* Read the arguments or the configuration that a log prints, in whatever form. */
static void read_printed(const char *text, size_t length, struct fr_settings *s) {
    enum { FEW = 8 }; /* "loading ... done" looks like an argument */
    fr_syntax_dump.read(text, length, s);
    if (s->n < FEW && fr_syntax_yaml.knows(text, length)) fr_syntax_yaml.read(text, length, s);
    read_printed_json(text, length, s);
}

static const struct fr_syntax *read_settings(const char *text, size_t length, bool log,
                                             struct fr_settings *s) {
    if (log) return read_printed(text, length, s), NULL;
    for (int i = 0; fr_syntaxes[i]; i++) {
        const struct fr_syntax *syntax = fr_syntaxes[i];
        if (!syntax->knows(text, length)) continue;
        syntax->read(text, length, s);
        if (syntax == &fr_syntax_flags)
            read_printed_json(text, length, s); /* beside a launcher */
        if (s->n) return syntax;
    }
    return NULL;
}

/* "20/ 100" where the line says step 20: of so many.  A progress bar is one ahead of steps from 0 on. */
static double total_of(const char *line, double step) {
    for (const char *at = line; *at; at++) {
        bool begins = isdigit((unsigned char)*at) &&
                      (at == line || !(isalnum((unsigned char)at[-1]) || strchr("./", at[-1])));
        if (!begins) continue;
        char *end = NULL;
        double first = (double)strtoll(at, &end, 10);
        while (*end == ' ') end++;
        if (*end != '/' || (first != step && first != step + 1)) continue;
        end++;
        while (*end == ' ') end++;
        const char *second = end;
        double total = isdigit((unsigned char)*second) ? (double)strtoll(second, &end, 10) : 0;
        if (total >= first && total > 0 && *end != '/') return total;
    }
    return NAN;
}

/* The same where a setting says it. */
static double total_set(const struct fr_reading *r) {
    static const char *const names[] = {"train_iters", "training.steps", "trainer.max_steps",
                                        "max_steps",   "train_steps",    "steps"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t steps = fr_reading_integer(r, names[i], 0);
        if (steps > 0) return (double)steps;
    }
    return NAN;
}

static double total_steps(const struct fr_reading *r, const struct fr_logged_steps *s) {
    for (int i = s->n - 1; i >= 0; i--)
        if (isfinite(s->item[i].total)) return s->item[i].total;
    return total_set(r);
}

/* Read the steps of the lines from byte @p at on; the first of them is line @p number. */
static fr_status read_steps(const struct fr_trainer *by, const struct fr_log_text *clean,
                            size_t at, int number, struct fr_logged_steps *steps,
                            struct fr_launch *launch, struct fr_run_row *row,
                            struct fr_error *err) {
    const char *text = clean->text;
    size_t length = clean->length;
    char line[LINE_MAX_B];
    bool nemo = false;
    for (; by->line && at < length; number++) {
        size_t end = at, n;
        while (end < length && text[end] != '\n' && text[end] != '\r') end++;
        n = end - at < sizeof line - 1 ? end - at : sizeof line - 1;
        memcpy(line, text + at, n);
        line[n] = '\0';
        fr_trainer_software(line, &nemo, row);
        if (number < LAUNCHES_MOST) fr_launch_add(launch, line);
        fr_line_kind kind = by->line(line, &steps->next);
        if (kind == FR_LINE_STEP && !isfinite(steps->next.stamp_s))
            steps->next.stamp_s = fr_step_stamp(line);
        if (kind == FR_LINE_STEP && !isfinite(steps->next.stamp_s))
            steps->next.stamp_s = fr_log_text_tag(clean, number).time_s;
        if (kind == FR_LINE_STEP) {
            steps->next.total = total_of(line, steps->next.number);
            steps->next.rank = fr_log_text_tag(clean, number).rank;
        }
        FR_TRY(fr_steps_add(steps, kind, number, err));
        if (end < length && text[end] == '\r' && (end + 1 == length || text[end + 1] != '\n'))
            number--; /* of a progress bar, on the same line */
        at = end + (end + 1 < length && text[end] == '\r' && text[end + 1] == '\n' ? 2 : 1);
    }
    return FR_OK;
}

/* ---- whose it is --------------------------------------------------------------------------------- */

static bool has(const char *text, size_t length, const char *mark) {
    size_t n = strlen(mark);
    for (const char *at = text; length >= n;) {
        const char *found = memchr(at, *mark, length - n + 1);
        if (!found) return false;
        length -= (size_t)(found - at);
        if (memcmp(found, mark, n) == 0) return true;
        at = found + 1;
        length--;
    }
    return false;
}

static int score(const struct fr_trainer *by, const char *text, size_t length,
                 const struct fr_settings *s) {
    int sum = 0;
    for (int i = 0; by->signs && by->signs[i]; i++)
        sum += fr_settings_find(s, by->signs[i]) != NULL;
    for (int i = 0; by->marks && by->marks[i]; i++) sum += 4 * has(text, length, by->marks[i]);
    return sum;
}

static const struct fr_trainer *choose(const char *text, size_t length,
                                       const struct fr_settings *s) {
    const struct fr_trainer *best = NULL;
    int most = 0;
    for (int i = 0; fr_trainers[i]; i++) {
        int sum = score(fr_trainers[i], text, length, s);
        if (sum > most) most = sum, best = fr_trainers[i];
    }
    return best;
}

/* Does a line of some trainer's log time a step? */
static bool is_log(const char *text, size_t length) {
    struct fr_settings none = {0};
    const struct fr_trainer *by = choose(text, length, &none);
    return by != NULL;
}

const struct fr_trainer *fr_trainer_of(const char *text, size_t length) {
    struct fr_settings s = {0};
    struct fr_log_text clean;
    if (fr_log_text_clean(text, length, FR_LOG_KEEP_TIMES, &clean) != FR_OK) return NULL;
    read_settings(clean.text, clean.length, is_log(clean.text, clean.length), &s);
    const struct fr_trainer *by = choose(clean.text, clean.length, &s);
    fr_settings_free(&s);
    fr_log_text_free(&clean);
    return by;
}

/* ---- a file --------------------------------------------------------------------------------------- */

/* Values that the caller has set already stay. */
static void merge(const struct fr_run_row *said, struct fr_run_row *row) {
    for (int i = 0; i < said->n; i++)
        if (!fr_run_row_get(row, said->item[i].key))
            fr_run_row_set(row, said->item[i].key, "%s", said->item[i].value);
}

static double number_of(const struct fr_run_row *row, const char *key) {
    const char *value = fr_run_row_get(row, key);
    return value ? atof(value) : 0;
}

/* Seconds of a step of which a device goes through so many tokens, or the run through so many samples, a second. */
static double time_of_rates(const struct fr_logged_time *t, const struct fr_run_row *row) {
    double ranks = number_of(row, "ranks"), batch = number_of(row, "plan.global_batch"),
           sequence = number_of(row, "model.sequence");
    double time_s = batch / t->samples_per_s;
    if (!(time_s > 0 && isfinite(time_s)))
        time_s = batch * sequence / (t->tokens_per_s * ranks);
    return time_s > 0 && isfinite(time_s) ? time_s : NAN;
}

static fr_status set_time(const struct fr_logged_steps *steps, const char *name,
                          struct fr_run_row *row, struct fr_trainer_result *out,
                          struct fr_error *err) {
    struct fr_logged_time *t = &out->timed;
    if (steps->n == 0 && steps->malformed) {
        char where[300];
        snprintf(where, sizeof where, "%.255s:%d", name, steps->first_malformed);
        return fr_fail(err, FR_ERR_INPUT, where,
                       "starts as a step does and does not say how long it took");
    }
    if (steps->n == 0) return FR_OK;
    double stated_s = isfinite(t->time_s) ? t->time_s : time_of_rates(t, row);
    fr_steps_choose(t, stated_s);
    fr_steps_print(t, stated_s, &out->stated);
    if (!isfinite(t->time_s))
        return fr_fail(err, FR_ERR_INPUT, name,
                       "says rates, no times; give --column ranks=, "
                       "--column plan.global_batch= (samples) and --column model.sequence=");
    fr_run_row_set(row, "measured_s", "%.9g", t->time_s);
    return FR_OK;
}

/* The batch of the steps that count goes before that of the settings, which a ramp-up only ends with. */
static void set_batch(const struct fr_logged_time *t, struct fr_reading *r) {
    const char *set = fr_run_row_get(r->row, "plan.global_batch");
    if (!(t->batch >= 1) || t->batch > 1e12 || t->batch != floor(t->batch)) return;
    if (set && atof(set) != t->batch)
        fr_reading_tell(r, "the steps counted have a batch of %.0f, the settings say %s: %.0f",
                        t->batch, set, t->batch);
    fr_reading_say(r, "plan.global_batch", "%.0f", t->batch);
}

/* Follow the trainer's newest release where the file leaves a key open. */
static void set_software(struct fr_reading *r) {
    if (r->by->runtime && !fr_reading_said(r, "runtime"))
        fr_reading_say(r, "runtime", "%s", r->by->runtime);
    if (!fr_reading_said(r, "runtime") && !fr_reading_said(r, "model.defaults"))
        fr_reading_say(r, "model.defaults", "modern");
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

static bool is_said(const struct fr_reading *r, const char *key, const char *value) {
    const char *said = fr_reading_said(r, key);
    return said && strcmp(said, value) == 0;
}

/* A plan refuses what nothing reads, a trainer passes it over: sequence parallelism of one rank, the reduction of one
 * replica.  Such keys go. */
static void drop_without_effect(struct fr_reading *r) {
    const bool alone = is_said(r, "plan.dp", "1") && !fr_reading_said(r, "plan.cp"),
               one = is_said(r, "plan.dp", "1") && is_said(r, "plan.cp", "1"),
               experts = fr_reading_said(r, "model.experts") ||
                         fr_reading_said_integer(r, "plan.ep", 1) > 1;
    const struct {
        bool holds;
        const char *keys[6];
    } rules[] = {
        {fr_reading_said_integer(r, "plan.tp", 2) == 1,
         {"plan.sequence_parallel", "plan.overlap_tp"}},
        {is_said(r, "plan.sequence_parallel", "false"), {"plan.overlap_tp"}},
        {fr_reading_said_integer(r, "plan.pp", 2) == 1,
         {"plan.schedule", "plan.chunks", "plan.p2p", "plan.stage_layers"}},
        {fr_reading_said_integer(r, "plan.cp", 2) == 1, {"plan.context"}},
        {!experts,
         {"plan.ep", "plan.etp", "plan.dispatch_ranks", "plan.overlap_experts",
          "model.experts_per_token"}},
        {fr_reading_said_integer(r, "plan.ep", 2) == 1,
         {"plan.dispatch_ranks", "plan.overlap_experts"}},
        {alone || one,
         {"plan.zero", "plan.overlap", "plan.bucket", "plan.zero_ranks",
          "plan.reshard_after_forward"}},
        {is_said(r, "plan.zero", "0"), {"plan.zero_ranks"}},
        {is_said(r, "plan.overlap", "none"), {"plan.bucket"}},
        {fr_reading_said(r, "plan.zero") && !is_said(r, "plan.zero", "3"),
         {"plan.reshard_after_forward"}},
        {is_said(r, "plan.recompute", "none"), {"plan.recompute_layers"}},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int k = 0; rules[i].holds && k < 6 && rules[i].keys[k]; k++)
            drop(r->row, rules[i].keys[k]);
}

static fr_status read_lines(const struct fr_trainer_ask *ask, const struct fr_log_text *text,
                            const char *name, const struct fr_settings *settings, bool whole,
                            struct fr_run_row *row, struct fr_trainer_result *out,
                            struct fr_error *err) {
    struct fr_run_row *said = fr_calloc(1, sizeof *said);
    struct fr_logged_steps *steps = &out->logged;
    if (!said) return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    struct fr_reading r = {.name = name,
                           .by = out->by,
                           .settings = settings,
                           .given = row,
                           .row = said,
                           .whole = whole,
                           .stated = &out->stated,
                           .ignore = ask->ignore,
                           .n_ignore = ask->n_ignore};
    struct fr_launch launch = {.launcher = NULL};
    steps->next = fr_step_none();
    fr_status status = read_steps(out->by, text, 0, 1, steps, &launch, said, err);
    r.launched = fr_launch_resolve(&launch).ranks;
    r.log = steps->n > 0;
    out->steps = steps->n;
    if (status == FR_OK) fr_steps_time(steps, &out->timed);
    if (status == FR_OK) status = take_all(&r, err);
    if (status == FR_OK) set_batch(&out->timed, &r);
    if (status == FR_OK) set_software(&r);
    if (status == FR_OK) fr_reading_ranks(&r);
    if (status == FR_OK) drop_without_effect(&r);
    if (status == FR_OK) merge(said, row);
    out->of_settings = out->stated.length;
    if (status == FR_OK) status = set_time(steps, name, row, out, err);
    out->total_steps = total_steps(&r, steps);
    out->malformed = steps->malformed;
    out->first_malformed = steps->first_malformed;
    free(said);
    return status;
}

fr_status fr_trainer_read(const struct fr_trainer_ask *ask, const char *text, size_t length,
                          const char *name, struct fr_run_row *row,
                          struct fr_trainer_result *out, struct fr_error *err) {
    struct fr_settings settings = {0};
    *out = (struct fr_trainer_result){.by = ask->by, .total_steps = NAN};
    struct fr_log_text clean;
    if (fr_log_text_clean(text, length, FR_LOG_KEEP_TIMES, &clean) != FR_OK)
        return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    const struct fr_syntax *syntax =
        read_settings(clean.text, clean.length, is_log(clean.text, clean.length), &settings);
    if (!out->by) out->by = choose(clean.text, clean.length, &settings);
    fr_status status = FR_OK;
    if (settings.failed)
        status = fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    else if (!out->by)
        status = fr_fail(err, FR_ERR_INPUT, name,
                         "is no script, configuration or log of a trainer that is known");
    else if (out->by->all)
        status = out->by->all(clean.text, clean.length, name, row, err);
    else
        status =
            read_lines(ask, &clean, name, &settings, syntax && syntax->whole, row, out, err);
    fr_settings_free(&settings);
    fr_log_text_free(&clean);
    return status;
}

/* ---- a log that grows ------------------------------------------------------------------------------ */

/* Where a piece begins of whole lines, long enough to say what stands before each. */
static size_t piece_of(const char *text, size_t seen) {
    enum { PIECE_B = 1 << 16 };
    size_t from = seen > PIECE_B ? seen - PIECE_B : 0;
    while (from > 0 && text[from - 1] != '\n') from--;
    return from;
}

/* Byte of the cleaned text where the line begins that is @p lines behind its first. */
static size_t behind_lines(const struct fr_log_text *clean, int lines) {
    size_t at = 0;
    for (; lines > 0 && at < clean->length; at++) lines -= clean->text[at] == '\n';
    return at;
}

/* Steps of the new lines.  @return whether they say nothing else */
static bool add_steps(const struct fr_log_text *clean, int before,
                      struct fr_trainer_result *out) {
    const size_t at = behind_lines(clean, before);
    struct fr_settings settings = {0};
    struct fr_launch launch = {.launcher = NULL};
    struct fr_run_row *software = fr_calloc(1, sizeof *software);
    fr_syntax_dump.read(clean->text + at, clean->length - at, &settings);
    bool taken = software && settings.n == 0 &&
                 read_steps(out->by, clean, at, before + 1, &out->logged, &launch, software,
                            NULL) == FR_OK &&
                 software->n == 0 && fr_launch_resolve(&launch).ranks == 0;
    fr_settings_free(&settings);
    free(software);
    return taken;
}

bool fr_trainer_read_on(const char *text, size_t length, size_t seen, const char *name,
                        struct fr_run_row *row, struct fr_trainer_result *out) {
    struct fr_log_text clean;
    const double batch = out->timed.batch;
    const size_t from = piece_of(text, seen);
    int before = 0;
    if (!out->by || out->by->all || !out->by->line || out->logged.n == 0) return false;
    if (text[seen - 1] != '\n') return false; /* a progress bar goes on in its line */
    for (size_t i = from; i < seen; i++) before += text[i] == '\n';
    if (fr_log_text_clean(text + from, length - from, FR_LOG_KEEP_TIMES, &clean) != FR_OK)
        return false;
    bool taken = add_steps(&clean, before, out);
    fr_log_text_free(&clean);
    if (!taken) return false;
    const struct fr_logged_steps *steps = &out->logged;
    fr_steps_time(steps, &out->timed);
    if (out->timed.batch != batch && !(isnan(batch) && isnan(out->timed.batch))) return false;
    out->stated.length = out->of_settings;
    if (out->stated.data) out->stated.data[out->stated.length] = '\0';
    out->steps = steps->n;
    out->malformed = steps->malformed;
    out->first_malformed = steps->first_malformed;
    if (isfinite(steps->item[steps->n - 1].total))
        out->total_steps = steps->item[steps->n - 1].total;
    return set_time(steps, name, row, out, NULL) == FR_OK;
}

void fr_trainer_result_free(struct fr_trainer_result *out) {
    fr_text_free(&out->stated);
    fr_steps_free(&out->logged);
}
