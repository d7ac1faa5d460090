#include "studies/optimus/costs.h"

#include <math.h>

#include "models/outcome/cost.h"

static const int64_t ranks[] = {4, 16, 64, 128, 256, 512};
enum { N_RANKS = sizeof ranks / sizeof *ranks, RANK_512 = N_RANKS - 1, RANK_128 = 3 };

/* Of one GPU: its fullest, and what the codec of its messages holds where it has one. */
static double memory_B(const struct fr_optimus *s, bool lazy, double *codec_B) {
    struct fr_plan plan = fr_optimus_plan(s, FR_OPTIMUS_CB, 0);
    struct fr_outcome out;
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    *codec_B = NAN;
    plan.duplex = false; /* memory hangs on what is held, not on how messages wait */
    plan.compression.lazy_error = lazy;
    fr_cost(&s->job, &plan, &out);
    if (fr_pipeline_make(&s->job, &plan, &p, &extrapolated, NULL) == FR_OK)
        *codec_B = p.stage[0].message_codec_B;
    fr_pipeline_free(&p);
    return out.memory_peak_B;
}

void fr_optimus_figure12(struct fr_reproduction *r, const struct fr_optimus *s,
                         const char *model) {
    double coded_B, lazy_B, peak_B = memory_B(s, false, &coded_B),
                            same_B = memory_B(s, true, &lazy_B);
    fr_reproduce_add(
        r, FR_ROLE_NOT_EXPLAINED, 0.075, coded_B / peak_B, "1", 1.0 / 3,
        "memory for factors over that of the fullest GPU; published: 5 to 10 %, as PyTorch "
        "allocates it, which is not what rank 16 needs",
        "fig12/%s/codec", model);
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, 0.01, (lazy_B - coded_B) / peak_B, "1", 0.5,
                     "memory for the error that is kept, of one message", "fig12/%s/lazy_error",
                     model);
    fr_reproduce_add_ordering(
        r, same_B == peak_B,
        "the fullest GPU holds the first stage, which sends no gradients down "
        "and keeps no error: it needs no more",
        "ordering/fig12/%s/first_stage_is_fullest", model);
}

static double gain_of(const struct fr_optimus *s, int64_t stages, int64_t rank, double *ratio) {
    struct fr_optimus at = *s;
    at.job.plan.compression.gradient_rank = rank;
    double before_s = fr_optimus_time_s(s, FR_OPTIMUS_FE, 0);
    struct fr_plan plan = fr_optimus_plan(&at, FR_OPTIMUS_SC, stages),
                   none = fr_optimus_plan(s, FR_OPTIMUS_FE, 0);
    struct fr_pipeline coded, whole;
    uint32_t extrapolated = 0;
    *ratio = NAN;
    fr_status status = fr_pipeline_make(&at.job, &plan, &coded, &extrapolated, NULL),
              plain = fr_pipeline_make(&at.job, &none, &whole, &extrapolated, NULL);
    if (status == FR_OK && plain == FR_OK) /* a stage between the ends: no embedding */
        *ratio =
            whole.stage[1].gradient_B / (coded.stage[1].gradient_B + coded.stage[1].coded_B);
    fr_pipeline_free(&coded);
    fr_pipeline_free(&whole);
    return before_s / fr_optimus_time_s(&at, FR_OPTIMUS_SC, stages) - 1;
}

