/** @file
 *  Which facts does an outcome have?  One row a fact (answer/outcome/fact_list.h).
 *
 *  The document of an outcome, its CSV, lines of text, first columns of pages, its schema and its table in
 *  docs/reference/outputs.md walk these rows; a row knows how its value is read.  Values that several rows read
 *  (rates, memory that the device shows, intervals) are computed once, in the view of an outcome. */
#ifndef FR_ANSWER_OUTCOME_OUTCOME_FACT_H
#define FR_ANSWER_OUTCOME_OUTCOME_FACT_H

#include "base/json.h"
#include "models/job/job.h"
#include "models/outcome/fits/fits.h"
#include "models/outcome/outcome.h"
#include "models/outcome/rates.h"

/** Between which a value lies with 90 %. */
struct fr_outcome_ends {
    bool stated; /**< is an interval stated of it? */
    double low, high;
};

/** An outcome, and what follows from it and its job. */
struct fr_outcome_view {
    const struct fr_job *job;
    const struct fr_outcome *out;
    bool priced;  /**< it has a time */
    bool known;   /**< its memory is known */
    bool differs; /**< what is expected of its time is another than the model's */
    bool moments; /**< its document tells the moments of memory, too */
    struct fr_fits fits;
    struct fr_rates rates;
    struct fr_outcome_ends time, steps, energy, peak, shown, needed;
};

/** @param job  where the outcome names none of its own */
void fr_outcome_view(const struct fr_job *job, const struct fr_outcome *out,
                     struct fr_outcome_view *v);

/** Is it of a pass behind cached tokens?  Tokens that its samples then get. */
static inline bool fr_outcome_generates(const struct fr_outcome_view *v) {
    return v->job->workload.transformer.cached > 0;
}
static inline double fr_outcome_tokens(const struct fr_outcome_view *v) {
    return (double)fr_job_batch(v->job, &v->out->plan) *
           (double)v->job->workload.transformer.sequence;
}

/** Type of a fact.  In documents a number may be null, except a WHOLE one. */
typedef enum {
    FR_OUTCOME_IS_NUMBER, /**< a count a second, a share: >= 0 */
    FR_OUTCOME_IS_PART,   /**< of a whole; may be below 0 */
    FR_OUTCOME_IS_CHANCE, /**< 0 to 1 */
    FR_OUTCOME_IS_TIME,   /**< [s], >= 0, and so the next four */
    FR_OUTCOME_IS_ENERGY, /**< [J] */
    FR_OUTCOME_IS_SIZE,   /**< [B] */
    FR_OUTCOME_IS_RATE,   /**< [B/s] */
    FR_OUTCOME_IS_POWER,  /**< [W] */
    FR_OUTCOME_IS_COUNT,  /**< a whole number >= 0 */
    FR_OUTCOME_IS_WHOLE,  /**< the same, always known */
    FR_OUTCOME_IS_FLAG,
    FR_OUTCOME_IS_WORD,
    FR_OUTCOME_IS_PUT, /**< writes itself */
    FR_OUTCOME_IS_ENDS /**< no fact: where intervals of an object's members stand */
} fr_outcome_kind;

/** Where a fact is shown: rows of a group in their order, groups in theirs; 0: not there. */
struct fr_fact_place {
    int group;
    const char *label; /**< NULL: the name */
};

struct fr_outcome_fact {
    const char *name; /**< in JSON: "time_s", "memory_B.peak", "memory_B.*" */
    fr_outcome_kind kind;
    bool always;    /**< there in every document */
    bool always_in; /**< so is its interval */
    bool (*stated)(const struct fr_outcome_view *v);
    double (*number)(const struct fr_outcome_view *v, int i); /**< i: of several */
    const char *(*word)(const struct fr_outcome_view *v);
    void (*put)(const struct fr_outcome_view *v, struct fr_json_writer *w);
    const char *const
        *names;           /**< of several, in place of *; or what a word may be, then NULL */
    int count;            /**< of several; else 1 */
    const char *interval; /**< key that the ends of its interval are called by; NULL: none */
    size_t ends;          /**< of them in the view */
    struct fr_fact_place csv, text, page;
    const char *sentence; /**< Markdown */
};

enum {
#define FR_FACT(word, ...) FR_OUTCOME_##word,
#define FR_FACT_WORD FR_FACT
#define FR_FACT_EACH FR_FACT
#define FR_FACT_PUT FR_FACT
#define FR_FACT_ENDS FR_FACT
#include "answer/outcome/fact_list.h"
#undef FR_FACT
#undef FR_FACT_WORD
#undef FR_FACT_EACH
#undef FR_FACT_PUT
#undef FR_FACT_ENDS
    FR_OUTCOME_FACTS
};
/** Rows in table order, FR_OUTCOME_FACTS of them. */
extern const struct fr_outcome_fact fr_outcome_facts[];

/** Number @p fact (FR_OUTCOME_iteration_time_s, ...) of an outcome; NaN: not known. */
double fr_outcome_number(const struct fr_outcome_view *v, int fact);

/** Its interval; NULL: it has none. */
const struct fr_outcome_ends *fr_fact_ends(const struct fr_outcome_fact *fact,
                                           const struct fr_outcome_view *v);

enum { FR_FACT_KEY = 96 };
/** The object that @p fact stands in; "": the outcome itself.  @return @p out */
const char *fr_fact_object(const struct fr_outcome_fact *fact, char out[FR_FACT_KEY]);
/** Does it stand in @p object? */
bool fr_fact_in(const struct fr_outcome_fact *fact, const char *object);

/** Key of the @p i th of several in its object.  @return @p out */
const char *fr_fact_key(const struct fr_outcome_fact *fact, int i, char out[FR_FACT_KEY]);

/** Facts with a place (offsetof(struct fr_outcome_fact, csv), ...), in its order.
 *  @param[out] facts  facts[FR_OUTCOME_FACTS]  @return how many */
int fr_outcome_placed(size_t place, int *facts);

#endif
