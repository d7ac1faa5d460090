/* Equivalent placements cost the same, for every collective and message of a plan, by both engines; what groups pay,
 * by counting messages on every adapter here. */
#include <math.h>

#include "models/job/preset.h"
#include "models/outcome/cost.h"
#include "models/outcome/units.h"
#include "models/price/rank_map.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/pipeline_case.h"

enum { RANKS_MAX = 512 };

/* ---- the fused embedding, by hand ------------------------------------------------------------ */

/* 8 x 4 x 4 ranks on nodes of 8 behind one adapter: the embedding of V bytes lies over 8 tp ranks of the
 * first and the last stage, and each eighth of it is all-reduced by its 2 D = 8 ranks round a ring,
 * 2 (8 - 1) / 8 = 1.75 times its bytes out of each; all eighths leave a node through the one adapter,
 * so 1.75 V in all, however the seats were named. */
static void fused_embedding_on_the_wire(void **state) {
    static const char *const placed[][3] = {
        {NULL},
        {"rank_order=tp-dp-pp", NULL},
        {"placement=by-axis:tp-pp-dp", NULL},
        {"placement=by-axis:tp-dp-pp", NULL},
        {"rank_order=tp-dp-pp", "placement=by-axis:tp-dp-pp", NULL}};
    (void)state;
    for (size_t k = 0; k < sizeof placed / sizeof *placed; k++) {
        const char *sets[12] = {
            "tp=8",
            "pp=4",
            "dp=4",
            "micro_batch=8",
            "compression.embedding=fused",
            "cluster.collectives.all_reduce={\"form\": \"algorithm\", \"name\": \"ring\"}",
            "cluster.levels=[{\"name\": \"node\", \"ranks\": 8, \"latency\": \"0 s\", "
            "\"bandwidth\": \"300 GB/s\"}, {\"name\": \"all\", \"ranks\": 128, \"latency\": "
            "\"0 s\", \"bandwidth\": \"25 GB/s\", \"shared_by\": 8}]"};
        int n = 7;
        struct fr_job job;
        struct fr_pipeline p;
        uint32_t extrapolated = 0;
        for (int i = 0; placed[k][i]; i++) sets[n++] = placed[k][i];
        fr_test_job("a100-hdr", "gpt-8.3b", sets, &job);
        assert_int_equal(fr_pipeline_make(&job, &job.plan, &p, &extrapolated, NULL), FR_OK);
        double V_B = 51200.0 * 3072 * 4; /* padded to 128 * 8; fp32 */
        FR_NEAR(p.embedding_s, 1.75 * V_B / 25e9, 1e-12);
        fr_pipeline_free(&p);
        fr_job_free(&job);
    }
}

/* ---- random plans ------------------------------------------------------------------------------ */

/* Nodes of 1 to 8 ranks behind one adapter, racks of them behind one more; larger jobs take a part of each. */
static void draw_cluster(uint64_t *seed, struct fr_job *job) {
    static const int64_t nodes[] = {1, 2, 3, 4, 6, 8};
    int64_t node = nodes[case_random(seed) % 6],
            rack = node * (1 + (int64_t)(case_random(seed) % 4));
    struct fr_levels *levels = &job->cluster.levels;
    *levels = (struct fr_levels){
        .count = 3,
        .level = {
            {"node", node, 1e-6, 200e9, 1, {0}, {0, 0}, 0, 0, 0},
            {"rack", rack, 3e-6, 20e9, case_random(seed) % 2 ? node : 1, {0}, {0, 0}, 0, 0, 0},
            {"all", rack * RANKS_MAX, 7e-6, 5e9, node, {0}, {0, 0}, 0, 0, 0}}};
    if (case_random(seed) % 2)
        levels->level[0].segment = 1 + (int64_t)(case_random(seed) % (uint64_t)node);
    if (case_random(seed) % 2)
        levels->level[1].segment =
            node * (1 + (int64_t)(case_random(seed) % (uint64_t)(rack / node)));
}

