#include "calibrate/samples/collection.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "calibrate/samples/import_text.h"

enum { PARTS = 4 };

/* Columns by name, NULL where there is none.  A text is made of columns joined by a separator;
 * a part that starts with '=' stands for itself. */
struct collection {
    const char *file;
    const char *op, *ranks, *nodes, *size, *time;
    double unit_s;
    bool per_rank; /* sizes as OSU counts them */
    bool dense;    /* thousands of sizes: keep those near powers of sqrt 2 */
    const char *tool, *version;
    const char *system[PARTS], *system_join;
    const char *device, *library, *setup[PARTS];
};

static const struct collection collections[] = {
    {.file = "osu_allreduce_cloud_study.csv",
     .op = "=allreduce",
     .ranks = "ranks",
     .nodes = "nodes",
     .size = "size_bytes",
     .time = "latency_us_median",
     .unit_s = 1e-6,
     .per_rank = true,
     .tool = "osu",
     .version = "osu",
     .system = {"cloud", "= ", "environment"},
     .system_join = "hardware",
     .device = "mpi",
     .library = "=Open MPI / HPC-X (see repo scripts)",
     .setup = {"variant"}},
    {.file = "osu_shm8260_9mpis.csv",
     .op = "benchmark",
     .ranks = "ranks",
     .nodes = "=1",
     .size = "size_bytes",
     .time = "value",
     .unit_s = 1e-6,
     .per_rank = true,
     .tool = "osu",
     .version = "=5.6.3",
     .system = {"=1 dev box, Xeon Platinum 8260 (8 cores), shared memory"},
     .library = "mpi"},
    {.file = "osu_bcast_reduce_epyc_algorithms.csv",
     .op = "collective",
     .ranks = "np",
     .nodes = "nodes",
     .size = "size_bytes",
     .time = "latency_us",
     .unit_s = 1e-6,
     .tool = "osu",
     .version = "=7.4",
     .system = {"system"},
     .setup = {"=algorithm ", "algorithm_name", "= ", "mapping"}},
    {.file = "vtrain_nccl_allreduce_lut.csv",
     .op = "collective",
     .ranks = "ranks",
     .nodes = "nodes",
     .size = "size_bytes",
     .time = "time_us_out",
     .unit_s = 1e-6,
     .dense = true,
     .tool = "nccl-tests",
     .system = {"gpu"}},
    {.file = "deepbench_allreduce.csv",
     .op = "=allreduce",
     .ranks = "process_count",
     .nodes = "nodes_col",
     .size = "size_bytes",
     .time = "time_ms",
     .unit_s = 1e-3,
     .tool = "nccl-tests",
     .version = "=DeepBench",
     .system = {"processor"},
     .library = "selected_algorithm"},
    {.file = "rccl_mi325x_1to8nodes.csv",
     .op = "collective",
     .ranks = "ranks",
     .nodes = "nodes",
     .size = "size_bytes",
     .time = "time_us_out",
     .unit_s = 1e-6,
     .tool = "rccl-tests",
     .system = {"gpu", "=; ", "network"},
     .setup = {"algo"}},
    {.file = "mlengineering_allreduce.csv",
     .op = "collective",
     .ranks = "ranks",
     .nodes = "nodes",
     .size = "size_bytes",
     .time = "measured_time_us",
     .unit_s = 1e-6,
     .tool = "nccl-tests",
     .version = "tool",
     .system = {"system"}},
    {.file = NULL, /* one's own */
     .op = "op",
     .ranks = "ranks",
     .nodes = "nodes",
     .size = "size_B",
     .time = "time_s",
     .unit_s = 1,
     .tool = "table",
     .system = {"system"},
     .library = "library",
     .setup = {"setup"}},
};

enum { COLLECTIONS = sizeof collections / sizeof *collections };

static const char *text_of(const struct fr_csv *csv, int row, const char *column) {
    if (!column) return "";
    if (*column == '=') return column + 1;
    const char *cell = fr_csv_get(csv, row, column);
    return cell ? cell : "";
}

static void join(const struct fr_csv *csv, int row, const char *const parts[PARTS], char *out,
                 size_t capacity) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < PARTS && parts[i]; i++)
        fr_line_addf(out, capacity, &used, "%s", text_of(csv, row, parts[i]));
}

