/* PowerSGD: an m x n matrix M as P Q^T of rank r, one power iteration from the last Q.
 *
 *      encode   P = M Q (m x r), P orthogonalised column by column, Q = M^T P (n x r)
 *      decode   P Q^T
 *      sent     (m + n) r values
 *
 * Columns of P and Q are kept as rows, one after the other (real/apps/lowrank.h): P^T = Q^T M^T,
 * Q^T = P^T M.
 *
 * The columns are orthogonalised one after the other, six small kernels each (norm, division,
 * product with the rest, sum, product, subtraction): launches, not flop, are its cost. */
#include "models/plan/compression.h"

static const double KERNELS_PER_COLUMN = 6;

static void add(struct fr_codec_work *work, double m, double n, double k, double batch,
                fr_transposed transposed) {
    work->gemm[work->n_gemms++] = (struct fr_gemm_work){{m, n, k, batch, 0}, 1, transposed};
}

static double sent_B(const struct fr_codec_args *a) {
    return (a->m + a->n) * a->rank * a->value_B;
}

static void encode(const struct fr_codec_args *a, struct fr_codec_work *work) {
    add(work, a->rank, a->m, a->n, a->rank, FR_TRANSPOSED_B);
    add(work, a->rank, a->n, a->m, a->rank, FR_TRANSPOSED_NONE);
    work->kernels += 2 + KERNELS_PER_COLUMN * a->rank;
    /* Column j is projected out of the r - j after it: read and written once each. */
    work->moved_B += a->m * a->rank * (a->rank + 1) * a->value_B;
    if (!a->residual) return;
    /* M + e passes by first, then the products go to and fro between it and what it loses. */
    work->set_B = 2 * a->m * a->n * a->value_B + sent_B(a);
    add(work, a->m, a->n, a->rank, a->n, FR_TRANSPOSED_A); /* M - P Q^T, added to the next M */
    work->kernels += 2;
    work->moved_B += 5 * a->m * a->n * a->value_B;
}

static void decode(const struct fr_codec_args *a, struct fr_codec_work *work) {
    add(work, a->m, a->n, a->rank, a->n, FR_TRANSPOSED_A);
    work->kernels += 1;
}

static double stored_B(const struct fr_codec_args *a) {
    return sent_B(a) + (a->residual ? a->m * a->n * a->value_B : 0);
}

const struct fr_compression fr_compression_powersgd = {
    .name = "powersgd",
    .summary = "low rank: (m + n) r values of an m x n matrix, one power iteration",
    .source = "Vogels, Karimireddy, Jaggi, PowerSGD, NeurIPS 2019; Song et al., Optimus-CC: "
              "Efficient Large NLP Model Training with 3D Parallelism Aware Communication "
              "Compression, 2023, section 8",
    .op = FR_OP_ALL_REDUCE,
    .sent_B = sent_B,
    .encode = encode,
    .decode = decode,
    .stored_B = stored_B,
};
