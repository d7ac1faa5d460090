/* SUPER / D&SP (Jain et al. 2021) on preset lassen: what dsp.study computes with. */
#include <math.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "studies/engine/study.h"
#include "studies/interval.h"
#include "topology/messages.h"

/* ---- messages, counted by pairs, not by the library's own counting -------------------------- */

static int64_t intra_of(const struct fr_placement *placement, int64_t n, int64_t g,
                        int64_t n_node) {
    int64_t n_g = n / g, nodes = n / n_node, intra = 0;
    bool dealt = placement == &fr_placement_round_robin;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = a % n_g; b < n; b += n_g)
            intra += dealt ? a % nodes == b % nodes : a / n_node == b / n_node;
    return intra;
}

/* Cases of an order of ranks, and of them those that a formula gets right. */
static double case_of(const struct fr_placement *placement, const char *what, int64_t n,
                      int64_t g, int64_t n_node) {
    struct fr_message_formula f = fr_messages_formula(placement, n, g, n_node);
    if (strcmp(what, "cases") == 0) return 1;
    if (strcmp(what, "conditioned") == 0) return f.applies;
    int64_t intra = intra_of(placement, n, g, n_node);
    if (strcmp(what, "worse") == 0)
        return intra_of(&fr_placement_round_robin, n, g, n_node) < intra;
    if (strcmp(what, "printed") == 0)
        return f.printed_intra == intra && f.printed_inter == n * g - intra;
    if (strcmp(what, "corrected") == 0)
        return f.applies && f.intra == intra && f.inter == n * g - intra;
    return f.general_intra == intra;
}

static fr_status counted(struct fr_study_call *c) {
    bool aware = strcmp(fr_call_word(c, "order", 0), "aware") == 0;
    const struct fr_placement *placement =
        aware ? &fr_placement_round_robin : &fr_placement_linear;
    double count = 0;
    for (int64_t n = 1; n <= 64; n++)
        for (int64_t g = 1; g <= n; g++)
            for (int64_t n_node = 1; n % g == 0 && n_node <= n; n_node++)
                if (n % n_node == 0)
                    count += case_of(placement, fr_call_word(c, "what", 1), n, g, n_node);
    return fr_say(c, count);
}

static fr_status within_nodes(struct fr_study_call *c) {
    return fr_say(c, (double)intra_of(&fr_placement_round_robin,
                                      (int64_t)fr_call_number(c, "n", 0, 1),
                                      (int64_t)fr_call_number(c, "g", 1, 1),
                                      (int64_t)fr_call_number(c, "n_node", 2, 1)));
}

/* ---- times ---------------------------------------------------------------------------------- */

static const char *const models[][2] = {
    {"base", "transformer-base"}, {"gpt", "gpt-2"}, {"t5", "t5-large-mod"}};
enum { MODELS = sizeof models / sizeof *models };

struct setting {
    struct fr_job job[MODELS];
};

/* One run: a model on some ranks.  Zero fields keep what the preset says. */
struct run {
    int model;
    int64_t ways, ranks, batch;
    int64_t heads, hidden, sequence;
    bool subgrid, naive;
    bool stated; /* with its interval */
};

static struct fr_outcome outcome_of(const struct setting *s, struct run run) {
    struct fr_job job = s->job[run.model];
    struct fr_transformer *t = &job.workload.transformer;
    struct fr_plan plan = job.plan;
    struct fr_outcome out;
    if (run.hidden) t->hidden = run.hidden;
    if (run.heads) t->heads = t->kv_heads = run.heads;
    t->head_dim = t->hidden / t->heads;
    if (run.sequence) t->sequence = run.sequence;
    plan.method = &fr_method_subgraph;
    plan.tp = run.ways;
    plan.dp = run.ranks / run.ways;
    plan.global_batch = run.batch;
    plan.common_subgrid = run.subgrid;
    plan.branches = 0;
    plan.overlap = true; /* in buckets of 25 MiB */
    plan.placement.row = run.naive ? &fr_placement_linear : &fr_placement_round_robin;
    fr_cost(&job, &plan, &out);
    if (run.stated) fr_paper_interval(&job, &out);
    return out;
}

/* Time of data parallelism on the same ranks and batch over the time of @p run. */
static double gain_of(const struct setting *s, struct run run) {
    struct run data = run;
    data.ways = 1;
    data.subgrid = false;
    return outcome_of(s, data).time_s / outcome_of(s, run).time_s;
}

