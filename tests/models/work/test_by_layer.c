/* A stage's list of operations beside sums made block by block (reckoned.h), of random networks and plans: flop,
 * bytes moved and sent, kernels, parameters and what is kept; and a network's flop beside the blocks' matrices. */
#include "models/workload/flop.h"
#include "tests/job.h"
#include "tests/models/work/reckoned.h"
#include "tests/plan_values.h"

/* ---- random networks ---------------------------------------------------------------------------- */

static const char *const networks[] = {
    "\"layers\": 4, \"gated\": true, \"kv_heads\": 4, \"norm\": \"rms\", \"biases\": false, "
    "\"positions\": \"rotary\", \"tied_embedding\": false",
    "\"layers\": 5, \"dropout\": true, \"ffn\": 1536",
    "\"layers\": 6, \"cross_layers\": 3, \"head_dim\": 48",
    "\"layers\": 4, \"cross_layers\": 2, \"gated\": true, \"tied_embedding\": false",
    "\"layers\": 4, \"window\": 64, \"window_layers\": 3, \"head_kernels\": 2",
    "\"layers\": 4, \"document\": 96, \"vocabulary_multiple\": 64",
    "\"layers\": 4, \"causal\": false, \"masked_head\": true, \"pooler\": true, "
    "\"token_types\": 2",
    "\"layers\": 4, \"experts\": 8, \"experts_per_token\": 2, \"expert_ffn\": 384, \"gated\": "
    "true",
    "\"layers\": 6, \"experts\": 4, \"experts_per_token\": 2, \"expert_ffn\": 512, "
    "\"dense_layers\": 2, \"shared_ffn\": 256, \"capacity\": 1.25, \"imbalance\": 1.5",
    "\"layers\": 4, \"head_dim\": 96, \"kv_latent\": 64, \"q_latent\": 128, \"rope_dim\": 32, "
    "\"value_dim\": 64, \"gated\": true, \"norm\": \"rms\"",
    "\"layers\": 4, \"head_dim\": 64, \"kv_latent\": 96, \"predicted_tokens\": 2, "
    "\"experts\": 4, \"experts_per_token\": 1, \"dense_layers\": 1, \"expert_ffn\": 256",
    "\"layers\": 4, \"predicted_tokens\": 1, \"tied_embedding\": false",
    "\"layers\": 8, \"pattern\": \"M-*-MM*-\", \"ssm_heads\": 16, \"ssm_head_dim\": 32, "
    "\"ssm_groups\": 4, \"ssm_state\": 64, \"ssm_chunk\": 64",
    "\"layers\": 6, \"pattern\": \"ME*\", \"ssm_heads\": 8, \"ssm_groups\": 8, \"experts\": 4, "
    "\"expert_ffn\": 256, \"shared_ffn\": 128, \"gated\": true",
    "\"layers\": 4, \"lora_rank\": 8, \"kv_heads\": 4, \"gated\": true",
    "\"layers\": 4, \"lora_rank\": 8, \"head_dim\": 48, \"gated\": true",
    "\"layers\": 4, \"lora_rank\": 16, \"lora_on\": \"mlp\", \"cross_layers\": 2",
    "\"layers\": 4, \"lora_rank\": 4, \"lora_on\": \"all\", \"lora_exchange\": \"all_to_all\", "
    "\"tied_embedding\": false",
    "\"layers\": 4, \"lora_rank\": 8, \"experts\": 4, \"expert_ffn\": 256, \"cross_layers\": 2",
    "\"layers\": 4, \"activation_store\": \"fp8\", \"gated\": true",
};
static const struct {
    const char *key, *values;
} choices[] = {
    {"tp", "1|2|2|4"},
    {"pp", "1|2|2|3"},
    {"dp", "1|2|4"},
    {"cp", "1|1|2"},
    {"context", "ring|all-to-all"},
    {"ep", "1|2|4"},
    {"etp", "0|1|2"},
    {"micro_batch", "1|2|4"},
    {"recompute", "none|selective|full|save_qkv|save_qkv_out"},
    {"attention", "plain|flash"},
    {"sequence_parallel", "true|true|false"},
    {"overlap_tp", "true|false"},
    {"method", "tensor|tensor|grid|phantom"},
    {"ghost", "4|16"},
    {"divide", "rows|pairs"},
    {"layer_tp", "[1,2,2]|[2,1,2]|[2,2,1]|[4,2,1]|[1,4,2]"},
    {"schedule", "1f1b|interleaved|zero-bubble-v|dualpipe-v"},
    {"chunks", "1|2|2|3"},
    {"stage_layers", "[1,3]|[3,1]|[2,4]|[5,3]"},
    {"model.dtype", "fp32|bf16|fp8"},
    {"model.kv_heads", "8|4|2"},
    {"model.tied_embedding", "true|false"},
    {"model.biases", "true|false"},
    {"model.norm", "layer|rms"},
    {"model.positions", "learned|rotary"},
};

static void one_of(uint64_t *dice, const char *words, char *out, size_t capacity) {
    uint64_t n = 1;
    for (const char *c = words; *c; c++) n += *c == '|';
    for (uint64_t skip = fr_test_random(dice, n); skip-- > 0;) words = strchr(words, '|') + 1;
    snprintf(out, capacity, "%.*s", (int)strcspn(words, "|"), words);
}

/* @return false: there is no such plan.  The reasons go to @p stated. */
static bool draw(uint64_t *dice, struct fr_job *job, char *stated, size_t capacity) {
    enum { COUNT = sizeof choices / sizeof *choices, MOST = 12 };
    char model[700], words[MOST][64];
    const char *sets[MOST + 12] = {"model.defaults=2019", "global_batch=48"};
    struct fr_job_names names = {
        .cluster = "dgx-h100", .model = model, .sets = sets, .n_sets = 2};
    struct fr_error err = {0};
    snprintf(model, sizeof model,
             "{\"kind\": \"transformer\", \"hidden\": 512, \"heads\": 8, \"sequence\": %d, "
             "\"vocabulary\": %d, %s}",
             fr_test_random(dice, 2) ? 256 : 384, fr_test_random(dice, 2) ? 1000 : 50257,
             networks[fr_test_random(dice, sizeof networks / sizeof *networks)]);
    bool used[COUNT] = {false};
    uint64_t method = fr_test_random(dice, 5);
    bool ghost_neurons = method == 0, branches = method == 1;
    for (size_t k = 0; (ghost_neurons || branches) && k < COUNT; k++)
        used[k] = strstr("method sequence_parallel layer_tp ep etp", choices[k].key) != NULL;
    if (ghost_neurons) {
        static const char *const parts[] = {"phantom_parts=mlp", "phantom_parts=attention",
                                            "phantom_parts=all"};
        sets[names.n_sets++] = "method=phantom", sets[names.n_sets++] = "ghost=8";
        sets[names.n_sets++] = parts[fr_test_random(dice, 3)];
    }
    if (ghost_neurons) sets[names.n_sets++] = "tp=2";
    if (branches) {
        static const char *const where[] = {"branches=heads", "branches=attention",
                                            "branches=layer"};
        sets[names.n_sets++] = "method=subgraph";
        sets[names.n_sets++] = fr_test_random(dice, 4) ? "micro_batch=4" : "micro_batch=1";
        sets[names.n_sets++] = where[fr_test_random(dice, 3)];
        sets[names.n_sets++] = fr_test_random(dice, 2) ? "common=all" : "common=subgrid";
        if (fr_test_random(dice, 3) == 0) sets[names.n_sets++] = "exchange=all_gather";
    }
    for (int n = 3 + (int)fr_test_random(dice, MOST - 3), i = 0; i < n; i++) {
        size_t k = fr_test_random(dice, COUNT);
        char value[40];
        if (used[k]) continue;
        used[k] = true;
        one_of(dice, choices[k].values, value, sizeof value);
        snprintf(words[i], sizeof words[i], "%s=%s", choices[k].key, value);
        sets[names.n_sets++] = words[i];
    }
    size_t at = (size_t)snprintf(stated, capacity, "%s", model);
    for (int i = 2; i < names.n_sets && at < capacity; i++)
        at += (size_t)snprintf(stated + at, capacity - at, " %s", sets[i]);
    bool is = fr_job_load(&names, job, &err) == FR_OK;
    is = is && job->workload.transformer.layers > 0 &&
         !test_stage_check(&job->workload, &job->plan);
    if (!is) fr_job_free(job);
    return is;
}

/* ---- the network's flop ------------------------------------------------------------------------- */

/* Multiplications of a token with a block's matrices. */
struct matrices {
    double attention, mlp, mixture, scan;
};

static double dense(const struct fr_transformer *t, double ghost_neurons, double ranks,
                    double width) {
    double h = (double)t->hidden, up = h * width, down = up;
    if (ghost_neurons >
        0) { /* Seal et al. 2025, section IV: blocks, compressors, decompressors */
        up = ranks * (h / ranks) * (width / ranks) + ghost_neurons * h +
             (ranks - 1) * ghost_neurons * width;
        down = ranks * (h / ranks) * (width / ranks) + ghost_neurons * width +
               (ranks - 1) * ghost_neurons * h;
    }
    return (t->gated ? 2 : 1) * up + down;
}

