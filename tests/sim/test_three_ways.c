/* Random plans over all axes, priced three ways: in closed form, by the event engine, and one pass after another
 * as the header of the recurrence says it.  They agree on time, on each part of it, on energy, bytes and memory. */
#include <stdlib.h>

#include "models/outcome/cost.h"
#include "models/outcome/resolve.h"
#include "models/price/rank_map.h"
#include "sim/run.h"
#include "tests/drawn_plans.h"
#include "tests/work.h"

#define NEAR(what, got, want, off)                                                             \
    FR_TRUE(fabs((got) - (want)) <= (off), "%s: %s %.17g, %.17g", stated, what, (double)(got), \
            (double)(want))

/* ---- one pass after another -------------------------------------------------------------------- */

enum { STAGES = 8, PASSES = 8192 };

/* Ends by virtual stage and micro-batch, of forward and of backward passes; below 0 what is not over. */
struct serial {
    const struct fr_pipeline *p;
    int with;
    double end_s[2][PASSES], free_s[STAGES], stream_s[STAGES];
    int64_t next[STAGES];
    int made[STAGES][64];
};

static double part(const struct fr_pass *pass, int with) {
    const double some_s[] = {pass->launch_s, pass->tp_s,   pass->dp_s, pass->cp_s,
                             pass->ep_s,     pass->host_s, pass->pp_s};
    static const int bits[] = {FR_WITH_LAUNCH, FR_WITH_TP,      FR_WITH_GRADIENTS, FR_WITH_CP,
                               FR_WITH_EP,     FR_WITH_OFFLOAD, FR_WITH_MESSAGES};
    double sum_s = pass->compute_s;
    for (int k = 0; k < 7; k++) sum_s += with & bits[k] ? some_s[k] : 0;
    return sum_s;
}

/* The message between virtual stages @p lower and the next. */
static double travels_s(const struct serial *s, int64_t lower, const struct fr_slot *x) {
    int32_t across = fr_pipeline_boundary(s->p, lower);
    if (across < 0 || !(s->with & FR_WITH_MESSAGES)) return 0;
    const struct fr_stage *stage = &s->p->stage[across];
    if (x->kind == FR_SLOT_FORWARD)
        return stage->small_forward_B > 0 ? stage->small_forward_s : stage->message_s;
    bool small = s->p->scope != FR_SCOPE_NONE && fr_pipeline_small(s->p, lower, x->micro);
    return small ? stage->small_message_s : stage->message_s;
}

/* The boundary that the message between virtual stage @p lower and the next crosses compressed; -1: none. */
static int32_t coded(const struct serial *s, int64_t lower, const struct fr_slot *x) {
    int64_t last = (int64_t)s->p->args.stages * s->p->args.chunks - 1;
    if (!(s->with & FR_WITH_CODEC) || s->p->args.stages == 1 || lower < 0 || lower >= last)
        return -1;
    int32_t across = fr_pipeline_boundary(s->p, lower);
    if (across < 0 || x->kind == FR_SLOT_WEIGHT) return -1;
    bool small = x->kind == FR_SLOT_FORWARD
                     ? s->p->stage[across].small_forward_B > 0
                     : s->p->scope != FR_SCOPE_NONE && fr_pipeline_small(s->p, lower, x->micro);
    return small ? across : -1;
}