static struct fr_sample_source describe(const struct collection *c, const struct fr_csv *csv,
                                        int row) {
    struct fr_sample_source s = {.n_ranks = 1, .ranks_per_node = 1};
    const char *device = text_of(csv, row, c->device), *dash = strchr(device, '-');
    snprintf(s.file, sizeof s.file, "%s", c->file ? c->file : csv->name);
    snprintf(s.tool, sizeof s.tool, "%s", c->tool);
    snprintf(s.tool_version, sizeof s.tool_version, "%.47s", text_of(csv, row, c->version));
    join(csv, row, c->system, s.system, sizeof s.system);
    if (c->system_join) {
        size_t used = strlen(s.system);
        fr_line_addf(s.system, sizeof s.system, &used, "; %s",
                     text_of(csv, row, c->system_join));
    }
    if (dash) snprintf(s.device, sizeof s.device, "%.90s", dash + 1); /* MPI-CUDA: CUDA */
    snprintf(s.library, sizeof s.library, "%.127s", text_of(csv, row, c->library));
    join(csv, row, c->setup, s.setup, sizeof s.setup);
    snprintf(s.statistic, sizeof s.statistic, "average");
    fr_import_clean(&s);
    return s;
}

static bool same_source(const struct fr_sample_source *a, const struct fr_sample_source *b) {
    return !strcmp(a->file, b->file) && !strcmp(a->tool_version, b->tool_version) &&
           !strcmp(a->system, b->system) && !strcmp(a->device, b->device) &&
           !strcmp(a->library, b->library) && !strcmp(a->setup, b->setup);
}

/* Index plus 1 of the row's source, added when it is new. */
static fr_status find_source(const struct collection *c, const struct fr_csv *csv, int row,
                             size_t first, struct fr_samples *samples, int *index) {
    struct fr_sample_source source = describe(c, csv, row);
    for (size_t i = first; i < samples->n_source; i++)
        if (same_source(&samples->source[i], &source)) {
            *index = (int)i + 1;
            return FR_OK;
        }
    *index = (int)samples->n_source + 1;
    return fr_samples_add_source(samples, &source);
}

/* Is this size the first at or above a power of sqrt 2?  Keeps a dense sweep in proportion. */
static bool thinned(double size_B, double step_B) {
    double below = floor(2 * log2(size_B)), before = floor(2 * log2(fmax(size_B - step_B, 1)));
    return below == before;
}

static fr_status take_row(const struct collection *c, const struct fr_csv *csv, int row,
                          size_t first, struct fr_samples *samples, struct fr_error *err) {
    const char *name = text_of(csv, row, c->op), *time = text_of(csv, row, c->time);
    struct fr_sample_collective s = {.n_groups = 1};
    double size = 0, value = 0;
    int64_t nodes = 1;
    bool message = false;
    if (strncmp(name, "osu_", 4) == 0) name += 4;
    message = strcmp(name, "latency") == 0;
    if (message) {
        s.op = FR_OP_SEND_RECV;
        s.pattern = FR_PATTERN_PING_PONG;
    } else if (!fr_import_op(name, &s.op)) {
        return FR_OK; /* not modelled */
    }
    if (*time == '\0') return FR_OK; /* derived from a rate, not measured */
    if (!fr_word_number(time, &value) || value * c->unit_s < FR_SAMPLE_TIME_MIN_S ||
        value * c->unit_s > FR_SAMPLE_TIME_MAX_S)
        return fr_csv_fail(csv, row, c->time, err, "\"%.40s\" is no time above 0", time);
    if (!fr_word_integer(text_of(csv, row, c->ranks), &s.n_ranks) || s.n_ranks < 2 ||
        s.n_ranks > FR_SAMPLE_COUNT_MAX)
        return fr_csv_fail(csv, row, c->ranks, err, "expected a number of ranks");
    if (!fr_word_number(text_of(csv, row, c->size), &size) || size < 0 ||
        size * (double)s.n_ranks > FR_SAMPLE_SIZE_MAX_B)
        return fr_csv_fail(csv, row, c->size, err, "expected a size in bytes");
    if (!fr_word_integer(text_of(csv, row, c->nodes), &nodes) || nodes < 1) nodes = 1;
    if (nodes > s.n_ranks)
        return fr_csv_fail(csv, row, c->nodes, err, "%" PRId64 " nodes of %" PRId64 " ranks",
                           nodes, s.n_ranks);
    if (size <= 0 || (c->dense && thinned(size, 1 << 20))) return FR_OK;
    bool of_one = c->per_rank && (s.op == FR_OP_ALL_GATHER || s.op == FR_OP_ALL_TO_ALL ||
                                  s.op == FR_OP_SCATTER || s.op == FR_OP_GATHER);
    s.size_B = size * (of_one ? (double)s.n_ranks : 1);
    s.time_s = value * c->unit_s;
    s.n_nodes = nodes;
    s.level = nodes > 1 ? FR_SAMPLE_SYSTEM : FR_SAMPLE_NODE;
    FR_TRY(find_source(c, csv, row, first, samples, &s.source));
    return fr_samples_add_collective(samples, &s);
}

