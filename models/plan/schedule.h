/** @file
 *  In which order a pipeline stage runs its forward and backward passes.
 *
 *  A schedule is a fixed list of slots for each stage.  Start times follow from the lists and from the inputs of each
 *  pass (models/outcome/recurrence.h, sim/).  With v chunks a rank holds v model chunks, and chunk c on stage i is
 *  the virtual stage c P + i.  Where the schedule folds, an odd chunk c is the virtual stage (c + 1) P - 1 - i: down
 *  and up again, so the first stage has the last layers too.
 *
 *  Symbols:  P  stages   m  micro-batches   v  chunks   i  stage, 0 first
 *            F, B  time of one forward and one whole backward pass of a stage, all chunks
 *            W  the part of B that makes weight gradients, where a schedule splits it
 *
 *  To add one: models/plan/schedule/<name>.c exporting fr_schedule_<name>, row FR_SCHEDULE(<name>) in
 *  models/plan/schedule_list.h.
 */
#ifndef FR_MODELS_PLAN_SCHEDULE_H
#define FR_MODELS_PLAN_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { FR_SLOT_FORWARD, FR_SLOT_BACKWARD, FR_SLOT_WEIGHT };

struct fr_slot {
    int32_t micro;
    int16_t chunk;
    uint8_t kind;
    /** This backward pass is not split, in a schedule that splits them.  Its weight gradient has a slot of its own
     *  right after it, which takes no time. */
    bool whole;
};

struct fr_schedule_args {
    int32_t stages, micro_batches, chunks; /**< P, m, v; all >= 1 */
    const struct fr_schedule_order *order; /**< of row custom; else NULL */
};

struct fr_schedule {
    const char *name; /**< spelling in plans */
    const char *summary;
    const char *source;
    /** Its B slots are input gradients, its W slots weight gradients; of row custom its order
     *  says so: see fr_schedule_splits. */
    bool splits_backward;
    bool interleaves; /**< takes v > 1 */
    bool folds;       /**< every other chunk goes back up */
    /** d > 0: one forward and one backward pass in turn after d (P - 1 - i) forward passes
     *  (models/outcome/periodic.h); 0: another order. */
    int32_t warm_up;
    bool phases; /**< all forward passes, then all backward passes, in order */
    /** NULL, or a sentence why these numbers do not work. */
    const char *(*refuses)(const struct fr_schedule_args *a);
    /** Write stage @p i's slots, m v of each kind that it has.  Total when not refused.
     *  @return how many: 2 m v, or 3 m v for one that splits the backward pass */
    int64_t (*order)(const struct fr_schedule_args *a, int32_t i, struct fr_slot *slots);
    /** The most activations (of one chunk and micro-batch) that stage @p i holds at once, of a schedule whose
     *  backward passes are whole; NULL: its slots say so (fr_schedule_in_flight). */
    int64_t (*held)(const struct fr_schedule_args *a, int32_t i);
    /** Idle time of every stage without communication, equal stages [s]; NULL: no formula. */
    double (*bubble_s)(const struct fr_schedule_args *a, double forward_s, double backward_s,
                       double weight_s);
};

/** Rows that others name. */
extern const struct fr_schedule fr_schedule_gpipe, fr_schedule_one_f_one_b, fr_schedule_doubled,
    fr_schedule_interleaved, fr_schedule_zero_bubble, fr_schedule_zero_bubble_v,
    fr_schedule_dualpipe_v, fr_schedule_custom;
/** Rows in table order, then NULL; spellings likewise. */
extern const struct fr_schedule *const fr_schedules[];

/** Does this order split the backward pass? */
bool fr_schedule_splits(const struct fr_schedule *schedule, const struct fr_schedule_args *a);

/** The virtual stage of @p chunk on stage @p i of @p stages, and the stage that runs one. */
static inline int64_t fr_schedule_virtual(const struct fr_schedule *s, int32_t stages,
                                          int32_t i, int32_t chunk) {
    return (int64_t)chunk * stages + (s->folds && chunk % 2 ? stages - 1 - i : i);
}
static inline int32_t fr_schedule_stage(const struct fr_schedule *s, int32_t stages,
                                        int64_t at) {
    int32_t i = (int32_t)(at % stages);
    return s->folds && at / stages % 2 ? stages - 1 - i : i;
}

/** Slots of one stage. */
static inline int64_t fr_schedule_slots(const struct fr_schedule *schedule,
                                        const struct fr_schedule_args *a) {
    return (int64_t)(fr_schedule_splits(schedule, a) ? 3 : 2) * a->micro_batches * a->chunks;
}

/** For the rows: after @p warm_up forward passes one forward and one backward in turn, then the
 *  backward passes that are left; one chunk.  @return slots written, 2 m */
int64_t fr_schedule_periodic(const struct fr_schedule_args *a, int32_t warm_up,
                             struct fr_slot *slots);

/** For the rows: what a stage holds that alternates after @p warm_up forward passes. */
static inline int64_t fr_schedule_alternate_held(const struct fr_schedule_args *a,
                                                 int64_t warm_up) {
    const int64_t passes = (int64_t)a->micro_batches * a->chunks;
    return warm_up < passes ? warm_up + 1 : passes;
}

/** Most activations (of one chunk and micro-batch) that a stage with these slots holds at once,
 *  freed by its weight gradient where that is a slot of its own, else by the backward pass. */
int64_t fr_schedule_in_flight(bool splits, const struct fr_slot *slots, int64_t n_slots);
/** Most of them at once whose backward pass is over and whose weight gradient is not. */
int64_t fr_schedule_waiting(bool splits, const struct fr_slot *slots, int64_t n_slots);

/** For the rows that fold: NULL, or why the arguments do not work (folding needs two chunks and two stages).  The
 *  second function is the bubble for F = B - W = W: the last stage begins P - 1 chunks' forward passes late. */
const char *fr_schedule_fold_refuses(const struct fr_schedule_args *a);
double fr_schedule_fold_bubble_s(const struct fr_schedule_args *a, double forward_s,
                                 double backward_s, double weight_s);

/* For the rows: append slots. */
struct fr_slot_writer {
    struct fr_slot *slots;
    int64_t count;
};
static inline void fr_slot_put(struct fr_slot_writer *w, uint8_t kind, int32_t micro,
                               int32_t chunk) {
    w->slots[w->count++] =
        (struct fr_slot){.micro = micro, .chunk = (int16_t)chunk, .kind = kind};
}

#endif