/* Mixtures of experts, tied or not, over any mesh that divides them. */
static void draw_plan(uint64_t *seed, struct fr_job *job) {
    static const int64_t sizes[] = {1, 2, 2, 3, 4};
    struct fr_plan *plan = &job->plan;
    struct fr_transformer *t = &job->workload.transformer;
    *plan = fr_plan_default();
    plan->tp = sizes[case_random(seed) % 5];
    plan->pp = sizes[case_random(seed) % 5];
    plan->dp = sizes[case_random(seed) % 5];
    plan->cp = case_random(seed) % 3 ? 1 : 2;
    plan->rank_order = (fr_rank_order)(case_random(seed) % 2);
    plan->attention = FR_ATTENTION_FLASH;
    plan->sequence_parallel = case_random(seed) % 2;
    plan->zero = (int64_t)(case_random(seed) % 4);
    t->tied = case_random(seed) % 2;
    if (plan->zero == 0 && t->tied && plan->pp > 1)
        plan->compression.fused_embedding = case_random(seed) % 2;
    if (plan->sequence_parallel && case_random(seed) % 2) plan->etp = 1;
    int64_t sharing = plan->dp * plan->cp * (plan->etp == 1 ? plan->tp : 1);
    plan->ep = sharing % 2 == 0 && case_random(seed) % 2 ? 2 : sharing;
    plan->global_batch = plan->dp * plan->pp * 2;
}

static void draw_job(uint64_t *seed, struct fr_job *job) {
    static const char *const sets[] = {
        "model.layers=12",    "model.hidden=768",       "model.heads=12",
        "model.kv_heads=12",  "model.ffn=1536",         "model.sequence=384",
        "model.experts=1152", "model.expert_ffn=1536",  "model.vocabulary=30000",
        "model.dtype=bf16",   "cluster.collectives={}", NULL};
    fr_test_job("dgx-h100", "mixtral-8x7b", sets, job);
    draw_cluster(seed, job);
    draw_plan(seed, job);
}

static double simulated_s(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_network *network) {
    const struct fr_simulate_options options = {.network = network};
    struct fr_simulation s;
    struct fr_error err = {0};
    if (fr_simulate(job, plan, &options, &s, &err) != FR_OK) fail_msg("%s", err.detail);
    double time_s = s.outcome.time_s;
    fr_simulation_free(&s);
    return time_s;
}

/* The same work in placements that should cost the same. */
static void costs_alike(const struct fr_job *job, const struct fr_plan *a,
                        const struct fr_plan *b, const char *what, int k) {
    struct fr_outcome one, other;
    fr_cost(job, a, &one);
    fr_cost(job, b, &other);
    one.reasons &= ~FR_BECAUSE(FR_REASON_MEMORY);
    FR_TRUE(one.reasons == 0, "case %d: %s: refused, %x: tp %d pp %d dp %d cp %d ep %d", k,
            what, (unsigned)one.reasons, (int)a->tp, (int)a->pp, (int)a->dp, (int)a->cp,
            (int)a->ep);
    FR_TRUE(fabs(one.time_s - other.time_s) <= 1e-12 * one.time_s &&
                fabs(one.energy_J - other.energy_J) <= 1e-12 * one.energy_J,
            "case %d: %s: %.15g s and %.15g s; tp %d pp %d dp %d cp %d ep %d node %d", k, what,
            one.time_s, other.time_s, (int)a->tp, (int)a->pp, (int)a->dp, (int)a->cp,
            (int)a->ep, (int)job->cluster.levels.level[0].ranks);
    FR_NEAR(simulated_s(job, b, &fr_network_isolated), one.time_s, 1e-9);
    FR_NEAR(simulated_s(job, b, &fr_network_shared), simulated_s(job, a, &fr_network_shared),
            1e-9);
}

static struct fr_plan listed(const struct fr_plan *plan, const int64_t *list) {
    struct fr_plan out = *plan;
    out.placement = fr_placement_default();
    out.placement.row = &fr_placement_file;
    out.placement.list = list;
    out.placement.n_list = fr_plan_ranks(plan);
    return out;
}

static struct fr_plan by_axis(const struct fr_plan *plan, fr_rank_order order) {
    static const uint8_t orders[2][FR_MESH_AXES] = {{FR_MESH_TP, FR_MESH_PP, FR_MESH_DP},
                                                    {FR_MESH_TP, FR_MESH_DP, FR_MESH_PP}};
    struct fr_plan out = *plan;
    out.placement.row = &fr_placement_by_axis;
    memcpy(out.placement.order, orders[order], sizeof out.placement.order);
    return out;
}

