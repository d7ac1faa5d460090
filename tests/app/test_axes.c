/* Every pair of axes under every method: priced, and then the event engine agrees, both axes do
 * something beside each other, each in its own direction, and state and activations are those worked out
 * by hand (of method tensor); or refused with a sentence.  docs/reference/compositions.md says the same. */
#include <math.h>
#include <stdlib.h>

#include "answer/outcome/report.h"
#include "answer/search/compositions.h"
#include "sim/run.h"
#include "tests/document.h"

struct pair {
    const struct fr_method *method;
    const struct fr_axis_setting *a, *b;
    struct fr_job job;
    struct fr_outcome out;
};

/* Load and price; false where refused. */
static bool price(struct pair *p, const struct fr_method *method,
                  const struct fr_axis_setting *a, const struct fr_axis_setting *b,
                  const char *model) {
    struct fr_error err = {0};
    p->method = method;
    p->a = a;
    p->b = b;
    if (fr_axes_load(method, a, b, model, &p->job, &err) != FR_OK)
        fail_msg("%s, %s: %s: %s", a ? a->name : "-", b ? b->name : "-", err.where, err.detail);
    fr_cost(&p->job, &p->job.plan, &p->out);
    return p->out.reasons == 0;
}

static void engine_agrees(const struct pair *p) {
    struct fr_simulation event;
    struct fr_error err = {0};
    if (fr_simulate(&p->job, &p->job.plan, NULL, &event, &err) != FR_OK)
        fail_msg("%s: %s, %s: %s", p->method->name, p->a->name, p->b->name, err.detail);
    FR_TRUE(fabs(event.outcome.time_s - p->out.time_s) <= 1e-9 * p->out.time_s &&
                fabs(event.outcome.energy_J - p->out.energy_J) <= 1e-9 * p->out.energy_J,
            "%s: %s, %s: event %.17g s %.17g J, closed %.17g s %.17g J", p->method->name,
            p->a->name, p->b->name, event.outcome.time_s, event.outcome.energy_J, p->out.time_s,
            p->out.energy_J);
    fr_simulation_free(&event);
}

static void parts_add_up(const struct pair *p) {
    double time_s = 0, memory_B = 0;
    for (int i = 0; i < FR_PART_COUNT; i++) time_s += p->out.part_s[i];
    for (int i = 0; i < FR_MEMORY_COUNT; i++) memory_B += p->out.memory_B[i];
    FR_NEAR(time_s, p->out.time_s, 1e-9);
    FR_NEAR(memory_B, p->out.memory_peak_B, 1e-12);
    assert_true(p->out.time_s > 0 && p->out.energy_J > 0);
    for (int i = 0; i < FR_MEMORY_COUNT; i++) assert_true(p->out.memory_B[i] >= 0);
}

/* ---- each axis in its own direction ----------------------------------------------------------- */

