/** @file
 *  A plan in the words of a training framework: its launch options, and of every key of the plan that
 *  has none a sentence.
 *
 *  A framework has one row for each key: the option that takes the key's value, a function where more
 *  than that has to be said, or why there is none; what no framework has stands once for all (emit.c).
 *  Options are those of the framework's own parser at
 *  a named commit (tests/answer/test_emit.c holds them against recorded lists).  What a plan asks for
 *  and the framework cannot do stands first in the script: it would run something else than was priced.
 *
 *  To add a framework: answer/emit/<name>.c exporting fr_emitter_<name>, a row in answer/emit_list.h. */
#ifndef FR_ANSWER_EMIT_H
#define FR_ANSWER_EMIT_H

#include "models/job/job.h"
#include "models/outcome/outcome.h"
#include "models/plan/key.h"

enum { FR_EMIT_LINES_MAX = 128 };

/** An option, or a sentence in the place of one. */
struct fr_emit_line {
    const char *about; /**< the plan's key, or "model", "precision", "launch" */
    char name[96];     /**< of the option, as the framework spells it; "": a sentence */
    char text[2048];   /**< its value ("": a switch), or the sentence */
    bool lacks;        /**< the plan asks for what the framework cannot do */
    bool expands;      /**< the value is a variable of ours, which the shell reads */
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
    const char *about; /**< of what is said now */
    bool full;         /**< more was said than there is room for */
};

/** What a framework makes of one key. */
struct fr_emit_row {
    int key;
    const char *option;                /**< takes the key's value */
    void (*say)(struct fr_emitted *e); /**< or this says it */
    const char *none;                  /**< or why there is no option */
};

struct fr_emitter {
    const char *name;      /**< of --emit */
    const char *framework; /**< for people */
    const char *runtimes;  /**< how names of runtimes begin that are releases of it */
    const char *version;   /**< repository and commit whose parser the options are of */
    const char *no;        /**< "X has no ", before what every framework lacks */
    const struct fr_emit_row
        *rows; /**< of the keys it has a word of its own for, in any order */
    /** "KEY=VALUES" of keys whose other values it cannot run; NULL ends it. */
    const char *const *able;
    /** What is no key of the plan: sequence, precision, the model. */
    void (*rest)(struct fr_emitted *e);
    /** The options as a piece of bash. */
    void (*write)(const struct fr_emitted *e, struct fr_text *text);
    const char *program; /**< and its arguments, behind the launcher */
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

/* ---- for rows ------------------------------------------------------------------------------- */

/** An option and its value; "" for a switch. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void fr_emit_option(struct fr_emitted *e, const char *name, const char *fmt, ...);
/** An option whose value the script's reader gives: "${NAME:?what it is}", @p variable being our own words. */
void fr_emit_variable(struct fr_emitted *e, const char *name, const char *variable);
/** There is no option, and why nothing is lost. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void fr_emit_remark(struct fr_emitted *e, const char *fmt, ...);
/** There is no option, and the plan needs one. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void fr_emit_lack(struct fr_emitted *e, const char *fmt, ...);

/** Micro-batches of an iteration. */
int64_t fr_emit_micro_batches(const struct fr_emitted *e);
/** Layers of virtual stage @p i of pp chunks, in the model's order; as equal as a stage's can be. */
int64_t fr_emit_layers(const struct fr_emitted *e, int64_t i);
/** Have all virtual stages as many? */
bool fr_emit_layers_equal(const struct fr_emitted *e);
/** Megatron-LM's way to say which layers recompute, whose method stands above: it takes some with granularity full
 *  alone. */
void fr_emit_recompute_layers(struct fr_emitted *e);
/** Option @p name with the gradients of a bucket, in values, where somebody chose its size; else a remark.
 *  @param used  whether this plan reduces gradients in buckets of a stated size */
void fr_emit_bucket(struct fr_emitted *e, bool used, const char *name);
/** Layers whose activations Megatron's trainers send to the host: all but the last where the plan does not
 *  say.  @return false where the plan asks for none, or, and the lack is said, has stages or recomputes */
bool fr_emit_offloaded_layers(struct fr_emitted *e, int64_t *layers);
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
 *  numbering seat them.  @p head, @p line are appended to.
 *  @return FR_OK, or what placing failed with */
fr_status fr_emit_slurm(const struct fr_job *job, const struct fr_outcome *out,
                        struct fr_text *head, struct fr_text *line, struct fr_error *err);

#endif