/* Exchange ranks inside their nodes. */
static void shuffle_nodes(uint64_t *seed, int64_t *list, int64_t n, int64_t node) {
    for (int64_t i = 0; i < n; i++) list[i] = i;
    for (int64_t i = 0; i < n; i++) {
        int64_t first = i / node * node, capacity = n - first < node ? n - first : node;
        int64_t j = first + (int64_t)(case_random(seed) % (uint64_t)capacity), kept = list[i];
        list[i] = list[j];
        list[j] = kept;
    }
}

static void seat_alike_cost_alike(void **state) {
    uint64_t seed = 11;
    (void)state;
    for (int k = 0; k < fr_sample(300, 100); k++) {
        struct fr_job job;
        int64_t identity[RANKS_MAX], shuffled[RANKS_MAX];
        draw_job(&seed, &job);
        int64_t n = fr_plan_ranks(&job.plan);
        for (int64_t i = 0; i < n; i++) identity[i] = i;
        const struct fr_levels own = fr_rank_map_levels(&job.cluster.levels, &job.plan);
        shuffle_nodes(&seed, shuffled, n, own.level[0].ranks);
        struct fr_plan linear = job.plan, axis = by_axis(&linear, linear.rank_order),
                       list = listed(&linear, identity), mixed = listed(&linear, shuffled);
        costs_alike(&job, &linear, &axis, "by axis in the order of the numbers", k);
        costs_alike(&job, &linear, &list, "a list of the numbers", k);
        costs_alike(&job, &linear, &mixed, "ranks exchanged inside nodes", k);
        struct fr_plan other = linear; /* numbered the other way, and seated as before */
        other.rank_order =
            linear.rank_order == FR_ORDER_TP_PP_DP ? FR_ORDER_TP_DP_PP : FR_ORDER_TP_PP_DP;
        other = by_axis(&other, linear.rank_order);
        costs_alike(&job, &linear, &other, "numbered the other way", k);
        fr_job_free(&job);
    }
}

/* ---- brute force ------------------------------------------------------------------------------- */

/* Messages on the busiest link when all members of the groups in `slot` (each sorted) send to the next
 * one: inside nodes, and out of them. */
struct busiest {
    double inside, outside;
};