/* Wherever it is. */
static double state_B(const struct fr_outcome *out) {
    return out->plan.offload & FR_OFFLOAD_OPTIMIZER ? out->host_memory_B
                                                    : out->memory_B[FR_MEMORY_OPTIMIZER];
}
static bool zero_divides(const struct fr_outcome *with, const struct fr_outcome *without) {
    return state_B(with) < 0.5 * state_B(without);
}
/* This counts the peak stage, or another stage where that has become the peak. */
static bool zero_divides_in_two(const struct fr_outcome *with,
                                const struct fr_outcome *without) {
    if (with->peak_stage != without->peak_stage)
        return with->memory_peak_B < without->memory_peak_B;
    return state_B(with) < 0.51 * state_B(without);
}
/* Parameters that all ranks divide anyway (zero 3) stay as many; what is gathered to work with falls. */
static bool experts_share(const struct fr_outcome *with, const struct fr_outcome *without) {
    double share =
        with->memory_B[FR_MEMORY_PARAMETERS] / without->memory_B[FR_MEMORY_PARAMETERS];
    return (with->plan.zero == 3 ? share < 1 + 1e-9 : share < 0.8) &&
           with->memory_peak_B < without->memory_peak_B;
}
/* This counts the peak stage, or another stage where that has become the peak. */
static bool activations_fall(const struct fr_outcome *with, const struct fr_outcome *without) {
    if (with->peak_stage != without->peak_stage)
        return with->memory_peak_B < without->memory_peak_B;
    return with->memory_B[FR_MEMORY_ACTIVATIONS] < without->memory_B[FR_MEMORY_ACTIVATIONS];
}
/* The first of two stages sends forward only, so the most that a rank sends stays. */
static bool messages_shrink(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->lossy_backward == 1 && without->lossy_backward == 0 &&
           with->sent_B[FR_SENT_PP] <= without->sent_B[FR_SENT_PP];
}
static bool activations_shrink(const struct fr_outcome *with,
                               const struct fr_outcome *without) {
    return with->lossy_forward == 1 && without->lossy_forward == 0 &&
           with->sent_B[FR_SENT_PP] <= without->sent_B[FR_SENT_PP];
}
static bool gradients_shrink(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->lossy_gradient > 0 && without->lossy_gradient == 0 &&
           with->sent_B[FR_SENT_DP] < without->sent_B[FR_SENT_DP];
}
static bool no_slower(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->time_s <= without->time_s * (1 + 1e-9);
}
static bool works_again(const struct fr_outcome *with, const struct fr_outcome *without) {
    bool moves = with->plan.offload & FR_OFFLOAD_ACTIVATIONS; /* and has less to */
    return activations_fall(with, without) && (moves || with->time_s > without->time_s);
}
static bool bubble_falls(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->part_s[FR_PART_BUBBLE] < without->part_s[FR_PART_BUBBLE];
}
/* Scores, which recomputation has dropped already: where the loss has the peak, what a layer makes again is below
 * it. */
static bool drops_scores_again(const struct fr_outcome *with) {
    return with->plan.attention != FR_ATTENTION_PLAIN &&
           with->plan.recompute != FR_RECOMPUTE_NONE;
}
static bool no_scores(const struct fr_outcome *with, const struct fr_outcome *without) {
    if (drops_scores_again(with)) return with->memory_peak_B <= without->memory_peak_B;
    return with->memory_B[FR_MEMORY_ACTIVATIONS] <= without->memory_B[FR_MEMORY_ACTIVATIONS] &&
           with->memory_peak_B < without->memory_peak_B;
}
static bool scores_again(const struct fr_outcome *with, const struct fr_outcome *without) {
    bool flash = with->plan.attention != FR_ATTENTION_PLAIN; /* makes them again anyway */
    return flash ? with->time_s >= without->time_s : works_again(with, without);
}

static bool host_holds_state(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->memory_B[FR_MEMORY_OPTIMIZER] == 0 &&
           with->memory_peak_B < without->memory_peak_B &&
           with->host_memory_B > without->host_memory_B && with->time_s > without->time_s;
}
/* Stages that hold no more than the two layers in transfer have as many on the device. */
static bool host_holds_activations(const struct fr_outcome *with,
                                   const struct fr_outcome *without) {
    return with->memory_peak_B <= without->memory_peak_B &&
           with->host_memory_B > without->host_memory_B && with->time_s > without->time_s;
}

/* Where hosts do not hide it. */
static bool adding_takes_time(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->time_s >= without->time_s * (1 - 1e-9) &&
           with->memory_peak_B == without->memory_peak_B;
}

/* Hosts launch less, and no pass takes longer. */
static bool hosts_hide(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->time_s < without->time_s;
}

/* This is the time that a device would have hidden of its host. */
static bool hosts_show(const struct fr_outcome *with, const struct fr_outcome *without) {
    return with->time_s > without->time_s &&
           with->part_s[FR_PART_LAUNCH] > without->part_s[FR_PART_LAUNCH] &&
           with->memory_peak_B == without->memory_peak_B;
}

/* Nothing else is updated or reduced. */
static bool adapters_alone_have_state(const struct fr_outcome *with,
                                      const struct fr_outcome *without) {
    return state_B(with) < 0.02 * state_B(without) &&
           with->memory_B[FR_MEMORY_PARAMETERS] >= without->memory_B[FR_MEMORY_PARAMETERS] &&
           with->sent_B[FR_SENT_DP] <= without->sent_B[FR_SENT_DP];
}

