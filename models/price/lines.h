/** @file
 *  Where the messages of a pipeline meet.
 *
 *  NCCL runs the messages from one rank to another in order (its user guide, "Point-to-point communication").  So
 *  each ordered pair of neighbouring stages is a line: one message at a time, first come first served.  Messages of
 *  different lines share the links on which they meet, max-min fairly.  models/outcome/messages/message_lines.h plays this.
 *
 *  Line 2 i goes from stage i to the next one, line 2 i + 1 to the one before, round the ring of stages.  Two stages have lines 0 and 2 alone. */
#ifndef FR_MODELS_PRICE_LINES_H
#define FR_MODELS_PRICE_LINES_H

#include "models/price/rank_map.h"
#include "topology/path.h"

/* bit, name in JSON, what it is: what uses the links of a pipeline's messages and is not counted with them */
#define FR_BESIDE_LIST(X)                                                                      \
    X(FR_BESIDE_TP, "tp", "tensor-parallel exchanges")                                         \
    X(FR_BESIDE_CP, "cp", "exchanges of sequence parts")                                       \
    X(FR_BESIDE_EP, "ep", "exchanges of experts")                                              \
    X(FR_BESIDE_DP, "dp", "gradients and parameters beside passes")                            \
    X(FR_BESIDE_REPLICAS, "replicas", "replicas placed in other ways than the first")

enum {
#define FR_BESIDE_ENUM(code, name, words) code,
    FR_BESIDE_LIST(FR_BESIDE_ENUM)
#undef FR_BESIDE_ENUM
        FR_BESIDE_COUNT
};
/** Names and words in order. */
extern const char *const fr_beside_names[], *const fr_beside_words[];

struct fr_pair_lines {
    int32_t n; /**< 2 P */
    struct fr_path
        *path; /**< [n]; its uses are of the links where lines can hold up one another */
    struct fr_used_links links;
    int32_t *first_on, *on; /**< [links + 1], [uses]: lines on each of these links */
    int32_t *first_met,
        *met; /**< [n + 1], [..]: other lines on a link of each, once; where halves */
    /** No more than two lines meet on each of these links, and each alone fills it.  Then a message goes at half its
     *  rate while it meets another, else at its whole rate. */
    bool halves;
    uint64_t digest; /**< of all that times on them depend on */
    uint8_t beside;  /**< FR_BESIDE_... bits: what else uses these links and is not counted */
};

/** The line from stage @p from to @p to of @p stages, its neighbour. */
static inline int32_t fr_line_of(int32_t stages, int32_t from, int32_t to) {
    return 2 * from + (to != (from + 1) % stages);
}

/** The lines of @p stages >= 2 stages in their placement.  @return NULL without memory.  Free with fr_pair_lines_free. */
struct fr_pair_lines *fr_pair_lines_make(const struct fr_rank_map *rank_map, int32_t stages);
void fr_pair_lines_free(struct fr_pair_lines *lines);

#endif
