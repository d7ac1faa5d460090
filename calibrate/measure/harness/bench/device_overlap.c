/* An all-reduce of all devices beside a bf16 product that takes about as long: each alone, both at once, and the product's
 * own time while the collective runs.  The loss is device.interference. */
#include "calibrate/measure/harness/bench.h"

_Static_assert((int)FR_DEVICE_BESIDE_COLLECTIVE == (int)FR_OVERLAP_COMM &&
                   (int)FR_DEVICE_BESIDE_DURING == (int)FR_OVERLAP_DURING,
               "parts are those of samples");

/* Messages, and the edge of a square product beside each. */
static const struct {
    double size_B;
    int edge;
} cases[] = {{4 << 20, 2048}, {64 << 20, 4096}, {512 << 20, 8192}};
enum { N_CASES = sizeof cases / sizeof *cases };

static struct fr_device_task task_of(const struct fr_point *p) {
    return (struct fr_device_task){.kind = FR_DEVICE_BESIDE,
                                   .group = p->team->group,
                                   .op = FR_OP_ALL_REDUCE,
                                   .part = p->part,
                                   .dtype = FR_BF16,
                                   .m = p->m,
                                   .n = p->n,
                                   .k = p->k,
                                   .transposed = FR_TRANSPOSED_B,
                                   .size_B = (double)p->count * sizeof(float)};
}

static struct fr_team *everyone(struct fr_bench *bench) {
    for (int t = 0; t < bench->teams.count; t++) {
        struct fr_team *team = &bench->teams.team[t];
        if (team->kind == FR_TEAM_GROUP && team->n_ranks == bench->n_ranks) return team;
    }
    return NULL;
}

static fr_status plan(struct fr_bench *bench, const struct fr_bench_row *row,
                      struct fr_error *err) {
    struct fr_team *team = everyone(bench);
    if (!team || bench->no_groups) return FR_OK;
    FR_TRY(fr_bench_device_join(bench, team, err));
    for (int i = 0; i < N_CASES && !bench->no_groups; i++)
        for (int part = FR_OVERLAP_COMM; part <= FR_OVERLAP_DURING; part++) {
            struct fr_point point = {.row = row,
                                     .team = team,
                                     .part = part,
                                     .count = fr_bench_count(cases[i].size_B, false, 2)};
            point.m = point.n = point.k = cases[i].edge;
            bool added = false;
            const struct fr_device_task task = task_of(&point);
            if (cases[i].size_B > bench->options.max_size_B) continue;
            FR_TRY(fr_bench_device_add(bench, &point, &task, &added, err));
        }
    return FR_OK;
}

static void head(const struct fr_bench *bench, const struct fr_point *point,
                 struct fr_text *text) {
    (void)bench;
    fr_sample_head_overlap(
        &(struct fr_sample_overlap){.op = FR_OP_ALL_REDUCE,
                                    .level = point->team->level,
                                    .part = point->part,
                                    .n_ranks = point->team->n_ranks,
                                    .size_B = (double)point->count * sizeof(float),
                                    .m = point->m,
                                    .n = point->n,
                                    .k = point->k},
        text);
}

const struct fr_bench_row fr_bench_device_overlap = {
    .name = "device_overlap",
    .measures = "all-reduce of GPUs beside a product: alone, together, the product meanwhile "
                "(--device)",
    .feeds = "device.interference",
    .call_s = 10e-3,
    .needs_processor = true,
    .on_device = true,
    .step = 2,
    .plan = plan,
    .head = head,
    .task = task_of,
    .heat_s = 0.05,
    .run = fr_bench_device_run_task,
};