static const struct {
    const char *name;
    bool (*holds)(const struct fr_outcome *with, const struct fr_outcome *without);
} directions[] = {
    {"zero 1", zero_divides},
    {"zero 2", zero_divides},
    {"zero 3", zero_divides},
    {"zero 2 over 2", zero_divides_in_two},
    {"experts", experts_share},
    {"context parallel", activations_fall},
    {"cp by all-to-all", activations_fall},
    {"compressed messages", messages_shrink},
    {"compressed activations", activations_shrink},
    {"compressed gradients", gradients_shrink},
    {"overlap", no_slower},
    {"recompute full", works_again},
    {"recompute selective", scores_again},
    {"recompute save_qkv", works_again},
    {"recompute save_qkv_out", works_again},
    {"interleaved", bubble_falls},
    {"zero-bubble", bubble_falls},
    {"zero-bubble-v", bubble_falls},
    {"sequence parallel", activations_fall},
    {"tp overlap", activations_fall},
    {"flash attention", no_scores},
    {"offload optimizer", host_holds_state},
    {"offload activations", host_holds_activations},
    {"gradients added apart", adding_takes_time},
    {"graphs of layers", hosts_hide},
    {"blocking launches", hosts_show},
    {"adapters", adapters_alone_have_state},
};

static bool same(const struct fr_outcome *x, const struct fr_outcome *y) {
    return x->time_s == y->time_s && x->energy_J == y->energy_J &&
           memcmp(x->memory_B, y->memory_B, sizeof x->memory_B) == 0 &&
           memcmp(x->sent_B, y->sent_B, sizeof x->sent_B) == 0;
}

/* @p axis changes this in the pair.  Adapters' gradients are one bucket, which the end of the last pass fills:
 * nothing of it is earlier than without overlap.  Adding them up is hidden behind the hosts' launches. */
static void does_something(const struct pair *with, const struct fr_axis_setting *axis,
                           const struct fr_axis_setting *other) {
    struct pair without;
    bool found = false;
    if (price(&without, with->method, other, NULL, fr_axes_model(with->a, with->b))) {
        bool few = with->job.workload.transformer.lora_rank > 0 &&
                   (with->out.plan.overlap || with->out.plan.adds_apart);
        FR_TRUE(few || drops_scores_again(&with->out) || !same(&with->out, &without.out),
                "%s does nothing beside %s, silently", axis->name, other->name);
        for (size_t k = 0; k < sizeof directions / sizeof *directions; k++) {
            if (strcmp(directions[k].name, axis->name) != 0) continue;
            found = true;
            FR_TRUE(directions[k].holds(&with->out, &without.out),
                    "%s beside %s: %g of %g s, activations %g of %g B, peak %g of %g B",
                    axis->name, other->name, with->out.time_s, without.out.time_s,
                    with->out.memory_B[FR_MEMORY_ACTIVATIONS],
                    without.out.memory_B[FR_MEMORY_ACTIVATIONS], with->out.memory_peak_B,
                    without.out.memory_peak_B);
        }
        FR_TRUE(found, "%s has no direction here", axis->name);
    }
    fr_job_free(&without.job);
}

/* ---- by hand ---------------------------------------------------------------------------------- */

/* GPT-2, 4 layers of h = 768 on two stages, tp 2: a rank has of a layer (12 h^2 + 7 h) / 2 and norms and
 * biases of 6 h, half the embedding of 50432 rows; the first stage positions, the last a norm.  Adam's
 * two moments: 8 B each, divided by dp cp where zero says so. */
static double dense_state_B(const struct fr_plan *plan, bool last) {
    double h = 768, layers = 2 * ((12 * h * h + 7 * h) / 2 + 6 * h), ends = 50432 * h / 2;
    double parameters = layers + ends + (last ? 2 * h : 1024 * h);
    if (plan->schedule->folds) parameters = layers + (last ? 0 : ends + 1026 * h);
    double divide = (double)(plan->zero_ranks ? plan->zero_ranks : plan->dp * plan->cp);
    return 8 * parameters / (plan->zero ? divide : 1);
}

/* Mixtral, 4 layers of h = 4096 on two stages, tp 2, ep 2: a rank has a quarter of the 8 x 3 h 14336
 * expert weights of a layer, in dp cp / ep copies, and half of the rest, 6144 h + h^2 and a router of
 * 8 h, and two norms; half of 32000 rows at each end.  Adam and master
 * weights: 12 B. */
