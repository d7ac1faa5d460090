/** @file
 *  What do the messages of a pipeline take, across the boundary above each stage?
 *
 *  A boundary has messages both ways: whole, or compressed forward or backward.  Their times depend on their sizes, on
 *  where stages sit and on codecs; never on what stages do with gradients.  So plans that differ in that share them
 *  (models/price/memo.h). */
#ifndef FR_MODELS_PRICE_CROSSING_H
#define FR_MODELS_PRICE_CROSSING_H

#include "models/price/pipeline.h"
#include "models/price/stage_work.h"

/** Bytes of an iteration's messages one way: by a rank of the sender, and over tp by one of the receiver. */
struct fr_crossed {
    double pp_B, tp_B;
};

/** The messages across one boundary; the fields of struct fr_stage that they fill. */
struct fr_crossing {
    double message_s, small_message_B, small_message_s, encode_s, decode_s, message_codec_B;
    double small_forward_B, small_forward_s, forward_encode_s, forward_decode_s,
        forward_codec_B;
    bool sends_whole;
    struct fr_crossed up, down; /* to the stage above, and from it */
};

/** Those of a plan. */
struct fr_crossings {
    struct fr_crossing *above; /**< [pp], or NULL: not priced yet */
    fr_scope scope;
    bool codes_forward;
    uint32_t extrapolated;
};

/** Fill in what of @p pipeline's stages are messages, whose sizes are known, and the bytes that they send.
 *  @param extrapolated  bits as in fr_outcome; set, never cleared
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_crossings_add(const struct fr_job *job, const struct fr_plan *plan,
                           const struct fr_stage_places *placed, struct fr_pipeline *pipeline,
                           uint32_t *extrapolated, struct fr_error *err);

#endif
