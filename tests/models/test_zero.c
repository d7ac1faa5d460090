/* Replicas and copies of experts divide, send and hold these, by hand; zero beside ep, cp, overlap and recompute. */
#include <math.h>

#include "models/outcome/cost.h"
#include "models/outcome/iteration.h"
#include "models/price/rank_map.h"
#include "models/price/zero.h"
#include "models/work/experts.h"
#include "tests/memory_beside.h"
#include "tests/pipeline.h"

#define MIXTRAL                                                                                \
    "model.dtype=bf16", "model.gradient_dtype=fp32", "attention=flash", "micro_batch=1",       \
        "cluster.device.memory=1e6 GB"
/* Its numbers: 32 layers, h 4096, 32 heads of 128, 8 key-value heads, 8 experts of 14336, two of
 * them a token, 4096 tokens, 32000 words. */
enum { L = 32, H = 4096, KV = 1024, E = 8, F = 14336, S = 4096, V = 32000 };
static const double experts = (double)L * E * 3 * H * F;
static const double attention = (double)L * (2.0 * H * H + 2.0 * H * KV);
static const double routers = (double)L * H * E, norms = (2.0 * L + 1) * H, words = 2.0 * V * H;

static struct fr_outcome outcome(const char *cluster, const char *model,
                                 const char *const *sets) {
    struct fr_job job;
    struct fr_outcome out;
    fr_test_job(cluster, model, sets, &job);
    fr_cost(&job, &job.plan, &out);
    fr_job_free(&job);
    return out;
}

/* ---- copies ----------------------------------------------------------------------------------- */

static const struct mesh {
    int dp, cp, pp, tp, ep, etp; /* etp 0: tp */
} meshes[] = {{8, 1, 1, 1, 8, 0}, {8, 1, 1, 1, 2, 0}, {4, 2, 1, 1, 8, 0}, {2, 2, 2, 2, 4, 0},
              {4, 1, 4, 2, 2, 0}, {2, 1, 1, 4, 8, 1}, {4, 1, 2, 4, 2, 1}, {1, 4, 2, 2, 1, 0},
              {6, 1, 1, 2, 2, 0}, {1, 1, 1, 4, 4, 1}, {3, 2, 1, 1, 1, 0}, {1, 1, 2, 2, 1, 0}};

static void state_of(const struct mesh *mesh, int zero, double sum_B[FR_MEMORY_COUNT]) {
    char text[8][64];
    const char *sets[] = {MIXTRAL, text[0], text[1], text[2], text[3],
                          text[4], text[5], text[6], text[7], NULL};
    struct fr_job job;
    struct fr_pipeline p;
    snprintf(text[0], 64, "dp=%d", mesh->dp), snprintf(text[1], 64, "cp=%d", mesh->cp);
    snprintf(text[2], 64, "pp=%d", mesh->pp), snprintf(text[3], 64, "tp=%d", mesh->tp);
    snprintf(text[4], 64, "ep=%d", mesh->ep), snprintf(text[5], 64, "zero=%d", zero);
    snprintf(text[6], 64, "global_batch=%d", mesh->dp);
    snprintf(text[7], 64, mesh->etp ? "etp=%d" : "chunks=1", mesh->etp);
    if (mesh->etp) sets[4] = "sequence_parallel=true";
    fr_test_pipeline("dgx-h100", "mixtral-8x7b", sets, &job, &p);
    for (int k = 0; k < FR_MEMORY_COUNT; k++) sum_B[k] = 0;
    for (int i = 0; i < mesh->pp; i++) {
        double part_B[FR_MEMORY_COUNT] = {0};
        fr_pipeline_state_B(&job, &job.plan, &p.stage[i], part_B);
        for (int k = 0; k < FR_MEMORY_COUNT; k++)
            sum_B[k] += mesh->dp * mesh->cp * mesh->tp * part_B[k];
    }
    fr_test_pipeline_free(&job, &p);
}

/* Summed over all ranks it is the model's, norms and routers on each of tp ranks; undivided, once a copy. */
static void state_is_the_models(void **state) {
    static const int divided_by[] = {FR_MEMORY_OPTIMIZER, FR_MEMORY_GRADIENTS,
                                     FR_MEMORY_PARAMETERS};
    static const double each_B[] = {12, 4, 2};
    (void)state;
    for (size_t i = 0; i < sizeof meshes / sizeof *meshes; i++)
        for (int zero = 0; zero <= 3; zero++) {
            const struct mesh *m = &meshes[i];
            double sum_B[FR_MEMORY_COUNT],
                D = m->dp * m->cp, copies = D * m->tp / m->ep / (m->etp ? m->etp : m->tp);
            double padded = 2.0 * H * 128 * m->tp * ceil(V / (128.0 * m->tp));
            double rest = attention + padded + m->tp * (norms + routers);
            state_of(m, zero, sum_B);
            for (int k = 0; k < 3; k++) {
                bool whole = k >= zero;
                double wanted_B =
                    each_B[k] * (rest * (whole ? D : 1) + experts * (whole ? copies : 1));
                if (fabs(sum_B[divided_by[k]] - wanted_B) > 1e-9 * wanted_B)
                    fail_msg("mesh %d, zero %d, %s: %.10g B over all ranks, not %.10g", (int)i,
                             zero, fr_memory_names[divided_by[k]], sum_B[divided_by[k]],
                             wanted_B);
            }
        }
}

static void mixtral_by_hand(void **state) {
    (void)state;
#define EIGHT MIXTRAL, "dp=8", "ep=8", "global_batch=8"
    const char *sets[] = {EIGHT, "zero=1", NULL};
    struct fr_outcome out = outcome("dgx-h100", "mixtral-8x7b", sets);
    FR_NEAR(out.memory_B[FR_MEMORY_OPTIMIZER],
            12 * (experts + attention + routers + words + norms) / 8, 1e-12);
    const char *three[] = {"model.dtype=bf16",
                           "model.gradient_dtype=fp32",
                           "attention=flash",
                           "micro_batch=1",
                           "dp=8",
                           "ep=8",
                           "global_batch=8",
                           "zero=3",
                           "recompute=full",
                           NULL};
    out = outcome("dgx-h100", "mixtral-8x7b", three);
    assert_true(out.reasons == FR_BECAUSE(FR_REASON_MEMORY));
}

