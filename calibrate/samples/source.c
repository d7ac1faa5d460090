/* Whose samples they are: the line that `forerun import` writes before those of a file. */
#include <inttypes.h>

#include "calibrate/samples/lines.h"

static const int64_t COUNT_MAX = (int64_t)1 << 40;

const char *const fr_pattern_names[] = {"op",          "ping_pong", "ping_ping", "stream",
                                        "stream_both", "pairs",     NULL};

static const char *const keys[] = {"kind",         "source", "file",           "tool",
                                   "tool_version", "system", "device",         "network",
                                   "library",      "setup",  "dtype",          "statistic",
                                   "ranks",        "nodes",  "ranks_per_node", NULL};

fr_status fr_sample_read_source(const struct fr_json *node, struct fr_samples *samples,
                                struct fr_error *err) {
    struct fr_sample_source s = {0};
    struct fr_json index_node = fr_json_member(node, "source");
    int64_t index = 0, next = (int64_t)samples->n_source - samples->first_source;
    struct {
        const char *key;
        char *out;
        size_t capacity;
    } texts[] = {
        {"file", s.file, sizeof s.file},
        {"tool", s.tool, sizeof s.tool},
        {"tool_version", s.tool_version, sizeof s.tool_version},
        {"system", s.system, sizeof s.system},
        {"device", s.device, sizeof s.device},
        {"network", s.network, sizeof s.network},
        {"library", s.library, sizeof s.library},
        {"setup", s.setup, sizeof s.setup},
        {"dtype", s.dtype, sizeof s.dtype},
        {"statistic", s.statistic, sizeof s.statistic},
    };
    FR_TRY(fr_json_object(node, keys, err));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        FR_TRY(fr_json_get_string(node, texts[i].key, false, texts[i].out, texts[i].capacity,
                                  err));
    FR_TRY(fr_json_get_integer(node, "source", true, 0, COUNT_MAX, &index, err));
    FR_TRY(fr_json_get_integer(node, "ranks", true, 1, COUNT_MAX, &s.n_ranks, err));
    FR_TRY(fr_json_get_integer(node, "nodes", true, 0, COUNT_MAX, &s.nodes, err));
    FR_TRY(fr_json_get_integer(node, "ranks_per_node", true, 1, COUNT_MAX, &s.ranks_per_node,
                               err));
    if (index != next)
        return fr_json_fail(&index_node, err,
                            "sources are numbered in order; expected %" PRId64, next);
    return fr_samples_add_source(samples, &s);
}

fr_status fr_sample_get_source(const struct fr_json *node, const struct fr_samples *samples,
                               int *source, struct fr_error *err) {
    struct fr_json named = fr_json_member(node, "source");
    int64_t index = 0, known = (int64_t)samples->n_source - samples->first_source;
    *source = 0;
    if (!fr_json_present(&named)) return FR_OK;
    FR_TRY(fr_json_integer(&named, 0, COUNT_MAX, &index, err));
    if (index >= known)
        return fr_json_fail(&named, err, "names a source that no line before describes");
    *source = (int)(samples->first_source + index) + 1;
    return FR_OK;
}

void fr_sample_line_source(const struct fr_sample_source *s, int index, struct fr_text *line) {
    struct fr_json_writer w = {.text = line};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "source");
    fr_json_add_integer(&w, "source", index);
    fr_json_add_string(&w, "file", s->file);
    fr_json_add_string(&w, "tool", s->tool);
    fr_json_add_string(&w, "tool_version", s->tool_version);
    fr_json_add_string(&w, "system", s->system);
    fr_json_add_string(&w, "device", s->device);
    fr_json_add_string(&w, "network", s->network);
    fr_json_add_string(&w, "library", s->library);
    fr_json_add_string(&w, "setup", s->setup);
    fr_json_add_string(&w, "dtype", s->dtype);
    fr_json_add_string(&w, "statistic", s->statistic);
    fr_json_add_integer(&w, "ranks", s->n_ranks);
    fr_json_add_integer(&w, "nodes", s->nodes);
    fr_json_add_integer(&w, "ranks_per_node", s->ranks_per_node);
    fr_json_end_object(&w);
    fr_text_add(line, "\n", 1);
}