static double head_value(const struct fr_transformer *t) {
    return (double)(t->kv_latent && t->value_dim ? t->value_dim : t->head_dim);
}

static struct matrices matrices_of(const struct fr_transformer *t, double ghost_neurons,
                                   double ranks) {
    double h = (double)t->hidden, a = (double)t->heads, d = (double)t->head_dim,
           kv = (double)t->kv_heads * d, c = (double)t->kv_latent, q = (double)t->q_latent,
           r = (double)t->rope_dim, v = head_value(t);
    struct matrices m = {.attention = h * a * d + 2 * h * kv + a * d * h};
    if (c > 0)
        m.attention = (q > 0 ? h * q + q * a * d : h * a * d) + h * (c + r) +
                      c * a * (d - r + v) + a * v * h;
    m.mlp = dense(t, ghost_neurons, ranks, (double)t->ffn);
    for (int64_t e = 0; e < t->experts_per_token && t->experts; e++)
        m.mixture += dense(t, 0, 0, (double)t->expert_ffn);
    if (t->experts) m.mixture += h * (double)t->experts + dense(t, 0, 0, (double)t->shared_ffn);
    if (t->ssm_heads) {
        double D = (double)(t->ssm_heads * t->ssm_head_dim),
               GN = (double)(t->ssm_groups * t->ssm_state),
               Q = fmin((double)t->ssm_chunk, (double)t->sequence);
        m.scan = h * (2 * D + 2 * GN + (double)t->ssm_heads) + D * h + GN * Q + D * Q +
                 2 * D * (double)t->ssm_state;
    }
    return m;
}

/* For a token: an adapter of r beside each product that has one, r values between its two. */
static double adapters(const struct fr_transformer *t, double attentions, double mlps) {
    double h = (double)t->hidden, q = (double)(t->heads * t->head_dim),
           kv = (double)(t->kv_heads * t->head_dim), r = (double)t->lora_rank,
           f = (double)t->ffn;
    double beside_qkv = h * r + r * (q + kv + kv), beside_out = q * r + r * h,
           beside_up = h * r + r * (t->gated ? f + f : f), beside_down = f * r + r * h;
    return (t->lora_attention ? attentions * (beside_qkv + beside_out) : 0) +
           (t->lora_mlp ? mlps * (beside_up + beside_down) : 0);
}

/* Each token goes through two matrices where attention is phantom.  A cross-attention compresses a second stream; all
 * attentions share it here.  The MLP may be whole. */
static void make_phantom(const struct fr_transformer *t, const struct fr_plan *plan,
                         struct matrices *m) {
    double h = (double)t->hidden, q = (double)(t->heads * t->head_dim),
           c = q + 2 * (double)(t->kv_heads * t->head_dim), k = (double)plan->ghost,
           p = (double)plan->tp, crossed = (double)t->cross_layers;
    if (plan->method != &fr_method_phantom) return;
    if (plan->phantom_parts == FR_PHANTOM_ATTENTION) m->mlp = dense(t, 0, 0, (double)t->ffn);
    if (plan->phantom_parts == FR_PHANTOM_MLP) return;
    m->attention = h * c / p + k * h + (p - 1) * k * c + q * h / p + k * q + (p - 1) * k * h +
                   crossed / ((double)t->layers + crossed) * k * h;
}

static void a_network_is_its_matrices(void **state) {
    uint64_t dice = 0x2545f4914f6cdd1du;
    int n = 0, frozen = 0;
    (void)state;
    const int draws = fr_sample(1500, 500);
    for (int k = 0; k < draws; k++) {
        char stated[1000];
        struct fr_job job;
        if (!draw(&dice, &job, stated, sizeof stated)) continue;
        const struct fr_transformer *t = &job.workload.transformer;
        const struct fr_plan all = {
            .pp = 1, .chunks = 1, .tp = 1, .dp = 1, .schedule = job.plan.schedule};
        struct reckoned_blocks b = reckon_blocks(t, &all, 0);
        bool phantom = job.plan.method == &fr_method_phantom;
        struct fr_counted counted = {.workload = &job.workload,
                                     .ghost_neurons = phantom ? (double)job.plan.ghost : 0,
                                     .ranks = phantom ? (double)job.plan.tp : 0};
        counted.phantom_attention = phantom && job.plan.phantom_parts != FR_PHANTOM_MLP;
        counted.dense_mlp = job.plan.phantom_parts == FR_PHANTOM_ATTENTION;
        for (int palm = 0; palm < 2; palm++) {
            counted.palm = palm;
            double s = (double)t->sequence, h = (double)t->hidden, V = (double)t->vocabulary,
                   further = (double)t->predicted, attentions = b.attention + b.cross;
            struct matrices m = matrices_of(t, counted.ghost_neurons, counted.ranks);
            make_phantom(t, &job.plan, &m);
            double core = attentions * s * s * (double)t->heads *
                          ((double)t->head_dim + head_value(t)) * (palm ? 1 : reckon_made(t));
            double products = attentions * m.attention + b.dense * m.mlp + b.mixed * m.mixture +
                              b.scan * m.scan + h * V * (1 + further) + further * 2 * h * h +
                              (t->masked_head ? h * h : 0);
            double lora = adapters(t, attentions, b.dense + b.mixed),
                   forward = 2 * (s * (products + lora) + core);
            /* a frozen matrix is multiplied with the gradient of what it made, no more */
            double flop = t->lora_rank ? forward + 2 * (s * products + 2 * s * lora + 2 * core)
                                       : 3 * forward;
            FR_TRUE(fabs(fr_counted_flop(&counted) / flop - 1) < 1e-12,
                    "%.15g flop, not %.15g: %s", fr_counted_flop(&counted), flop, stated);
            FR_TRUE(fabs(fr_counted_forward_flop(&counted) / forward - 1) < 1e-12,
                    "%.15g flop forward, not %.15g: %s", fr_counted_forward_flop(&counted),
                    forward, stated);
            struct fr_layers_flop l = fr_counted_layers_flop(&counted);
            double layers = l.qkv + l.core + l.out + l.mlp_first + l.mlp_last + l.ssm,
                   wanted = forward - 2 * s *
                                          (h * V * (1 + further) + further * 2 * h * h +
                                           (t->masked_head ? h * h : 0) + lora),
                   out = 2 * s * attentions * (double)t->heads * head_value(t) * h;
            FR_TRUE(fabs(layers / wanted - 1) < 1e-12 &&
                        fabs(l.core - 2 * core) <= 1e-12 * core,
                    "layers %.15g flop, not %.15g: %s", layers, wanted, stated);
            bool whole =
                !counted.phantom_attention; /* else it is one of the phantom matrices */
            FR_TRUE(whole ? fabs(l.out - out) <= 1e-12 * out : l.out < out, "%s", stated);
            n++;
            frozen += t->lora_rank > 0;
        }
        fr_job_free(&job);
    }
    FR_TRUE(n > draws / 4 && frozen > draws / 30, "%d, %d", n, frozen);
}

/* ---- a stage's operations ----------------------------------------------------------------------- */

static const fr_pass_kind passes[] = {FR_PASS_FORWARD, FR_PASS_INPUT, FR_PASS_AGAIN};

/* A rank in a stage. */
struct rank {
    const struct fr_transformer *t;
    const struct fr_plan *plan;
    struct reckoned_blocks b;
    double h, s, own, micro, value_B, read_B, attentions, scores;
    double p[3], batch[3], tokens[3], between[3];
    fr_axis axis[3];
    double mats, q, kv, values, made, arrives, load;
    double etp, held, rows; /* of an expert: ranks, on a rank, rows of them all */
    bool sp, frozen, full, selective, policy, layer_again, out_again, row_wise, narrow;
    bool first, last;
    struct reckoned *r;
};