/* ---- groups ----------------------------------------------------------------------------------- */

static void same_group(const struct fr_group *got, const struct fr_group *wanted) {
    if (wanted->n_ranks == 1 && got->n_ranks == 0) return; /* nothing is shared */
    assert_int_equal(got->n_ranks, wanted->n_ranks);
    assert_int_equal(got->ranks_per_node, wanted->ranks_per_node);
    assert_int_equal(got->level, wanted->level);
    FR_NEAR(got->outer.s_per_B, wanted->outer.s_per_B, 1e-12);
    FR_NEAR(got->ring.s_per_B, wanted->ring.s_per_B, 1e-12);
}

/* Ranks of the ring, of the experts and of an expert's copies, and how far they lie apart. */
static const struct {
    const char *sets[8];
    int64_t ring[2], experts[2], copies[2];
} groups[] = {
    {{"dp=8", "ep=4"}, {1, 1}, {4, 1}, {2, 4}},
    {{"dp=4", "cp=2", "ep=4"}, {2, 1}, {4, 1}, {2, 4}},
    {{"dp=4", "cp=2", "tp=2", "ep=2"}, {2, 2}, {2, 2}, {4, 4}},
    {{"dp=4", "pp=2", "tp=2", "ep=2"}, {1, 1}, {2, 4}, {2, 8}},
    {{"dp=4", "pp=2", "tp=2", "ep=2", "rank_order=tp-dp-pp"}, {1, 1}, {2, 2}, {2, 4}},
    {{"dp=4", "tp=4", "ep=8", "etp=1", "sequence_parallel=true"}, {1, 1}, {8, 1}, {2, 8}},
    {{"dp=4", "pp=2", "tp=4", "ep=8", "etp=1", "sequence_parallel=true", "rank_order=tp-dp-pp"},
     {1, 1},
     {8, 1},
     {2, 8}},
    {{"dp=2", "pp=2", "tp=4", "ep=4", "etp=1", "sequence_parallel=true"},
     {1, 1},
     {4, 1},
     {2, 8}},
    {{"dp=2", "tp=4", "etp=1", "sequence_parallel=true", "model.experts=1",
      "model.experts_per_token=1"},
     {1, 1},
     {1, 1},
     {8, 1}},
};

static void groups_by_hand(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct fr_job job;
        struct fr_rank_map s;
        fr_test_job("dgx-h100", "mixtral-8x7b", groups[i].sets, &job);
        assert_int_equal(fr_rank_map_make(&job, &job.plan, &s, NULL), FR_OK);
        const struct fr_levels *levels = &job.cluster.levels;
        struct fr_group ring = fr_group_make(levels, groups[i].ring[0], groups[i].ring[1]),
                        shared =
                            fr_group_make(levels, groups[i].experts[0], groups[i].experts[1]),
                        copies =
                            fr_group_make(levels, groups[i].copies[0], groups[i].copies[1]);
        same_group(&s.cp, &ring);
        same_group(&s.ep, &shared);
        same_group(&s.copies[FR_COPIES_EXPERTS].all, &copies);
        fr_rank_map_free(&s);
        fr_job_free(&job);
    }
}

/* Copies that lie unevenly: x = 0, 2, 4, 6 of tp 4 x dp 2 with pp 2 between are ranks 0, 2, 8 and
 * 10, two in each of two nodes.  A placement that is the identity changes nothing. */
static void uneven_copies(void **state) {
    const char *sets[] = {"dp=2", "pp=2", "tp=4", "ep=2", "etp=1", "sequence_parallel=true",
                          NULL};
    struct fr_job job;
    struct fr_rank_map s;
    (void)state;
    fr_test_job("dgx-h100", "mixtral-8x7b", sets, &job);
    assert_int_equal(fr_rank_map_make(&job, &job.plan, &s, NULL), FR_OK);
    assert_int_equal(s.copies[FR_COPIES_EXPERTS].all.n_ranks, 4);
    assert_int_equal(s.copies[FR_COPIES_EXPERTS].all.ranks_per_node, 2);
    assert_int_equal(s.copies[FR_COPIES_EXPERTS].all.level, 1);
    assert_int_equal(s.ep.ranks_per_node, 2);
    assert_int_equal(s.ep.level, 0);
    fr_rank_map_free(&s);
    fr_job_free(&job);
}

/* ---- bytes ------------------------------------------------------------------------------------- */

/* 8 ranks, 8 micro-batches, gradients of 4 B and parameters of 2: 2fG, f(G + W), f(8G + W),
 * 8f(2W + G); recomputation gathers nothing again, since what it needs is still there. */
static void llama_by_hand(void **state) {
    const double n = 8030261248, G = 4 * n, W = 2 * n, f = 7 / 8.0;
    const double wanted_B[] = {2 * f * G, f * (G + W), f * (8 * G + W), 8 * f * (2 * W + G)};
    const double printed_B[] = {56.2e9, 42.2e9, 238.9e9, 449.7e9};
    (void)state;
    for (int zero = 0; zero <= 3; zero++) {
        char text[2][32];
        const char *sets[] = {
            "dp=8", "global_batch=64", "micro_batch=1", "model.dtype=bf16", text[0], text[1],
            NULL};
        snprintf(text[0], sizeof text[0], "zero=%d", zero);
        for (int full = 0; full < 2; full++) {
            snprintf(text[1], sizeof text[1], "recompute=%s", full ? "full" : "none");
            struct fr_outcome out = outcome("dgx-h100", "llama-3-8b", sets);
            FR_NEAR(out.sent_B[FR_SENT_DP], wanted_B[zero], 1e-9);
            FR_NEAR(out.sent_B[FR_SENT_DP], printed_B[zero], 1e-2);
            assert_true(out.sent_B[FR_SENT_TP] + out.sent_B[FR_SENT_PP] <= 0);
        }
    }
}