void fr_optimus_figure13(struct fr_reproduction *r, const struct fr_optimus *s) {
    int64_t pp = s->job.plan.pp;
    double gain[N_RANKS], ratio = NAN, best_of_stages = -INFINITY, best_of_ranks = -INFINITY;
    for (int64_t k = 0; k <= pp; k++) {
        double at = gain_of(s, k, 128, &ratio);
        fr_reproduce_add_point(r, at, "1", "fig13/stages/%d/gain", (int)(100 * k / pp));
        best_of_stages = fmax(best_of_stages, at);
    }
    for (int i = 0; i < N_RANKS; i++) {
        gain[i] = gain_of(s, pp, ranks[i], &ratio);
        fr_reproduce_add_point(r, gain[i], "1", "fig13/rank/%d/gain", (int)ranks[i]);
        best_of_ranks = fmax(best_of_ranks, gain[i]);
    }
    fr_reproduce_add(
        r, FR_ROLE_NOT_EXPLAINED, 10, ratio, "1", 0.1,
        "bytes of a stage's gradients over what is sent, at rank 512: of matrices that eight "
        "GPUs divide hardly any shrink",
        "fig13/rank=512/compression_ratio");
    fr_reproduce_add_ordering(r, gain[RANK_512] < gain[RANK_128],
                              "rank 512 is slower than rank 128, all stages compressed",
                              "ordering/fig13/rank_512_slows");
    fr_reproduce_add(
        r, FR_ROLE_NOT_EXPLAINED, NAN, best_of_stages - best_of_ranks, "1", 0,
        "best gain of any number of stages at rank 128, less that of any rank of all stages: "
        "the speed half of \"always a better trade-off\"",
        "fig13/stages_over_ranks");
}

/* GB/s of @p s's message at @p rank; NaN where it goes whole. */
static void throughput(const struct fr_optimus *s, int64_t rank, double *encode,
                       double *decode) {
    struct fr_plan plan = fr_optimus_plan(s, FR_OPTIMUS_CB, 0);
    struct fr_pipeline p;
    uint32_t extrapolated = 0;
    *encode = *decode = NAN;
    plan.compression.backward_rank = rank;
    if (fr_pipeline_make(&s->job, &plan, &p, &extrapolated, NULL) == FR_OK &&
        !p.stage[0].sends_whole) {
        *encode = p.stage[0].message_B / p.stage[0].encode_s / 1e9;
        *decode = p.stage[0].message_B / p.stage[0].decode_s / 1e9;
    }
    fr_pipeline_free(&p);
}

/* Published of one message alone: rank 16 of 8.3B; 786.96 Gb/s and 68.2 Tb/s in the text. */
static void add_rate(struct fr_reproduction *r, const char *model, const char *what,
                     int64_t rank, double rate, double published) {
    if (isnan(published))
        fr_reproduce_add_point(r, rate, "GB/s", "fig15/%s/%s/rank=%d", model, what, (int)rank);
    else
        fr_reproduce_add(
            r, FR_ROLE_NOT_EXPLAINED, published, rate, "GB/s", 0.25,
            "of one GPU's part of a message; ours pays launches for every column, and writes "
            "no faster than the memory's 2 TB/s",
            "fig15/%s/%s/rank=%d", model, what, (int)rank);
}

static void add_throughput(struct fr_reproduction *r, const struct fr_optimus *s,
                           const char *model, bool published, double encode[N_RANKS]) {
    for (int i = 0; i < N_RANKS; i++) {
        bool known = published && ranks[i] == 16;
        double decode;
        throughput(s, ranks[i], &encode[i], &decode);
        add_rate(r, model, "compression", ranks[i], encode[i], known ? 98.37 : NAN);
        add_rate(r, model, "decompression", ranks[i], decode, known ? 8525 : NAN);
    }
}

fr_status fr_optimus_figure15(struct fr_reproduction *r, struct fr_error *err) {
    static const char *const models[] = {"gpt-8.3b", "gpt3-175b"};
    double encode[2][N_RANKS];
    for (int k = 0; k < 2; k++) {
        struct fr_optimus s = {0};
        fr_status status = fr_optimus_load(models[k], &s, err);
        if (status == FR_OK) {
            s.job.workload.dtype = s.job.workload.gradient_dtype = FR_FP32;
            add_throughput(r, &s, models[k], k == 0, encode[k]);
        }
        fr_job_free(&s.job);
        FR_TRY(status);
    }
    bool falls = true, rises = true;
    for (int i = 1; i < N_RANKS; i++)
        for (int k = 0; k < 2; k++) falls = falls && !(encode[k][i] > encode[k][i - 1]);
    for (int i = 0; i < N_RANKS; i++) rises = rises && !(encode[1][i] < encode[0][i]);
    fr_reproduce_add_ordering(r, falls, "the higher the rank the lower the throughput",
                              "ordering/fig15/falls_with_rank");
    fr_reproduce_add_ordering(r, rises, "larger models compress at a higher rate",
                              "ordering/fig15/rises_with_model");
    return FR_OK;
}