/* @return false: what the next pass of stage @p i reads is not there, or none is left */
static bool one_pass(struct serial *s, int32_t i) {
    const struct fr_pipeline *p = s->p;
    const struct fr_schedule_args *a = &p->args;
    if (s->next[i] == p->n_slots) return false;
    const struct fr_slot *x = &p->slots[i * p->n_slots + s->next[i]];
    int64_t last = (int64_t)a->stages * a->chunks - 1, at = 0, m = a->micro_batches;
    for (int64_t v = 0; v <= last; v++) /* the chunk-th that is this stage's */
        if (v / a->stages == x->chunk && fr_schedule_stage(p->schedule, a->stages, v) == i)
            at = v;
    bool forward = x->kind == FR_SLOT_FORWARD, weight = x->kind == FR_SLOT_WEIGHT;
    double input_s = forward ? 0 : s->end_s[weight][at * m + x->micro];
    if (forward && at > 0) input_s = s->end_s[0][(at - 1) * m + x->micro];
    if (!forward && !weight && at < last) input_s = s->end_s[1][(at + 1) * m + x->micro];
    if (input_s < 0) return false;
    if (forward && at > 0) input_s += travels_s(s, at - 1, x);
    if (!forward && !weight && at < last) input_s += travels_s(s, at, x);
    double chunks = a->chunks, forward_s = part(&p->stage[i].forward, s->with) / chunks,
           back_s = part(&p->stage[i].backward, s->with) / chunks,
           weight_s = part(&p->stage[i].weight, s->with) / chunks;
    double makes_s = p->splits_backward ? weight_s : back_s; /* the pass that makes gradients */
    double pass_s = forward                           ? forward_s
                    : weight                          ? (x->whole ? 0 : weight_s)
                    : p->splits_backward && !x->whole ? back_s - weight_s
                                                      : back_s;
    double longer_s = p->longer_s ? p->longer_s[i * p->n_slots + s->next[i]] : 0;
    int32_t reads = coded(s, forward ? at - 1 : at, x),
            sends = coded(s, forward ? at : at - 1, x);
    const struct fr_stage *from = &p->stage[reads < 0 ? 0 : reads],
                          *to = &p->stage[sends < 0 ? 0 : sends];
    double read_s = reads < 0 ? 0
                    : forward ? from->forward_decode_s
                              : from->decode_s,
           send_s = sends < 0 ? 0
                    : forward ? to->forward_encode_s
                              : to->encode_s;
    double done_s = fmax(s->free_s[i], input_s) + read_s + pass_s + longer_s;
    s->free_s[i] = done_s + send_s;
    if (!weight) s->end_s[!forward][at * m + x->micro] = s->free_s[i];
    bool makes = p->splits_backward && !x->whole ? weight : x->kind == FR_SLOT_BACKWARD;
    if (makes && ++s->made[i][x->chunk] == m)
        for (int32_t j = 1; j <= p->stage[i].buckets; j++) {
            double ready_s = done_s - makes_s * (1 - (double)j / p->stage[i].buckets);
            s->stream_s[i] = fmax(s->stream_s[i], ready_s) +
                             (s->with & FR_WITH_GRADIENTS ? p->stage[i].bucket_s : 0);
        }
    s->next[i]++;
    return true;
}

static double serial_s(struct serial *s, const struct fr_pipeline *p, int with) {
    int32_t stages = p->args.stages;
    double all_s = 0, ends_s = 0;
    *s = (struct serial){.p = p, .with = with};
    for (int k = 0; k < PASSES; k++) s->end_s[0][k] = s->end_s[1][k] = -1;
    for (bool more = true; more;) {
        more = false;
        for (int32_t i = 0; i < stages; i++) more = one_pass(s, i) || more;
    }
    for (int32_t i = 0; i < stages; i++) {
        assert_true(s->next[i] == p->n_slots);
        if (with & FR_WITH_CODEC) s->free_s[i] += p->stage[i].gradient_codec_s;
        if (p->stage[i].buckets)
            s->free_s[i] = fmax(s->free_s[i], s->stream_s[i]);
        else if (with & FR_WITH_GRADIENTS)
            s->free_s[i] += p->stage[i].gradient_s;
        if (i == 0 || i == stages - 1) ends_s = fmax(ends_s, s->free_s[i]);
    }
    for (int32_t i = 0; i < stages; i++) {
        bool tied = p->embedding_s > 0 && (i == 0 || i == stages - 1);
        double end_s =
            tied ? ends_s + (with & FR_WITH_EMBEDDING ? p->embedding_s : 0) : s->free_s[i];
        all_s = fmax(all_s, end_s + p->stage[i].optimizer_s +
                                (with & FR_WITH_OFFLOAD ? p->stage[i].offload_s : 0) +
                                (with & FR_WITH_GRADIENTS ? p->stage[i].beside_s : 0));
    }
    return all_s;
}

static const struct {
    int off, part;
} turns[] = {{FR_WITH_CODEC, FR_PART_COMPRESSION}, {FR_WITH_EMBEDDING, FR_PART_EMBEDDING_COMM},
             {FR_WITH_GRADIENTS, FR_PART_DP_COMM}, {FR_WITH_MESSAGES, FR_PART_PP_COMM},
             {FR_WITH_EP, FR_PART_EP_COMM},        {FR_WITH_CP, FR_PART_CP_COMM},
             {FR_WITH_TP, FR_PART_TP_COMM},        {FR_WITH_OFFLOAD, FR_PART_OFFLOAD},
             {FR_WITH_LAUNCH, FR_PART_LAUNCH}};

/* The closed form's time and parts are those of the passes one after another; with clocks of their own they
 * hold for what is on at full clock, so that the whole alone is asked for. */