/* Two copies of four experts' shards beside eight of the rest: each over its own. */
static void experts_by_hand(void **state) {
    const double rest = attention + routers + words + norms, shard = experts / 4;
    const double f = 7 / 8.0, half = 1 / 2.0;
    const double wanted_B[] = {4 * 2 * (f * rest + half * shard), 6 * (f * rest + half * shard),
                               (4 * 4 + 2) * (f * rest + half * shard),
                               4 * 8 * (f * rest + half * shard)};
    (void)state;
    for (int zero = 0; zero <= 3; zero++) {
        char text[32];
        const char *sets[] = {MIXTRAL, "dp=8", "ep=4", "global_batch=32", text, NULL};
        snprintf(text, sizeof text, "zero=%d", zero);
        struct fr_outcome out = outcome("dgx-h100", "mixtral-8x7b", sets);
        FR_NEAR(out.sent_B[FR_SENT_DP], wanted_B[zero], 1e-9);
    }
}

/* cp 2, ep 4, four micro-batches a replica: of T = 2048 tokens on a rank, two rows each, to the
 * experts and back, forward and backward; and keys and values of 4096 tokens round the ring, there
 * again with their gradients backward.  Recomputed all forward traffic goes once more. */
static void tokens_and_keys_by_hand(void **state) {
    const double rows_B = 2 * 2048 * (double)H * 2, keys_B = 2 * KV * (double)S * 2;
    (void)state;
    for (int full = 0; full < 2; full++) {
        const char *sets[] = {
            MIXTRAL, "dp=2",           "cp=2",
            "ep=4",  "global_batch=8", full ? "recompute=full" : "recompute=none",
            NULL};
        struct fr_outcome out = outcome("dgx-h100", "mixtral-8x7b", sets);
        FR_NEAR(out.sent_B[FR_SENT_EP], 4 * L * (full ? 6 : 4) * 3 / 4.0 * rows_B, 1e-12);
        FR_NEAR(out.sent_B[FR_SENT_CP], 4 * L * (full ? 4 : 3) / 2.0 * keys_B, 1e-12);
        assert_true(out.sent_B[FR_SENT_TP] <= 0);
        FR_NEAR(out.sent_B[FR_SENT_DP],
                2 * 4 * (3 / 4.0 * (attention + routers + words + norms)), 1e-9);
    }
}

/* Messages: 2 pp stages of gpt-2.5b (54 layers, 1920 wide, 1024 tokens), tp 2, micro-batches of 4,
 * 16 of them.  Each stage sends one half activation a micro-batch; its peer gathers it; and the
 * tied embedding goes once between the ends. */
static void messages_by_hand(void **state) {
    const char *sets[] = {
        "pp=2", "tp=2", "micro_batch=4", "global_batch=64", "model.dtype=fp16", NULL};
    struct fr_job job;
    struct fr_pipeline p;
    (void)state;
    fr_test_pipeline("a100-hdr", "gpt-2.5b", sets, &job, &p);
    const struct fr_transformer *t = &job.workload.transformer;
    double whole_B = 4.0 * (double)t->sequence * (double)t->hidden * 2;
    double passes = (double)t->layers / 2 * 4 + 1; /* an all-reduce each; one at either end */
    double rank_B = (double)fr_transformer_padded_vocabulary(t, 2) * (double)t->hidden / 2 * 2;
    for (int i = 0; i < 2; i++) {
        FR_NEAR(p.stage[i].sent_B[FR_SENT_PP], 16 * whole_B / 2, 1e-12);
        FR_NEAR(p.stage[i].sent_B[FR_SENT_TP], 16 * (passes * whole_B + whole_B / 2), 1e-12);
        FR_NEAR(p.stage[i].sent_B[FR_SENT_EMBEDDING],
                rank_B * fr_dtype_size_B(job.workload.gradient_dtype) / 2, 1e-12);
        assert_true(p.stage[i].sent_B[FR_SENT_DP] <= 0);
    }
    fr_test_pipeline_free(&job, &p);
}

/* With two chunks stage 2 of 3 sends one of two activations on, and stage 0 one gradient back. */
static void chunks_by_hand(void **state) {
    static const double sent[] = {2 + 1, 2 + 2, 1 + 2};
    const char *sets[] = {"pp=3",     "micro_batch=4",        "global_batch=60",
                          "chunks=2", "schedule=interleaved", "tp=1",
                          NULL};
    struct fr_job job;
    struct fr_pipeline p;
    (void)state;
    fr_test_pipeline("a100-hdr", "gpt-2.5b", sets, &job, &p);
    for (int i = 0; i < 3; i++)
        FR_NEAR(p.stage[i].sent_B[FR_SENT_PP], 15 * sent[i] * p.message_B, 1e-12);
    fr_test_pipeline_free(&job, &p);
}

/* ---- times ------------------------------------------------------------------------------------- */

static double comm_s(const struct fr_job *job, fr_op op, int64_t n, int64_t apart,
                     double size_B) {
    struct fr_group group = fr_group_make(&job->cluster.levels, n, apart);
    uint32_t extrapolated = 0;
    return fr_cluster_comm_s(&job->cluster, op, &group, size_B, &extrapolated);
}

#define RATES "cluster.device.interference=0.25", "cluster.levels.0.latency=1 ms"

/* dp 8 x ep 4 without and with zero 1: gradients of experts over two ranks 4 apart, others over 8;
 * then the parameters; and what is updated is a half and an eighth. */
