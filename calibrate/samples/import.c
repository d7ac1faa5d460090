#include "calibrate/samples/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text/version.h"
#include "calibrate/samples/import_text.h"

#define FR_IMPORTER(name) extern const struct fr_importer fr_importer_##name;
#include "calibrate/samples/import_list.h"
#undef FR_IMPORTER

const struct fr_importer *const fr_importers[] = {
#define FR_IMPORTER(name) &fr_importer_##name,
#include "calibrate/samples/import_list.h"
#undef FR_IMPORTER
    NULL};

static const int64_t COUNT_MAX = (int64_t)1 << 31;

/* A whole number of the sidecar; texts ("not stated") and the rest count as silence. */
static int64_t beside_count(const struct fr_json *root, const char *const *keys) {
    int64_t value = 0;
    for (int i = 0; keys[i]; i++) {
        struct fr_json node = fr_json_member(root, keys[i]);
        if (fr_json_is_number(&node) &&
            fr_json_integer(&node, 1, COUNT_MAX, &value, NULL) == FR_OK)
            return value;
    }
    return 0;
}

/* All texts of @p keys that are there, joined by "; ". */
static void beside_text(const struct fr_json *root, const char *const *keys, char *out,
                        size_t capacity) {
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; keys[i]; i++) {
        struct fr_json node = fr_json_member(root, keys[i]);
        const char *text = NULL;
        if (!fr_json_is_string(&node) || fr_json_text(&node, &text, NULL) != FR_OK) continue;
        fr_line_addf(out, capacity, &used, "%s%s", used ? "; " : "", text);
    }
}

/* A sidecar is free in form: whatever of it is known is taken, nothing is required. */
static void read_sidecar(const struct fr_json_document *document, struct fr_import *in) {
    static const char *const ranks[] = {"ranks", "ranks_collective", NULL};
    static const char *const nodes[] = {"nodes", NULL};
    static const char *const per_node[] = {"ranks_per_node", "ranks_per_node_collective",
                                           "gpus_per_node", NULL};
    static const char *const system[] = {"system", "hardware", NULL};
    static const char *const device[] = {"gpu", "device", NULL};
    static const char *const network[] = {"network", NULL};
    static const char *const library[] = {"mpi", "nccl", "rccl", NULL};
    static const char *const setup[] = {"setup", "label", "buffers", "variant", NULL};
    static const char *const op[] = {"collective", NULL};
    struct fr_json root = fr_json_root(document);
    if (!fr_json_is_object(&root)) return;
    in->beside.n_ranks = beside_count(&root, ranks);
    in->beside.nodes = beside_count(&root, nodes);
    in->beside.ranks_per_node = beside_count(&root, per_node);
    beside_text(&root, system, in->source.system, sizeof in->source.system);
    beside_text(&root, device, in->source.device, sizeof in->source.device);
    beside_text(&root, network, in->source.network, sizeof in->source.network);
    beside_text(&root, library, in->source.library, sizeof in->source.library);
    beside_text(&root, setup, in->source.setup, sizeof in->source.setup);
    beside_text(&root, op, in->op_beside, sizeof in->op_beside);
    if (*in->op_beside) in->beside.op = in->op_beside;
}

static fr_status finish(struct fr_import *in, struct fr_error *err) {
    if (in->n_rows == 0)
        return fr_import_refuse(fr_import_unknown(in), 0, err,
                                "no row of results that could be used was found%s",
                                in->notes->length ? "; see the notes above" : "");
    if (in->has_sources) return FR_OK;
    fr_import_clean(&in->source);
    if (in->source.ranks_per_node < 1) in->source.ranks_per_node = in->source.n_ranks;
    return fr_samples_add_source(in->samples, &in->source);
}

/* The other importer that reads the text, named behind the refusal. */
static bool suggest(const struct fr_importer *not_this, const struct fr_import *in,
                    struct fr_error *err) {
    for (int i = 0; fr_importers[i] && err; i++) {
        struct fr_samples samples = {0};
        struct fr_text notes = {0};
        struct fr_error ignored;
        struct fr_import other = *in;
        other.samples = &samples;
        other.notes = &notes;
        other.n_rows = 0;
        bool reads = fr_importers[i] != not_this &&
                     fr_importers[i]->read(&other, &ignored) == FR_OK && other.n_rows > 0;
        fr_samples_free(&samples);
        fr_text_free(&notes);
        if (!reads) continue;
        size_t used = strlen(err->detail);
        fr_line_addf(err->detail, sizeof err->detail, &used, "; forerun import %s reads it",
                     fr_importers[i]->spelling);
        return true;
    }
    return false;
}