static struct rank rank_of(const struct fr_job *job, int64_t i, struct reckoned *r) {
    static const fr_axis own_axes[] = {FR_AXIS_ATTENTION, FR_AXIS_MLP, FR_AXIS_ENDS};
    const struct fr_plan *plan = &job->plan;
    const struct fr_transformer *t = &job->workload.transformer;
    struct rank x = {.t = t, .plan = plan, .b = reckon_blocks(t, plan, i), .r = r};
    memset(r, 0, sizeof *r);
    x.h = (double)t->hidden, x.s = (double)t->sequence, x.own = x.s / (double)plan->cp;
    x.micro = plan->micro_batch ? (double)plan->micro_batch : 1;
    x.read_B = fr_dtype_size_B(job->workload.dtype);
    bool methods_of_old = plan->method->uses_ghost || plan->method->branches;
    x.narrow = x.read_B < 2 && !methods_of_old; /* whose values are all of the model's width */
    x.value_B = x.narrow ? 2 : x.read_B;
    x.attentions = x.b.attention + x.b.cross;
    x.mats = t->gated ? 3 : 2;
    x.frozen = t->lora_rank > 0;
    x.row_wise = plan->method == &fr_method_grid && !plan->pairs;
    x.full = plan->recompute == FR_RECOMPUTE_FULL;
    x.selective = plan->recompute == FR_RECOMPUTE_SELECTIVE;
    x.policy = plan->recompute == FR_RECOMPUTE_SAVE_QKV ||
               plan->recompute == FR_RECOMPUTE_SAVE_QKV_OUT;
    x.layer_again = x.full || x.policy;
    x.out_again = x.full || plan->recompute == FR_RECOMPUTE_SAVE_QKV;
    double d = (double)t->head_dim, a = (double)t->heads;
    x.q = a * d;
    x.kv = t->kv_latent ? a * d : (double)t->kv_heads * d;
    x.values = t->kv_latent ? a * head_value(t) : x.kv;
    x.made = a * head_value(t);
    x.arrives = x.h;
    if (t->kv_latent)
        x.arrives =
            (t->q_latent ? (double)t->q_latent : x.h) + (double)(t->kv_latent + t->rope_dim);
    for (int g = 0; g < 3; g++) {
        int64_t p = plan->layer_tp ? plan->layer_tp[g] : plan->tp;
        x.p[g] = (double)p;
        x.batch[g] = x.micro * x.p[g] / (double)plan->tp;
        x.tokens[g] = x.batch[g] * x.own;
        x.between[g] = plan->sequence_parallel ? x.p[g] : 1;
        x.axis[g] = p == plan->tp ? FR_AXIS_TP : own_axes[g];
        x.sp = x.sp || (plan->sequence_parallel && p > 1);
    }
    if (plan->attention == FR_ATTENTION_PLAIN) x.scores = x.batch[0] * a / x.p[0] * x.s * x.own;
    x.load = t->imbalance > 1 ? t->imbalance : 1;
    if (t->capacity > 0 && x.load > t->capacity) x.load = t->capacity;
    x.etp = t->experts && plan->etp ? (double)plan->etp : x.p[1];
    if (t->experts) {
        x.held = (double)t->experts / (double)plan->ep;
        x.rows = x.tokens[1] * x.etp / x.p[1] * (double)t->experts_per_token;
    }
    x.first = i == 0;
    x.last = i == fr_plan_last_stage(plan);
    return x;
}

/* A product of so many multiplications: forward; twice backward, but frozen ones once. */
static void product(const struct rank *x, double multiplications, bool frozen, bool again) {
    x->r->flop[FR_PASS_FORWARD] += 2 * multiplications;
    x->r->flop[FR_PASS_INPUT] += 2 * multiplications;
    if (!frozen) x->r->flop[FR_PASS_WEIGHT] += 2 * multiplications;
    if (again) x->r->flop[FR_PASS_AGAIN] += 2 * multiplications;
}

/* The same of a product that reads what a norm or an activation has just written. */
static void made_product(const struct rank *x, double multiplications, bool frozen,
                         bool again) {
    product(x, multiplications, frozen, again);
    x->r->made[FR_PASS_FORWARD] += 2 * multiplications;
    if (again) x->r->made[FR_PASS_AGAIN] += 2 * multiplications;
}

/* The same of logits and adapters, at the width of what is kept. */
static void wide_product(const struct rank *x, double multiplications, bool frozen,
                         bool again) {
    product(x, multiplications, frozen, again);
    x->r->wide[FR_PASS_FORWARD] += 2 * multiplications;
    x->r->wide[FR_PASS_INPUT] += 2 * multiplications;
    if (!frozen) x->r->wide[FR_PASS_WEIGHT] += 2 * multiplications;
    if (again) x->r->wide[FR_PASS_AGAIN] += 2 * multiplications;
}

static void send(const struct rank *x, fr_pass_kind pass, fr_axis axis, fr_op op,
                 double values) {
    x->r->sent_B[pass][axis][op] += values * x->value_B;
}

/* Traffic and kernels of a forward pass, twice and one and a half times of it backward. */
static void moves(const struct rank *x, double values, double norm, double softmax,
                  double kernels, bool frozen) {
    const double v = x->value_B;
    for (int k = 0; k < 2; k++) {
        x->r->moved_B[passes[k]] += (k + 1) * values * v;
        x->r->norm_B[passes[k]] += (k + 1) * norm * v;
        x->r->softmax_B[passes[k]] += (k + 1) * softmax * v;
    }
    x->r->kernels[FR_PASS_FORWARD] += kernels;
    x->r->kernels[FR_PASS_INPUT] += 1.5 * kernels;
    if (!frozen) x->r->kernels[FR_PASS_WEIGHT] += 0.5 * kernels;
}

static double up_to(double n, double whole) { return ceil(n / whole) * whole; }

/* Two kernels' heads, each narrower than 256 values padded to a multiple of 32. */
static double padded_head(double d) { return d > 256 ? d : up_to(d, 32); }

static void core_products(const struct rank *x, double n) {
    double a = (double)x->t->heads, d = (double)x->t->head_dim, v = head_value(x->t);
    bool heads_apart = x->plan->cp > 1 && x->plan->context_heads;
    /* every head of a rank, with the queries that it has: by heads a share of them, all queries */
    double pairs = n * x->batch[0] * a / x->p[0] * x->s *
                   (heads_apart ? x->s / (double)x->plan->cp : x->own);
    bool again = x->plan->recompute != FR_RECOMPUTE_NONE;
    if (x->plan->attention == FR_ATTENTION_PLAIN) {
        x->r->flop[FR_PASS_FORWARD] += 2 * pairs * (d + v);
        x->r->flop[FR_PASS_INPUT] += 4 * pairs * (d + v);
        if (again) x->r->flop[FR_PASS_AGAIN] += 2 * pairs * (d + v);
        return;
    }
    double fused = 2 * pairs * (padded_head(d) + padded_head(v)) * reckon_made(x->t);
    x->r->flop[FR_PASS_FORWARD] += fused;
    x->r->flop[FR_PASS_INPUT] += 2.5 * fused;
    if (again) x->r->flop[FR_PASS_AGAIN] += fused;
}

static void attention_products(const struct rank *x, double n) {
    const struct fr_transformer *t = x->t;
    double T = x->tokens[0], p = x->p[0], c = (double)t->kv_latent, ql = (double)t->q_latent,
           r = (double)t->rope_dim, a = (double)t->heads, d = (double)t->head_dim,
           v = head_value(t);
    if (c > 0) {
        double local = T / x->between[0];
        made_product(x, n * local * x->h * (ql + c + r), false, x->full);
        made_product(x, n * T * ((ql > 0 ? ql : x->h) * a * d + c * a * (d - r + v)) / p,
                     x->frozen, x->full);
    } else
        made_product(x, n * T * x->h * (x->q + 2 * x->kv) / p, x->frozen, x->full);
    product(x, n * T * x->h * x->made / p, x->frozen, x->out_again);
    core_products(x, n);
}

static void mlp_products(const struct rank *x, double n, double width, double rows, double p,
                         bool routed) {
    (routed ? product : made_product)(x, n * (x->mats - 1) * rows * x->h * width / p, x->frozen,
                                      x->layer_again);
    product(x, n * rows * x->h * width / p, x->frozen, x->full);
}

static void layer_products(const struct rank *x) {
    const struct fr_transformer *t = x->t;
    attention_products(x, x->attentions);
    mlp_products(x, x->b.dense, (double)t->ffn, x->tokens[1], x->p[1], false);
    if (x->b.mixed > 0) {
        double each = up_to(x->rows / x->held * x->load, 128);
        mlp_products(x, x->b.mixed * x->held, (double)t->expert_ffn, each, x->etp, true);
        mlp_products(x, x->b.mixed, (double)t->shared_ffn, x->tokens[1], x->p[1], false);
    }
    if (x->b.scan > 0) {
        double D = (double)(t->ssm_heads * t->ssm_head_dim), N = (double)t->ssm_state,
               GN = (double)t->ssm_groups * N, Q = fmin((double)t->ssm_chunk, x->s),
               T = x->tokens[0] / x->p[0];
        made_product(x, x->b.scan * T * x->h * (2 * D + 2 * GN + (double)t->ssm_heads), false,
                     x->full);
        made_product(x, x->b.scan * T * x->h * D, false, x->full);
        double forward = GN * Q + D * Q + D * N + D * N,
               backward = 2 * forward + GN * Q + D * Q + D * N;
        x->r->flop[FR_PASS_FORWARD] += 2 * x->b.scan * T * forward;
        x->r->flop[FR_PASS_INPUT] += 2 * x->b.scan * T * backward;
        if (x->full) x->r->flop[FR_PASS_AGAIN] += 2 * x->b.scan * T * forward;
    }
}

