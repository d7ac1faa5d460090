#include "models/outcome/lower_bound.h"

#include <math.h>

#include "base/extremes.h"

/* After a stage's last pass, on its own. */
static double after_s(const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *s = &p->stage[i];
    bool end = i == 0 || i == p->args.stages - 1;
    double reduced_s = s->buckets ? fr_larger(s->gradient_codec_s, s->bucket_s)
                                  : s->gradient_codec_s + s->gradient_s;
    return reduced_s + (end ? p->embedding_s : 0) + s->optimizer_s + s->offload_s + s->beside_s;
}

/* Down across the boundary above stage @p i. */
static double down_s(const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *s = &p->stage[i];
    if (p->forward) return 0;
    return fr_pipeline_n_compressed(p, i) > 0 ? fr_smaller(s->message_s, s->small_message_s)
                                              : s->message_s;
}

/* Up across it. */
static double up_s(const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *s = &p->stage[i];
    return s->small_forward_B > 0 ? fr_smaller(s->message_s, s->small_forward_s) : s->message_s;
}

/* Times of one stage, the same for each stage that repeats. */
struct passes {
    double all_s, forward_s, backward_s, last_s;
};

static struct passes passes_of(const struct fr_pipeline *p, int32_t i) {
    const double forward_s = fr_pipeline_pass_s(p, i, FR_SLOT_FORWARD, FR_WITH_ALL),
                 backward_s = fr_pipeline_pass_s(p, i, FR_SLOT_BACKWARD, FR_WITH_ALL),
                 weight_s = p->splits_backward
                                ? fr_pipeline_pass_s(p, i, FR_SLOT_WEIGHT, FR_WITH_ALL)
                                : 0;
    return (struct passes){forward_s + backward_s + weight_s, forward_s, backward_s,
                           after_s(p, i)};
}

double fr_pipeline_lower_bound_s(const struct fr_pipeline *p) {
    const double n = (double)p->args.micro_batches * p->args.chunks;
    const bool codes = fr_pipeline_codes(p);
    struct passes now = passes_of(p, 0);
    double begin_s = 0, end_s = now.last_s, most_s = 0;
    for (int32_t i = 0; i < p->args.stages; i++) {
        if (!p->stage[i].repeats && i > 0) now = passes_of(p, i);
        double then_s = p->splits_backward ? now.last_s : fr_larger(now.last_s, end_s);
        most_s = fr_larger(most_s, begin_s + n * now.all_s + then_s);
        begin_s += now.forward_s + (codes ? up_s(p, i) : p->stage[i].message_s);
        end_s += now.backward_s + (codes || p->forward ? down_s(p, i) : p->stage[i].message_s);
    }
    return most_s * FR_LOWER_BOUND_SURE;
}