enum { PEELS_MAX = 16 };

/* Words before all lines may hide a tool that was not recognized. They are taken away one after another, until the
 * text can be read or is refused for another reason. */
static fr_status read_behind_words(const struct fr_importer *importer,
                                   const struct fr_import *first, struct fr_log_text *cleaned,
                                   struct fr_import *in, struct fr_error *err) {
    const char *end = strchr(cleaned->text, '\n');
    size_t length = end ? (size_t)(end - cleaned->text) : cleaned->length;
    char line[80];
    snprintf(line, sizeof line, "%.*s", (int)(length < 60 ? length : 60), cleaned->text);
    struct fr_text said = {0};
    fr_status status = FR_ERR_INPUT;
    for (int i = 0; i < PEELS_MAX && fr_log_text_peel(cleaned); i++) {
        struct fr_import next = *first;
        struct fr_error again;
        fr_text_free(&said);
        next.text = cleaned->text;
        next.length = cleaned->length;
        next.notes = &said;
        fr_status now = importer->read(&next, &again);
        if (now == FR_OK) now = finish(&next, &again);
        bool of_line = now == FR_ERR_INPUT && strchr(again.where, ':');
        if (now == FR_ERR_INPUT && (next.unknown_form || !of_line)) continue;
        status = now;
        if (now == FR_ERR_INPUT && err) *err = again;
        next.notes = in->notes;
        *in = next;
        fr_import_note(in, 0, "words before its lines were taken away; the first was \"%s\"",
                       line);
        fr_text_add(in->notes, fr_text_get(&said), said.length);
        break;
    }
    fr_text_free(&said);
    return status;
}

fr_status fr_import_text(const struct fr_importer *importer, const char *text, size_t length,
                         const char *name, const struct fr_json_document *sidecar,
                         const struct fr_import_options *options, struct fr_samples *samples,
                         struct fr_text *notes, struct fr_error *err) {
    struct fr_log_text cleaned;
    struct fr_import in = {.name = name, .given = *options, .notes = notes, .samples = samples};
    size_t before = samples->n_collective, sources = samples->n_source,
           products = samples->n_gemm, batched = samples->n_batched, memory = samples->n_memory,
           kernels = samples->n_kernel, links = samples->n_link, powers = samples->n_power,
           attentions = samples->n_attention;
    const struct fr_provenance provenance = samples->provenance;
    bool wide =
        length >= 2 && (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0);
    if (!wide && memchr(text, '\0', length))
        return fr_import_refuse(&in, 0, err, "holds a zero byte, so it is no text");
    if (fr_log_text_clean(text, length, 0, &cleaned) != FR_OK)
        return fr_fail(err, FR_ERR_NOMEM, name, "does not fit in memory");
    in.text = cleaned.text;
    in.length = cleaned.length;
    in.cleaned = &cleaned;
    if (sidecar) read_sidecar(sidecar, &in);
    snprintf(in.source.file, sizeof in.source.file, "%s", name);
    if (options->system)
        snprintf(in.source.system, sizeof in.source.system, "%s", options->system);
    if (options->setup) snprintf(in.source.setup, sizeof in.source.setup, "%s", options->setup);
    const struct fr_import first = in;
    fr_status status = importer->read(&in, err);
    if (status == FR_OK) status = finish(&in, err);
    bool named = status == FR_ERR_INPUT && in.n_rows == 0 && suggest(importer, &in, err);
    if (status == FR_ERR_INPUT && in.unknown_form && !named)
        status = read_behind_words(importer, &first, &cleaned, &in, err);
    fr_log_text_free(&cleaned);
    if (status == FR_ERR_NOMEM) fr_fail(err, status, name, "does not fit in memory");
    if (status == FR_OK) return FR_OK;
    samples->n_collective = before; /* all of a file or nothing */
    samples->n_source = sources;
    samples->n_gemm = products;
    samples->n_batched = batched;
    samples->n_memory = memory;
    samples->n_kernel = kernels;
    samples->n_link = links;
    samples->n_power = powers;
    samples->n_attention = attentions;
    samples->provenance = provenance;
    return status;
}

