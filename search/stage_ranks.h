/** @file
 *  To which rank should each stage of a pipeline compress its gradients?
 *
 *  Song et al. (2023) compress the first stages, all to one rank, and leave "the right combination of the compression
 *  rank and the number of stages" to later work.  Here every compressed stage has a rank r_i of 0, which is none, and an
 *  eighth, a quarter, a half and all of the plan's `rank`.
 *
 *      minimise  T(r) = max over i of t_i(r_i)          T: the iteration; t_i: where the gradients of stage i end it
 *      of equal T: each r_i as little compressed as can be, 0 least of all
 *
 *  The rank of a stage moves the end of its own gradients alone, so the least T has every stage at its fastest rank.
 *  Then each stage by itself takes the least compressed rank that keeps T.  tests/search/test_stage_ranks.c compares it
 *  with all 5^4 combinations.  Where gradients go in buckets beside passes, compression changes passes too.  There one
 *  stage at a time is moved as long as that is faster, and the result is a local minimum.  One stage at least is not
 *  compressed there: each is tried.  Memory is not weighed, nor a limit
 *  on what goes compressed. */
#ifndef FR_SEARCH_STAGE_RANKS_H
#define FR_SEARCH_STAGE_RANKS_H

#include "models/outcome/cost.h"

enum { FR_STAGE_RANKS = 5 };

/** The ranks that a stage may have, from the least compressed on: 0, rank, rank / 2, ...
 *  @return how many of @p rank differ */
int fr_stage_ranks_tried(int64_t rank, int64_t tried[FR_STAGE_RANKS]);

/** Ranks of the first compression.gradient.stages stages of @p plan.
 *  @param[out] ranks  ranks[compression.gradient.stages]
 *  @return FR_OK; FR_ERR_INFEASIBLE where the plan cannot be; FR_ERR_NOMEM. */
fr_status fr_stage_ranks_best(const struct fr_job *job, const struct fr_plan *plan,
                              int64_t *ranks, struct fr_error *err);

/** Where the plan of @p job asks for compression.gradient.ranks "best", choose them now; the job owns the list. */
fr_status fr_stage_ranks_choose(struct fr_job *job, struct fr_error *err);

#endif
