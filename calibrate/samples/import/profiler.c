/* Traces of PyTorch's profiler (torch.profiler, export_chrome_trace) that were recorded with record_shapes=True: matrix
 * products, attention and passes over memory by the kernels of their operations, collectives and copies by their own
 * events (calibrate/samples/trace.h).
 *
 *     {"deviceProperties": [{"name": ..., "totalGlobalMem": ...}],
 *      "traceEvents": [{"cat": "cpu_op", "name": "aten::mm", "args": {"External id": 7, "Input Dims": [[m, k], [k, n]],
 *                                        "Input type": ["c10::BFloat16", ...], "Input Strides": [...]}},
 *                      {"cat": "kernel", "dur": us, "args": {"External id": 7}}]}
 *
 * Notes say how much of the device's time no table reads, and which kernels took most of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "calibrate/samples/import_text.h"
#include "calibrate/samples/trace.h"

enum { SAID = 5, NAME_SHOWN = 60 };

/* A kernel that nobody reads. */
struct unread {
    const char *name;
    double time_s;
};

struct trace {
    struct fr_import *in;
    struct fr_json events;
    struct fr_trace_call *call;
    struct unread *unread;
    size_t n, n_unread;
    double all_s, unread_s; /* of the device */
    int64_t per_node, collectives;
    int taken[FR_TRACE_KINDS], links;
};

static int by_id(const void *x, const void *y) {
    return FR_ORDER(((const struct fr_trace_call *)x)->id,
                    ((const struct fr_trace_call *)y)->id);
}

static bool read_call(const struct fr_json *event, struct fr_trace_call *call) {
    if (!fr_trace_is(event, "cat", "cpu_op")) return false;
    *call = (struct fr_trace_call){.id = fr_trace_count(event, "External id")};
    return call->id > 0 && (fr_trace_product(event, call) || fr_trace_attention(event, call) ||
                            fr_trace_traffic(event, call));
}

static fr_status find_calls(struct trace *t) {
    int64_t n = fr_json_array_length(&t->events);
    t->call = fr_calloc((size_t)n + 1, sizeof *t->call);
    t->unread = fr_calloc((size_t)n + 1, sizeof *t->unread);
    if (!t->call || !t->unread) return FR_ERR_NOMEM;
    for (int64_t i = 0; i < n; i++) {
        struct fr_json event = fr_json_element(&t->events, i);
        t->n += read_call(&event, &t->call[t->n]);
    }
    fr_sort_items(t->call, t->n, sizeof *t->call, by_id);
    return FR_OK;
}

static struct fr_trace_call *call_of(const struct trace *t, const struct fr_json *event) {
    const struct fr_trace_call wanted = {.id = fr_trace_count(event, "External id")};
    return t->n ? bsearch(&wanted, t->call, t->n, sizeof wanted, by_id) : NULL;
}

/* A rank that comes early waits within its kernel, so that of equal collectives the shortest counts. */
static fr_status take_collective(struct trace *t, struct fr_sample_collective *c) {
    struct fr_samples *samples = t->in->samples;
    t->collectives++;
    c->source = (int)samples->n_source + 1;
    for (size_t i = samples->n_collective; i-- > 0;) {
        struct fr_sample_collective *other = &samples->collective[i];
        if (other->source != c->source) break;
        if (other->op != c->op || other->n_ranks != c->n_ranks || other->level != c->level ||
            other->n_nodes != c->n_nodes || other->size_B != c->size_B)
            continue;
        other->time_s = fmin(other->time_s, c->time_s);
        return FR_OK;
    }
    t->in->n_rows++;
    struct fr_sample_source *source = &t->in->source;
    if (c->n_ranks > source->n_ranks) {
        source->n_ranks = c->n_ranks;
        source->nodes = c->n_nodes;
    }
    return fr_samples_add_collective(samples, c);
}

static bool is_work(const struct fr_json *event) {
    return fr_trace_is(event, "cat", "kernel") || fr_trace_is(event, "cat", "gpu_memcpy") ||
           fr_trace_is(event, "cat", "gpu_memset");
}