static void zero_1_by_hand(void **state) {
    const char *none[] = {MIXTRAL, RATES, "dp=8", "ep=4", "global_batch=8", NULL};
    const char *one[] = {MIXTRAL, RATES, "dp=8", "ep=4", "global_batch=8", "zero=1", NULL};
    const double rest = attention + routers + words + norms, shard = experts / 4;
    struct fr_job job, other;
    struct fr_pipeline p, q;
    (void)state;
    fr_test_pipeline("dgx-h100", "mixtral-8x7b", none, &job, &p);
    fr_test_pipeline("dgx-h100", "mixtral-8x7b", one, &other, &q);
    FR_NEAR(p.stage[0].gradient_s,
            comm_s(&job, FR_OP_ALL_REDUCE, 8, 1, 4 * rest) +
                comm_s(&job, FR_OP_ALL_REDUCE, 2, 4, 4 * shard),
            1e-12);
    FR_NEAR(q.stage[0].gradient_s,
            comm_s(&job, FR_OP_REDUCE_SCATTER, 8, 1, 4 * rest) +
                comm_s(&job, FR_OP_REDUCE_SCATTER, 2, 4, 4 * shard),
            1e-12);
    FR_NEAR(q.stage[0].beside_s,
            comm_s(&job, FR_OP_ALL_GATHER, 8, 1, 2 * rest) +
                comm_s(&job, FR_OP_ALL_GATHER, 2, 4, 2 * shard),
            1e-12);
    FR_NEAR(q.stage[0].optimizer_s,
            p.stage[0].optimizer_s * (rest / 8 + shard / 2) / (rest + shard), 1e-12);
    assert_true(p.stage[0].beside_s <= 0 && q.stage[0].backward.dp_s <= 0);
    /* Closed form: they follow the passes one after the other. */
    struct fr_pipeline_times with = {0}, without = {0};
    assert_int_equal(fr_pipeline_run(&q, FR_WITH_ALL, &with, NULL), FR_OK);
    assert_int_equal(fr_pipeline_run(&q, FR_WITH_ALL & ~FR_WITH_GRADIENTS, &without, NULL),
                     FR_OK);
    FR_NEAR(with.makespan_s - without.makespan_s, q.stage[0].gradient_s + q.stage[0].beside_s,
            1e-9);
    fr_test_pipeline_free(&job, &p);
    fr_test_pipeline_free(&other, &q);
}

/* Owners that broadcast, Z of N copies: gradients are all-reduced over all N, then each owner sends its W/Z to the other
 * Z - 1, one owner after another.  Ranks of a group, and how far they lie apart, of all copies and of those that divide:
 * of everything but experts, and of experts. */
static const struct broadcasts {
    const char *sets[4];
    int layers, pp, tp,
        ep; /* ep 0: llama-3-8b, else mixtral-8x7b, whose layers are those of this file */
    struct {
        int64_t all[2], dividing[2];
    } rest, expert;
    double owners; /* of the rest */
} broadcasts[] = {
    {{"dp=8"}, 32, 1, 1, 0, {{8, 1}, {8, 1}}, {{0}, {0}}, 8},
    {{"dp=8", "zero_ranks=4"}, 32, 1, 1, 0, {{8, 1}, {4, 1}}, {{0}, {0}}, 4},
    {{"dp=8"}, 1, 1, 1, 0, {{8, 1}, {8, 1}}, {{0}, {0}}, 7}, /* 7 tensors */
    {{"dp=2", "pp=2", "tp=2"}, 32, 2, 2, 0, {{2, 4}, {2, 4}}, {{0}, {0}}, 2},
    {{"dp=4", "tp=2", "zero_ranks=2"}, 32, 1, 2, 0, {{4, 2}, {2, 2}}, {{0}, {0}}, 2},
    {{"dp=4", "pp=2", "zero_ranks=2"}, 32, 2, 1, 0, {{4, 2}, {2, 2}}, {{0}, {0}}, 2},
    {{"dp=8", "ep=4"}, 32, 1, 1, 4, {{8, 1}, {8, 1}}, {{2, 4}, {2, 4}}, 8},
    {{"dp=8", "ep=2", "zero_ranks=4"}, 32, 1, 1, 2, {{8, 1}, {4, 1}}, {{4, 2}, {4, 2}}, 4},
    {{"dp=8", "ep=2", "zero_ranks=2"}, 32, 1, 1, 2, {{8, 1}, {2, 1}}, {{4, 2}, {2, 2}}, 2},
    {{"dp=4", "pp=2", "ep=2"}, 32, 2, 1, 2, {{4, 2}, {4, 2}}, {{2, 4}, {2, 4}}, 4},
};

/* Parameters of a rank of a stage: not of experts, and of them.  Norms and routers are on every tp rank. */
static void of_stage(const struct broadcasts *b, int stage, double *rest, double *expert) {
    double layers = b->layers / (double)b->pp, h = H, words_of_one = b->ep ? V : 128256,
           products = 2 * h * h + 2 * h * KV + (b->ep ? 0 : 3 * h * F);
    int ends = (stage == 0) + (stage == b->pp - 1);
    *rest = layers * (products / b->tp + 2 * h + (b->ep ? h * E : 0)) +
            ends * words_of_one * h / b->tp + (stage == b->pp - 1 ? h : 0);
    *expert = b->ep ? layers * E * 3 * h * F / b->ep : 0;
}

