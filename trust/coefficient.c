#include "trust/coefficient.h"

#include <string.h>

#include "trust/numbers/effects.h"

const char *const fr_tune_group_names[] = {"device", "host", "network", NULL};

static double *positive(double *value) { return *value > 0 ? value : NULL; }

static double *efficiency(struct fr_cluster *c, fr_dtype dtype) {
    struct fr_gemm_model *gemm = &c->device.gemm[dtype];
    if (!gemm->form) return NULL;
    return gemm->form == &fr_gemm_tiled ? &gemm->tiles.efficiency
                                        : positive(&gemm->peak_flop_per_s);
}

static double *half_k(struct fr_cluster *c, fr_dtype dtype) {
    struct fr_gemm_model *gemm = &c->device.gemm[dtype];
    return gemm->form == &fr_gemm_tiled ? positive(&gemm->half) : NULL;
}

static double *tail(struct fr_cluster *c, fr_dtype dtype) {
    struct fr_gemm_model *gemm = &c->device.gemm[dtype];
    return gemm->form == &fr_gemm_tiled ? positive(&gemm->tiles.tail) : NULL;
}

static double *odd(struct fr_cluster *c, fr_dtype dtype) {
    struct fr_gemm_model *gemm = &c->device.gemm[dtype];
    return gemm->form == &fr_gemm_tiled ? positive(&gemm->tiles.odd) : NULL;
}

#define FIELD(name, member)                                                                    \
    static double *name(struct fr_cluster *c, fr_dtype dtype) {                                \
        (void)dtype;                                                                           \
        return positive(&c->member);                                                           \
    }
FIELD(memory_rate, device.memory_rate_B_per_s)
FIELD(plain_attention, device.attention.plain)
FIELD(flash_attention, device.attention.flash)
FIELD(flash_2, device.attention.flash_2)
FIELD(flash_1, device.attention.flash_1)
FIELD(flash_backward, device.attention.backward)
FIELD(interference, device.interference)
FIELD(launch, device.launch_s)
FIELD(host_launch, device.host_launch_s)
FIELD(host_pass, device.host_pass_s)
FIELD(host_experts, device.host_experts_s)
FIELD(host_skew, device.host_skew)
FIELD(fixed, device.fixed_s)

static double *node_latency(struct fr_cluster *c, fr_dtype dtype) {
    (void)dtype;
    return positive(&c->levels.level[fr_levels_near(&c->levels)].latency_s);
}

static double *node_rate(struct fr_cluster *c, fr_dtype dtype) {
    (void)dtype;
    return positive(&c->levels.level[fr_levels_near(&c->levels)].rate_B_per_s);
}

static double *network_latency(struct fr_cluster *c, fr_dtype dtype) {
    (void)dtype;
    return c->levels.count > 1 ? positive(&c->levels.level[c->levels.count - 1].latency_s)
                               : NULL;
}

static double *network_rate(struct fr_cluster *c, fr_dtype dtype) {
    (void)dtype;
    return c->levels.count > 1 ? positive(&c->levels.level[c->levels.count - 1].rate_B_per_s)
                               : NULL;
}

