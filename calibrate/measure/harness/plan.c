/* The plan of the measurement: rows that are wanted, message sizes, points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "calibrate/measure/harness/bench.h"

#define FR_BENCH(name) extern const struct fr_bench_row fr_bench_##name;
#include "calibrate/measure/harness/bench_list.h"
#undef FR_BENCH

#define FR_BENCH(name) &fr_bench_##name,
const struct fr_bench_row *const fr_bench_rows[] = {
#include "calibrate/measure/harness/bench_list.h"
    NULL};
#undef FR_BENCH

int fr_bench_n_rows(void) { return (int)(sizeof fr_bench_rows / sizeof *fr_bench_rows) - 1; }

static bool named(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length])) return true;
    }
    return false;
}

bool fr_bench_wanted(const struct fr_bench *bench, const struct fr_bench_row *row) {
    if (row->needs_processor && bench->provenance.simulated) return false;
    if (row->on_device != (bench->driver != NULL)) return false;
    return !bench->options.only || named(bench->options.only, row->name);
}

void fr_bench_shuffle(uint64_t *state, int *order, int n) {
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(fr_random_next(state) % (uint64_t)(i + 1)), swapped = order[i];
        order[i] = order[j];
        order[j] = swapped;
    }
}

/* Powers of two from 8 B; in every octave (quick: every fourth) from 64 B one more,
 * log-uniform within it, so that a step of the library's protocol at other sizes is found. */
fr_status fr_bench_sizes(struct fr_bench *bench, struct fr_error *err) {
    enum { SIZES_MAX = 96, SMALLEST = 8, BETWEEN_FROM = 64 };
    const struct fr_bench_options *o = &bench->options;
    size_t capacity = o->sizes ? o->n_sizes : SIZES_MAX;
    uint64_t random = o->seed;
    bench->size_B = fr_calloc(capacity, sizeof *bench->size_B);
    if (!bench->size_B) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    for (size_t i = 0; o->sizes && i < capacity; i++) bench->size_B[i] = (double)o->sizes[i];
    bench->n_sizes = o->sizes ? (int)capacity : 0;
    if (o->sizes) return FR_OK;
    int octave = 0;
    for (double size_B = SMALLEST; size_B <= o->max_size_B; size_B *= 2, octave++) {
        double share = fr_random_uniform(fr_random_next(&random));
        double between_B = floor(size_B * exp2(share) / sizeof(float)) * sizeof(float);
        bench->size_B[bench->n_sizes++] = size_B;
        if (size_B < BETWEEN_FROM || between_B <= size_B || between_B > o->max_size_B) continue;
        if (!o->quick || octave % 4 == 0) bench->size_B[bench->n_sizes++] = between_B;
    }
    return FR_OK;
}

int fr_bench_count(double size_B, bool divided, int n_ranks) {
    int step = divided ? n_ranks : 1, count = (int)(size_B / sizeof(float));
    if (count < 1) count = 1;
    return (count + step - 1) / step * step;
}

fr_status fr_bench_add(struct fr_bench *bench, const struct fr_point *point,
                       struct fr_error *err) {
    if (bench->n_points == bench->points_capacity) {
        int capacity = bench->points_capacity ? 2 * bench->points_capacity : 256;
        struct fr_point *grown =
            fr_realloc(bench->points, (size_t)capacity, sizeof *bench->points);
        if (!grown) return fr_fail(err, FR_ERR_NOMEM, NULL, "memory for %d points", capacity);
        bench->points = grown;
        bench->points_capacity = capacity;
    }
    bench->points[bench->n_points++] = *point;
    return FR_OK;
}

bool fr_bench_group_wanted(const struct fr_bench *bench, int n_ranks) {
    const struct fr_bench_options *o = &bench->options;
    for (size_t i = 0; o->groups && i < o->n_groups; i++)
        if (o->groups[i] == n_ranks) return true;
    return !o->groups;
}

/* One size of each decade first, and both ends; then powers of two; then what lies between. */
static int size_step(const struct fr_bench *bench, int i) {
    double size_B = bench->size_B[i];
    bool end = i == 0 || i + 1 == bench->n_sizes;
    if (end) return FR_STEP_NEEDED;
    if (floor(log10(size_B)) > floor(log10(bench->size_B[i - 1]))) return 0;
    return log2(size_B) == floor(log2(size_B)) ? 1 : 2;
}