static void broadcasts_by_hand(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof broadcasts / sizeof *broadcasts; i++) {
        const struct broadcasts *b = &broadcasts[i];
        const char *sets[16] = {
            MIXTRAL,          RATES,
            "zero=1",         "zero_exchange=broadcast",
            "global_batch=8", b->layers == 1 ? "model.layers=1" : "model.layers=32"};
        struct fr_job job;
        struct fr_pipeline p;
        int n = 0;
        while (sets[n]) n++;
        for (int k = 0; b->sets[k]; k++) sets[n++] = b->sets[k];
        fr_test_pipeline("dgx-h100", b->ep ? "mixtral-8x7b" : "llama-3-8b", sets, &job, &p);
        assert_int_equal(job.plan.pp, b->pp);
        for (int k = 0; k < b->pp; k++) {
            const struct fr_stage *s = &p.stage[k];
            const int64_t *all = b->rest.all, *dividing = b->rest.dividing, *of = b->expert.all,
                          *among = b->expert.dividing;
            double rest = 0, expert = 0, N = (double)all[0], Z = (double)dividing[0],
                   e = (double)among[0], part_B[FR_MEMORY_COUNT] = {0};
            of_stage(b, k, &rest, &expert);
            double reduced_s = comm_s(&job, FR_OP_ALL_REDUCE, all[0], all[1], 4 * rest),
                   sent_s = b->owners * comm_s(&job, FR_OP_BROADCAST, dividing[0], dividing[1],
                                               2 * rest / b->owners),
                   sent_B = 2 * (N - 1) / N * 4 * rest + 2 * rest, stored_B = 12 * rest / Z;
            if (b->ep) {
                reduced_s += comm_s(&job, FR_OP_ALL_REDUCE, of[0], of[1], 4 * expert);
                sent_s += e * comm_s(&job, FR_OP_BROADCAST, among[0], among[1], 2 * expert / e);
                sent_B += 2 * (double)(of[0] - 1) / (double)of[0] * 4 * expert + 2 * expert;
                stored_B += 12 * expert / e;
            }
            fr_pipeline_state_B(&job, &job.plan, s, part_B);
            FR_TRUE(fabs(s->gradient_s / reduced_s - 1) < 1e-12 &&
                        fabs(s->beside_s / sent_s - 1) < 1e-12 &&
                        fabs(s->sent_B[FR_SENT_DP] / sent_B - 1) < 1e-12 &&
                        fabs(part_B[FR_MEMORY_OPTIMIZER] / stored_B - 1) < 1e-12,
                    "row %d, stage %d: %.9g s reduced, not %.9g; %.9g s broadcast, not %.9g; "
                    "%.9g B sent, not %.9g; state %.9g B, not %.9g",
                    (int)i, k, s->gradient_s, reduced_s, s->beside_s, sent_s,
                    s->sent_B[FR_SENT_DP], sent_B, part_B[FR_MEMORY_OPTIMIZER], stored_B);
        }
        fr_test_pipeline_free(&job, &p);
    }
}

/* Layer by layer beside the passes, of which it takes a quarter of its time; the first layer's
 * gather and the last one's scatter show. */
static void zero_2_and_3_by_hand(void **state) {
    (void)state;
    for (int zero = 2; zero <= 3; zero++) {
        const char *sets[] = {"model.dtype=bf16",
                              RATES,
                              "attention=flash",
                              "dp=4",
                              "cp=2",
                              "global_batch=8",
                              "micro_batch=1",
                              zero == 2 ? "zero=2" : "zero=3",
                              "cluster.device.memory=1e6 GB",
                              NULL};
        const double n = 8030261248, layers = 32;
        struct fr_job job;
        struct fr_pipeline p;
        fr_test_pipeline("dgx-h100", "llama-3-8b", sets, &job, &p);
        const struct fr_stage *s = &p.stage[0];
        double gather_s = layers * comm_s(&job, FR_OP_ALL_GATHER, 8, 1, 2 * n / layers),
               scatter_s = layers * comm_s(&job, FR_OP_REDUCE_SCATTER, 8, 1, 4 * n / layers);
        double back_s = zero == 3 ? gather_s + scatter_s : scatter_s;
        double ahead_s = s->forward.compute_s + s->forward.launch_s + s->forward.cp_s,
               passed_s = s->backward.compute_s + s->backward.launch_s + s->backward.cp_s;
        double all_s[] = {gather_s, back_s}, pass_s[] = {ahead_s, passed_s}, shows_s[2];
        for (int k = 0; k < 2; k++)
            shows_s[k] = fmax(0, all_s[k] - pass_s[k]) + fmin(all_s[k], pass_s[k]) / 4 +
                         all_s[k] / layers;
        FR_NEAR(s->backward.dp_s, shows_s[1], 1e-12);
        FR_NEAR(s->forward.dp_s + 1, (zero == 3 ? shows_s[0] : 0) + 1, 1e-12);
        FR_NEAR(s->beside_s + 1,
                (zero == 3 ? 0 : comm_s(&job, FR_OP_ALL_GATHER, 8, 1, 2 * n)) + 1, 1e-12);
        assert_true(s->gradient_s <= 0 && s->buckets == 0);
        /* Two layers are whole at a time. */
        FR_NEAR(fr_memory_beside_B(&p, 0), 2 / layers * (4 * n + (zero == 3 ? 2 * n : 0)),
                1e-12);
        fr_test_pipeline_free(&job, &p);
    }
}

/* A pass of a chunk begins with a layer's gather and ends with one's scatter: v of them show in those of a stage. */
static void chunks_show_more(void **state) {
    (void)state;
    struct fr_job job[2];
    struct fr_pipeline p[2];
    for (int k = 0; k < 2; k++) {
        const char *sets[] = {"pp=2",
                              "dp=4",
                              "zero=3",
                              "global_batch=16",
                              "model.dtype=bf16",
                              "micro_batch=1",
                              k ? "schedule=interleaved" : "schedule=1f1b",
                              k ? "chunks=4" : "chunks=1",
                              "cluster.device.memory=1e6 GB",
                              NULL};
        fr_test_pipeline("dgx-h100", "llama-3-8b", sets, &job[k], &p[k]);
    }
    double layers = 16, layer_B = 2 * p[0].stage[1].parameters_rank / layers,
           gather_s =
               comm_s(&job[0], FR_OP_ALL_GATHER, 4, fr_plan_dp_stride(&job[0].plan), layer_B);
    FR_NEAR(p[1].stage[1].forward.dp_s - p[0].stage[1].forward.dp_s, 3 * gather_s, 1e-9);
    for (int k = 0; k < 2; k++) fr_test_pipeline_free(&job[k], &p[k]);
}