static double mixture_state_B(const struct fr_plan *plan, bool last) {
    double h = 4096, experts = 2 * 8 * 3 * h * 14336 / 4;
    double rest = 2 * ((6144 * h + h * h + 8 * h) / 2 + 2 * h) + 32000 * h / 2 + (last ? h : 0);
    if (plan->schedule->folds) rest += last ? -32000 * h / 2 - h : 32000 * h / 2 + h;
    double copies = (double)(plan->dp * plan->cp), share = copies * 2 / 4;
    if (!plan->zero) return 12 * (experts + rest);
    if (plan->zero_ranks) share = copies = (double)plan->zero_ranks;
    return 12 * (experts / share + rest / copies);
}

/* Adapters of rank 8 on two layers' attentions, tp 2: 8 (h + q + 2 kv) and 8 (q + h) values each. */
static double adapters_state_B(const struct fr_plan *plan, bool mixture) {
    double h = mixture ? 4096 : 768, kv = mixture ? 1024 : 768,
           adapters = 2 * 8 * (h + h + 2 * kv + h + h) / 2,
           divide = (double)(plan->zero_ranks ? plan->zero_ranks : plan->dp * plan->cp);
    return (mixture ? 12 : 8) * adapters / (plan->zero ? divide : 1);
}

/* Korthikanti et al. 2022 for two layers of GPT-2, b = 1, t = 2: s h (10 + 24 / t + 5 a s / (h t)) B each,
 * with sequence parallel all over t; without scores (selective, flash) no last term; full recomputation
 * keeps the input, 2 s h, with a policy 6 s h / t of queries, keys and values, and 2 s h of what comes after.  The first of two stages holds two micro-batches, the last one with its logits
 * and their norm's input and output at 2 B; cp ranks share the tokens; offloaded, two layers are on the device.  A fused
 * kernel keeps sums of 4 B, and with all-to-all what it made twice.  The first stage is fullest in a layer's backward
 * pass, with 4 s h / t gradients and what is made again. */
static double dense_activations_B(const struct fr_plan *plan, bool last) {
    double s = 1024, h = 768, a = 12, t = 2, between = plan->sequence_parallel ? t : 1;
    bool scores = plan->recompute == FR_RECOMPUTE_NONE && plan->attention == FR_ATTENTION_PLAIN;
    double layer = s * h * (10 / between + 24 / t + (scores ? 5 * a * s / (h * t) : 0));
    if (plan->recompute >= FR_RECOMPUTE_FULL) layer = 2 * s * h / between;
    if (plan->recompute > FR_RECOMPUTE_FULL) layer += 2 * 3 * s * h / t;
    if (plan->recompute == FR_RECOMPUTE_SAVE_QKV_OUT) layer += 2 * s * h / between;
    bool fused = plan->recompute == FR_RECOMPUTE_NONE && plan->attention != FR_ATTENTION_PLAIN;
    double whole =
               s * h * (10 / between + 24 / t + (plan->attention ? 0 : 5 * a * s / (h * t))),
           core = plan->attention ? 0 : 5 * a * s * s / t,
           again = plan->recompute >= FR_RECOMPUTE_FULL        ? whole - 2 * s * h / between
                   : plan->recompute == FR_RECOMPUTE_SELECTIVE ? core
                                                               : 0;
    double layers = last || plan->offload & FR_OFFLOAD_ACTIVATIONS ? 2 : 2 * 2;
    double besides =
        fused ? (last ? 2 : 2 * 2) *
                    (4 * s * a / t + (plan->context_heads && plan->cp > 1 ? 2 * s * h / t : 0))
              : 0;
    double held = layers * layer + besides +
                  (last ? 2 * s * (2 * h / between + 50432 / t) : 2 * s * 4 * h / t + again);
    return held / (double)plan->cp;
}

/* Frozen MLPs need not keep 2 s h of their input and 8 s h / t between their products; less the adapters' own, 2 x 8
 * values a token, and all that the first ones read. */
