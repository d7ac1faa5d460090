/** @file
 *  What a search found, as text, JSON and CSV. */
#ifndef FR_APP_TEXT_SEARCH_H
#define FR_APP_TEXT_SEARCH_H

#include "calibrate/runs/odds.h"
#include "search/search.h"

/** A search and what came of it. */
struct fr_app_search {
    struct fr_job job;
    struct fr_space space;
    struct fr_search_options options;
    struct fr_search_result result;
    int64_t *layer_tp; /**< a grid per layer for the best plan, where it has a grid */
    struct fr_outcome per_layer;
    bool has_per_layer;
    struct fr_odds odds[FR_ODDS_PLANS_MAX]; /**< of the first of top */
    int n_odds;
    bool explain;
};

/** Name of the quantity that plans were ranked by. */
const char *fr_app_search_ranked_by(const struct fr_app_search *r);

/** How much worse the second is than the best, as a share of the best; NaN when it stands alone. */
double fr_app_search_margin(const struct fr_app_search *r);

/** What ranking one iteration means, said whenever it is done; else NULL. */
const char *fr_app_search_note(const struct fr_app_search *r);

/* Rows go to standard output a megabyte at a time (fr_app_print_part): a million take the memory
 * of few. */

/** The whole as text; without --explain, which follows it. */
fr_status fr_app_search_text(struct fr_text *text, const struct fr_app_search *r,
                             struct fr_error *err);

/** The document of --json (docs/output.md).  @return FR_OK, or what explaining it failed with. */
fr_status fr_app_search_json(struct fr_text *text, const struct fr_app_search *r,
                             struct fr_error *err);

/** The top plans, a line each. */
fr_status fr_app_search_csv(struct fr_text *text, const struct fr_app_search *r,
                            struct fr_error *err);

#endif