/* MODEL, ways, ranks, batch, and what differs from the preset. */
static struct run run_of(const struct fr_study_call *c) {
    struct run run = {.ways = (int64_t)fr_call_number(c, "ways", 1, 1),
                      .ranks = (int64_t)fr_call_number(c, "ranks", 2, 1),
                      .batch = (int64_t)fr_call_number(c, "batch", 3, 1),
                      .heads = (int64_t)fr_call_number(c, "heads", -1, 0),
                      .hidden = (int64_t)fr_call_number(c, "hidden", -1, 0),
                      .sequence = (int64_t)fr_call_number(c, "sequence", -1, 0),
                      .subgrid = fr_call_number(c, "subgrid", -1, 0) != 0,
                      .naive = fr_call_number(c, "naive", -1, 0) != 0,
                      .stated = fr_call_number(c, "stated", -1, 0) != 0};
    const char *model = fr_call_word(c, "model", 0);
    while (run.model < MODELS - 1 && strcmp(models[run.model][0], model) != 0) run.model++;
    return run;
}

static fr_status run_one(struct fr_study_call *c) {
    struct fr_outcome outcome = outcome_of(c->context, run_of(c));
    return fr_say_outcome(c, &outcome, NULL);
}

static fr_status gain(struct fr_study_call *c) {
    return fr_say(c, gain_of(c->context, run_of(c)));
}

/* ---- the fit -------------------------------------------------------------------------------- */

static const struct run eight_heads = {.ways = 4, .ranks = 4, .batch = 4},
                        thirty_two_heads = {
                            .ways = 4, .ranks = 4, .batch = 4, .heads = 32, .hidden = 2048};

static void apply(struct setting *s, double head_kernels, double latency_s) {
    for (int m = 0; m < MODELS; m++) {
        s->job[m].workload.transformer.head_kernels = head_kernels;
        s->job[m].cluster.levels.level[0].latency_s = latency_s;
    }
}

/* The latency at which @p head_kernels give the speed-up of eight heads: it falls with latency. */
static double latency_for(struct setting *s, double head_kernels) {
    double low_s = 0, high_s = 200e-6;
    for (int i = 0; i < 60; i++) {
        double middle_s = (low_s + high_s) / 2;
        apply(s, head_kernels, middle_s);
        *(gain_of(s, eight_heads) > 1.8 ? &low_s : &high_s) = middle_s;
    }
    return (low_s + high_s) / 2;
}

/* Along that curve the speed-up of 32 heads grows with the kernels of each. */
static fr_status fit_head_kernels(struct fr_study_call *c) {
    struct setting *s = c->context;
    double low = 4, high = 20, head_kernels = 0;
    for (int i = 0; i < 60; i++) {
        head_kernels = (low + high) / 2;
        apply(s, head_kernels, latency_for(s, head_kernels));
        *(gain_of(s, thirty_two_heads) < 2.16 ? &low : &high) = head_kernels;
    }
    return fr_say(c, head_kernels);
}

static fr_status latency_s(struct fr_study_call *c) {
    const struct setting *s = c->context;
    return fr_say(c, s->job[0].cluster.levels.level[0].latency_s);
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_study_function functions[] = {{"counted", counted},
                                                         {"within_nodes", within_nodes},
                                                         {"run", run_one},
                                                         {"gain", gain},
                                                         {"latency_s", latency_s},
                                                         {"fit_head_kernels", fit_head_kernels},
                                                         {NULL, NULL}};
    extern const char fr_study_dsp[];
    const struct fr_study_text study = {"dsp", fr_study_dsp, functions};
    struct setting s = {0};
    fr_status status = FR_OK;
    for (int m = 0; m < MODELS && status == FR_OK; m++) {
        const struct fr_job_names names = {.cluster = "lassen", .model = models[m][1]};
        status = fr_job_load(&names, &s.job[m], err);
    }
    if (status == FR_OK) status = fr_study_run(&study, &s, r, err);
    for (int m = 0; m < MODELS; m++) fr_job_free(&s.job[m]);
    return status;
}

const struct fr_paper fr_paper_dsp = {
    .name = "dsp",
    .title = "Jain et al., SUPER: SUb-Graph Parallelism for TransformERs, 2021: messages of "
             "Eqs. 4 to 7, every speed-up stated, orders of Figures 12 to 17",
    .run = run,
    .more = "Trainings on this machine, in the small, add the curves of Figure 17. First run "
            "forerun "
            "quality --set method=subgraph --vary tp=1,2 --ranks 2 --cluster lassen --json > "
            "branches.json. Then run forerun reproduce dsp --quality branches.json.",
};