static fr_status take_rows(const struct collection *c, const struct fr_csv *csv,
                           struct fr_samples *samples, struct fr_error *err) {
    size_t first = samples->n_source;
    for (int row = 0; row < csv->n_rows; row++)
        FR_TRY(take_row(c, csv, row, first, samples, err));
    return FR_OK;
}

static fr_status read_collection(const struct collection *c, const char *path,
                                 struct fr_samples *samples, struct fr_error *err) {
    struct fr_csv csv = {0};
    fr_status status = fr_csv_read(path, &csv, err);
    if (status == FR_OK) status = take_rows(c, &csv, samples, err);
    fr_csv_free(&csv);
    return status;
}

/* How many of its columns the table has; 0 where one that it cannot do without is missing. */
static int has(const struct collection *c, const struct fr_csv *csv) {
    const char *const needed[] = {c->op, c->ranks, c->size, c->time}, *const rest[] = {
                                                                          c->nodes,
                                                                          c->system_join,
                                                                          c->device,
                                                                          c->library};
    int count = 0;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (*needed[i] == '=') continue;
        if (fr_csv_find(csv, needed[i]) < 0) return 0;
        count++;
    }
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        count += rest[i] && fr_csv_find(csv, rest[i]) >= 0;
    for (int i = 0; i < PARTS; i++) {
        count += c->system[i] && fr_csv_find(csv, c->system[i]) >= 0;
        count += c->setup[i] && fr_csv_find(csv, c->setup[i]) >= 0;
    }
    return count;
}

fr_status fr_collection_parse(const char *text, size_t length, const char *name,
                              struct fr_samples *samples, int *rows, struct fr_error *err) {
    const struct collection *best = NULL;
    struct fr_csv csv = {0};
    size_t before = samples->n_collective;
    int most = 0;
    fr_status status = fr_csv_parse(text, length, name, &csv, err);
    for (int i = 0; i < COLLECTIONS && status == FR_OK; i++) {
        int count = has(&collections[i], &csv);
        if (count > most) best = &collections[i];
        if (count > most) most = count;
    }
    if (status == FR_OK)
        status =
            best ? take_rows(best, &csv, samples, err)
                 : fr_fail(err, FR_ERR_INPUT, name,
                           "is no table of collectives that is known: expected the columns "
                           "op, ranks, size_B and time_s, and nodes, system, library, setup "
                           "where known");
    *rows = (int)(samples->n_collective - before);
    fr_csv_free(&csv);
    return status;
}

fr_status fr_collections_read(const char *folder, struct fr_samples *samples,
                              struct fr_error *err) {
    char path[512];
    for (int i = 0; i < COLLECTIONS; i++) {
        if (!collections[i].file) continue;
        snprintf(path, sizeof path, "%s/%s", folder, collections[i].file);
        if (!fr_file_exists(path)) continue;
        fr_status status = read_collection(&collections[i], path, samples, err);
        if (status == FR_ERR_NOMEM) return fr_fail(err, status, path, "does not fit in memory");
        FR_TRY(status);
    }
    return FR_OK;
}