/* Around a pair of products: gathered before and scattered behind, or summed behind; the mirror image backward. */
static void pair(const struct rank *x, int g, double arrives, double n) {
    double T = x->tokens[g];
    if (x->p[g] <= 1) return;
    for (int k = 0; k < (x->full ? 3 : 2); k++) {
        double in = k == 1 ? x->h : arrives, out = k == 1 ? arrives : x->h;
        if (x->sp) send(x, passes[k], x->axis[g], FR_OP_ALL_GATHER, n * T * in);
        send(x, passes[k], x->axis[g], x->sp ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE,
             n * T * out);
    }
}

/* Both products by rows: what each makes is gathered; backward sums of both inputs' gradients. */
static void rows(const struct rank *x, int g, double between, double n) {
    double T = x->tokens[g];
    if (x->p[g] <= 1) return;
    for (int k = 0; k < (x->full ? 3 : 2); k++) {
        bool back = k == 1;
        send(x, passes[k], x->axis[g], back ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER, n * between);
        if (x->sp) {
            send(x, passes[k], x->axis[g], back ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_GATHER,
                 n * T * x->h);
            send(x, passes[k], x->axis[g], FR_OP_ALL_TO_ALL, n * T * x->h / x->p[g]);
        } else
            send(x, passes[k], x->axis[g], back ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER,
                 n * T * x->h);
    }
}

/* The weight gradient of a first product reads its whole input, gathered once more. */
static void again_gathered(const struct rank *x, int g, double values, double n) {
    if (x->sp && x->p[g] > 1 && !x->frozen)
        send(x, FR_PASS_INPUT, x->axis[g], FR_OP_ALL_GATHER, n * x->tokens[g] * values);
}

static void policy_exchanges(const struct rank *x, double divided) {
    double T = x->tokens[0], h = x->h;
    if (!x->policy) return;
    if (x->row_wise) {
        if (x->p[0] > 1) {
            send(x, FR_PASS_AGAIN, x->axis[0], FR_OP_ALL_GATHER, x->attentions * T * x->made);
            if (x->out_again)
                send(x, FR_PASS_AGAIN, x->axis[0], x->sp ? FR_OP_ALL_TO_ALL : FR_OP_ALL_GATHER,
                     x->attentions * T * h / (x->sp ? x->p[0] : 1));
        }
        if (x->p[1] > 1 && x->b.dense > 0) {
            if (x->sp)
                send(x, FR_PASS_AGAIN, x->axis[1], FR_OP_ALL_GATHER,
                     x->b.dense * x->tokens[1] * h);
            send(x, FR_PASS_AGAIN, x->axis[1], FR_OP_ALL_GATHER,
                 x->b.dense * x->tokens[1] * (double)x->t->ffn);
        }
        return;
    }
    if (x->out_again && x->p[0] > 1)
        send(x, FR_PASS_AGAIN, x->axis[0], x->sp ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE,
             x->attentions * T * h);
    if (x->sp && x->p[1] > 1)
        send(x, FR_PASS_AGAIN, x->axis[1], FR_OP_ALL_GATHER, divided * T * h);
}

static void layer_exchanges(const struct rank *x) {
    const struct fr_transformer *t = x->t;
    bool whole_experts = x->etp < x->p[1];
    double shared = t->shared_ffn > 0 ? x->b.mixed : 0, T1 = x->tokens[1],
           divided = x->b.dense + (whole_experts && shared <= 0 ? 0 : x->b.mixed);
    if (x->row_wise) {
        rows(x, 0, x->tokens[0] * x->made, x->attentions);
        rows(x, 1, T1 * (double)t->ffn, x->b.dense);
        if (!whole_experts) rows(x, 1, x->rows * x->load * (double)t->expert_ffn, x->b.mixed);
        rows(x, 1, T1 * (double)t->shared_ffn, shared);
    } else {
        pair(x, 0, x->arrives, x->attentions + x->b.scan);
        pair(x, 1, x->h, divided);
    }
    /* keys and values of a cross-attention come from the encoder's output */
    for (int k = 0; k < (x->full ? 3 : 2) && x->p[0] > 1; k++)
        if (k == 1 || x->sp)
            send(x, passes[k], x->axis[0],
                 !x->sp   ? FR_OP_ALL_REDUCE
                 : k == 1 ? FR_OP_REDUCE_SCATTER
                          : FR_OP_ALL_GATHER,
                 x->b.cross * x->tokens[0] * x->h);
    again_gathered(x, 0, x->arrives, x->attentions + x->b.cross);
    again_gathered(x, 0, x->h, x->b.scan);
    again_gathered(x, 1, x->h, x->b.dense + (whole_experts ? shared : x->b.mixed));
    policy_exchanges(x, divided);
}

/* From a grid of fewer columns to one of more a rank drops samples; the other way they are gathered. */
static void change_grid(const struct rank *x, int from, int to, fr_axis axis, double n) {
    if (x->sp || x->p[from] == x->p[to] || n <= 0) return;
    bool forward = x->p[to] > x->p[from];
    double most = fmax(x->tokens[from], x->tokens[to]) * x->h;
    if (!forward) send(x, FR_PASS_INPUT, axis, FR_OP_ALL_GATHER, n * most);
    if (forward) send(x, FR_PASS_FORWARD, axis, FR_OP_ALL_GATHER, n * most);
    if (forward && x->full && axis == FR_AXIS_TO_MLP)
        send(x, FR_PASS_AGAIN, axis, FR_OP_ALL_GATHER, n * most);
}

static void context_exchanges(const struct rank *x) {
    double T = x->tokens[0] / x->p[0], n = x->attentions;
    if (x->plan->cp <= 1) return;
    if (x->plan->context_heads) {
        for (int k = 0; k < (x->layer_again ? 3 : 2); k++)
            send(x, passes[k], FR_AXIS_CP, FR_OP_ALL_TO_ALL,
                 n * T * (x->q + x->kv + x->values + x->made));
    } else {
        double all = n * T * (double)x->plan->cp * (x->kv + x->values);
        bool again = x->plan->recompute != FR_RECOMPUTE_NONE;
        for (int k = 0; k < (again ? 3 : 2); k++)
            send(x, passes[k], FR_AXIS_CP, FR_OP_ALL_GATHER, all);
        send(x, FR_PASS_INPUT, FR_AXIS_CP, FR_OP_REDUCE_SCATTER, all);
    }
    const struct fr_transformer *t = x->t;
    double D = (double)(t->ssm_heads * t->ssm_head_dim),
           in = 2 * D + 2 * (double)(t->ssm_groups * t->ssm_state) + (double)t->ssm_heads;
    for (int k = 0; k < (x->full ? 3 : 2); k++)
        send(x, passes[k], FR_AXIS_CP, FR_OP_ALL_TO_ALL, x->b.scan * T * (in + D));
}

/* To the experts and back; with a policy again one way. */
static void expert_exchanges(const struct rank *x) {
    double sent = x->b.mixed * x->tokens[1] / x->between[1] * (double)x->t->experts_per_token *
                  x->h * x->load;
    bool by_rows = x->row_wise && !x->sp && x->p[1] > 1 && x->etp >= x->p[1];
    if (x->b.mixed <= 0 || x->plan->ep <= 1) return;
    for (int k = 0; k < (x->layer_again ? 3 : 2); k++) {
        double ways = k == 2 && x->policy && !by_rows ? 1 : 2;
        if (by_rows) ways = 1 + 1 / x->p[1];
        send(x, passes[k], FR_AXIS_EP, FR_OP_ALL_TO_ALL, ways * sent);
    }
}