fr_status fr_import_sidecar(const char *path, char **beside, struct fr_error *err) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    *beside = NULL;
    if (strcmp(path, "-") == 0 || strcmp(path + stem, ".json") == 0) return FR_OK;
    *beside = fr_malloc(stem + sizeof ".json", 1);
    if (!*beside) return fr_fail(err, FR_ERR_NOMEM, path, "out of memory");
    memcpy(*beside, path, stem);
    memcpy(*beside + stem, ".json", sizeof ".json");
    return FR_OK;
}

static fr_status open_sidecar(const char *path, struct fr_json_document **document,
                              struct fr_error *err) {
    char *beside = NULL;
    fr_status status = fr_import_sidecar(path, &beside, err);
    if (beside && fr_file_exists(beside)) status = fr_json_read(beside, document, err);
    free(beside);
    return status;
}

fr_status fr_import_file(const struct fr_importer *importer, const char *path,
                         const struct fr_import_options *options, struct fr_samples *samples,
                         struct fr_text *notes, struct fr_error *err) {
    struct fr_json_document *sidecar = NULL;
    char *data = NULL;
    size_t length = 0;
    fr_status status = fr_file_read(path, FR_FILE_MAX_B, &data, &length, err);
    if (status == FR_OK) status = open_sidecar(path, &sidecar, err);
    if (status == FR_OK)
        status = fr_import_text(importer, data, length, strcmp(path, "-") ? path : "<stdin>",
                                sidecar, options, samples, notes, err);
    fr_json_free(sidecar);
    free(data);
    return status;
}

void fr_import_write(const struct fr_samples *samples, struct fr_text *text) {
    struct fr_provenance provenance = {.host = FR_HOST_IMPORTED};
    snprintf(provenance.version, sizeof provenance.version, "%s", fr_version);
    const struct fr_provenance *of =
        &samples->provenance; /* of a GPU, what the file says of it */
    provenance.ranks = provenance.nodes = provenance.ranks_per_node = 1;
    memcpy(provenance.device, of->device, sizeof of->device);
    memcpy(provenance.device_driver, of->device_driver, sizeof of->device_driver);
    memcpy(provenance.device_libraries, of->device_libraries, sizeof of->device_libraries);
    provenance.device_memory_B = of->device_memory_B;
    for (size_t i = 0; i < samples->n_source; i++) {
        const struct fr_sample_source *source = &samples->source[i];
        if (source->n_ranks <= provenance.ranks) continue;
        provenance.ranks = source->n_ranks;
        provenance.nodes = source->nodes ? source->nodes : 1;
        provenance.ranks_per_node = source->ranks_per_node;
        if (provenance.ranks_per_node > provenance.ranks) /* a group smaller than a node */
            provenance.ranks_per_node = provenance.ranks;
    }
    fr_sample_line_provenance(&provenance, text);
    for (size_t i = 0; i < samples->n_source; i++) {
        fr_sample_line_source(&samples->source[i], (int)i, text);
        for (size_t k = 0; k < samples->n_collective; k++)
            if (samples->collective[k].source == (int)i + 1)
                fr_sample_line_collective(&samples->collective[k], text);
    }
    for (size_t k = 0; k < samples->n_gemm; k++) fr_sample_line_gemm(&samples->gemm[k], text);
    for (size_t k = 0; k < samples->n_batched; k++)
        fr_sample_line_gemm(&samples->batched[k], text);
    for (size_t k = 0; k < samples->n_memory; k++)
        fr_sample_line_memory(&samples->memory[k], text);
    for (size_t k = 0; k < samples->n_kernel; k++)
        fr_sample_line_kernel(&samples->kernel[k], text);
    for (size_t k = 0; k < samples->n_attention; k++)
        fr_sample_line_attention(&samples->attention[k], text);
    for (size_t k = 0; k < samples->n_link; k++) fr_sample_line_link(&samples->link[k], text);
    for (size_t k = 0; k < samples->n_power; k++)
        fr_sample_line_power(&samples->power[k], text);
}
