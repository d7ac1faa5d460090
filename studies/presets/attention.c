/* Fused attention, as kernels that others timed alone: what share of the peak they reach, by how many keys a query
 * attends to, forward and backward.
 *
 *      rate(K) = peak share K / (K + half_keys),  backward times `backward`        models/device/device.h
 *
 * K is the sequence, or half of it where causal; least squares of the logarithms.  As wide is left (/width) of the
 * share what single kernels of these scatter by, of several releases of a library and of several libraries, since a run has
 * one of them; of `backward` what the ratio of a kernel's two passes scatters by.
 *
 * Rates are of NVIDIA's cuDNN, in TFLOP/s, 128 values a head, causal flop counted once, from the tables of results in
 * its repository (NVIDIA/cudnn-frontend, benchmark/sdpa_benchmark_training/results and artifacts,
 * benchmark/attention_training/results and benchmark/benchmark_results.csv, 2024 to August 2026), and of FlashAttention-4
 * on a B200 (Dao-AILab/flash-attention, pull request 2280).  Sequences beyond 32,768 run at lower clocks and are left
 * out, and of a B200, timed through PyTorch, those so short that its host shows. */
#include <math.h>
#include <stdio.h>

#include "studies/presets/rows.h"
#include "studies/training/table.h"
#include "trust/numbers/nlfit.h"

struct timed {
    double sequence;
    int causal;
    double forward, backward; /* TFLOP/s */
};

/* cuDNN 9.26 on an A100 of PCI-Express. */
static const struct timed a100[] = {
    {2048, 1, 154, 110}, {2048, 0, 190, 136}, {4096, 1, 173, 128},  {4096, 0, 197, 145},
    {8192, 1, 178, 132}, {8192, 0, 182, 142}, {16384, 1, 170, 136}, {16384, 0, 181, 143}};
/* cuDNN 9.26, and 9.0 or 9.1 of 2024, on an H200. */
static const struct timed h200[] = {
    {2048, 1, 533, 409},  {2048, 0, 652, 526}, {4096, 1, 613, 500},  {4096, 0, 683, 581},
    {8192, 1, 651, 537},  {8192, 0, 696, 562}, {16384, 1, 626, 533}, {16384, 0, 623, 536},
    {4096, 1, 542, 444},  {4096, 0, 654, 517}, {8192, 1, 573, 464},  {8192, 0, 669, 530},
    {16384, 1, 587, 498}, {16384, 0, 642, 538}};
/* Two runs through PyTorch in 2025, and FlashAttention-4. */
static const struct timed b200[] = {{8192, 1, 1171, 942},   {16384, 1, 1332, 1075},
                                    {32768, 1, 1419, 1109}, {8192, 1, 1197, 940},
                                    {16384, 1, 1350, 1073}, {32768, 1, 1430, 1124},
                                    {8192, 1, 1418, 1118},  {8192, 0, 1535, 1247}};
/* cuDNN 9.18 and 9.22. */
static const struct timed gb200[] = {
    {2048, 1, 1022, 824},   {2048, 0, 1232, 1070},  {4096, 1, 1297, 1105},
    {4096, 0, 1569, 1261},  {8192, 1, 1563, 1279},  {8192, 0, 1675, 1381},
    {16384, 1, 1646, 1371}, {16384, 0, 1746, 1429}, {2048, 1, 1097, 885},
    {2048, 0, 1433, 1124},  {4096, 1, 1408, 1148},  {4096, 0, 1599, 1350},
    {8192, 1, 1574, 1332},  {8192, 0, 1771, 1404},  {16384, 1, 1708, 1328},
    {16384, 0, 1697, 1374}};
static const struct timed gb300[] = {
    {2048, 1, 1265, 900},   {2048, 0, 1559, 1151},  {4096, 1, 1679, 1198},
    {4096, 0, 1901, 1352},  {8192, 1, 1927, 1391},  {8192, 0, 1967, 1498},
    {16384, 1, 1998, 1494}, {16384, 0, 2001, 1557}, {2048, 1, 1373, 967},
    {2048, 0, 1805, 1213},  {4096, 1, 1703, 1248},  {4096, 0, 1900, 1429},
    {8192, 1, 1856, 1435},  {8192, 0, 2017, 1531},  {16384, 1, 1915, 1507},
    {16384, 0, 2014, 1536}};