/* Element-wise: two norms of 2 h and residual additions of 3 h a layer, activations twice, scores four times. */
static void layer_moves(const struct rank *x) {
    const struct fr_transformer *t = x->t;
    double stream[2], softmax = x->attentions * 4 * x->scores, activated = 0, latents = 0;
    for (int g = 0; g < 2; g++) stream[g] = x->tokens[g] * x->h / x->between[g];
    double mlps = x->b.dense + x->b.mixed, T = x->tokens[0] / x->p[0], w = 4 / x->value_B;
    activated += x->b.dense * 2 * (x->mats - 1) * x->tokens[1] * (double)t->ffn / x->p[1];
    if (x->b.mixed > 0)
        activated += x->b.mixed * (2 * (x->mats - 1) *
                                       (x->rows * (double)t->expert_ffn / x->etp +
                                        x->tokens[1] * (double)t->shared_ffn / x->p[1]) +
                                   4 * x->rows / x->etp * x->p[1] / x->between[1] * x->h);
    if (t->kv_latent)
        latents = 2 * (double)(t->q_latent + t->kv_latent) * x->tokens[0] / x->between[0] +
                  2 * (x->q + x->kv) * T;
    double D = (double)(t->ssm_heads * t->ssm_head_dim), N = (double)t->ssm_state,
           G = (double)t->ssm_groups, Q = fmin((double)t->ssm_chunk, x->s);
    double made_again = x->b.scan > 0 ? T * (2 * (D + 2 * G * N) + 2 * G * N + w * G * Q + D +
                                             G * N + w * D * N / Q + w * D * N / Q + D * N / Q)
                                      : 0;
    double scan = x->b.scan > 0
                      ? made_again + T * (w * G * Q + D + G * N + D * N / Q + D + 2 * D + 2 * D)
                      : 0;
    double values = x->attentions * (5 * stream[0] + latents) + softmax + mlps * 5 * stream[1] +
                    activated + x->b.scan * (5 * stream[0] + scan),
           norms = 2 * (x->attentions + x->b.scan) * stream[0] + 2 * mlps * stream[1] +
                   x->b.scan * 2 * T * D;
    double heads = t->head_kernels > 0 ? t->head_kernels * (double)t->heads / x->p[0] : 3,
           shared = t->shared_ffn > 0 ? (t->gated ? 5 : 4) : 0,
           mixture = (t->experts > 1 ? 6 : 0) + shared, kernels;
    if (*t->pattern)
        kernels = x->attentions * (4 + heads) + mlps * (t->gated ? 6 : 5) +
                  x->b.mixed * mixture + x->b.scan * 11;
    else
        kernels = x->b.layers *
                      ((t->gated ? 10 : 9) + heads + (t->kv_latent ? t->q_latent ? 7 : 5 : 0)) +
                  x->b.mixed * mixture + x->b.cross * (4 + heads);
    moves(x, values, norms, softmax, kernels, x->frozen);
    x->r->moved_B[FR_PASS_INPUT] += x->b.scan * made_again * x->value_B;
    if (x->layer_again) {
        x->r->moved_B[FR_PASS_AGAIN] +=
            (values - (x->policy ? 3 * x->b.layers * stream[1] : 0)) * x->value_B;
        x->r->norm_B[FR_PASS_AGAIN] += norms * x->value_B;
        x->r->kernels[FR_PASS_AGAIN] += kernels;
        if (x->policy)
            x->r->kernels[FR_PASS_AGAIN] -=
                2 * x->b.layers + x->attentions * (x->out_again ? 1 : 2);
    } else if (x->selective) {
        x->r->moved_B[FR_PASS_AGAIN] += softmax * x->value_B;
        x->r->kernels[FR_PASS_AGAIN] += x->attentions * heads;
    }
    if (x->layer_again || x->selective) x->r->softmax_B[FR_PASS_AGAIN] += softmax * x->value_B;
}

/* Beside a product of h, q, h or f values in: r between, so many out; the first's input whole on a rank, the
 * second's output. */
static void adapter(const struct rank *x, int g, double in, double out, bool second, double n) {
    double T = x->tokens[g], r = (double)x->t->lora_rank, p = x->p[g];
    bool scatter = x->sp && x->t->lora_all_to_all,
         own_gather = x->sp && x->plan->overlap_tp && !second;
    wide_product(x, n * T * r * (in + out) / p, false, x->full);
    moves(x, n * 3 * T * out / (second ? x->between[g] : p), 0, 0, 3 * n, false);
    if (x->full) {
        x->r->moved_B[FR_PASS_AGAIN] +=
            n * 3 * T * out / (second ? x->between[g] : p) * x->value_B;
        x->r->kernels[FR_PASS_AGAIN] += 3 * n;
    }
    x->r->parameters += n * r * (in + out);
    x->r->parameters_rank += n * r * (in + out) / (double)x->plan->tp;
    if (p <= 1) return;
    fr_op way = scatter ? FR_OP_ALL_TO_ALL : FR_OP_ALL_GATHER;
    double whole = n * T * out / (scatter ? p : 1);
    for (int k = 0; k < 3; k += 2) {
        if (k == 2 && !x->full) continue;
        if (own_gather) send(x, passes[k], x->axis[g], FR_OP_ALL_GATHER, n * T * in);
        send(x, passes[k], x->axis[g], second ? FR_OP_ALL_REDUCE : FR_OP_ALL_GATHER, n * T * r);
        if (second) send(x, passes[k], x->axis[g], way, whole);
    }
    if (own_gather) send(x, FR_PASS_INPUT, x->axis[g], FR_OP_REDUCE_SCATTER, n * T * in);
    if (second) send(x, FR_PASS_INPUT, x->axis[g], FR_OP_ALL_REDUCE, n * T * r);
    if (!second && !x->sp) send(x, FR_PASS_INPUT, x->axis[g], FR_OP_ALL_REDUCE, n * T * in);
    if (second && x->sp) send(x, FR_PASS_INPUT, x->axis[g], way, whole);
}

static void layer_adapters(const struct rank *x) {
    const struct fr_transformer *t = x->t;
    double f = (double)t->ffn;
    if (t->lora_attention) {
        adapter(x, 0, x->h, x->q + 2 * x->kv, false, x->attentions);
        adapter(x, 0, x->q, x->h, true, x->attentions);
    }
    if (t->lora_mlp) {
        adapter(x, 1, x->h, (x->mats - 1) * f, false, x->b.layers);
        adapter(x, 1, f, x->h, true, x->b.layers);
    }
}

/* ---- parameters and memory ---------------------------------------------------------------------- */

static void layer_parameters(const struct rank *x) {
    const struct fr_transformer *t = x->t;
    double h = x->h, f = (double)t->ffn, norm = t->norm_biases ? 2 * h : h,
           bias = t->biases ? h : 0, of_heads = t->qk_norms ? 2 * (double)t->head_dim : 0;
    struct matrices m = matrices_of(t, 0, 0);
    double c = (double)t->kv_latent, ql = (double)t->q_latent,
           narrow = c > 0 ? h * (ql + c + (double)t->rope_dim) : 0,
           attention = m.attention - narrow +
                       (t->biases || t->qkv_biases ? x->q + x->kv + x->values : 0);
    double mlp = m.mlp + (t->biases ? (x->mats - 1) * f : 0), router = h * (double)t->experts,
           experts = x->mats * h * (double)(t->experts * t->expert_ffn),
           shared = x->mats * h * (double)t->shared_ffn;
    double whole = x->attentions * (norm + of_heads + bias) +
                   x->b.attention * (c > 0 ? narrow + ql + c : 0) +
                   (x->b.dense + x->b.mixed) * (norm + bias) + x->b.scan * norm;
    double D = (double)(t->ssm_heads * t->ssm_head_dim),
           GN = (double)(t->ssm_groups * t->ssm_state),
           scan = x->b.scan > 0 ? h * (2 * D + 2 * GN + (double)t->ssm_heads) + D * h +
                                      (D + 2 * GN) * ((double)t->ssm_conv + 1) +
                                      3 * (double)t->ssm_heads + D
                                : 0;
    double further = x->b.predicted * 2 * h * h, norms = x->b.predicted * 3 * norm;
    double over_a = x->attentions * attention + x->b.scan * scan,
           over_m = x->b.dense * mlp + x->b.mixed * shared, routers = x->b.mixed * router,
           all_experts = x->b.mixed * experts;
    x->r->parameters += over_a + over_m + routers + all_experts + whole + further + norms;
    x->r->expert_rank = all_experts / (x->etp * (double)x->plan->ep);
    x->r->parameters_rank += over_a / x->p[0] + over_m / x->p[1] + routers + x->r->expert_rank +
                             whole + further / x->p[0] + norms;
    if (x->row_wise && t->biases) /* by rows a rank has its own outputs' */
        x->r->parameters_rank -=
            x->attentions * (h - h / x->p[0]) + (x->b.dense + x->b.mixed) * (h - h / x->p[1]);
}