static double adapters_spare_B(const struct fr_plan *plan, bool last) {
    double s = 1024, h = 768, t = 2, between = plan->sequence_parallel ? t : 1;
    double layers = last || plan->offload & FR_OFFLOAD_ACTIVATIONS ? 2 : 2 * 2;
    if (plan->recompute >= FR_RECOMPUTE_FULL) return 0;
    return layers * s * (2 * h / between + 8 * h / t - 2 * 2 * 8 - 2 * h * (1 - 1 / between)) /
           (double)plan->cp;
}

static void by_hand(const struct pair *p) {
    const struct fr_plan *plan = &p->job.plan;
    bool last = p->out.peak_stage == 1, mixture = p->job.workload.transformer.experts > 0;
    double held_B = mixture ? mixture_state_B(plan, last) : dense_state_B(plan, last);
    if (p->job.workload.transformer.lora_rank) held_B = adapters_state_B(plan, mixture);
    if (plan->offload & FR_OFFLOAD_OPTIMIZER) held_B = 0;
    if (fabs(p->out.memory_B[FR_MEMORY_OPTIMIZER] - held_B) > 1e-3 * held_B)
        fail_msg("%s, %s: %g B of state, by hand %g", p->a->name, p->b->name,
                 p->out.memory_B[FR_MEMORY_OPTIMIZER], held_B);
    if (mixture || plan->schedule != &fr_schedule_one_f_one_b) return;
    double stored_B = dense_activations_B(plan, last);
    if (p->job.workload.transformer.lora_rank) stored_B -= adapters_spare_B(plan, last);
    if (fabs(p->out.memory_B[FR_MEMORY_ACTIVATIONS] / stored_B - 1) > 1e-9)
        fail_msg("%s, %s: %g B of activations, by hand %g", p->a->name, p->b->name,
                 p->out.memory_B[FR_MEMORY_ACTIVATIONS], stored_B);
}

/* ---- all pairs -------------------------------------------------------------------------------- */

static void explained(const struct pair *p) {
    for (int i = 0; i < FR_REASON_COUNT; i++) {
        struct fr_text text = {0};
        if (!(p->out.reasons & FR_BECAUSE(i))) continue;
        fr_report_reason(&p->job, &p->out, i, &text);
        FR_TRUE(text.length > 20, "%s, %s: %s says \"%s\"", p->a->name, p->b->name,
                fr_reason_names[i], fr_text_get(&text));
        fr_text_free(&text);
    }
}

/* @return 1 where priced */
static int try_pair(const struct fr_method *method, const struct fr_axis_setting *a,
                    const struct fr_axis_setting *b) {
    struct pair p;
    bool priced = price(&p, method, a, b, NULL);
    if (priced) {
        engine_agrees(&p);
        parts_add_up(&p);
        if (method == &fr_method_tensor) by_hand(&p);
        does_something(&p, a, b);
        does_something(&p, b, a);
    } else
        explained(&p);
    fr_job_free(&p.job);
    return priced;
}

static void every_pair(void **state) {
    (void)state;
    for (const struct fr_method *const *m = fr_methods; *m; m++) {
        int priced = 0, pairs = 0;
        for (const struct fr_axis_setting *a = fr_axis_settings; a->name; a++)
            for (const struct fr_axis_setting *b = a + 1; b->name; b++) {
                if (!fr_axes_meet(a, b)) continue;
                priced += try_pair(*m, a, b);
                pairs++;
            }
        print_message("%s: %d of %d pairs priced\n", (*m)->name, priced, pairs);
        FR_TRUE(*m != &fr_method_tensor || (priced >= 75 && priced <= pairs - 3),
                "%d of %d pairs priced", priced, pairs);
    }
}

static void document_is_up_to_date(void **state) {
    (void)state;
    for (const struct fr_axis_setting *a = fr_axis_settings; a->name; a++) {
        struct fr_text row = {0};
        fr_text_addf(&row, "| %s |", a->name);
        for (const struct fr_axis_setting *b = fr_axis_settings + 4; b->name; b++) {
            struct pair p;
            if (!fr_axes_meet(a, b)) {
                fr_text_addf(&row, " |");
                continue;
            }
            price(&p, &fr_method_tensor, a, b, NULL);
            fr_text_addf(&row, " %s |", fr_composition_verdict(&p.out));
            fr_job_free(&p.job);
        }
        fr_test_documented("reference/compositions.md", &row);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair),
                                       cmocka_unit_test(document_is_up_to_date)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