static void by_hand(const struct fr_job *job, const struct fr_plan *plan,
                    const struct fr_outcome *out, const char *stated) {
    static struct serial serial;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    int with = FR_WITH_ALL;
    assert_int_equal(fr_pipeline_make(job, plan, &p, &extrapolated, NULL), FR_OK);
    int64_t passes = plan->pp * plan->chunks * p.args.micro_batches;
    if (passes <= PASSES && plan->pp <= STAGES && plan->chunks <= 64) {
        double before_s = serial_s(&serial, &p, with), fixed_s = job->cluster.device.fixed_s;
        NEAR("time", out->time_s, before_s + fixed_s, 1e-12 * out->time_s);
        for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
            with &= ~turns[k].off;
            double now_s = serial_s(&serial, &p, with);
            NEAR(fr_part_names[turns[k].part], out->part_s[turns[k].part],
                 fmax(0, before_s - now_s), 1e-11 * out->time_s);
            before_s = now_s;
        }
    }
    fr_pipeline_free(&p);
}

/* ---- what is exchanged ------------------------------------------------------------------------ */

/* A group of one need not be there. */
#define SAME(what, got, want)                                                                  \
    FR_TRUE((want) > 1 ? (got) == (want) : (got) <= 1, "%s: %s %d, %d", stated, what,          \
            (int)(got), (int)(want))

/* Groups are as large as the plan has them: of copies, of those that divide a state and those of whom each has the
 * same part, of the grids of groups of products, of what gathers a message. */
static void groups_are_whole(const struct fr_job *job, const struct fr_plan *plan,
                             const struct fr_rank_map *s, const char *stated) {
    SAME("cp", s->cp.n_ranks, plan->cp);
    for (int k = 0; k < FR_COPIES; k++) {
        int g = k - FR_COPIES_ATTENTION;
        bool held = k == FR_COPIES_REST ||
                    (k == FR_COPIES_EXPERTS && job->workload.transformer.experts > 0) ||
                    (g >= 0 && plan->layer_tp && fr_plan_own_grid(plan, g));
        if (!held) continue;
        int64_t copies = fr_plan_copies(plan, (fr_copies)k),
                z = fr_plan_dividing(plan, (fr_copies)k);
        SAME("copies", s->copies[k].all.n_ranks, copies);
        if (plan->zero > 0 && copies > 1) {
            SAME("dividing", s->copies[k].dividing.n_ranks, z);
            SAME("across", s->copies[k].across.n_ranks, copies / z);
        }
        if (g >= 0) SAME("grid", s->grid[g].n_ranks, fr_plan_grid(plan, g));
    }
    if (!plan->method->data_first) SAME("arrive", s->arrive.n_ranks, fr_plan_arriving(plan));
    for (int g = 0; plan->layer_tp && g < FR_GRIDS; g++) {
        int64_t p = fr_plan_grid(plan, g), q = fr_plan_grid(plan, (g + 1) % FR_GRIDS);
        if (p != q) SAME("between", s->between[g].n_ranks, p > q ? p / q : q / p);
    }
}