static void layer_memory(const struct rank *x) {
    const struct fr_transformer *t = x->t;
    double v = x->value_B, e = x->read_B, T = x->tokens[0], M = x->tokens[1],
           stream = T * x->h / x->between[0], mlp_stream = M * x->h / x->between[1];
    double mask_B = t->dropout ? 1 : 0, score_B = t->dropout ? 2 * v + 1 : v,
           made = T * x->made / (x->row_wise ? 1 : x->p[0]);
    bool own_output = x->scores == 0 && !x->narrow;
    double in_B = (stream + made) * e;
    if (x->frozen)
        in_B = t->lora_attention ? (T * x->h + made) * e + 2 * (double)t->lora_rank * T * v
               : own_output      ? made * e
                                 : 0;
    double latents =
        t->kv_latent ? (double)(t->q_latent + t->kv_latent) * T / x->between[0] : 0;
    double attention_B = (stream + (x->q + x->kv + x->values) / x->p[0] * T +
                          (t->qk_norms ? (x->q + x->kv) / x->p[0] * T : 0) +
                          (x->narrow && x->scores == 0 ? made : 0)) *
                             v +
                         in_B + score_B * x->scores + mask_B * stream + latents * (v + e);
    double core_B = score_B * x->scores, stored_B[2] = {0}, act_B = t->saved_fp8 ? 1 : v;
    for (int mixed = 0; mixed < 2; mixed++) {
        double most = fmax(1, t->imbalance), load = t->capacity > 0
                                                        ? fmin(most, t->capacity)
                                                        : most; /* of the fullest rank */
        double routed = mixed ? load * x->rows * (double)t->expert_ffn / x->etp : 0,
               own = M * (double)(mixed ? t->shared_ffn : t->ffn) / x->p[1],
               read = x->row_wise ? x->etp * routed + x->p[1] * own : routed + own;
        double products_B = (mlp_stream + read) * e;
        if (x->frozen)
            products_B =
                t->lora_mlp ? (M * x->h + read) * e + 2 * (double)t->lora_rank * M * v : 0;
        if ((mixed ? x->b.mixed : x->b.dense) <= 0) continue;
        stored_B[mixed] = (*t->pattern ? 0 : attention_B) + mlp_stream * v +
                          (x->mats - 1) * (routed + own) * act_B + products_B +
                          mask_B * mlp_stream;
        if (mixed) /* rows that experts read; logits, probabilities and choices of a router */
            stored_B[mixed] += (x->frozen ? 0 : load * x->rows * x->h * e) +
                               9 * M / x->between[1] * (double)t->experts;
    }
    double D = (double)(t->ssm_heads * t->ssm_head_dim),
           in = 2 * D + 2 * (double)(t->ssm_groups * t->ssm_state) + (double)t->ssm_heads,
           scan_B =
               x->b.scan > 0 ? stream * (v + e) + T / x->p[0] * ((in + 2 * D) * v + D * e) : 0;
    double all_B = x->b.dense * stored_B[0] + x->b.mixed * stored_B[1] + x->b.scan * scan_B +
                   (*t->pattern ? x->attentions : x->b.cross) * attention_B;
    double saved = x->policy ? x->attentions * ((x->q + x->kv + x->values) / x->p[0] * T +
                                                (x->out_again ? 0 : stream))
                             : 0;
    x->r->stored_B += x->layer_again ? (x->b.layers * stream + saved) * v
                      : x->selective ? all_B - x->attentions * core_B
                                     : all_B;
    double largest_B = fmax(fmax(stored_B[0], stored_B[1]), scan_B);
    if (*t->pattern && x->attentions > 0) largest_B = fmax(largest_B, attention_B);
    double outer = fmax(x->p[0] > 1 ? T * x->h : 0, x->p[1] > 1 ? M * x->h : 0),
           inner = x->p[0] > 1 ? T * x->made : 0;
    if (x->p[1] > 1 && x->b.dense > 0) inner = fmax(inner, M * (double)t->ffn);
    if (x->p[1] > 1 && x->b.mixed > 0) inner = fmax(inner, x->rows * (double)t->expert_ffn);
    if (x->row_wise && x->attentions > 0) x->r->working_B += fmax(outer, inner) * v;
    if (!x->row_wise && x->sp && x->b.layers > 0) x->r->working_B += outer * v;
    if (x->b.layers > 0)
        x->r->working_B += x->layer_again ? largest_B : x->selective ? core_B : 0;
}

/* ---- the ends ----------------------------------------------------------------------------------- */

/* Logits are made of @p before values on a rank, and what comes before them. */
static void ends(const struct rank *x, double before) {
    const struct fr_transformer *t = x->t;
    double h = x->h, T = x->tokens[2], p = x->p[2], part = T * h / x->between[2],
           further = x->b.predicted, v = x->value_B, norm = t->norm_biases ? 2 * h : h;
    double multiple = (double)(t->vocabulary_multiple ? t->vocabulary_multiple : 128) * p,
           words = up_to((double)t->vocabulary, multiple), matrix = words * h,
           looked = (x->first ? 1 : 0) + further, logits = (x->last ? 1 + further : 0);
    bool apart = fr_plan_last_stage(x->plan) > 0;
    double values = looked * 2 * part, norms = 0, kernels = 2 * looked, saved = 0;
    if (x->last && t->masked_head) {
        wide_product(x, before * h, x->frozen, false);
        values += 4 * before, norms += 2 * before, kernels += 3, saved += 3 * before;
    }
    /* widened, maximum, shifted and raised, summed: 20 bytes beside the value itself; the norm's input and output */
    values += logits * (T * words / p * (v + 20) / v + 2 * T * h);
    kernels += 5 * logits;
    saved += logits * (before + T * words / p);
    wide_product(x, logits * T * words / p * h, x->frozen, false);
    moves(x, values, norms, 0, kernels, x->frozen);
    x->r->ends_B += saved * v, x->r->stored_B += saved * v;
    if (x->last) again_gathered(x, 2, h, logits);
    if (x->first)
        x->r->parameters += matrix + (t->positions ? x->s * h : 0) + (double)t->token_types * h;
    if (x->first)
        x->r->parameters_rank +=
            matrix / p + (t->positions ? x->s * h : 0) + (double)t->token_types * h;
    if (x->last) {
        double head = (t->masked_head ? h * h + h + norm : 0) +
                      (t->pooler ? h * h + 3 * h + 2 : 0),
               biases = t->masked_head ? (double)t->vocabulary : 0;
        bool copy = apart && (t->tied || t->predicted > 0);
        x->r->parameters += norm + head + biases + (t->tied ? 0 : matrix);
        x->r->parameters_rank +=
            norm + head + biases / p + (t->tied ? 0 : matrix / p) + (copy ? matrix / p : 0);
    }
    if ((x->first || x->last) && (t->tied || t->predicted > 0) && !x->frozen)
        x->r->embedding_rank = matrix / p;
    if (x->first) change_grid(x, 2, 0, FR_AXIS_FROM_ENDS, 1);
    if (x->last) change_grid(x, 1, 2, FR_AXIS_TO_ENDS, 1);
    fr_op sum = x->sp ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE;
    if (p <= 1) return;
    send(x, FR_PASS_FORWARD, x->axis[2], sum, looked * T * h);
    send(x, FR_PASS_INPUT, x->axis[2], sum, logits * T * h);
    if (!x->sp) return;
    send(x, FR_PASS_INPUT, x->axis[2], FR_OP_ALL_GATHER, looked * T * h);
    send(x, FR_PASS_FORWARD, x->axis[2], FR_OP_ALL_GATHER, logits * T * h);
}

/* A module that predicts a further token: three norms, what they make joined, a product of 2 h to h. */
static void further_tokens(const struct rank *x) {
    double n = x->b.predicted, T = x->tokens[0], part = T * x->h / x->between[0];
    product(x, n * T * 2 * x->h * x->h / x->p[0], false, false);
    moves(x, n * 8 * part, n * 6 * part, 0, 5 * n, false);
    x->r->stored_B += n * part * (3 * x->value_B + 2 * x->read_B);
    x->r->ends_B += n * part * (3 * x->value_B + 2 * x->read_B);
    if (x->p[0] <= 1) return;
    send(x, FR_PASS_FORWARD, x->axis[0], FR_OP_ALL_GATHER, n * T * x->h);
    send(x, FR_PASS_INPUT, x->axis[0], FR_OP_ALL_REDUCE, 2 * n * T * x->h);
}

/* ---- method phantom: inputs and outputs of the MLP, the attention or both in p parts with k ghosts each -------- */

/* One matrix of @p in inputs and @p out outputs over all ranks, phantom or whole. */
struct phantom_matrix {
    bool phantom;
    double in, out, n, inputs; /* inputs: streams that it reads */
};

static double weights_of(const struct rank *x, const struct phantom_matrix *m) {
    double k = (double)x->plan->ghost, p = x->p[0];
    return m->phantom ? m->in * m->out / p + k * m->in + (p - 1) * k * m->out : m->in * m->out;
}

/* Products: what reads the normed stream is made; decompressors read what was gathered. */
static void phantom_products(const struct rank *x, const struct phantom_matrix *m, bool made) {
    double T = x->tokens[0], k = (double)x->plan->ghost, p = x->p[0],
           foreign = (p - 1) * k * m->out / p, all = m->n * T * weights_of(x, m) / p,
           own = all - m->n * T * foreign;
    if (!m->phantom) own = all, foreign = 0;
    if (made)
        made_product(x, own, false, x->full);
    else
        product(x, own, false, x->full);
    if (m->phantom) product(x, m->n * T * foreign, false, x->full);
}

