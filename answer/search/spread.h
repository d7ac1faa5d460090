/** @file
 *  A search done block by block, kept in a file as it goes, by this process or by many.
 *
 *  The file is a journal (base/journal/journal.h): a header that says which search it is of (its question is
 *  fr_blocks_print of search/blocks.h), then a line a block, written as it is done:
 *
 *      {"kind": "block", "block": 3, "first": 6144, "last": 8191, "found": "block 3 ... end"}
 *
 *  A run that ends early has lost the blocks that were at work, and those whose lines do not verify; the next one goes on
 *  with the others, and the result has the same bytes.  One command at a time has the file (base/journal/keep.h); one that
 *  begins it anew puts another file in its place. */
#ifndef FR_ANSWER_SEARCH_SPREAD_H
#define FR_ANSWER_SEARCH_SPREAD_H

#include "base/journal/keep.h"
#include "search/blocks.h"

struct fr_spread_work;

/** Do what is not done of work->blocks, in any order, each line to fr_spread_done.
 *  @return FR_OK when all are; FR_ERR_PARTIAL when asked to stop. */
typedef fr_status fr_hand_out_fn(struct fr_spread_work *work, struct fr_error *err);

struct fr_spread {
    const char *checkpoint; /**< NULL: none is kept */
    bool resume, force;     /**< go on with it; start it anew */
    bool progress; /**< a line on stderr now and then, also where that is no terminal */
    bool passing;  /**< the file goes once all is done */
    double
        patience_s; /**< without a sign of life of a rank, before the job is given up; 0: the usual */
    bool reads;               /**< this process keeps the file; others of the job only work */
    fr_hand_out_fn *hand_out; /**< NULL: here, one block after the other */
};

/** One search on its way. */
struct fr_spread_work {
    const struct fr_spread *spread;
    struct fr_blocks blocks;
    uint64_t print; /**< of the search */
    int threads;
    int fd; /**< of the checkpoint, or -1 */
    struct fr_keep keep;
    double start_s, printed_s;
    int64_t found; /**< blocks that were done before */
};

/** Search, as fr_search does; its elapsed_s is NaN, so that two runs write the same.
 *  @return what fr_search returns; FR_ERR_INPUT for a checkpoint of another search; FR_ERR_USAGE where
 *  one is there and nobody says what to do with it; FR_ERR_IO; FR_ERR_PARTIAL. */
fr_status fr_spread_search(const struct fr_spread *spread, const struct fr_job *job,
                           const struct fr_space *space,
                           const struct fr_search_options *options,
                           struct fr_search_result *result, struct fr_error *err);

/** Take over the line of a block, and write it to the checkpoint. */
fr_status fr_spread_done(struct fr_spread_work *work, const char *line, struct fr_error *err);

#endif