/* An event of the device: a sample of its own, or a part of a call's time. */
static fr_status take_work(struct trace *t, const struct fr_json *event) {
    struct fr_sample_collective collective;
    struct fr_sample_link link;
    struct fr_sample_memory pass;
    double time_s = fr_trace_time_s(event);
    if (!is_work(event) || time_s < 0) return FR_OK;
    t->all_s += time_s;
    if (fr_trace_collective(event, t->per_node, &collective))
        return take_collective(t, &collective);
    struct fr_trace_call *call = call_of(t, event);
    if (fr_trace_is(event, "cat", "kernel") && call) {
        call->time_s += time_s;
        return FR_OK;
    }
    if (time_s >= FR_SAMPLE_TIME_MIN_S && fr_trace_link(event, &link)) {
        link.rep = t->in->n_rows++;
        t->links++;
        return fr_samples_add_link(t->in->samples, &link);
    }
    if (time_s >= FR_SAMPLE_TIME_MIN_S && fr_trace_copy(event, &pass)) {
        pass.rep = t->in->n_rows++;
        t->taken[FR_TRACE_PASS]++;
        return fr_samples_add_memory(t->in->samples, &pass);
    }
    t->unread_s += time_s;
    t->unread[t->n_unread++] = (struct unread){fr_trace_text(event, "name"), time_s};
    return FR_OK;
}

static fr_status take_call(struct trace *t, struct fr_trace_call *c) {
    struct fr_samples *samples = t->in->samples;
    if (c->time_s < FR_SAMPLE_TIME_MIN_S || c->time_s > FR_SAMPLE_TIME_MAX_S) return FR_OK;
    int rep = t->in->n_rows++;
    t->taken[c->kind]++;
    switch (c->kind) {
    case FR_TRACE_ATTENTION:
        c->attention.time_s = c->time_s, c->attention.rep = rep;
        return fr_samples_add_attention(samples, &c->attention);
    case FR_TRACE_PASS:
        c->pass.time_s = c->time_s, c->pass.rep = rep;
        return fr_samples_add_memory(samples, &c->pass);
    default:
        c->product.time_s = c->time_s, c->product.rep = rep;
        return c->product.batch > 1 ? fr_samples_add_batched(samples, &c->product)
                                    : fr_samples_add_gemm(samples, &c->product);
    }
}

/* ---- what is said ------------------------------------------------------------------------------------- */

static int by_name(const void *x, const void *y) {
    return strcmp(((const struct unread *)x)->name, ((const struct unread *)y)->name);
}

/* The longest first; names are in order already. */
static int by_time(const void *x, const void *y) {
    const struct unread *a = x, *b = y;
    return a->time_s != b->time_s ? FR_ORDER(b->time_s, a->time_s) : strcmp(a->name, b->name);
}

static void say_unread(struct trace *t) {
    char said[SAID * (NAME_SHOWN + 32)] = "";
    size_t n = 0, used = 0;
    if (t->n_unread == 0) return;
    fr_sort_items(t->unread, t->n_unread, sizeof *t->unread, by_name);
    for (size_t i = 0; i < t->n_unread; i++)
        if (n > 0 && strcmp(t->unread[n - 1].name, t->unread[i].name) == 0)
            t->unread[n - 1].time_s += t->unread[i].time_s;
        else
            t->unread[n++] = t->unread[i];
    fr_sort_items(t->unread, n, sizeof *t->unread, by_time);
    for (size_t i = 0; i < n && i < SAID; i++)
        fr_line_addf(said, sizeof said, &used, "%s%.*s %.3g ms", i ? ", " : "", NAME_SHOWN,
                     *t->unread[i].name ? t->unread[i].name : "(no name)",
                     1e3 * t->unread[i].time_s);
    fr_import_note(t->in, 0, "left out: %zu events, %.3g %% of the device's time; most took %s",
                   t->n_unread, t->all_s > 0 ? 100 * t->unread_s / t->all_s : 0, said);
}