const struct fr_coefficient fr_coefficients[] = {
    {"efficiency", FR_VALUE_EFFICIENCY, FR_GROUP_DEVICE, 0, true, 0.2, 1, 0, 1, efficiency},
    {"half_k", FR_VALUE_HALF_K, FR_GROUP_DEVICE, 0, true, 0.7, 4, 0, 0, half_k},
    {"tail", FR_VALUE_TAIL, FR_GROUP_DEVICE, 0, true, 0.5, 4, 0, 0, tail},
    {"odd", FR_VALUE_ODD, FR_GROUP_DEVICE, 0, true, 0.4, 4, 1, 0, odd},
    {"attention", FR_VALUE_PLAIN, FR_GROUP_DEVICE, 0, true, 0.4, 4, 0, 1, plain_attention},
    {"flash_attention", FR_VALUE_FLASH, FR_GROUP_DEVICE, 0, true, 0.3, 4, 0, 1,
     flash_attention},
    {"flash_2_attention", FR_VALUE_FLASH_2, FR_GROUP_DEVICE, 0, true, 0.3, 4, 0, 1, flash_2},
    {"flash_1_attention", FR_VALUE_FLASH_1, FR_GROUP_DEVICE, 0, true, 0.3, 4, 0, 1, flash_1},
    {"flash_backward", FR_VALUE_FLASH_BACKWARD, FR_GROUP_DEVICE, 0, true, 0.2, 4, 0, 0,
     flash_backward},
    {"interference", FR_VALUE_INTERFERENCE, FR_GROUP_DEVICE, 0, true, 0.7, 4, 0, 1,
     interference},
    {"memory_bandwidth", FR_VALUE_MEMORY_RATE, FR_GROUP_DEVICE, FR_QUANTITY_RATE, false, 0.2, 4,
     0, 0, memory_rate},
    {"launch", FR_VALUE_LAUNCH, FR_GROUP_DEVICE, FR_QUANTITY_TIME, false, 0.7, 4, 0, 0, launch},
    {"host_launch", FR_VALUE_HOST_LAUNCH, FR_GROUP_HOST, FR_QUANTITY_TIME, false, 0.7, 4, 0, 0,
     host_launch},
    {"host_skew", FR_VALUE_HOST_SKEW, FR_GROUP_HOST, 0, true, 0.7, 4, 0, 0, host_skew},
    {"host_pass", FR_VALUE_HOST_PASS, FR_GROUP_HOST, FR_QUANTITY_TIME, false, 1, 4, 0, 0,
     host_pass},
    {"host_experts", FR_VALUE_HOST_EXPERTS, FR_GROUP_HOST, FR_QUANTITY_TIME, false, 0.7, 4, 0,
     0, host_experts},
    {"fixed", FR_VALUE_FIXED, FR_GROUP_HOST, FR_QUANTITY_TIME, false, 1, 4, 0, 0, fixed},
    {"node_latency", FR_VALUE_NODE_LATENCY, FR_GROUP_NETWORK, FR_QUANTITY_TIME, false, 0.7, 4,
     0, 0, node_latency},
    {"node_bandwidth", FR_VALUE_NODE_RATE, FR_GROUP_NETWORK, FR_QUANTITY_RATE, false, 0.2, 4, 0,
     0, node_rate},
    {"network_latency", FR_VALUE_NETWORK_LATENCY, FR_GROUP_NETWORK, FR_QUANTITY_TIME, false, 1,
     4, 0, 0, network_latency},
    {"network_bandwidth", FR_VALUE_NETWORK_RATE, FR_GROUP_NETWORK, FR_QUANTITY_RATE, false, 0.4,
     10, 0, 0, network_rate},
    {.name = NULL}};

double *fr_coefficient_at(int index, struct fr_cluster *cluster, fr_dtype dtype) {
    double *at = fr_coefficients[index].at(cluster, dtype);
    return at && *at > fr_coefficients[index].least ? at : NULL;
}

int fr_coefficient_count(void) {
    return (int)(sizeof fr_coefficients / sizeof *fr_coefficients) - 1;
}

int fr_coefficient_find(const char *name) {
    for (int i = 0; fr_coefficients[i].name; i++)
        if (strcmp(fr_coefficients[i].name, name) == 0) return i;
    return -1;
}

int fr_coefficient_effect(int index) {
    return fr_coefficients[index].group == FR_GROUP_NETWORK ? FR_EFFECT_NETWORK
                                                            : FR_EFFECT_DEVICE;
}

double fr_coefficient_width(int index, const struct fr_cluster *cluster, fr_dtype dtype) {
    double stated = cluster->uncertainty.sigma[fr_coefficients[index].place][dtype];
    return stated > 0 ? stated : fr_coefficients[index].sigma;
}

int fr_coefficients_stated(const struct fr_cluster *cluster, fr_dtype dtype, const int *index,
                           int n, double *stated) {
    const struct fr_uncertainty *widths = &cluster->uncertainty;
    int count = 0;
    for (int t = 0; t < widths->n_correlated; t++) {
        const struct fr_correlated *x = &widths->correlated[t];
        if (!fr_correlated_is_of(x, dtype)) continue;
        for (int k = 0; k < n; k++)
            stated[count * n + k] =
                fr_correlated_power(x, fr_coefficients[index[k]].place) / x->sigma;
        count++;
    }
    return count;
}