/* Whoever does a stage's collective is more than one, has something to say, and says it. */
static void nobody_talks_alone(const struct fr_job *job, const struct fr_plan *plan,
                               const char *stated) {
    struct fr_rank_map rank_map;
    assert_int_equal(fr_rank_map_make(job, plan, &rank_map, NULL), FR_OK);
    const struct fr_group *const group[FR_AXES] = {
        [FR_AXIS_TP] = &rank_map.axis[FR_MESH_TP],
        [FR_AXIS_DP] = &rank_map.copies[FR_COPIES_REST].all,
        [FR_AXIS_COMMON] = &rank_map.common,
        [FR_AXIS_CP] = &rank_map.cp,
        [FR_AXIS_EP] = &rank_map.ep,
        [FR_AXIS_EP_ACROSS] = &rank_map.ep_across,
        [FR_AXIS_EP_WITHIN] = &rank_map.ep_within,
        [FR_AXIS_ATTENTION] = &rank_map.grid[0],
        [FR_AXIS_MLP] = &rank_map.grid[1],
        [FR_AXIS_ENDS] = &rank_map.grid[2],
        [FR_AXIS_TO_MLP] = &rank_map.between[0],
        [FR_AXIS_TO_ENDS] = &rank_map.between[1],
        [FR_AXIS_FROM_ENDS] = &rank_map.between[2],
        [FR_AXIS_EXPERT] = &rank_map.copies[FR_COPIES_EXPERTS].all};
    for (int64_t i = 0; i < plan->pp; i++) {
        struct fr_rank_work work;
        test_stage(&job->workload, plan, i, &work);
        for (int k = 0; k < work.n_ops; k++) {
            const struct fr_operation *o = &work.op[k];
            if (o->kind != FR_WORK_COLLECTIVE || !group[o->axis]) continue;
            FR_TRUE(group[o->axis]->n_ranks > 1 && o->times > 0 && o->size > 0,
                    "%s: stage %d, axis %d, pass %d: %d ranks, %g B, %g times", stated, (int)i,
                    o->axis, o->pass, (int)group[o->axis]->n_ranks, o->size, o->times);
        }
    }
    groups_are_whole(job, plan, &rank_map, stated);
    fr_rank_map_free(&rank_map);
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void same(const struct fr_outcome *a, const struct fr_outcome *b, const char *stated) {
    double exact_s = 1e-11 * a->time_s;
    NEAR("time", b->time_s, a->time_s, 1e-12 * a->time_s);
    for (int k = 0; k < FR_PART_COUNT; k++)
        NEAR(fr_part_names[k], b->part_s[k], a->part_s[k], exact_s);
    FR_TRUE(isnan(a->energy_J) == isnan(b->energy_J), "%s: energy", stated);
    if (!isnan(a->energy_J)) {
        NEAR("energy", b->energy_J, a->energy_J, 1e-9 * a->energy_J);
        for (int k = 0; k < FR_ENERGY_COUNT; k++)
            NEAR(fr_energy_names[k], b->energy_part_J[k], a->energy_part_J[k],
                 1e-9 * a->energy_J);
    }
    for (int k = 0; k < FR_MEMORY_COUNT; k++)
        NEAR(fr_memory_names[k], b->memory_B[k], a->memory_B[k], 1e-12 * a->memory_peak_B);
    NEAR("memory", b->memory_peak_B, a->memory_peak_B, 0);
    for (int k = 0; k < FR_SENT_COUNT; k++) NEAR("sent", b->sent_B[k], a->sent_B[k], 0);
    FR_TRUE(a->peak_stage == b->peak_stage && a->peak_rank == b->peak_rank &&
                a->reasons == b->reasons && a->extrapolated == b->extrapolated &&
                a->parameters == b->parameters && a->lossy_gradient == b->lossy_gradient &&
                a->lossy_backward == b->lossy_backward,
            "%s: not the same", stated);
}

static void random_plans(void **state) {
    const int plans = fr_sample(4000, 1000);
    uint64_t dice = 0x9e3779b97f4a7c15u;
    int priced = 0, pipelines = 0, whole = 0,
        of_start[sizeof drawn_starts / sizeof *drawn_starts] = {0};
    (void)state;
    for (int k = 0; k < plans; k++) {
        struct drawn words;
        struct fr_job job;
        struct fr_outcome closed;
        struct fr_simulation event;
        struct fr_resolved resolved;
        char stated[DRAWN_WORDS * DRAWN_WORD] = "";
        size_t start;
        drawn_plan(&dice, &words, &start);
        if (!drawn_load(&words, start, &job)) continue;
        fr_cost(&job, &job.plan, &closed);
        if (closed.reasons) {
            fr_job_free(&job);
            continue;
        }
        for (int i = 0; i < words.n; i++)
            snprintf(stated + strlen(stated), sizeof stated - strlen(stated), "%s ",
                     words.word[i]);
        snprintf(stated + strlen(stated), sizeof stated - strlen(stated), "of %s",
                 drawn_starts[start].model);
        priced++, of_start[start]++;
        fr_status status = fr_simulate(&job, &job.plan, NULL, &event, NULL);
        if (status == FR_OK) {
            same(&closed, &event.outcome, stated);
            whole++;
        } else
            assert_int_equal(status, FR_ERR_UNSUPPORTED); /* a grid of each layer */
        fr_simulation_free(&event);
        assert_int_equal(fr_resolve(&job, &job.plan, &resolved, NULL), FR_OK);
        FR_TRUE(!resolved.plan.clock_slack || (!resolved.pass_clock && !resolved.clock_Hz),
                "%s", stated);
        if (fr_job_is_pipeline(resolved.job, &resolved.plan)) {
            if (resolved.job->workload.transformer.layers > 0)
                nobody_talks_alone(resolved.job, &resolved.plan, stated);
            by_hand(resolved.job, &resolved.plan, &closed, stated);
            pipelines++;
        }
        fr_resolved_free(&resolved);
        fr_job_free(&job);
    }
    FR_TRUE(priced > plans / 3 && pipelines > plans / 4 && whole > plans / 3, "%d, %d, %d",
            priced, pipelines, whole);
    for (size_t i = 0; i < sizeof drawn_starts / sizeof *drawn_starts; i++)
        FR_TRUE(of_start[i] > 5, "%zu: %d", i, of_start[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
