/* Top-k: the (m + n) r largest values of an m x n matrix with their indices, so that a rank
 * means as many values as with PowerSGD.  Selection by a radix sort of the magnitudes: four
 * passes over the matrix, read and written.
 *
 * Replicas choose different values, so a sum has up to D times as many.  Every replica gathers all D parts and adds
 * them up in a cleared matrix.  That is one scattered addition of all: values and indices read, sums read and written
 * in their place. */
#include <math.h>

#include "models/plan/compression.h"

static const double INDEX_B = 4, PASSES = FR_TOPK_PASSES;

static double values_sent(const struct fr_codec_args *a) {
    return fmin((a->m + a->n) * a->rank, a->m * a->n);
}

static double sent_B(const struct fr_codec_args *a) {
    return values_sent(a) * (a->value_B + INDEX_B);
}

static void encode(const struct fr_codec_args *a, struct fr_codec_work *work) {
    work->kernels += 2 * PASSES + 2;
    work->moved_B += 2 * PASSES * a->m * a->n * (a->value_B + INDEX_B) + 2 * sent_B(a);
    work->passes += PASSES;
    work->set_B = work->passed_B = 2 * a->m * a->n * (a->value_B + INDEX_B);
    if (a->residual) work->kernels += 2, work->moved_B += 5 * a->m * a->n * a->value_B;
}

static void decode(const struct fr_codec_args *a, struct fr_codec_work *work) {
    work->kernels += 2;
    work->moved_B += a->m * a->n * a->value_B + 2 * a->parts * sent_B(a);
}

static double stored_B(const struct fr_codec_args *a) {
    return a->parts * sent_B(a) + (a->residual ? a->m * a->n * a->value_B : 0);
}

const struct fr_compression fr_compression_topk = {
    .name = "topk",
    .summary = "the (m + n) r largest values with their indices",
    .source = "Song et al., Optimus-CC: Efficient Large NLP Model Training with 3D Parallelism "
              "Aware Communication Compression, 2023, section 2.3",
    .op = FR_OP_ALL_GATHER,
    .sent_B = sent_B,
    .encode = encode,
    .decode = decode,
    .stored_B = stored_B,
};