/* What is fitted to: @p peak in TFLOP/s. */
struct kernels {
    const struct timed *row;
    int n;
    double peak;
};

enum { KERNELS_MAX = 16 };

enum { SHARE, HALF_KEYS, BACKWARD, UNKNOWNS };

/* ln(timed / the law's), forward and backward of each. */
static void residuals(void *of, const double *unknown, double *left) {
    const struct kernels *k = of;
    for (int i = 0; i < k->n; i++) {
        const struct timed *t = &k->row[i];
        double keys = t->causal ? t->sequence / 2 : t->sequence,
               law = k->peak * unknown[SHARE] * keys / (keys + unknown[HALF_KEYS]);
        left[2 * i] = log(t->forward / law);
        left[2 * i + 1] = log(t->backward / (law * unknown[BACKWARD]));
    }
}

#define KERNELS(of, peak)                                                                      \
    { of, (int)(sizeof(of) / sizeof *(of)), peak }

static const struct {
    const char *preset;
    struct kernels timed;
    const char *of;
} told[] = {{"dgx-a100", KERNELS(a100, 312), "an A100"},
            {"a100-opa", KERNELS(a100, 312), "an A100"},
            {"dgx-h100", KERNELS(h200, 989), "an H200"},
            {"dgx-h200", KERNELS(h200, 989), "an H200"},
            {"gh200", KERNELS(h200, 989), "an H200"},
            {"dgx-b200", KERNELS(b200, 2250), "a B200"},
            {"dgx-b300", KERNELS(gb300, 2500), "a GB300"},
            {"gb200-nvl72", KERNELS(gb200, 2500), "a GB200"},
            {"gb300-nvl72", KERNELS(gb300, 2500), "a GB300"}};

/* Standard deviations that the law leaves: of a kernel's time, and of the ratio of its two passes. */
static void widths(struct kernels *k, const double *unknown, double *kernel, double *ratio) {
    double left[2 * KERNELS_MAX], squares = 0, of_ratios = 0;
    residuals(k, unknown, left);
    for (int i = 0; i < k->n; i++) {
        squares += left[2 * i] * left[2 * i] + left[2 * i + 1] * left[2 * i + 1];
        of_ratios += pow(left[2 * i + 1] - left[2 * i], 2);
    }
    *kernel = sqrt(squares / (2 * k->n - UNKNOWNS));
    *ratio = sqrt(of_ratios / (k->n - 1));
}

fr_status fr_presets_attention(struct fr_reproduction *r, struct fr_error *err) {
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        struct kernels k = told[i].timed;
        struct fr_cluster cluster = {0};
        double said[UNKNOWNS] = {0.5, 300, 0.8}, rms = NAN, kernel, ratio;
        char note[120];
        FR_TRY(fr_nlfit(residuals, &k, UNKNOWNS, 2 * (size_t)k.n, said, &rms, err));
        FR_TRY(fr_table_cluster(told[i].preset, &cluster, err));
        const struct fr_attention_rates *ours = &cluster.device.attention;
        widths(&k, said, &kernel, &ratio);
        snprintf(note, sizeof note,
                 "%d kernels of %s, forward and backward: %.1f %% root mean square", k.n,
                 told[i].of, 100 * rms);
        fr_presets_add(r, told[i].preset, "attention.flash", said[SHARE], ours->flash, "1",
                       true, note);
        fr_presets_add_width(r, told[i].preset, "attention.flash", kernel,
                             cluster.widths.sigma[FR_VALUE_FLASH][FR_BF16],
                             "what single kernels scatter by");
        fr_presets_add(r, told[i].preset, "attention.half_keys", said[HALF_KEYS],
                       ours->half_keys, "1", true, NULL);
        fr_presets_add(r, told[i].preset, "attention.backward", said[BACKWARD], ours->backward,
                       "1", true, NULL);
        fr_presets_add_width(r, told[i].preset, "attention.backward", ratio,
                             cluster.widths.sigma[FR_VALUE_FLASH_BACKWARD][FR_BF16],
                             "what the ratio of a kernel's passes scatters by");
        fr_cluster_free(&cluster);
    }
    return FR_OK;
}