static void phantom_layers(const struct rank *x) {
    const struct fr_transformer *t = x->t;
    bool A = x->plan->phantom_parts != FR_PHANTOM_MLP,
         M = x->plan->phantom_parts != FR_PHANTOM_ATTENTION;
    double T = x->tokens[0], h = x->h, f = (double)t->ffn, p = x->p[0], v = x->read_B,
           k = (double)x->plan->ghost, n = x->b.layers, ghost_neurons = p * k * T,
           part = T * h / p, made = x->q + 2 * x->kv, cross = x->b.cross,
           heads = t->head_kernels > 0 ? t->head_kernels * (double)t->heads / p : 3,
           norm = t->norm_biases ? 2 * h : h,
           of_heads = t->qk_norms ? 2 * (double)t->head_dim : 0;
    const struct phantom_matrix all[] = {{A, h, made, x->attentions - cross, 1},
                                         {A, h, made, cross, 2},
                                         {A, x->q, h, x->attentions, 1},
                                         {M, h, f, n * (x->mats - 1), 1},
                                         {M, f, h, n, 1}};
    double over_p = 0, ghosts = 0, launched = 0, T_h = 0, scattered = 0, saved = 0;
    for (int i = 0; i < 5; i++) {
        const struct phantom_matrix *m = &all[i];
        bool first = i != 2 && i != 4;
        if (m->n <= 0) continue;
        phantom_products(x, m, first);
        over_p += m->n * weights_of(x, m);
        if (m->phantom) {
            /* a second stream is compressed by a matrix of its own */
            double more = (m->inputs - 1) * m->n * k * h;
            over_p += more;
            if (more > 0) made_product(x, T * more / p, false, x->full);
            ghosts += m->n * m->inputs * ghost_neurons;
            launched += m->n * (p + m->inputs - 1);
            saved += m->n * m->inputs * ghost_neurons;
        } else if (first) {
            T_h += (i == 3 ? n : m->n) * m->inputs;
        } else
            scattered += m->n;
    }
    double divided = (A ? x->attentions : 0) + (M ? n : 0),
           gathered_norms = x->attentions + n - divided;
    for (int pass = 0; pass < (x->full ? 3 : 2); pass++) {
        bool back = pass == 1;
        fr_op in = back ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_GATHER,
              out = back ? FR_OP_ALL_GATHER : FR_OP_REDUCE_SCATTER;
        send(x, passes[pass], FR_AXIS_TP, in, T_h * T * h + ghosts);
        send(x, passes[pass], FR_AXIS_TP, out, scattered * T * h);
        send(x, passes[pass], FR_AXIS_TP, FR_OP_ALL_REDUCE, divided * 2 * T);
    }
    double softmax = x->attentions * 4 * x->scores,
           norms = gathered_norms * 2 * T * h + divided * 2 * part,
           values = norms + (x->attentions + n) * 3 * part + n * 2 * (x->mats - 1) * T * f / p +
                    softmax,
           kernels = n * ((t->gated ? 10 : 9) + heads) + launched + cross * (4 + heads);
    moves(x, values, norms, softmax, kernels, false);
    if (x->full) {
        x->r->moved_B[FR_PASS_AGAIN] += values * v, x->r->norm_B[FR_PASS_AGAIN] += norms * v;
        x->r->kernels[FR_PASS_AGAIN] += kernels;
    } else if (x->selective) {
        x->r->moved_B[FR_PASS_AGAIN] += softmax * v;
        x->r->kernels[FR_PASS_AGAIN] += x->attentions * heads;
    }
    if (x->full || x->selective) x->r->softmax_B[FR_PASS_AGAIN] += softmax * v;
    double mask_B = t->dropout ? 1 : 0, core_B = (t->dropout ? 2 * v + 1 : v) * x->scores;
    double normed = gathered_norms * T * h + divided * part;
    double stored_B = ((x->attentions + n) * part + normed + saved +
                       x->attentions * 2 * (x->q + x->kv) / p * T + n * x->mats * T * f / p) *
                          v +
                      (x->attentions + n) * mask_B * part + x->attentions * core_B;
    x->r->stored_B += x->full        ? n * part * v
                      : x->selective ? stored_B - x->attentions * core_B
                                     : stored_B;
    x->r->working_B = fmax(T_h > 0 ? T * h : 0, ghosts > 0 ? ghost_neurons : 0) * v;
    x->r->working_B = fmax(x->r->working_B, divided > 0 ? 2 * T * v : 0);
    if (x->full) x->r->working_B += stored_B / n;
    if (x->selective) x->r->working_B += x->attentions * core_B / n;
    over_p += x->attentions * ((t->biases || t->qkv_biases ? made : 0) + (t->biases ? h : 0)) +
              n * (t->biases ? (x->mats - 1) * f + h : 0) + divided * norm;
    double whole = x->attentions * of_heads + gathered_norms * norm;
    x->r->parameters += over_p + whole;
    x->r->parameters_rank += over_p / p + whole;
}

static void phantom_ends(const struct rank *x) {
    struct rank y = *x;
    double T = x->tokens[0];
    struct reckoned layers = *x->r;
    y.between[2] =
        x->p[2]; /* between products the stream's columns are divided, not its tokens */
    ends(&y, T * x->h);
    memcpy(x->r->sent_B, layers.sent_B, sizeof layers.sent_B);
    if (x->first || x->last) x->r->working_B = fmax(x->r->working_B, T * x->h * x->read_B);
    for (int back = 0; back < 2; back++) {
        fr_op scatter = back ? FR_OP_ALL_GATHER : FR_OP_REDUCE_SCATTER,
              gather = back ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_GATHER;
        if (x->first) send(x, passes[back], FR_AXIS_TP, scatter, T * x->h);
        if (x->last) send(x, passes[back], FR_AXIS_TP, gather, T * x->h);
    }
}

/* ---- method subgraph: branches over g sub-grids, common layers over all or the first -------------- */

/* One way there and its mirror image back, each packed and unpacked: two kernels, twice read and written. */
static void joint(const struct rank *x, fr_op there, fr_op back, double values, double n) {
    if (n <= 0) return;
    for (int k = 0; k < (x->full ? 3 : 2); k++)
        send(x, passes[k], FR_AXIS_TP, k == 1 ? back : there, n * values);
    moves(x, 4 * n * values, 0, 0, 2 * n, false);
    x->r->working_B = fmax(x->r->working_B, values * x->value_B);
}

/* So many values of @p width a token from a common layer to the branches, and from them to one. */
static void slices(const struct rank *x, double width, double out, double in) {
    double g = (double)x->plan->tp, T = x->tokens[0];
    if (x->plan->common_subgrid) {
        joint(x, FR_OP_SCATTER, FR_OP_GATHER, T * width, out);
        joint(x, FR_OP_GATHER, FR_OP_SCATTER, T * width, in);
    } else if (x->plan->gather_all)
        joint(x, FR_OP_ALL_GATHER, FR_OP_ALL_GATHER, T * width, out + in);
    else
        joint(x, FR_OP_ALL_TO_ALL, FR_OP_ALL_TO_ALL, T / g * width, out + in);
}

static void joints(const struct rank *x) {
    double splits = x->attentions, T = x->tokens[0];
    if (x->plan->tp < 2) return;
    if (x->plan->branches == FR_BRANCHES_HEADS) {
        slices(x, x->q, x->attentions, x->attentions);
        slices(x, x->kv, 2 * x->attentions, 0);
        return;
    }
    if (x->plan->branches == FR_BRANCHES_LAYER) splits += x->b.layers;
    fr_op split = x->plan->common_subgrid ? FR_OP_BROADCAST : FR_OP_ALL_GATHER,
          sum = x->plan->common_subgrid ? FR_OP_REDUCE : FR_OP_REDUCE_SCATTER;
    joint(x, split, sum, T * x->h,
          splits + x->b.cross); /* a decoder splits the encoder's too */
    joint(x, sum, split, T * x->h, splits);
}

static void branched_layers(struct rank *x) {
    const struct fr_transformer *t = x->t;
    bool of_heads = x->plan->branches == FR_BRANCHES_HEADS,
         of_layers = x->plan->branches == FR_BRANCHES_LAYER;
    double g = (double)x->plan->tp, T = x->tokens[0], C = x->tokens[2], h = x->h,
           v = x->value_B, f = (double)t->ffn, n = x->b.layers, places = x->attentions + n;
    /* tokens of a rank times its share of a block */
    double A = of_heads ? C : T / g, M = of_layers ? T / g : C;
    made_product(x, x->attentions * A * h * (x->q + 2 * x->kv), false, x->full);
    product(x, x->attentions * A * h * x->q, false, x->full);
    core_products(x, x->attentions);
    made_product(x, n * (x->mats - 1) * M * h * f, false, x->full);
    product(x, n * M * h * f, false, x->full);
    double softmax = x->attentions * 4 * x->scores, norms = places * 2 * C * h,
           values = norms + places * 3 * C * h + n * 2 * (x->mats - 1) * M * f + softmax,
           heads = t->head_kernels > 0 ? t->head_kernels * (double)t->heads / g : 3,
           kernels = n * ((t->gated ? 10 : 9) + heads) + x->b.cross * (4 + heads);
    moves(x, values, norms, softmax, kernels, false);
    if (x->full) {
        x->r->moved_B[FR_PASS_AGAIN] += values * v, x->r->norm_B[FR_PASS_AGAIN] += norms * v;
        x->r->kernels[FR_PASS_AGAIN] += kernels;
    } else if (x->selective) {
        x->r->moved_B[FR_PASS_AGAIN] += softmax * v;
        x->r->kernels[FR_PASS_AGAIN] += x->attentions * heads;
    }
    if (x->full || x->selective) x->r->softmax_B[FR_PASS_AGAIN] += softmax * v;
    double core_B = x->attentions * (t->dropout ? 2 * v + 1 : v) * x->scores,
           saved = places * C * h +
                   x->attentions * ((of_heads ? C : T) * h + A * (2 * x->q + 2 * x->kv)) +
                   n * ((of_layers ? T : C) * h + x->mats * M * f),
           stored_B = saved * v + (t->dropout ? places * C * h : 0) + core_B;
    x->r->stored_B += x->full ? n * C * h * v : x->selective ? stored_B - core_B : stored_B;
    joints(x);
    if (x->full) x->r->working_B += stored_B / n;
    if (x->selective) x->r->working_B += core_B / n;
    double bias = t->biases ? h : 0, norm = t->norm_biases ? 2 * h : h,
           of_queries = t->qk_norms ? 2 * (double)t->head_dim : 0,
           attention = x->attentions * (2 * h * x->q + 2 * h * x->kv +
                                        (t->biases || t->qkv_biases ? x->q + 2 * x->kv : 0)),
           mlp = n * (x->mats * h * f + (t->biases ? (x->mats - 1) * f : 0)),
           branch = (of_heads ? 0 : attention) + (of_layers ? mlp : 0);
    x->r->parameters +=
        attention + mlp + x->attentions * (norm + of_queries + bias) + n * (norm + bias);
    x->r->parameters_rank += x->r->parameters - branch + branch / g;
}