/* Overlapped, zero 1 scatters in buckets and gathers beside the forward pass, which take a quarter of the time that
 * they hide for, the last bucket apart; zero 3 leaves nothing to overlap, and a reason states that. */
static void zero_and_overlap(void **state) {
    const char *sets[] = {"model.dtype=bf16", RATES,           "dp=8",
                          "global_batch=8",   "micro_batch=1", "zero=1",
                          "overlap=gradient", "bucket=1 GiB",  NULL};
    const char *three[] = {"dp=8",   "global_batch=8",   "micro_batch=1",
                           "zero=3", "overlap=gradient", NULL};
    const double n = 8030261248;
    struct fr_job job;
    struct fr_pipeline p;
    (void)state;
    fr_test_pipeline("dgx-h100", "llama-3-8b", sets, &job, &p);
    const struct fr_stage *s = &p.stage[0];
    assert_int_equal(s->buckets, 30); /* 29.9 GiB */
    FR_NEAR(s->bucket_s, comm_s(&job, FR_OP_REDUCE_SCATTER, 8, 1, 4 * n / 30), 1e-12);
    double gather_s = 32 * comm_s(&job, FR_OP_ALL_GATHER, 8, 1, 2 * n / 32);
    assert_true(gather_s < s->forward.compute_s);
    assert_true(s->gradient_s < s->backward.compute_s);
    FR_NEAR(s->beside_s, gather_s / 4 + 29 * s->bucket_s / 4, 1e-12);
    fr_test_pipeline_free(&job, &p);
    struct fr_outcome out = outcome("dgx-h100", "llama-3-8b", three);
    assert_true(out.reasons == FR_BECAUSE(FR_REASON_OVERLAP));
}

/* Replicas' all-reduce in buckets takes a quarter of the time that it hides for, and of no more than the backward pass;
 * apart from it nothing. */
static void buckets_take_from_the_pass(void **state) {
    static const struct {
        const char *overlap, *bucket, *bandwidth;
        int hides; /* 0: not at all, 1: all but its last bucket, 2: as long as the pass */
    } cases[] = {{"overlap=none", "pp=1", "cluster.levels.0.bandwidth=364 GB/s", 0},
                 {"overlap=gradient", "bucket=1 GiB", "cluster.levels.0.bandwidth=364 GB/s", 1},
                 {"overlap=gradient", "bucket=1 GiB", "cluster.levels.0.bandwidth=10 GB/s", 2}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *sets[] = {"dp=8",
                              "global_batch=8",
                              "micro_batch=1",
                              "cluster.device.interference=0.25",
                              cases[k].overlap,
                              cases[k].bucket,
                              cases[k].bandwidth,
                              NULL};
        struct fr_job job;
        struct fr_pipeline p;
        fr_test_pipeline("dgx-h100", "llama-3-8b", sets, &job, &p);
        const struct fr_stage *s = &p.stage[0];
        double pass_s = fr_pass_s(&s->backward, FR_WITH_ALL),
               hides_s[] = {0, s->gradient_s - s->bucket_s, pass_s};
        assert_true(cases[k].hides == 0 || (s->gradient_s > pass_s) == (cases[k].hides == 2));
        FR_NEAR(s->beside_s, hides_s[cases[k].hides] / 4, 1e-12);
        fr_test_pipeline_free(&job, &p);
    }
}

/* Weights of a width of their own are held, divided and gathered so; where that is wider than what products
 * take, the copies that they take are held besides: of fp8 one for each pass, but where products read either
 * way (Blackwell) and a tensor has one scale.  fp8 unsaid is held as bf16. */
static void weights_of_their_own_width(void **state) {
    static const struct {
        const char *dtype, *weight;
        double held_B, gathered_B;
        const char *cluster, *scaling;
    } rows[] = {{"fp4", NULL, 3.125, 2, "dgx-b200", NULL},
                {"fp4", "fp4", 1.125, 0.5625, "dgx-b200", NULL},
                {"bf16", NULL, 2, 2, "dgx-h100", NULL},
                {"bf16", "bf16", 2, 2, "dgx-h100", NULL},
                {"bf16", "fp32", 6, 4, "dgx-h100", NULL},
                {"bf16", "fp32", 6, 4, "dgx-b200", NULL},
                {"fp8", NULL, 4, 2, "dgx-h100", NULL},
                {"fp8", "fp8", 2, 1, "dgx-h100", NULL},
                {"fp8", "fp32", 6, 4, "dgx-h100", NULL},
                {"fp8", NULL, 3, 2, "dgx-b200", NULL},
                {"fp8", "fp8", 1, 1, "dgx-b200", "model.fp8_scaling=tensor"},
                {"fp8", "fp8", 2, 1, "dgx-b200", "model.fp8_scaling=block"},
                {"fp8", "fp8", 2, 1, "dgx-h100", "model.fp8_scaling=block"},
                {"fp8", "fp32", 5, 4, "gb200-nvl72", NULL},
                {"fp16", "bf16", 2, 2, "dgx-h100", NULL}};
    const double n = 8030261248;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char dtype[40], weight[40];
        const char *sets[12] = {dtype,           RATES,    "dp=8", "global_batch=8",
                                "micro_batch=1", "zero=1", NULL};
        int n_sets = 0;
        struct fr_job job;
        struct fr_pipeline p;
        snprintf(dtype, sizeof dtype, "model.dtype=%s", rows[i].dtype);
        snprintf(weight, sizeof weight, "model.weight_dtype=%s",
                 rows[i].weight ? rows[i].weight : "");
        while (sets[n_sets]) n_sets++;
        if (rows[i].weight) sets[n_sets++] = weight;
        if (rows[i].scaling) sets[n_sets++] = rows[i].scaling;
        fr_test_pipeline(rows[i].cluster, "llama-3-8b", sets, &job, &p);
        double part_B[FR_MEMORY_COUNT];
        fr_pipeline_state_B(&job, &job.plan, &p.stage[0], part_B);
        FR_NEAR(part_B[FR_MEMORY_PARAMETERS], rows[i].held_B * n, 1e-12);
        FR_NEAR(p.stage[0].beside_s,
                comm_s(&job, FR_OP_ALL_GATHER, 8, 1, rows[i].gathered_B * n), 1e-12);
        fr_test_pipeline_free(&job, &p);
    }
}