static void say(struct trace *t) {
    fr_import_note(t->in, 0,
                   "%d products, %d attentions, %d passes over memory, %lld collectives and "
                   "%d copies over the host link are %.3g %% of the device's time",
                   t->taken[FR_TRACE_PRODUCT], t->taken[FR_TRACE_ATTENTION],
                   t->taken[FR_TRACE_PASS], (long long)t->collectives, t->links,
                   t->all_s > 0 ? 100 * (1 - t->unread_s / t->all_s) : 0);
    if (t->collectives > 0)
        fr_import_note(t->in, 0,
                       "a collective's kernel also waits for other ranks: the shortest of each "
                       "size counts%s",
                       t->per_node > 0 ? "" : "; --ranks-per-node says which cross nodes");
    say_unread(t);
}

static fr_status take_all(struct trace *t, struct fr_error *err) {
    struct fr_import *in = t->in;
    int64_t n = fr_json_array_length(&t->events);
    FR_TRY(find_calls(t));
    for (int64_t i = 0; i < n; i++) {
        struct fr_json event = fr_json_element(&t->events, i);
        FR_TRY(take_work(t, &event));
    }
    for (size_t i = 0; i < t->n; i++) FR_TRY(take_call(t, &t->call[i]));
    in->has_sources = t->collectives == 0; /* of all else the provenance says whose it is */
    if (in->n_rows == 0)
        return fr_import_refuse(
            in, 0, err,
            "holds no matrix product with its shape and kernels: record it with "
            "torch.profiler.profile(record_shapes=True)");
    say(t);
    return FR_OK;
}

/* ---- whose it is -------------------------------------------------------------------------------------- */

static void take_device(const struct fr_json *root, struct trace *t) {
    struct fr_import *in = t->in;
    struct fr_provenance *p = &in->samples->provenance;
    struct fr_json all = fr_json_member(root, "deviceProperties");
    if (!fr_json_is_array(&all) || fr_json_array_length(&all) == 0) return;
    if (t->per_node == 0) t->per_node = fr_json_array_length(&all); /* those that a rank sees */
    struct fr_json first = fr_json_element(&all, 0), name = fr_json_member(&first, "name"),
                   memory = fr_json_member(&first, "totalGlobalMem");
    if (!fr_json_is_string(&name)) return;
    snprintf(in->source.device, sizeof in->source.device, "%s",
             fr_json_text_at(&first, "name"));
    if (*p->device) return;
    snprintf(p->device, sizeof p->device, "%s", fr_json_text_at(&first, "name"));
    snprintf(p->device_libraries, sizeof p->device_libraries, "PyTorch's profiler");
    double memory_B =
        fr_json_is_number(&memory) ? fr_json_number_at(&first, "totalGlobalMem") : 0;
    p->device_memory_B = memory_B >= 1 && memory_B <= FR_SAMPLE_SIZE_MAX_B ? memory_B : 0;
}

static void take_source(const struct fr_json *root, struct trace *t) {
    struct fr_sample_source *source = &t->in->source;
    struct fr_json world = fr_json_member(root, "distributedInfo");
    const struct fr_import_options *given = &t->in->given, *beside = &t->in->beside;
    t->per_node = given->ranks_per_node ? given->ranks_per_node : beside->ranks_per_node;
    snprintf(source->tool, sizeof source->tool, "PyTorch's profiler");
    if (*fr_trace_text(&world, "nccl_version"))
        snprintf(source->library, sizeof source->library, "NCCL %.60s",
                 fr_trace_text(&world, "nccl_version"));
    take_device(root, t);
    source->ranks_per_node = t->per_node;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    in->has_sources = true;
    if (fr_json_parse(in->text, in->length, in->name, &document, NULL) != FR_OK)
        return fr_import_refuse(in, 0, err,
                                "is no JSON: expected a trace of PyTorch's profiler");
    struct fr_json root = fr_json_root(document);
    struct trace t = {.in = in, .events = fr_json_member(&root, "traceEvents")};
    fr_status status = FR_OK;
    if (fr_json_is_array(&t.events)) {
        take_source(&root, &t);
        status = take_all(&t, err);
    } else
        status = fr_import_refuse(in, 0, err, "has no list \"traceEvents\"");
    free(t.call);
    free(t.unread);
    fr_json_free(document);
    return status;
}

const struct fr_importer fr_importer_profiler = {
    .name = "profiler",
    .spelling = "profiler",
    .reads = "a trace of PyTorch's profiler with shapes: products, attention, passes over "
             "memory, collectives and copies by their kernels",
    .read = read,
};
