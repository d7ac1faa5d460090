#include "models/job/assume.h"

#include "models/plan/key.h"

/* Take @p key where nobody said it and the plan has something to read it. */
static bool open_for(const struct fr_job *job, int key) {
    return !fr_job_plan_says(job, fr_plan_keys[key].name);
}

static void take_attention(struct fr_job *job) {
    if (!open_for(job, FR_PLAN_KEY_attention)) return;
    job->plan.attention = FR_ATTENTION_FLASH;
    job->assumed |= FR_PLAN_KEY_BIT(FR_PLAN_KEY_attention);
}

static void take_sequence(struct fr_job *job) {
    if (!open_for(job, FR_PLAN_KEY_sequence_parallel)) return;
    job->plan.sequence_parallel = true;
    job->assumed |= FR_PLAN_KEY_BIT(FR_PLAN_KEY_sequence_parallel);
}

static void take_overlap(struct fr_job *job) {
    if (!open_for(job, FR_PLAN_KEY_overlap) || job->plan.zero == 3 || job->plan.blocking ||
        fr_plan_compresses(&job->plan))
        return;
    job->plan.overlap = true;
    job->assumed |= FR_PLAN_KEY_BIT(FR_PLAN_KEY_overlap);
}

static void take_gradients(struct fr_job *job) {
    struct fr_workload *w = &job->workload;
    if (w->gradient_said || fr_dtype_size_B(w->dtype) > 2) return;
    w->gradient_dtype = FR_BF16;
    job->assumed_gradients = true;
}

/* Of a transformer whose products divide over tp as Megatron-LM's. */
static bool applies(const struct fr_job *job) {
    return job->workload.modern && job->workload.transformer.layers > 0 &&
           job->plan.method == &fr_method_tensor;
}

void fr_job_assume(struct fr_job *job) {
    if (!applies(job)) return;
    take_attention(job);
    if (job->plan.tp > 1) take_sequence(job);
    if (fr_plan_reduces(&job->plan)) take_overlap(job);
    take_gradients(job);
}

void fr_job_assume_any(struct fr_job *job) {
    if (!applies(job)) return;
    take_sequence(job);
    take_overlap(job);
}

const char *fr_job_assumed(const struct fr_job *job, char *out, size_t capacity) {
    size_t used = 0;
    *out = '\0';
    for (int i = 0; i < FR_PLAN_KEYS; i++) {
        char value[64];
        if (!(job->assumed >> i & 1)) continue;
        fr_line_addf(
            out, capacity, &used, "%s%s %s", used ? ", " : "", fr_plan_keys[i].name,
            fr_plan_keys[i].type->text(&fr_plan_keys[i], &job->plan, value, sizeof value));
    }
    if (job->assumed_gradients)
        fr_line_addf(out, capacity, &used, "%sgradients %s", used ? ", " : "",
                     fr_dtype_names[job->workload.gradient_dtype]);
    return out;
}