/* To the experts and back: two all-to-alls a layer, forward and backward; a ring of keys and values
 * that fused attention hides as far as it lasts. */
static void experts_and_ring_by_hand(void **state) {
    const char *sets[] = {MIXTRAL,          RATES, "dp=2", "cp=2", "ep=4", "global_batch=2",
                          "recompute=full", NULL};
    struct fr_job job;
    struct fr_pipeline p;
    (void)state;
    fr_test_pipeline("dgx-h100", "mixtral-8x7b", sets, &job, &p);
    const struct fr_stage *s = &p.stage[0];
    double there_s = comm_s(&job, FR_OP_ALL_TO_ALL, 4, 1, 2 * 2048 * (double)H * 2);
    FR_NEAR(s->forward.ep_s, 2 * L * there_s, 1e-12);
    FR_NEAR(s->backward.ep_s, 4 * L * there_s, 1e-12);
    /* Half of 2048 queries by 4096 keys, two products: 4 * 32 * 128 * 2048 * 4096 / 2 a layer. */
    const struct fr_device *d = &job.cluster.device;
    double core_s = L * 4.0 * 32 * 128 * 2048 * 4096 / 2 *
                    (1 + d->attention.half_keys / 1024 * 7 / 8) /
                    (d->attention.flash * d->gemm[FR_BF16].peak_flop_per_s);
    double keys_B = 2 * KV * (double)S * 2;
    double gather_s = L * comm_s(&job, FR_OP_ALL_GATHER, 2, 1, keys_B),
           scatter_s = L * comm_s(&job, FR_OP_REDUCE_SCATTER, 2, 1, keys_B);
    double back_s = core_s * 2.5 / d->attention.backward + core_s,
           all_s = 2 * gather_s + scatter_s;
    core_s /= 2; /* keys arrive beside the first of two kernels */
    back_s /= 2;
    FR_NEAR(s->forward.cp_s, fmax(0, gather_s - core_s) + fmin(gather_s, core_s) / 4, 1e-9);
    FR_NEAR(s->backward.cp_s, fmax(0, all_s - back_s) + fmin(all_s, back_s) / 4, 1e-9);
    fr_test_pipeline_free(&job, &p);
}

/* A distributed optimiser sends what an all-reduce does, or less: it costs no more, but for a few
 * messages' latencies, on any number of nodes. */
static void a_distributed_optimiser_costs_no_more(void **state) {
    static const char *const clusters[] = {"dgx-a100", "a100-hdr",    "a100-opa",
                                           "dgx-h100", "dgx-b200",    "dgx-b300",
                                           "lassen",   "gb200-nvl72", "gb300-nvl72"};
    (void)state;
    for (size_t c = 0; c < sizeof clusters / sizeof *clusters; c++)
        for (int dp = 2; dp <= 128; dp *= 4) {
            char text[2][32];
            const char *sets[] = {
                "model.dtype=fp16", "micro_batch=1", text[0], text[1], "tp=2", "zero=0", NULL};
            snprintf(text[0], 32, "dp=%d", dp), snprintf(text[1], 32, "global_batch=%d", dp);
            struct fr_outcome none = outcome(clusters[c], "gpt-8.3b", sets);
            sets[5] = "zero=1";
            struct fr_outcome one = outcome(clusters[c], "gpt-8.3b", sets);
            if (one.time_s > none.time_s + 1e-3)
                fail_msg("%s, dp %d: %g s with zero 1, %g without", clusters[c], dp, one.time_s,
                         none.time_s);
        }
}

/* ---- experts ----------------------------------------------------------------------------------- */

static void loads_and_rows(void **state) {
    struct fr_workload w = {
        .dtype = FR_BF16,
        .transformer = {.hidden = 10, .expert_ffn = 7, .experts = 4, .experts_per_token = 3}};
    struct fr_transformer *t = &w.transformer;
    struct fr_plan plan = fr_plan_default();
    (void)state;
    FR_NEAR(fr_experts_parameters(t), 4 * 2 * 10 * 7, 0);
    t->gated = true;
    FR_NEAR(fr_experts_parameters(t), 4 * 3 * 10 * 7, 0);
    FR_NEAR(fr_experts_load(t, &plan), 1, 0);
    t->imbalance = 2.5;
    FR_NEAR(fr_experts_load(t, &plan), 2.5, 0);
    t->capacity = 1.5;
    FR_NEAR(fr_experts_load(t, &plan), 1.5, 0);
    t->imbalance = 1.25;
    FR_NEAR(fr_experts_load(t, &plan), 1.25, 0);
    t->imbalance = 0.5; /* less than the mean is not the fullest */
    FR_NEAR(fr_experts_load(t, &plan), 1, 0);
    /* Without one, by what balances: the mean of the largest of 8 normal values is 1.4236. */
    t->imbalance = 0, t->capacity = 0, t->experts = 32;
    plan.ep = 8;
    FR_NEAR(fr_experts_load(t, &plan), 1, 0);
    t->balance = FR_BALANCE_LOSS;
    FR_NEAR(fr_experts_load(t, &plan), 1 + 0.3 * 1.4236 / 2, 3e-3);
    t->balance = FR_BALANCE_NONE;
    FR_NEAR(fr_experts_load(t, &plan), 1 + 3 * 1.4236 / 2, 3e-2);
    plan.ep = 2; /* no more than all */
    FR_NEAR(fr_experts_load(t, &plan), 1 + 3 * 0.5642 / 4, 3e-2);
    plan.ep = 1;
    FR_NEAR(fr_experts_load(t, &plan), 1, 0);
    t->balance = FR_BALANCE_EVEN, t->experts = 4, t->capacity = 1.5;
    t->imbalance = 1.25;
    FR_NEAR(fr_experts_rows(1), 128, 0);
    FR_NEAR(fr_experts_rows(128), 128, 0);
    FR_NEAR(fr_experts_rows(128.5), 256, 0);
    plan.tp = 4;
    FR_NEAR(fr_experts_sent_B(&w, &plan, 100, 3), 100 * 3 * 10 * 2 * 1.25, 1e-15);
    plan.sequence_parallel = true;
    FR_NEAR(fr_experts_sent_B(&w, &plan, 100, 3), 25 * 3 * 10 * 2 * 1.25, 1e-15);
}

