/* Timings of a GPU as JSON lines, each with its kind: products, attention, passes over memory, launches of a
 * graph, copies over the host link, power.  They become samples of that GPU, as ours are. */
#include <stdio.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

struct line {
    struct fr_import *in;
    long number;
    struct fr_json node;
};

static double number(const struct line *l, const char *key) {
    struct fr_json value = fr_json_member(&l->node, key);
    return fr_json_is_number(&value) ? fr_json_number_at(&l->node, key) : 0;
}

static const char *text(const struct line *l, const char *key) {
    struct fr_json value = fr_json_member(&l->node, key);
    const char *found = "";
    return fr_json_is_string(&value) && fr_json_text(&value, &found, NULL) == FR_OK ? found
                                                                                    : "";
}

static bool flag(const struct line *l, const char *key, bool unsaid) {
    bool value = unsaid;
    return fr_json_get_bool(&l->node, key, false, &value, NULL) == FR_OK ? value : unsaid;
}

static bool is_time(double time_s) {
    return time_s >= FR_SAMPLE_TIME_MIN_S && time_s <= FR_SAMPLE_TIME_MAX_S;
}
static bool is_size(double size_B) { return size_B >= 1 && size_B <= FR_SAMPLE_SIZE_MAX_B; }

static fr_status leave_out(const struct line *l, const char *why) {
    fr_import_note(l->in, l->number, "left out: %s", why);
    return FR_OK;
}

static fr_status count(const struct line *l, fr_status status) {
    l->in->n_rows += status == FR_OK;
    return status;
}

static fr_status take_provenance(const struct line *l) {
    struct fr_provenance *p = &l->in->samples->provenance;
    snprintf(p->device, sizeof p->device, "%s", text(l, "device"));
    snprintf(p->device_driver, sizeof p->device_driver, "%.*s",
             (int)strcspn(text(l, "driver"), ","), text(l, "driver"));
    snprintf(p->device_libraries, sizeof p->device_libraries, "PyTorch %.60s, CUDA %.40s",
             text(l, "torch"), text(l, "cuda"));
    double memory_B = number(l, "memory_B");
    p->device_memory_B = is_size(memory_B) ? memory_B : 0;
    return FR_OK;
}

/* A dimension; 0: it is none. */
static int64_t dimension(const struct line *l, const char *key) {
    double value = number(l, key);
    return value >= 1 && value <= (double)FR_SAMPLE_COUNT_MAX ? (int64_t)value : 0;
}

/* A weight gradient reads A transposed, a forward pass B; of 8 bits those that sum in a format of fewer bits are what
 * frameworks run. */
static fr_status take_product(const struct line *l) {
    static const char *const ways[] = {"mixed", "input", "weight", "forward", NULL};
    int dtype = fr_place_in(fr_dtype_names, text(l, "dtype")),
        way = fr_place_in(ways, text(l, "what"));
    const struct fr_sample_gemm s = {.dtype = (fr_dtype)(dtype < 0 ? 0 : dtype),
                                     .m = dimension(l, "m"),
                                     .n = dimension(l, "n"),
                                     .k = dimension(l, "k"),
                                     .batch = 1,
                                     .time_s = number(l, "time_s"),
                                     .transposed = way < 0 ? 0 : way};
    if (dtype < 0) return leave_out(l, "of a dtype that is not known");
    if (way < 1) return leave_out(l, "expected \"what\" forward, input or weight");
    if (!flag(l, "fast_accumulation", true)) return leave_out(l, "not the accumulation in use");
    if (s.m < 1 || s.n < 1 || s.k < 1) return leave_out(l, "expected a shape");
    if (!is_time(s.time_s)) return leave_out(l, "expected a time above 0");
    return count(l, fr_samples_add_gemm(l->in->samples, &s));
}

static fr_status take_traffic(const struct line *l) {
    static const char *const whats[] = {"copy", "add", "rms_norm", "layer_norm", NULL};
    static const int kernels[] = {FR_TRAFFIC_STREAM, FR_TRAFFIC_ELEMENTWISE, FR_TRAFFIC_NORM,
                                  FR_TRAFFIC_NORM};
    int what = fr_place_in(whats, text(l, "what"));
    struct fr_sample_memory s = {.moved_B = number(l, "moved_B"),
                                 .time_s = number(l, "time_s")};
    if (what < 0) return leave_out(l, "of a pass over memory that is not known");
    if (!is_size(s.moved_B) || !is_time(s.time_s))
        return leave_out(l, "expected moved_B and a time");
    s.kernel = kernels[what];
    s.size_B = s.moved_B; /* each array once */
    return count(l, fr_samples_add_memory(l->in->samples, &s));
}

