/** @file
 *  What a search keeps of the plans it has seen: the best, the front, and the best of each method.
 *
 *  Plans are kept by their numbers and by what orders them, since all of a space may be kept; those that
 *  stay are priced once more at the end.  A search keeps piece by piece, one in blocks
 *  (search/blocks.h) block by block: kept in order of the numbers both come to the same. */
#ifndef FR_SEARCH_KEEP_H
#define FR_SEARCH_KEEP_H

#include "models/outcome/bounded.h"
#include "search/search.h"

/** Compression is lossy: of plans as good, the one that loses less is better. */
double fr_lossiness(const struct fr_outcome *out);

/** Order of the result, of two struct fr_ranked: by the objective; of equals the less lossy, then the
 *  one that came first. */
int fr_by_rank(const void *a, const void *b);

/** The best of a list, which grows to twice the wanted length before it is cut.  Once it was cut, kept[0..limit-1] is
 *  in order.  A result that does not go before its last is none of the best.  Begin with zeros. */
struct fr_best {
    struct fr_ranked_list list;
    bool cut;
};

/** Keep @p ranked unless @p limit (0: all are wanted) are better. @return false without memory */
bool fr_best_keep(struct fr_best *best, size_t limit, const struct fr_ranked *ranked);
/** Put in order, and leave the first @p limit (0: all). */
void fr_best_cut(struct fr_best *best, size_t limit);

/** A plan of a front, by what it is held against. */
struct fr_front_point {
    double time_s, energy_J, memory_B, lossy;
    int64_t index;
};

/** Plans that no other is as good as.  Begin with zeros. */
struct fr_front {
    struct fr_front_point *items;
    size_t count, capacity;
};

/** Values of @p out that are compared with others; times, joules and bytes to twelve digits. */
struct fr_front_point fr_front_point_of(fr_ranking by, const struct fr_outcome *out,
                                        int64_t index);
/** Is @p a nowhere worse than @p b? */
bool fr_front_as_good(const struct fr_front_point *a, const struct fr_front_point *b);
/** Add @p own unless something there is as good; drop what it is as good as.  The first of equals
 *  stays. @return false without memory */
bool fr_front_keep(struct fr_front *front, const struct fr_front_point *own);
/** Put in order of time, else as fr_by_rank. */
void fr_front_sort(struct fr_front *front);

/** No plan yet, @p n times. */
void fr_ranked_begin(struct fr_ranked *best, int n);
/** The better of two; a number of -1 is none. */
void fr_ranked_keep(struct fr_ranked *best, const struct fr_ranked *own);

/** The band, of FR_UNSURE_BANDS, that holds the probability of @p out to fit. */
int fr_unsure_band(const struct fr_outcome *out);

/** Append what the plans of @p front, the first of result->ranked, and those of result->unsure that are better than
 *  these and than what is surer, cost to result's lists.
 *  @param pricer  of @p job, which has priced others of them; or NULL
 *  @return FR_OK; FR_ERR_INPUT for a number that is no plan of the space; FR_ERR_NOMEM. */
fr_status fr_cached_price(const struct fr_job *job, const struct fr_space *space,
                          const struct fr_search_options *options, const struct fr_front *front,
                          struct fr_pricer *pricer, struct fr_search_result *result,
                          struct fr_error *err);

#endif