/* Methods whose MLP is not Megatron's have no experts. */
static void other_methods_refuse_experts(void **state) {
    const char *phantom[] = {"method=phantom", "tp=2", "ghost=8", "global_batch=8", NULL};
    const char *subgraph[] = {"method=subgraph", "tp=2", "global_batch=8", NULL};
    (void)state;
    assert_true(outcome("dgx-h100", "mixtral-8x7b", phantom).reasons &
                FR_BECAUSE(FR_REASON_METHOD));
    assert_true(outcome("dgx-h100", "mixtral-8x7b", subgraph).reasons &
                FR_BECAUSE(FR_REASON_METHOD));
}

/* Z neighbours that divide a state are no more than the replicas, and make up all copies of each kind that
 * the model has: of N copies min(Z, N) go into N.  Counted here for all small meshes. */
static void zero_ranks_go_into_all_copies(void **state) {
    static const struct {
        const char *model, *sets[4];
        bool mixture, common;
        int grid[3];
    } of[] = {{"llama-3-8b", {"attention=flash"}, false, false, {0}},
              {"mixtral-8x7b", {"attention=flash"}, true, false, {0}},
              {"gpt-2", {"method=subgraph", "micro_batch=4"}, false, true, {0}},
              {"gpt-2",
               {"method=grid", "layer_tp=[1,2,4]", "micro_batch=4"},
               false,
               false,
               {1, 2, 4}}};
    const fr_reasons no = FR_BECAUSE(FR_REASON_ZERO_RANKS);
    int refused = 0, accepted = 0;
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const char *sets[] = {"global_batch=96", "zero=1",      of[k].sets[0],
                              of[k].sets[1],     of[k].sets[2], NULL};
        struct fr_job job;
        fr_test_job("dgx-h100", of[k].model, sets, &job);
        struct fr_plan *p = &job.plan;
        for (int c = 0; c < 6 * 4 * 2 * 7; c++) {
            p->dp = 1 + c % 6, p->ep = of[k].mixture ? 1 << c / 6 % 4 : 1,
            p->cp = of[k].mixture ? 1 + c / 24 % 2 : 1;
            p->zero_ranks = c / 48, p->tp = of[k].common || of[k].grid[0] ? 2 : 1;
            int64_t copies[5] = {p->dp * p->cp, 1, 1, 1, 1}, z = p->zero_ranks;
            if (of[k].mixture && copies[0] % p->ep != 0) continue;
            if (of[k].mixture) copies[1] = copies[0] / p->ep;
            if (of[k].common) copies[1] = copies[0] * p->tp;
            for (int g = 0; g < 3 && of[k].grid[0]; g++)
                if (of[k].grid[g] != p->tp) copies[1 + g] = p->dp * p->tp / of[k].grid[g];
            bool bad = z > copies[0];
            for (int i = 0; i < 5 && z > 0; i++)
                bad = bad || (copies[i] > z && copies[i] % z != 0);
            fr_reasons got = fr_pipeline_check(&job, p) & no;
            FR_TRUE((got != 0) == bad, "%s: dp %d cp %d ep %d tp %d, zero_ranks %d: %d",
                    of[k].model, (int)p->dp, (int)p->cp, (int)p->ep, (int)p->tp, (int)z,
                    got != 0);
            refused += bad, accepted += !bad;
        }
        fr_job_free(&job);
    }
    FR_TRUE(refused > 100 && accepted > 100, "%d, %d", refused, accepted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_is_the_models),
        cmocka_unit_test(mixtral_by_hand),
        cmocka_unit_test(groups_by_hand),
        cmocka_unit_test(uneven_copies),
        cmocka_unit_test(llama_by_hand),
        cmocka_unit_test(experts_by_hand),
        cmocka_unit_test(tokens_and_keys_by_hand),
        cmocka_unit_test(messages_by_hand),
        cmocka_unit_test(chunks_by_hand),
        cmocka_unit_test(zero_1_by_hand),
        cmocka_unit_test(broadcasts_by_hand),
        cmocka_unit_test(zero_2_and_3_by_hand),
        cmocka_unit_test(chunks_show_more),
        cmocka_unit_test(zero_and_overlap),
        cmocka_unit_test(buckets_take_from_the_pass),
        cmocka_unit_test(weights_of_their_own_width),
        cmocka_unit_test(experts_and_ring_by_hand),
        cmocka_unit_test(a_distributed_optimiser_costs_no_more),
        cmocka_unit_test(loads_and_rows),
        cmocka_unit_test(other_methods_refuse_experts),
        cmocka_unit_test(zero_ranks_go_into_all_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
