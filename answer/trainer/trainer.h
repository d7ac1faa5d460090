/** @file
 *  Which training was run, and how?  A trainer's script, configuration or log becomes the row of a
 *  run (trust/runs/runs.h).
 *
 *  A file is read in three steps: its settings (settings.h), whatever their syntax; the steps that
 *  it times (steps.h); and what the settings mean.  The meaning is a table per trainer; a setting
 *  takes the first row that fits.  A setting without a row is looked up among the options that
 *  --emit writes (answer/emit/option_table.c).  So a script that was printed is read as the plan
 *  that it was.  The trainer's `finish` handles what no row can state.
 *
 *  A setting that alters the work and that no plan can say refuses the file, names the setting, and says how to state it
 *  by hand.  So does one that is not known and whose name begins as those that alter the work do.
 *
 *  To add a trainer: answer/trainer/framework/<name>.c exporting fr_trainer_<name>, row FR_TRAINER(<name>) in
 *  answer/trainer/framework_list.h.  To add a setting: a row of its table. */
#ifndef FR_ANSWER_TRAINER_TRAINER_H
#define FR_ANSWER_TRAINER_TRAINER_H

#include "answer/trainer/settings.h"
#include "answer/trainer/steps.h"
#include "answer/trainer/timers.h"
#include "trust/runs/runs.h"

typedef enum {
    FR_MEANS_KEY,     /**< `key` is `text`; "{}" in it is the setting's value */
    FR_MEANS_NOTHING, /**< read by `finish`, or of no account for time and memory */
    FR_MEANS_NOTE,    /**< alters the work a little: kept as note.NAME and reported */
    FR_MEANS_REFUSAL, /**< alters the work and no plan says it: `text` is why; `key`, if any, states it by hand */
} fr_meaning_kind;

struct fr_meaning_row {
    const char *name; /**< of the setting: its last components, or the whole */
    const char *
        where; /**< "": any value; "a,b": one of them; "!a,b": none of them; "on", "off": set, or not */
    const char *needs; /**< another setting that must be on for this one to count, or NULL */
    fr_meaning_kind kind;
    const char *key, *text;
};
/** Rows that need no other setting. */
#define FR_SETS(name, key) FR_SETS_WHERE(name, "", key, "{}")
#define FR_SETS_WHERE(name, where, key, text)                                                  \
    { name, where, NULL, FR_MEANS_KEY, key, text }
#define FR_READ(name)                                                                          \
    { name, "", NULL, FR_MEANS_NOTHING, NULL, "" }
#define FR_REFUSED(name, where, key, text)                                                     \
    { name, where, NULL, FR_MEANS_REFUSAL, key, text }

/** A file on its way to a row. */
struct fr_reading {
    const char *name; /**< of the file */
    const struct fr_trainer *by;
    const struct fr_settings *settings;
    const struct fr_run_row *given; /**< what the caller has stated, which goes before */
    struct fr_run_row *row;         /**< what the file says */
    bool whole;                     /**< what it does not set is at the trainer's default */
    bool log;                       /**< it times steps */
    int64_t launched;               /**< ranks that a launcher's line says, 0: none */
    struct fr_text *stated;         /**< sentences for the user, a line each */
    const char *const *ignore; /**< [n_ignore] settings to read as if they were not there */
    int n_ignore;
};

struct fr_trainer {
    const char *name;         /**< as a KIND of forerun import */
    const char *summary;      /**< what is read, in a phrase */
    const char *source;       /**< where its forms are documented */
    const char *runtime;      /**< the preset of its software, the newest; NULL: none */
    const char *emitter;      /**< of --emit, whose options are read too, or NULL */
    const char *const *signs; /**< settings that tell its files; NULL ends them */
    const char *const *marks; /**< likewise texts of its logs */
    const char *const *hints; /**< texts that others' logs may have, too */
    const struct fr_meaning_row *rows; /**< a row without name ends them */
    const char *const
        *families; /**< how names begin of settings that alter the work; NULL ends them */
    /** Handles what rows cannot state.  NULL: nothing. */
    fr_status (*finish)(struct fr_reading *r, struct fr_error *err);
    /** The kind of @p line; data of a step or a part of one go to @p step. */
    fr_line_kind (*line)(const char *line, struct fr_logged_step *step);
    /** Facts that @p line states in words, as keys of @p row.  NULL: none. */
    void (*facts)(const char *line, struct fr_run_row *row);
    /** In place of all this: the text as a whole.  NULL: line by line. */
    fr_status (*all)(const char *text, size_t length, const char *name, struct fr_run_row *row,
                     struct fr_error *err);
};

