/** @file
 *  Lossy compression of what crosses the network: bytes on the wire and work to make them.
 *
 *  A codec sees a matrix of m x n values and a rank r.  Its work is products, kernels and bytes
 *  moved, priced by the device like any other work; it says nothing of what the loss does to
 *  training, which is why outcomes state how much goes compressed and at which rank.
 *
 *  To add one: models/plan/compression/<name>.c exporting fr_compression_<name>, row
 *  FR_COMPRESSION(<name>) in models/plan/compression_list.h.
 */
#ifndef FR_MODELS_PLAN_COMPRESSION_H
#define FR_MODELS_PLAN_COMPRESSION_H

#include "models/device/device.h"
#include "models/network/collective.h"

struct fr_codec_args {
    double m, n;    /**< the matrix */
    double rank;    /**< r >= 1 */
    double value_B; /**< of one value */
    bool residual;  /**< the sender keeps what the compression lost (error feedback) */
    double parts;   /**< coded matrices that are decoded into one sum, >= 1 */
};

struct fr_codec_work {
    struct fr_gemm_work gemm[4];
    int n_gemms;
    double kernels;
    double moved_B;
    double passes, passed_B; /**< of it: passes of a sort, and what each moves */
    double
        set_B; /**< gone through between two touches of the matrix, once it is there; 0: nobody says */
};

/** Top-k sorts by as many passes as keys of 32 bits have bytes. */
#define FR_TOPK_PASSES 4.0

struct fr_compression {
    const char *name;
    const char *summary;
    const char *source;
    /** How replicas add up what each of them coded: all_reduce where codes are linear, all_gather
     *  where every replica needs every part. */
    fr_op op;
    double (*sent_B)(const struct fr_codec_args *a);
    void (*encode)(const struct fr_codec_args *a, struct fr_codec_work *work);
    void (*decode)(const struct fr_codec_args *a, struct fr_codec_work *work);
    /** Memory that the codec keeps: what is sent and gathered, and between messages what was lost
     *  [B]. */
    double (*stored_B)(const struct fr_codec_args *a);
};

/** Rows that others name. */
extern const struct fr_compression fr_compression_powersgd, fr_compression_topk;
/** Rows in table order, then NULL; and their names likewise. */
extern const struct fr_compression *const fr_compressions[];
extern const char *const fr_compression_names[];

#endif
