/* Messages between neighbouring stages: sent without waiting, of gradients all or those of the
 * epilogue as P Q^T (lowrank.h); with lazy error propagation what a message lost is added to the
 * next micro-batch's. */
#include "calibrate/real/apps/stage.h"

enum { FORWARD_TAG = 1, BACKWARD_TAG = 2 };

static int64_t values_of(const struct fr_rank_stage *s) {
    return (int64_t)s->sizes.hidden * fr_block_tokens(&s->sizes);
}

static fr_status send_values(struct fr_real *real, const void *values, int64_t n, int to,
                             int tag, MPI_Request *request, struct fr_error *err) {
    double start_s = fr_real_clock_s(real);
    FR_MPI_TRY(MPI_Wait(request, MPI_STATUS_IGNORE));
    FR_MPI_TRY(MPI_Isend(values, (int)n, real->k->mpi, to, tag, real->pp, request));
    real->phases.collective_s += fr_real_clock_s(real) - start_s;
    return FR_OK;
}

/* Waiting for a message that is not there yet is waiting; taking it in is communication.  The two
 * are told apart where a step is profiled. */
static fr_status receive(struct fr_real *real, void *values, int64_t n, int from, int tag,
                         struct fr_error *err) {
    double start_s = fr_real_clock_s(real);
    if (real->profile) FR_MPI_TRY(MPI_Probe(from, tag, real->pp, MPI_STATUS_IGNORE));
    double there_s = fr_real_clock_s(real);
    FR_MPI_TRY(MPI_Recv(values, (int)n, real->k->mpi, from, tag, real->pp, MPI_STATUS_IGNORE));
    real->phases.wait_s += there_s - start_s;
    real->phases.collective_s += fr_real_clock_s(real) - there_s;
    return FR_OK;
}

/* Does the message of @p micro across the boundary above stage @p below go compressed?  As
 * models/price/pipeline.h has it: those that the last warm-up passes of that stage answer. */
static bool compressed(const struct fr_real *real, const struct fr_rank_stage *s, int below,
                       int micro) {
    fr_scope scope = real->run->plan->compression.scope;
    if (scope != FR_SCOPE_EPILOGUE) return scope == FR_SCOPE_ALL;
    return micro >= s->n_micro - (s->stages - 1 - below);
}

fr_status fr_rank_stage_receive(struct fr_real *real, struct fr_rank_stage *s, void *x,
                                struct fr_error *err) {
    return receive(real, x, values_of(s), s->stage - 1, FORWARD_TAG, err);
}

fr_status fr_rank_stage_send(struct fr_real *real, struct fr_rank_stage *s, int m,
                             struct fr_error *err) {
    return send_values(real, s->micro[m].top, values_of(s), s->stage + 1, FORWARD_TAG,
                       &s->micro[m].sent, err);
}

fr_status fr_rank_stage_receive_gradient(struct fr_real *real, struct fr_rank_stage *s, int m,
                                         void *dy, struct fr_error *err) {
    int64_t values = values_of(s);
    if (!compressed(real, s, s->stage, m))
        return receive(real, dy, values, s->stage + 1, BACKWARD_TAG, err);
    FR_TRY(receive(real, s->packet[1], fr_lowrank_size(&s->codec), s->stage + 1, BACKWARD_TAG,
                   err));
    fr_lowrank_decode(real, &s->codec, s->packet[1], 1, dy);
    return FR_OK;
}

fr_status fr_rank_stage_send_gradient(struct fr_real *real, struct fr_rank_stage *s, int m,
                                      void *dx, struct fr_error *err) {
    int64_t values = values_of(s), n;
    if (!compressed(real, s, s->stage - 1, m))
        return send_values(real, dx, values, s->stage - 1, BACKWARD_TAG, &s->sent_back, err);
    fr_lowrank_encode(real, &s->codec, dx);
    FR_MPI_TRY(MPI_Wait(&s->sent_back, MPI_STATUS_IGNORE));
    n = fr_lowrank_size(&s->codec);
    FR_COMPUTE(real, real->k->copy(1, (int)n, s->codec.factors, (int)n, s->packet[0], (int)n));
    return send_values(real, s->packet[0], n, s->stage - 1, BACKWARD_TAG, &s->sent_back, err);
}