/* cuDNN's kernel is today's, "flash-2" PyTorch's own.  A line has both passes. */
static fr_status take_attention(const struct line *l) {
    static const char *const kernels[] = {"cudnn", "flash-2", NULL};
    static const char *const passes[] = {"forward_s", "backward_s"};
    int kernel = fr_place_in(kernels, text(l, "kernel"));
    struct fr_sample_attention s = {.kernel = kernel,
                                    .dtype = FR_BF16,
                                    .batch = dimension(l, "batch"),
                                    .sequence = dimension(l, "sequence"),
                                    .heads = dimension(l, "heads"),
                                    .kv_heads = dimension(l, "heads"),
                                    .width = dimension(l, "width"),
                                    .causal = flag(l, "causal", true)};
    if (kernel < 0) return leave_out(l, "of an attention kernel that is not known");
    if (s.batch < 1 || s.sequence < 1 || s.heads < 1 || s.width < 1)
        return leave_out(l, "expected batch, sequence, heads and width");
    for (s.pass = 0; s.pass < 2; s.pass++) {
        s.time_s = number(l, passes[s.pass]);
        if (is_time(s.time_s)) FR_TRY(fr_samples_add_attention(l->in->samples, &s));
    }
    return count(l, FR_OK);
}

/* Launches of single kernels are a framework's. */
static fr_status take_launch(const struct line *l) {
    const struct fr_sample_kernel s = {.graph = true, .time_s = number(l, "device_s")};
    if (strncmp(text(l, "what"), "graph", 5) != 0)
        return leave_out(l, "a framework's launches");
    if (!is_time(s.time_s)) return leave_out(l, "expected a time above 0");
    return count(l, fr_samples_add_kernel(l->in->samples, &s));
}

static fr_status take_link(const struct line *l) {
    static const char *const ways[] = {"to device", "to host", NULL};
    int way = fr_place_in(ways, text(l, "way"));
    const struct fr_sample_link s = {.way = way,
                                     .pinned = flag(l, "pinned", false),
                                     .size_B = number(l, "size_B"),
                                     .time_s = number(l, "time_s")};
    if (way < 0) return leave_out(l, "expected \"way\" to device or to host");
    if (!is_size(s.size_B) || !is_time(s.time_s))
        return leave_out(l, "expected size_B and a time");
    return count(l, fr_samples_add_link(l->in->samples, &s));
}

/* Takes two of the states, as ours are: sustained work, and awake without any. */
static fr_status take_power(const struct line *l) {
    static const char *const during[] = {"sustained products", "sustained copy", "idle after",
                                         NULL};
    static const int states[] = {FR_POWER_BUSY, FR_POWER_MEMORY, FR_POWER_IDLE};
    int found = fr_place_in(during, text(l, "during"));
    struct fr_sample_power s = {.quality = FR_QUALITY_SAMPLED,
                                .meter = "nvml",
                                .n_ranks = 1,
                                .power_W = number(l, "W"),
                                .time_s = 1};
    if (found < 0) return FR_OK;
    if (!(s.power_W > 0 && s.power_W < 1e6)) return leave_out(l, "expected watts");
    s.state = states[found];
    return count(l, fr_samples_add_power(l->in->samples, &s));
}

static const struct {
    const char *kind;
    fr_status (*take)(const struct line *line);
} kinds[] = {{"provenance", take_provenance},
             {"product", take_product},
             {"attention", take_attention},
             {"traffic", take_traffic},
             {"launch", take_launch},
             {"host_link", take_link},
             {"power", take_power}};

/* Lines of other kinds are passed over: blocks are what a file is judged by. */
static fr_status take(const struct line *l) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(text(l, "kind"), kinds[i].kind) == 0) return kinds[i].take(l);
    return FR_OK;
}

static fr_status read(struct fr_import *in, struct fr_error *err) {
    const struct fr_provenance before = in->samples->provenance;
    const char *at = in->text, *stop = in->text + in->length;
    in->has_sources = true; /* the provenance says whose they are */
    for (long n = 1; at < stop; n++) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        struct fr_json_document *document = NULL;
        size_t length = (size_t)((end ? end : stop) - at);
        fr_status status = FR_OK;
        if (length > 0) {
            if (fr_json_parse(at, length, in->name, &document, NULL) != FR_OK)
                return fr_import_refuse(in, n, err, "is no JSON: expected an object a line");
            const struct line line = {.in = in, .number = n, .node = fr_json_root(document)};
            status = take(&line);
            fr_json_free(document);
        }
        if (status != FR_OK) return status;
        at += length + 1;
    }
    if (!*in->samples->provenance.device)
        return fr_import_refuse(in, 0, err,
                                "does not say whose timings it holds: expected a line of "
                                "kind provenance with the device's name");
    if (*before.device && strcmp(before.device, in->samples->provenance.device) != 0)
        return fr_import_refuse(in, 0, err,
                                "is of a %.60s, and what was read before of a %.60s: "
                                "import each apart",
                                in->samples->provenance.device, before.device);
    return FR_OK;
}

const struct fr_importer fr_importer_gpu = {
    .name = "gpu",
    .spelling = "gpu",
    .reads = "JSON lines of one GPU's timings: product, attention, traffic, launch, host_link, "
             "power",
    .read = read,
};
