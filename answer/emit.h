/** @file
 *  A plan in the words of a training framework: its launch options, and of every key of the plan that
 *  has none a sentence.
 *
 *  One table (answer/emit/option_table.c) has rows of a key, the frameworks that a row is for,
 *  what must hold, and the option with its value, or the sentence.  Both are written with
 *  values of plan and model in braces: "{tp}" is a key of the plan, others stand in
 *  answer/emit/value_list.h.  Options are those of the framework's own parser at a named
 *  commit (tests/answer/test_emit_options.c holds them against recorded lists).  Requests of
 *  the plan that the framework cannot fulfil stand first in the script: it would run something
 *  else than was priced.
 *
 *  To add an option: a row in the table.  To add a framework: answer/emit/framework/<name>.c exporting
 *  fr_emitter_<name>, with what it is called and its rows, and a row in answer/emit_list.h. */
#ifndef FR_ANSWER_EMIT_H
#define FR_ANSWER_EMIT_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"
#include "models/plan/key.h"

enum { FR_EMIT_LINES_MAX = 128, FR_EMIT_TEXT = 2048 };

/** An option, or a sentence in the place of one. */
struct fr_emit_line {
    const char *about;       /**< the plan's key, or "model", "precision", "launch" */
    char name[96];           /**< of the option, as the framework spells it; "": a sentence */
    char text[FR_EMIT_TEXT]; /**< its value ("": a switch), or the sentence */
    bool lacks;              /**< the plan asks for what the framework cannot do */
    bool expands;            /**< the value is a variable of ours, which the shell reads */
};

struct fr_emitter;

/** Stages whose layers may be left to be chosen. */
enum { FR_EMIT_STAGES = 1024 };

/** One plan on its way to one framework. */
struct fr_emitted {
    const struct fr_emitter *to;
    const struct fr_job *job;
    const struct fr_outcome *out;
    struct fr_plan plan;                  /**< nothing left open */
    int64_t stage_layers[FR_EMIT_STAGES]; /**< its, where they are chosen here */
    struct fr_emit_line line[FR_EMIT_LINES_MAX];
    int n;
    bool full; /**< more was said than fits */
};

/** Frameworks that share the table, a bit each; those that stand in a file each have its rows for all. */
enum {
    FR_EMIT_MEGATRON = 1,
    FR_EMIT_BRIDGE = 2,
    FR_EMIT_TORCHTITAN = 4,
    FR_EMIT_DEEPSPEED = 8,
    FR_EMIT_OTHERS = 16
};

/** The content of a row where its condition holds. */
typedef enum {
    FR_EMIT_OPTION = 1, /**< option and value ("": a switch) */
    FR_EMIT_SWITCH, /**< the option alone; where the condition does not hold, that it is off without */
    FR_EMIT_TRUTH, /**< the option, with true where the condition holds and false where it does not */
    FR_EMIT_VARIABLE, /**< the option, with a value that the script's reader gives: "${NAME:?what it is}" */
    FR_EMIT_NOTE, /**< a sentence: there is no option, and why nothing is lost */
    FR_EMIT_LACK, /**< a sentence: there is no option, and the plan needs one */
    FR_EMIT_NONE, /**< a note where the plan leaves the key at its default, else a lack */
} fr_emit_kind;

/** Subjects that belong to no key of a plan, behind all keys, in this order. */
enum { FR_EMIT_PRECISION = FR_PLAN_KEYS, FR_EMIT_LAUNCH, FR_EMIT_MODEL, FR_EMIT_SUBJECTS };

struct fr_emit_row {
    unsigned frameworks; /**< FR_EMIT_MEGATRON, ...; of a framework's own rows 0 */
    int key;             /**< of the plan, or FR_EMIT_PRECISION, ... */
    const char *where;   /**< "NAME=WORD,WORD NAME!=WORD": all must hold; "": always */
    fr_emit_kind kind;
    const char *option;
    const char *text; /**< value or sentence, "{NAME}" in it a value */
};

/** The rows that frameworks share. */
extern const struct fr_emit_row fr_emit_rows[];
extern const int fr_emit_n_rows;

/** Row @p i from 0 of those that say a plan in @p to's words: the shared table's that are for it, then its own.  Rows
 *  of a key are said in this order.  @return NULL behind the last */
const struct fr_emit_row *fr_emit_row(const struct fr_emitter *to, int i);

/** The value called @p name, as a word. @return false where there is none of that name. */
bool fr_emit_value(const struct fr_emitted *e, const char *name, char *out, size_t capacity);

struct fr_emitter {
    const char *name;      /**< of --emit */
    const char *framework; /**< for people */
    const char *no;        /**< "X has no ", before what it lacks */
    const char *runtimes;  /**< how names of runtimes begin that are releases of it */
    const char *version;   /**< repository and commit whose parser the options are of */
    unsigned shared;       /**< which rows of the shared table are its: FR_EMIT_MEGATRON, ... */
    /** Rows beside those of the shared table; one without an option (NULL) ends them.  NULL: none. */
    const struct fr_emit_row *rows;
    /** "KEY=VALUES" of keys whose other values it cannot run; NULL ends it. */
    const char *const *able;
    /** The options as a piece of bash; NULL: an array of bash called @p array. */
    void (*write)(const struct fr_emitted *e, struct fr_text *text);
    const char *array;
    const char *program; /**< and its arguments, behind the launcher */
    const char
        *launcher; /**< in the place of torchrun, "{NAME}" in it a value; NULL: torchrun */
};

/** Rows that others name. */
extern const struct fr_emitter fr_emitter_megatron, fr_emitter_megatron_bridge,
    fr_emitter_torchtitan, fr_emitter_deepspeed;
/** Rows in table order, then NULL. */
extern const struct fr_emitter *const fr_emitters[];

/** Is runtime @p name, as clusters name theirs, a release of the framework? */
bool fr_emitter_of(const struct fr_emitter *to, const char *name);

/** Row called @p name, or NULL. */
const struct fr_emitter *fr_emitter_find(const char *name);

/** Say the plan of @p out in the framework's words.
 *  @return FR_OK; FR_ERR_INPUT for a model that no such framework trains. */
fr_status fr_emit(const struct fr_emitter *to, const struct fr_job *job,
                  const struct fr_outcome *out, struct fr_emitted *emitted,
                  struct fr_error *err);

/** An array of bash: "name=(", a line "--option value  # key" each (a field without dashes "a.b=value"). */
void fr_emit_array(const struct fr_emitted *e, const char *array, struct fr_text *text);

/* ---- what is printed ------------------------------------------------------------------------ */

/** A job script's head and launcher in place of torchrun; NULL: torchrun. */
struct fr_emit_launch {
    const char *head; /**< #SBATCH lines and what comes before the launcher */
    const char *line; /**< the launcher */
};

/** The script: sentences, options, launcher; where @p emitted is for no framework what follows the
 *  launcher are the words that the script is started with. */
void fr_emit_script(struct fr_text *text, const struct fr_emitted *emitted,
                    const struct fr_emit_launch *launch);
/** The object of --json. */
void fr_emit_put(struct fr_json_writer *w, const struct fr_emitted *e);

/** The head and the launcher of Slurm for the plan of @p out: ranks and cores as its placement and
 *  numbering place them.  @p head, @p line are appended to.
 *  @return FR_OK, or what placing failed with */
fr_status fr_emit_slurm(const struct fr_job *job, const struct fr_outcome *out,
                        struct fr_text *head, struct fr_text *line, struct fr_error *err);

#endif
