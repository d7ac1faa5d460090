/** @file
 *  How stable is the best plan of a search?  Each plan that differs from it in one key is priced.
 *  For each input of the machine, the module finds how far that input alone must move before
 *  another plan is better.  Plans are compared by the objective of the search. */
#ifndef FR_ANSWER_PREDICT_NEIGHBOURS_H
#define FR_ANSWER_PREDICT_NEIGHBOURS_H

#include "search/search.h"

enum { FR_NEIGHBOURS_MAX = 160, FR_TURNS_MAX = 64 };

/** The best plan with another value of one key that the search varies; of tp, pp and cp replicas make up
 *  for it. */
struct fr_neighbour {
    int key;
    char value[FR_PLAN_WORD];
    struct fr_plan plan;
    struct fr_outcome outcome; /**< with reasons where it cannot be */
    double slower;             /**< of the best, by the objective; NaN without a price */
};

/** All of them, in order of keys and values; those that change nothing are left out.
 *  @param by  as the search ranked: per iteration, per sample, to the loss
 *  @return how many */
int fr_neighbours(const struct fr_job *job, const struct fr_space *space,
                  const struct fr_search_options *options, fr_ranking by,
                  const struct fr_outcome *best,
                  struct fr_neighbour neighbour[FR_NEIGHBOURS_MAX]);

/** The best neighbour of @p unsure that fits as surely as @p options ask for.  @p unsure fits less
 *  surely.  @return false where none does */
bool fr_neighbours_surer(const struct fr_job *job, const struct fr_space *space,
                         const struct fr_search_options *options, fr_ranking by,
                         const struct fr_outcome *unsure, struct fr_neighbour *surer);

/** An input of the machine, and by how much it moves, alone, until another plan is better. */
struct fr_turn {
    char input[64];
    double factor; /**< of the input; above 1 up, below 1 down */
    struct fr_plan plan;
};

/** Furthest that an input is moved: by this factor, up and down. */
#define FR_TURN_MOST 4.0

/** The smallest move of each input, each way, that changes the best by the objective among @p others (n plans) and
 *  the best, to a hundredth; inputs that change nothing are left out.
 *  @return how many, in order of coefficients (trust/coefficient.h), then memory */
int fr_turns(const struct fr_job *job, const struct fr_search_options *options, fr_ranking by,
             const struct fr_plan *best, const struct fr_plan *const *others, int n,
             struct fr_turn turn[FR_TURNS_MAX]);

/** Both, of the best plan of @p result, which has one at least. */
struct fr_around {
    struct fr_neighbour neighbour[FR_NEIGHBOURS_MAX];
    struct fr_turn turn[FR_TURNS_MAX];
    int n_neighbours, n_turns, n_rivals; /**< plans that an input could put first */
};

/** Fill @p around: rivals are the next plans of the list and the neighbours within twice its value. */
void fr_around_best(const struct fr_job *job, const struct fr_space *space,
                    const struct fr_search_options *options,
                    const struct fr_search_result *result, struct fr_around *around);

#endif