static void reckon_branches(struct rank *x) {
    double g = (double)x->plan->tp, samples = x->plan->common_subgrid ? x->micro : x->micro / g;
    x->tokens[2] = samples * x->own, x->p[2] = 1, x->between[2] = 1;
    branched_layers(x);
    context_exchanges(x);
    ends(x, x->tokens[2] * x->h);
}

/* ---- both beside each other --------------------------------------------------------------------- */

static void reckon(const struct fr_job *job, int64_t i, struct reckoned *r) {
    struct rank x = rank_of(job, i, r);
    if (job->plan.method == &fr_method_phantom) {
        core_products(&x, x.attentions);
        phantom_layers(&x);
        context_exchanges(&x);
        phantom_ends(&x);
        return;
    }
    if (job->plan.method == &fr_method_subgraph) {
        reckon_branches(&x);
        return;
    }
    layer_parameters(&x);
    layer_products(&x);
    layer_exchanges(&x);
    change_grid(&x, 0, 1, FR_AXIS_TO_MLP, x.b.layers);
    change_grid(&x, 1, 0, FR_AXIS_TO_MLP, x.b.layers - 1);
    context_exchanges(&x);
    expert_exchanges(&x);
    layer_moves(&x);
    layer_memory(&x);
    further_tokens(&x);
    ends(&x, x.tokens[2] * x.h / x.between[2]);
    if (x.frozen) r->frozen_rank = r->parameters_rank;
    layer_adapters(&x);
}

static void alike(double got, double want, double of, const char *what, int pass,
                  const char *stated) {
    FR_TRUE(fabs(got - want) <= 1e-9 * fmax(fabs(of), 1), "%s of pass %d: %.12g, not %.12g: %s",
            what, pass, got, want, stated);
}

/* Beside its size an operation says whom it concerns: nobody waits for common layers where there are none; a weight
 * gradient names who holds copies, of experts their own; products read W and x transposed backward; what a norm
 * wrote at its width only the forward product reads. */
static void says_whom_it_concerns(const struct fr_rank_work *w, const struct rank *x,
                                  const char *stated) {
    bool ghost_neurons = x->plan->method == &fr_method_phantom, experts = false;
    for (int k = 0; k < w->n_ops; k++) {
        const struct fr_operation *o = &w->op[k];
        bool weight = o->pass == FR_PASS_WEIGHT;
        FR_TRUE(!o->common && o->times >= 0, "operation %d: %s", k, stated);
        FR_TRUE(o->stalls ==
                    (ghost_neurons && o->kind == FR_WORK_COLLECTIVE && o->axis == FR_AXIS_TP),
                "operation %d: %s", k, stated);
        if (!test_is_product(o)) continue;
        FR_TRUE(o->transposed == (weight                     ? FR_TRANSPOSED_B
                                  : o->pass == FR_PASS_INPUT ? FR_TRANSPOSED_A
                                                             : FR_TRANSPOSED_NONE),
                "operation %d: %s", k, stated);
        FR_TRUE(!o->made || o->pass == FR_PASS_FORWARD || o->pass == FR_PASS_AGAIN,
                "operation %d: %s", k, stated);
        bool copies = o->axis == FR_AXIS_DP || o->axis == FR_AXIS_EXPERT;
        FR_TRUE(weight ? copies : o->axis == 0, "operation %d: %s", k, stated);
        experts = experts || (weight && o->axis == FR_AXIS_EXPERT);
    }
    FR_TRUE(experts == (x->b.mixed > 0 && !x->frozen), "%s", stated);
}

static void a_stage_is_the_sum_of_its_blocks(void **state) {
    uint64_t dice = 0x9e3779b97f4a7c15u;
    static struct fr_rank_work work;
    static struct reckoned got, want;
    int n = 0, phantom = 0, branched = 0, grids = 0, scans = 0, crossed = 0;
    (void)state;
    const int draws = fr_sample(4000, 1200);
    for (int k = 0; k < draws; k++) {
        char stated[1000];
        struct fr_job job;
        if (!draw(&dice, &job, stated, sizeof stated)) continue;
        const struct fr_plan *plan = &job.plan;
        const struct fr_transformer *t = &job.workload.transformer;
        bool ghost_neurons = plan->method == &fr_method_phantom,
             branches = plan->method == &fr_method_subgraph, ends = t->masked_head || t->pooler;
        if (plan->dispatch_ranks > 0 || (branches && ends) ||
            ((ghost_neurons || branches) &&
             (t->lora_rank > 0 || fr_recompute_saves(plan->recompute)))) {
            fr_job_free(&job);
            continue;
        }
        for (int64_t i = 0; i < plan->pp; i++) {
            test_stage(&job.workload, plan, i, &work);
            reckon_list(&work, &got);
            reckon(&job, i, &want);
            struct rank x = rank_of(&job, i, &(struct reckoned){0});
            if (!branches) says_whom_it_concerns(&work, &x, stated);
            FR_NEAR(work.idle_ranks,
                    branches && plan->common_subgrid ? 1 - 1 / (double)plan->tp : 0, 1e-12);
            for (int p = 0; p < FR_PASS_KINDS; p++) {
                alike(got.flop[p], want.flop[p], want.flop[p], "flop", p, stated);
                alike(got.made[p], want.made[p], want.made[p], "flop of what is made", p,
                      stated);
                alike(got.wide[p], want.wide[p], want.wide[p], "flop at full width", p, stated);
                alike(got.kernels[p], want.kernels[p], want.kernels[p], "kernels", p, stated);
                alike(got.moved_B[p], want.moved_B[p], want.moved_B[p], "moved", p, stated);
                alike(got.norm_B[p], want.norm_B[p], want.norm_B[p], "norms", p, stated);
                alike(got.softmax_B[p], want.softmax_B[p], want.softmax_B[p], "softmax", p,
                      stated);
                for (int a = 0; a < FR_AXES; a++)
                    for (int o = 0; o < FR_OP_COUNT; o++)
                        FR_TRUE(
                            fabs(got.sent_B[p][a][o] - want.sent_B[p][a][o]) <=
                                1e-9 * want.sent_B[p][a][o],
                            "%s over axis %d in pass %d of stage %d: %.12g B, not %.12g: %s",
                            fr_op_names[o], a, p, (int)i, got.sent_B[p][a][o],
                            want.sent_B[p][a][o], stated);
            }
            alike(got.parameters, want.parameters, want.parameters, "parameters", -1, stated);
            alike(got.parameters_rank, want.parameters_rank, want.parameters_rank,
                  "parameters of a rank", -1, stated);
            alike(got.frozen_rank, want.frozen_rank, want.frozen_rank, "frozen", -1, stated);
            alike(got.expert_rank, want.expert_rank, want.expert_rank, "experts", -1, stated);
            alike(got.embedding_rank, want.embedding_rank, want.embedding_rank, "embedding", -1,
                  stated);
            alike(got.stored_B, want.stored_B, want.stored_B, "kept", -1, stated);
            alike(got.ends_B, want.ends_B, want.ends_B, "kept at the ends", -1, stated);
            alike(got.working_B, want.working_B, want.working_B, "held", -1, stated);
        }
        n++;
        phantom += ghost_neurons;
        branched += branches;
        grids += plan->method == &fr_method_grid;
        scans += *job.workload.transformer.pattern != 0;
        crossed += job.workload.transformer.cross_layers > 0;
        fr_job_free(&job);
    }
    FR_TRUE(n > draws / 8 && phantom > draws / 133 && branched > draws / 133 &&
                grids > draws / 133 && scans > draws / 200 && crossed > draws / 80,
            "%d: %d, %d, %d, %d, %d", n, phantom, branched, grids, scans, crossed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_network_is_its_matrices),
                                       cmocka_unit_test(a_stage_is_the_sum_of_its_blocks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
