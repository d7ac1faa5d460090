/** @file
 *  A search in blocks that may be done apart: by other processes, in any order, again after a loss.
 *
 *  The space is cut into blocks by its size alone.  A block is a search of its own over its part of the
 *  numbers, and leaves what the whole needs of it: counts, the best K, the front, examples.  Joined in
 *  order of their numbers they give the same result whoever did them when, so that a run may be ended
 *  and gone on with.
 *
 *  A block travels as one line of text, numbers in hexadecimal, exact to the last bit:
 *
 *      block B EVALUATED FEASIBLE READ  R (COUNT EXAMPLE)*  (VALUE LOSSY INDEX)*  K (VALUE LOSSY INDEX)*
 *            F (TIME ENERGY MEMORY LOSSY INDEX)*  end
 *
 *  READ the keys that some plan reads, R reasons, the best of each method, of exact plans, and of plans that fit less surely than
 *  asked for (FR_UNSURE), K ranked, F of the front.  A line that is cut does not
 *  end with "end" and is none. */
#ifndef FR_SEARCH_BLOCKS_H
#define FR_SEARCH_BLOCKS_H

#include "base/text.h"
#include "search/keep.h"

/** Result of one block. */
struct fr_part {
    bool done;
    int64_t evaluated, feasible, because[FR_REASON_COUNT], example[FR_REASON_COUNT];
    fr_plan_key_set read;
    struct fr_ranked of_method[FR_SEARCH_METHODS], exact, unsure[FR_UNSURE];
    struct fr_ranked *ranked;
    struct fr_front_point *front;
    size_t n_ranked, n_front;
};

/** A search cut into blocks. */
struct fr_blocks {
    const struct fr_job *job;
    const struct fr_space *space;
    const struct fr_search_options *options;
    fr_ranking by; /**< of every block; known once one is done */
    int64_t size;  /**< plans a block */
    int64_t n, n_done;
    struct fr_part *block;
};

/** Cut the space.  @return FR_OK or FR_ERR_NOMEM.  Free with fr_blocks_free, also on error. */
fr_status fr_blocks_open(const struct fr_job *job, const struct fr_space *space,
                         const struct fr_search_options *options, struct fr_blocks *blocks,
                         struct fr_error *err);
void fr_blocks_free(struct fr_blocks *blocks);

/** Search block @p number and append its line (without line end).  Several threads may. */
fr_status fr_blocks_search(const struct fr_blocks *blocks, int64_t number, int threads,
                           struct fr_text *line, struct fr_error *err);

/** Take over a line; one of a block that is done already changes nothing.
 *  @return FR_OK; FR_ERR_INPUT where it is no block of this search; FR_ERR_NOMEM. */
fr_status fr_blocks_take(struct fr_blocks *blocks, const char *line, struct fr_error *err);

/** The lowest block that is not done from @p from on, or -1. */
int64_t fr_blocks_next(const struct fr_blocks *blocks, int64_t from);

/** All blocks are done: the result of the whole, as fr_search gives it but for the time it took.
 *  @return FR_OK; FR_ERR_INPUT where a plan that a line tells of is not as it says; FR_ERR_NOMEM.  Free
 *  @p result also on error. */
fr_status fr_blocks_join(const struct fr_blocks *blocks, struct fr_search_result *result,
                         struct fr_error *err);

/** A number that changes with the space, the options, and what plans of it cost: of 64 plans all over
 *  it.  Lines of another search have another. */
uint64_t fr_blocks_print(const struct fr_blocks *blocks);

#endif
