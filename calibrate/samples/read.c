/* The file, its provenance, and the arrays that lines are added to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/journal/journal.h"
#include "calibrate/samples/lines.h"

static const double SIZE_MAX_B = 1e18;
static const int64_t COUNT_MAX = (int64_t)1 << 40;

/* Capacity for one more at items[count]: the array doubles at every power of two. */
static bool grow(void **items, size_t count, size_t item_size) {
    if (count && (count & (count - 1))) return true;
    void *grown = fr_realloc(*items, count ? 2 * count : 1, item_size);
    if (!grown) return false;
    *items = grown;
    return true;
}

#define FR_SAMPLES_ADD(kind, type)                                                             \
    fr_status fr_samples_add_##kind(struct fr_samples *samples,                                \
                                    const struct fr_sample_##type *sample) {                   \
        void *items = samples->kind;                                                           \
        if (!grow(&items, samples->n_##kind, sizeof *sample)) return FR_ERR_NOMEM;             \
        samples->kind = items;                                                                 \
        samples->kind[samples->n_##kind++] = *sample;                                          \
        return FR_OK;                                                                          \
    }
FR_SAMPLES_LIST(FR_SAMPLES_ADD)

void fr_samples_free(struct fr_samples *samples) {
#define FR_SAMPLES_FREE(kind, type) free(samples->kind);
    FR_SAMPLES_LIST(FR_SAMPLES_FREE)
    *samples = (struct fr_samples){0};
}

static const char *const provenance_keys[] = {"schema",
                                              "kind",
                                              "date",
                                              "host",
                                              "cluster",
                                              "kernel",
                                              "cpu",
                                              "cores",
                                              "memory_B",
                                              "mpi",
                                              "blas",
                                              "blas_core",
                                              "ranks",
                                              "ranks_per_node",
                                              "nodes",
                                              "oversubscribed",
                                              "seed",
                                              "version",
                                              "pinning",
                                              "hosts",
                                              "host_set",
                                              "clock_resolution_s",
                                              "simulated",
                                              "device",
                                              "device_driver",
                                              "device_libraries",
                                              "device_memory_B",
                                              "device_context_B",
                                              NULL};

static fr_status read_texts(const struct fr_json *node, struct fr_provenance *p,
                            struct fr_error *err) {
    struct {
        const char *key;
        char *out;
        size_t capacity;
    } texts[] = {
        {"date", p->date, sizeof p->date},
        {"host", p->host, sizeof p->host},
        {"cluster", p->cluster, sizeof p->cluster},
        {"kernel", p->kernel, sizeof p->kernel},
        {"cpu", p->cpu, sizeof p->cpu},
        {"mpi", p->mpi, sizeof p->mpi},
        {"blas", p->blas, sizeof p->blas},
        {"blas_core", p->blas_core, sizeof p->blas_core},
        {"version", p->version, sizeof p->version},
        {"pinning", p->pinning, sizeof p->pinning},
        {"hosts", p->hosts, sizeof p->hosts},
        {"host_set", p->host_set, sizeof p->host_set},
        {"device", p->device, sizeof p->device},
        {"device_driver", p->device_driver, sizeof p->device_driver},
        {"device_libraries", p->device_libraries, sizeof p->device_libraries},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        FR_TRY(fr_json_get_string(node, texts[i].key, false, texts[i].out, texts[i].capacity,
                                  err));
    return FR_OK;
}

/* Files of one accelerator, and of collectives beside, are fitted together; of two they never are. */
static fr_status join_device(const struct fr_json *node, struct fr_provenance *known,
                             const struct fr_provenance *p, struct fr_error *err) {
    struct fr_json device = fr_json_member(node, "device");
    if (!*p->device) return FR_OK;
    if (*known->device && strcmp(known->device, p->device) != 0)
        return fr_json_fail(&device, err,
                            "is \"%.60s\", of the files before \"%.60s\": fit each apart",
                            p->device, known->device);
    memcpy(known->device, p->device, sizeof known->device);
    memcpy(known->device_driver, p->device_driver, sizeof known->device_driver);
    memcpy(known->device_libraries, p->device_libraries, sizeof known->device_libraries);
    known->device_memory_B = p->device_memory_B;
    known->device_context_B = p->device_context_B;
    return FR_OK;
}

fr_status fr_sample_read_provenance(const struct fr_json *node, struct fr_samples *samples,
                                    struct fr_error *err) {
    struct fr_provenance p = {0}, *known = &samples->provenance;
    struct fr_json per_node = fr_json_member(node, "ranks_per_node");
    FR_TRY(fr_journal_schema(node, FR_SAMPLES_SCHEMA, err));
    FR_TRY(fr_json_object(node, provenance_keys, err));
    FR_TRY(read_texts(node, &p, err));
    FR_TRY(fr_json_get_integer(node, "cores", false, 0, COUNT_MAX, &p.cores, err));
    FR_TRY(fr_json_get_number(node, "memory_B", false, 0, SIZE_MAX_B, &p.memory_B, err));
    FR_TRY(fr_json_get_integer(node, "ranks", true, 1, COUNT_MAX, &p.ranks, err));
    FR_TRY(fr_json_get_integer(node, "ranks_per_node", true, 1, COUNT_MAX, &p.ranks_per_node,
                               err));
    FR_TRY(fr_json_get_integer(node, "nodes", true, 1, COUNT_MAX, &p.nodes, err));
    FR_TRY(fr_json_get_bool(node, "oversubscribed", false, &p.oversubscribed, err));
    FR_TRY(fr_json_get_bool(node, "simulated", false, &p.simulated, err));
    FR_TRY(fr_json_get_number(node, "clock_resolution_s", false, 0, 1, &p.clock_resolution_s,
                              err));
    FR_TRY(fr_json_get_number(node, "device_memory_B", false, 0, SIZE_MAX_B, &p.device_memory_B,
                              err));
    FR_TRY(fr_json_get_number(node, "device_context_B", false, 0, SIZE_MAX_B,
                              &p.device_context_B, err));
    FR_TRY(fr_json_get_integer(node, "seed", false, 0, INT64_MAX, &p.seed, err));
    if (p.ranks_per_node > p.ranks)
        return fr_json_fail(&per_node, err, "is more than all ranks");
    if (samples->n_files == 0) *known = p;
    FR_TRY(join_device(node, known, &p, err));
    if (p.ranks > known->ranks) {
        known->ranks = p.ranks;
        known->ranks_per_node = p.ranks_per_node;
        known->nodes = p.nodes;
    }
    known->oversubscribed = known->oversubscribed || p.oversubscribed;
    return FR_OK;
}

static fr_status read_document(const struct fr_json_document *document, bool first,
                               struct fr_samples *samples, struct fr_error *err) {
    struct fr_json root = fr_json_root(document);
    int kind = 0;
    FR_TRY(fr_json_get_choice(&root, "kind", true, fr_sample_kinds, &kind, err));
    if (first != (kind == 0))
        return fr_json_fail(&root, err,
                            first
                                ? "the first line must be the provenance"
                                : "a second provenance; files of several runs are given apart");
    return fr_sample_readers[kind](&root, samples, err);
}

fr_status fr_samples_parse(const char *text, size_t length, const char *name,
                           struct fr_samples *samples, struct fr_error *err) {
    char where[320];
    long line = 0, lines_read = 0;
    samples->first_source = (int64_t)samples->n_source;
    for (const char *at = text, *stop = text + length, *next; at < stop; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(stop - at));
        size_t extent = (size_t)((newline ? newline : stop) - at);
        struct fr_json_document *document = NULL;
        next = newline ? newline + 1 : stop;
        snprintf(where, sizeof where, "%.256s: line %ld", name, ++line);
        if (extent == 0) continue;
        fr_status status = fr_json_parse(at, extent, where, &document, err);
        if (status == FR_ERR_INPUT && !newline && lines_read > 0) {
            samples->n_cut++;
            break;
        }
        if (status == FR_OK) status = read_document(document, lines_read == 0, samples, err);
        fr_json_free(document);
        if (status == FR_ERR_NOMEM) fr_fail(err, status, where, "does not fit in memory");
        FR_TRY(status);
        lines_read++;
    }
    if (lines_read == 0) return fr_fail(err, FR_ERR_INPUT, name, "holds no samples");
    samples->n_files++;
    return FR_OK;
}

fr_status fr_samples_read(const char *path, struct fr_samples *samples, struct fr_error *err) {
    struct fr_journal journal;
    fr_status status = fr_journal_read(path, FR_FILE_MAX_B, &journal, err);
    if (status == FR_OK)
        status = fr_samples_parse(journal.text, journal.length,
                                  strcmp(path, "-") ? path : "<stdin>", samples, err);
    fr_journal_free(&journal);
    return status;
}