static struct busiest busiest_ring(const int64_t *slot, int64_t p, int64_t groups,
                                   const struct fr_levels *levels) {
    int64_t node = levels->level[0].ranks, share = levels->level[0].shared_by;
    int64_t out[RANKS_MAX] = {0}, up[RANKS_MAX] = {0}, down[RANKS_MAX] = {0}, inside = 0,
            outside = 0;
    for (int64_t g = 0; g < groups; g++)
        for (int64_t i = 0; i < p; i++) {
            int64_t a = slot[g * p + i], b = slot[g * p + (i + 1) % p];
            if (a / node != b / node && ++out[a / node] > outside) outside = out[a / node];
            if (a / node != b / node) continue;
            if (++up[a / share] > inside) inside = up[a / share];
            if (++down[b / share] > inside) inside = down[b / share];
        }
    return (struct busiest){(double)inside, (double)outside};
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Rank of (tp t, stage i, replica d). */
static int64_t rank_of(const struct fr_plan *plan, int64_t t, int64_t i, int64_t d) {
    return plan->rank_order == FR_ORDER_TP_DP_PP
               ? t + plan->tp * (d + fr_plan_replicas(plan) * i)
               : t + plan->tp * (i + plan->pp * d);
}

enum which { TP, CP, EP, REPLICAS, ENDS, PAIRS_OF_ENDS, WHICH };

/* Members of every group of a kind, each sorted by its slots. @return their size */
static int64_t members_of(const struct fr_plan *plan, enum which which, const int64_t *place,
                          int64_t *slot, int64_t *groups) {
    int64_t D = fr_plan_replicas(plan), tp = plan->tp, last = plan->pp - 1, n = 0, p = 1;
    int64_t whole = fr_plan_expert_tp(plan) == 1 ? tp : 1; /* tp ranks among those of ep */
    bool ends = which == ENDS || which == PAIRS_OF_ENDS;
    p = which == TP         ? tp
        : which == CP       ? plan->cp
        : which == EP       ? plan->ep
        : which == REPLICAS ? D
        : which == ENDS     ? 2 * D
                            : 2;
    for (int64_t i = 0; i < (ends ? 1 : plan->pp); i++)
        for (int64_t k = 0; k < tp * D; k++) {
            int64_t t = which == TP || (which == EP && whole > 1) ? k % tp : k / D,
                    d = which == TP || (which == EP && whole > 1) ? k / tp : k % D;
            slot[n++] = place[rank_of(plan, t, i, d)];
            if (ends) slot[n++] = place[rank_of(plan, t, last, d)];
        }
    *groups = n / p;
    for (int64_t g = 0; g < *groups; g++)
        qsort(slot + g * p, (size_t)p, sizeof *slot, by_number);
    return p;
}

static const struct fr_group *group_of(const struct fr_rank_map *s, enum which which) {
    return which == TP         ? &s->axis[FR_MESH_TP]
           : which == CP       ? &s->cp
           : which == EP       ? &s->ep
           : which == REPLICAS ? &s->axis[FR_MESH_DP]
                               : &s->ends;
}

static void groups_by_brute_force(void **state) {
    uint64_t seed = 3;
    int seen[WHICH] = {0};
    (void)state;
    const int draws = fr_sample(400, 130);
    for (int k = 0; k < draws; k++) {
        struct fr_job job;
        struct fr_rank_map rank_map;
        int64_t list[RANKS_MAX], place[RANKS_MAX], slot[2 * RANKS_MAX], groups;
        draw_job(&seed, &job);
        struct fr_levels *levels = &job.cluster.levels;
        levels->count = 2; /* one adapter a node */
        levels->level[1].shared_by = levels->level[0].ranks;
        levels->level[1].ranks = levels->level[0].ranks * RANKS_MAX;
        levels->level[0].shared_by = k % 3 ? 1 : levels->level[0].ranks;
        int64_t n = fr_plan_ranks(&job.plan);
        for (int64_t i = 0; i < n; i++) list[i] = i;
        for (int64_t i = n - 1; k % 2 && i > 0; i--) {
            int64_t j = (int64_t)(case_random(&seed) % (uint64_t)(i + 1)), kept = list[i];
            list[i] = list[j];
            list[j] = kept;
        }
        for (int64_t i = 0; i < n; i++) place[list[i]] = i;
        struct fr_plan plan = k % 2 ? listed(&job.plan, list) : job.plan;
        assert_int_equal(fr_rank_map_make(&job, &plan, &rank_map, NULL), FR_OK);
        levels = &rank_map.levels; /* as the ranks take them */
        for (enum which w = TP; w < WHICH; w++) {
            bool ends = w == ENDS || w == PAIRS_OF_ENDS;
            if (ends && (plan.pp == 1 || !job.workload.transformer.tied ||
                         plan.compression.fused_embedding != (w == ENDS)))
                continue;
            int64_t p = members_of(&plan, w, place, slot, &groups);
            if (p == 1) continue;
            struct busiest most = busiest_ring(slot, p, groups, levels);
            const struct fr_group *group = group_of(&rank_map, w);
            double want = fmax(most.outside / levels->level[1].rate_B_per_s,
                               most.inside / levels->level[0].rate_B_per_s);
            FR_TRUE(group->n_ranks == p && group->level == (most.outside > 0) &&
                        fabs(group->ring.s_per_B - want) <= 1e-12 * want,
                    "case %d, group %d: level %d, %g s/B, by hand %g; tp %d pp %d dp %d cp %d "
                    "ep %d node %d",
                    k, (int)w, group->level, group->ring.s_per_B, want, (int)plan.tp,
                    (int)plan.pp, (int)plan.dp, (int)plan.cp, (int)plan.ep,
                    (int)levels->level[0].ranks);
            seen[w]++;
        }
        fr_rank_map_free(&rank_map);
        fr_job_free(&job);
    }
    for (enum which w = TP; w < WHICH; w++)
        FR_TRUE(seen[w] > draws / 40, "group %d: %d", (int)w, seen[w]);
}

/* A message between stages costs what the busiest adapter of all replicas' makes of it. */
static void messages_by_brute_force(void **state) {
    uint64_t seed = 7;
    (void)state;
    for (int k = 0; k < fr_sample(200, 70); k++) {
        struct fr_job job;
        struct fr_rank_map rank_map;
        draw_job(&seed, &job);
        struct fr_levels *levels = &job.cluster.levels;
        levels->count = 2;
        levels->level[1].shared_by = levels->level[0].ranks;
        levels->level[1].ranks = levels->level[0].ranks * RANKS_MAX;
        const struct fr_plan *plan = &job.plan;
        assert_int_equal(fr_rank_map_make(&job, plan, &rank_map, NULL), FR_OK);
        levels = &rank_map.levels; /* as the ranks take them */
        int64_t node = levels->level[0].ranks;
        for (int64_t i = 0; i + 1 < plan->pp; i++) {
            int64_t out[RANKS_MAX] = {0}, in[RANKS_MAX] = {0}, most = 0;
            for (int64_t t = 0; t < plan->tp; t++)
                for (int64_t d = 0; d < fr_plan_replicas(plan); d++) {
                    int64_t a = rank_of(plan, t, i, d) / node,
                            b = rank_of(plan, t, i + 1, d) / node;
                    if (a == b) continue;
                    if (++out[a] > most) most = out[a];
                    if (++in[b] > most) most = in[b];
                }
            struct fr_group pair = fr_rank_map_pair(&rank_map, i, i + 1);
            double want = most > 0 ? (double)most / levels->level[1].rate_B_per_s
                                   : 1 / levels->level[0].rate_B_per_s;
            FR_TRUE(pair.level == (most > 0) && fabs(pair.outer.s_per_B - want) <= 1e-12 * want,
                    "case %d, stage %d: %g s/B, by hand %g; tp %d pp %d dp %d cp %d node %d", k,
                    (int)i, pair.outer.s_per_B, want, (int)plan->tp, (int)plan->pp,
                    (int)plan->dp, (int)plan->cp, (int)node);
        }
        fr_rank_map_free(&rank_map);
        fr_job_free(&job);
    }
}

/* A plan of few ranks costs the same on a machine of 2^40 ranks as on one that it fills: links that nobody uses are
 * not counted. */
static void vast_machines(void **state) {
    uint64_t seed = 5;
    (void)state;
    for (int k = 0; k < 50; k++) {
        struct fr_job job;
        struct fr_outcome small, vast;
        draw_job(&seed, &job);
        struct fr_levels *levels = &job.cluster.levels;
        fr_cost(&job, &job.plan, &small);
        levels->level[2].ranks =
            ((int64_t)1 << 40) / levels->level[1].ranks * levels->level[1].ranks;
        fr_cost(&job, &job.plan, &vast);
        FR_TRUE(vast.reasons == small.reasons && vast.time_s == small.time_s,
                "case %d: %g s and %g s", k, small.time_s, vast.time_s);
        fr_job_free(&job);
    }
}

/* Common layers on the first sub-grid alone: its dp ranks have the adapter to themselves; on all ranks
 * every stage's tp dp ranks use it, once around each node. */
static void common_layers(void **state) {
    static const char *const sets[][2] = {{"common=subgrid", NULL}, {"common=all", NULL}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char *all[] = {"method=subgraph", "tp=4",     "dp=8",
                             "global_batch=32", sets[k][0], NULL};
        struct fr_job job;
        struct fr_rank_map rank_map;
        fr_test_job("a100-hdr", "t5-large-mod", all, &job);
        job.cluster.levels =
            (struct fr_levels){.count = 2,
                               .level = {{"node", 4, 1e-6, 200e9, 1, {0}, {0, 0}, 0, 0, 0},
                                         {"all", 512, 5e-6, 20e9, 4, {0}, {0, 0}, 0, 0, 0}}};
        assert_int_equal(fr_rank_map_make(&job, &job.plan, &rank_map, NULL), FR_OK);
        assert_int_equal(rank_map.common.n_ranks, k ? 32 : 8);
        FR_NEAR(rank_map.common.ring.s_per_B, 1 / 20e9, 1e-12);
        FR_NEAR(rank_map.common.outer.s_per_B, 4 / 20e9, 1e-12);
        /* Rank i of each of four sub-grids of eight ranks, two nodes each. */
        FR_NEAR(rank_map.axis[FR_MESH_TP].ring.s_per_B, 4 / 20e9, 1e-12);
        FR_NEAR(rank_map.axis[FR_MESH_DP].ring.s_per_B, 1 / 20e9, 1e-12);
        fr_rank_map_free(&rank_map);
        fr_job_free(&job);
    }
}

/* ---- jobs on the machines that we know ---------------------------------------------------------- */

static bool load_on(const char *cluster, struct fr_job *job) {
    static const char *const dtypes[] = {"model.dtype=bf16", "model.dtype=fp16",
                                         "model.dtype=fp32"};
    for (int i = 0; i < 3; i++) {
        const char *sets[] = {dtypes[i], "attention=flash", NULL};
        fr_test_job(cluster, "gpt-2.5b", sets, job);
        if (job->cluster.device.gemm[job->workload.dtype].form) return true;
        fr_job_free(job);
    }
    return false;
}

/* A law of every cluster and any job: what fits one unit of a level sits in it, so that all its groups are there;
 * what does not fills units up to the segment, and is reported where the last has fewer; and both engines price it
 * alike. */
static void jobs_on_presets(void **state) {
    uint64_t seed = 5;
    int clusters = 0, uneven = 0, segments = 0;
    (void)state;
    for (const struct fr_preset *preset = fr_presets; preset->kind; preset++) {
        struct fr_job job;
        if (strcmp(preset->kind, "cluster") != 0 || !load_on(preset->name, &job)) continue;
        const struct fr_level *level = job.cluster.levels.level;
        for (int k = 0; k < 12; k++) {
            struct fr_outcome out;
            struct fr_filled filled[FR_LEVEL_MAX];
            struct fr_plan plan = job.plan;
            int64_t most = 5 * level[0].ranks, all = fr_levels_largest(&job.cluster.levels);
            if (most > all) most = all;
            plan.dp = 1 + (int64_t)(case_random(&seed) % (uint64_t)most);
            plan.pp = plan.dp % 2 == 0 && case_random(&seed) % 2 ? 2 : 1;
            plan.dp /= plan.pp;
            plan.overlap = case_random(&seed) % 2;
            plan.global_batch = 4 * plan.dp;
            if (case_random(&seed) % 4 == 0) plan.placement.row = &fr_placement_balanced;
            fr_cost(&job, &plan, &out);
            if (out.reasons & ~FR_BECAUSE(FR_REASON_MEMORY)) continue;
            struct fr_rank_map rank_map;
            assert_int_equal(fr_rank_map_make(&job, &plan, &rank_map, NULL), FR_OK);
            int64_t n = fr_plan_ranks(&plan), part = rank_map.levels.level[0].ranks,
                    segment = level[0].segment ? level[0].segment : level[0].ranks;
            bool equal = plan.placement.row == &fr_placement_balanced;
            int several = fr_outcome_filled(&job, &out, filled);
            FR_TRUE(n > level[0].ranks
                        ? equal ? n % part == 0 && part <= level[0].ranks : part == segment
                        : rank_map.axis[FR_MESH_DP].level == 0,
                    "%s: %d ranks, %d of a node", preset->name, (int)n, (int)part);
            FR_TRUE((several > 0) == (job.cluster.levels.count > 1 && n > level[0].ranks &&
                                      (n % part != 0 || part < level[0].ranks)) ||
                        job.cluster.levels.count > 2,
                    "%s: %d ranks, %d levels told of", preset->name, (int)n, several);
            if (several) FR_TRUE(filled[0].last == n - (filled[0].units - 1) * part, "%s", "");
            FR_NEAR(simulated_s(&job, &plan, &fr_network_isolated), out.time_s, 1e-9);
            uneven += several && filled[0].last < filled[0].ranks;
            segments += several && filled[0].ranks < filled[0].holds;
            fr_rank_map_free(&rank_map);
        }
        clusters++;
        fr_job_free(&job);
    }
    FR_TRUE(clusters >= 15 && uneven >= 20 && segments >= 10, "%d, %d and %d", clusters, uneven,
            segments);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fused_embedding_on_the_wire),
                                       cmocka_unit_test(seat_alike_cost_alike),
                                       cmocka_unit_test(groups_by_brute_force),
                                       cmocka_unit_test(messages_by_brute_force),
                                       cmocka_unit_test(vast_machines),
                                       cmocka_unit_test(common_layers),
                                       cmocka_unit_test(jobs_on_presets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
