/** @file
 *  How much is an upgrade worth?  The same cluster and model under several runtimes, and what
 *  each gains over the first.
 *
 *  One plan has a price under each: a runtime fills in what the plan leaves open.  A search finds the best plan of each.
 *
 *  A gain is explained fact by fact: the first runtime is changed into the other, one fact after the other.  The order is what
 *  models start from, then the rows of models/job/fact_list.h (model, plan, device), and of a search the plan at last.
 *  Each step is a job loaded and priced anew, so nothing is estimated.  The first step begins at the first runtime's time,
 *  the last one ends at the other's, and the steps add up to the whole gain. */
#ifndef FR_ANSWER_UPGRADE_UPGRADE_H
#define FR_ANSWER_UPGRADE_UPGRADE_H

#include "answer/search/search.h"
#include "models/job/fact.h"

enum { FR_UPGRADE_MAX = 16, FR_UPGRADE_STEPS = FR_CLUSTER_FACTS + 2, FR_UPGRADE_WORD = 384 };

/** The subject of a step; names in fr_upgrade_terms, words for people in fr_upgrade_term_words. */
typedef enum {
    FR_UPGRADE_STARTS,    /**< what models and plans start from */
    FR_UPGRADE_ATTENTION, /**< kernels of attention and of scans */
    FR_UPGRADE_PRODUCTS,  /**< products of 8 and 4 bits */
    FR_UPGRADE_HOST,      /**< the host, and what an iteration has besides its work */
    FR_UPGRADE_PLAN,      /**< another plan is the best */
    FR_UPGRADE_TERMS
} fr_upgrade_term;
extern const char *const fr_upgrade_terms[], *const fr_upgrade_term_words[];

/** A fact, or several where a plan could not be priced between them. */
struct fr_upgrade_step {
    fr_upgrade_term term;
    char key[FR_UPGRADE_WORD];                       /**< as files of runtimes state it */
    char from[FR_UPGRADE_WORD], to[FR_UPGRADE_WORD]; /**< "": nothing is assumed */
    double before_s, after_s;                        /**< an iteration of the first's batch */
};

struct fr_upgrade_row {
    const char *runtime;    /**< as the user named it */
    struct fr_searched *of; /**< owned: the search; of one plan its job alone */
    struct fr_outcome plan; /**< of one plan: its price */
    struct fr_training_cost cost;
    double time_s; /**< an iteration of the first's batch; NaN: no plan can be laid out */
    double gain;   /**< samples a second above the first's, as a share */
    struct fr_upgrade_step *step; /**< [n_steps], owned; none of the first */
    int n_steps;
};

struct fr_upgrade {
    const char *cluster, *model; /**< as the user named them */
    struct fr_training training;
    bool searched;
    struct fr_upgrade_row row[FR_UPGRADE_MAX];
    int n;
};

/** The request, the same for all. */
struct fr_upgrade_asked {
    struct fr_searches_asked
        of;      /**< its ranks NULL: the plan's own; of one plan no options are read */
    bool search; /**< the best plan of each, in place of one plan */
};

/** Fill in @p u, whose cluster, model, training and runtimes are set.
 *  @return FR_OK, also where nothing is feasible with some; FR_ERR_USAGE for --ranks that the plan cannot have; what loading
 *          or searching failed with.  Free with fr_upgrade_free, also on error. */
fr_status fr_upgrade_make(const struct fr_upgrade_asked *asked, struct fr_upgrade *u,
                          struct fr_error *err);
void fr_upgrade_free(struct fr_upgrade *u);

/** The plan of a row as it was priced, or NULL: none was found. */
const struct fr_outcome *fr_upgrade_outcome(const struct fr_upgrade *u, int row);
/** The job that it is a plan of. */
const struct fr_job *fr_upgrade_job(const struct fr_upgrade *u, int row);

/** Part @p part of the time of a row (FR_PART_COUNT: what its parts do not hold, where they overlap), for the first's batch
 *  [s]. */
double fr_upgrade_part_s(const struct fr_upgrade *u, int row, int part);

/** The document of --json (docs/reference/outputs.md) of @p n comparisons. */
void fr_upgrades_json(struct fr_text *text, const struct fr_upgrade *u, int n);

#endif