fr_status fr_bench_collective_plan(struct fr_bench *bench, const struct fr_bench_row *row,
                                   struct fr_error *err) {
    for (int t = 0; t < bench->teams.count; t++) {
        const struct fr_team *team = &bench->teams.team[t];
        int last = 0;
        if (team->kind != FR_TEAM_GROUP || (row->pair_only && team->n_ranks != 2)) continue;
        if (!fr_bench_group_wanted(bench, team->n_ranks)) continue;
        for (int i = 0; i < bench->n_sizes; i++) {
            int count = fr_bench_count(bench->size_B[i], row->divided, team->n_ranks);
            if (count == last) continue;
            last = count;
            const struct fr_point point = {
                .row = row, .team = team, .count = count, .step = size_step(bench, i)};
            FR_TRY(fr_bench_add(bench, &point, err));
        }
    }
    return FR_OK;
}

double fr_bench_beyond_B(const struct fr_bench *bench) {
    static const double TIMES = 4, PART = 16;
    const struct fr_bench_options *o = &bench->options;
    const struct fr_provenance *p = &bench->provenance;
    double largest_B = TIMES * o->max_size_B;
    bool fits = largest_B * (double)p->ranks_per_node <= p->memory_B / PART;
    return fits && !bench->driver && !o->max_stated && !o->sizes && !o->quick && !p->simulated
               ? largest_B
               : 0;
}

fr_status fr_bench_plan_beyond(struct fr_bench *bench, const struct fr_bench_row *row,
                               struct fr_error *err) {
    double largest_B = fr_bench_beyond_B(bench);
    for (int t = 0; t < bench->teams.count; t++) {
        const struct fr_team *team = &bench->teams.team[t];
        if (team->kind != FR_TEAM_GROUP || !fr_bench_group_wanted(bench, team->n_ranks))
            continue;
        for (double size_B = 2 * bench->options.max_size_B; size_B <= largest_B; size_B *= 2) {
            const struct fr_point point = {
                .row = row, .team = team, .count = fr_bench_count(size_B, false, 1), .step = 1};
            FR_TRY(fr_bench_add(bench, &point, err));
        }
    }
    return FR_OK;
}

void fr_bench_collective_head(const struct fr_bench *bench, const struct fr_point *point,
                              struct fr_text *text) {
    const struct fr_team *team = point->team;
    const struct fr_sample_collective sample = {.op = point->row->op,
                                                .level = team->level,
                                                .n_ranks = team->n_ranks,
                                                .n_nodes = team->n_nodes,
                                                .n_groups = 1,
                                                .size_B = (double)point->count * sizeof(float)};
    (void)bench;
    fr_sample_head_collective(&sample, text);
}

/* The next place for a message, in whole cache lines; those that fill the buffer stay. */
static void take_turn(struct fr_work *work) {
    enum { LINE = 16 };
    struct fr_bench *bench = work->bench;
    size_t n = ((size_t)work->point->count + LINE - 1) / LINE * LINE;
    bench->turn = bench->turn + 2 * n <= bench->capacity ? bench->turn + n : 0;
    work->send = bench->send + bench->turn;
    work->recv = bench->recv + bench->turn;
}

fr_status fr_bench_collective_calls(struct fr_work *work, const struct fr_bench_row *row,
                                    int calls, struct fr_error *err) {
    for (int i = 0; i < calls; i++) {
        take_turn(work);
        int code = row->call(work);
        if (code != MPI_SUCCESS) return fr_mpi_failed(code, row->name, err);
    }
    return FR_OK;
}

fr_status fr_bench_collective_run(void *context, int calls, struct fr_error *err) {
    struct fr_work *work = context;
    return fr_bench_collective_calls(work, work->point->row, calls, err);
}

const struct fr_bench_row *fr_bench_row_of(fr_op op) {
    for (int i = 0; fr_bench_rows[i]; i++)
        if (fr_bench_rows[i]->call && fr_bench_rows[i]->op == op) return fr_bench_rows[i];
    return NULL;
}