/** Rows that others name. */
extern const struct fr_trainer fr_trainer_megatron, fr_trainer_nemo, fr_trainer_torchtitan,
    fr_trainer_mlperf;
/** Rows in table order, then NULL. */
extern const struct fr_trainer *const fr_trainers[];
/** Row called @p name, or NULL. */
const struct fr_trainer *fr_trainer_find(const char *name);
/** The trainer whose file @p text is, or NULL. */
const struct fr_trainer *fr_trainer_of(const char *text, size_t length);

struct fr_trainer_ask {
    const struct fr_trainer *by; /**< NULL: the one whose file it is */
    const char *const *ignore;
    int n_ignore;
};

/** Results of reading besides the row. */
struct fr_trainer_result {
    const struct fr_trainer *by;
    struct fr_logged_time timed;
    int steps, malformed, first_malformed;
    struct fr_logged_steps logged; /**< all of them */
    struct fr_timers timers;       /**< of phases, beside the steps */
    double total_steps;            /**< of the whole run, as the file says; NaN: it does not */
    size_t of_settings;            /**< bytes of `stated` that say nothing of steps */
    struct fr_text stated;
};

/** Read @p text into keys of @p row; those that it holds already stay.  measured_s is set where the file times steps.
 *  Free @p out with fr_trainer_result_free, also on error.
 *  @return FR_OK; FR_ERR_INPUT with the place, where it is no trainer's file, or a setting cannot be priced; FR_ERR_NOMEM. */
fr_status fr_trainer_read(const struct fr_trainer_ask *ask, const char *text, size_t length,
                          const char *name, struct fr_run_row *row,
                          struct fr_trainer_result *out, struct fr_error *err);
/** The same log with more lines: take those behind the first @p seen bytes of @p text, which end a line and were read into
 *  @p row and @p out.  For logs that grow: the time that it takes is of the new lines and of the steps, not of the text.
 *  @return false where the text must be read as a whole, since more than its steps is new; @p out then is of no use */
bool fr_trainer_read_on(const char *text, size_t length, size_t seen, const char *name,
                        struct fr_run_row *row, struct fr_trainer_result *out);
void fr_trainer_result_free(struct fr_trainer_result *out);

/* ---- for trainers --------------------------------------------------------------------------- */

/** The value of setting @p name, NULL where it is not set, ignored, or None. */
const char *fr_reading_value(const struct fr_reading *r, const char *name);
/** Is it set, and to something else than False, 0 or nothing? */
bool fr_reading_on(const struct fr_reading *r, const char *name);
/** Is it set, and to False, 0 or nothing? */
bool fr_reading_off(const struct fr_reading *r, const char *name);
/** Its whole number, or @p otherwise where it has none. */
int64_t fr_reading_integer(const struct fr_reading *r, const char *name, int64_t otherwise);
/** Set @p key of the row. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void fr_reading_say(struct fr_reading *r, const char *key, const char *fmt, ...);
/** The value for @p key that the row has or the caller has given; NULL: none. */
const char *fr_reading_stated(const struct fr_reading *r, const char *key);
/** Its whole number from 1 on, FR_STATED_MOST of more, or @p otherwise where it has none. */
int64_t fr_reading_stated_integer(const struct fr_reading *r, const char *key,
                                  int64_t otherwise);
#define FR_STATED_MOST (INT64_C(1) << 40)
/** A sentence for the user. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void fr_reading_tell(struct fr_reading *r, const char *fmt, ...);
/** Refuse the file for setting @p name, unless it is ignored or @p key (NULL: none) was given by hand.
 *  @return FR_OK or FR_ERR_INPUT */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
fr_status
fr_reading_refuse(struct fr_reading *r, const char *name, const char *key, struct fr_error *err,
                  const char *fmt, ...);
/** dp of the row's ranks and degrees, where the file states them; a note where they contradict each
 *  other. */
void fr_reading_ranks(struct fr_reading *r);
/** Set "model" to the preset that @p title names (trust/runs/runs.h). */
bool fr_reading_model(struct fr_reading *r, const char *title);

/** Is @p value False, 0, None or nothing, in any trainer's spelling? */
bool fr_value_is_off(const char *value);
/** Does @p word stand in @p value (NULL: nothing), in any case of letters? */
bool fr_value_mentions(const char *value, const char *word);
/** Look a setting up among the options of @p emitter, and put its meaning into @p row.  @return
 *  whether one of them is it. */
bool fr_emitted_take(const char *emitter, const char *name, const char *value,
                     struct fr_run_row *row);
/** A release of NeMo's or Megatron-Bridge's containers that @p line names, as `runtime` of @p row. */
void fr_trainer_software(const char *line, bool *nemo, struct fr_run_row *row);

#endif
