#include "topology/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json/file_schema.h"
#include "base/json/quantity.h"
#include "base/text/log_lines.h"
#include "base/units.h"

#define FR_LAYOUT(name) extern const struct fr_layout_form fr_layout_##name;
#include "topology/layout_list.h"
#undef FR_LAYOUT

const struct fr_layout_form *const fr_layout_forms[] = {
#define FR_LAYOUT(name) &fr_layout_##name,
#include "topology/layout_list.h"
#undef FR_LAYOUT
    NULL};

const struct fr_layout_form *fr_layout_form_of(const char *text) {
    for (int i = 0; fr_layout_forms[i]; i++)
        if (fr_layout_forms[i]->applicable(text)) return fr_layout_forms[i];
    return NULL;
}

static fr_status read_text(const char *text, const char *path, struct fr_layout *layout,
                           struct fr_error *err) {
    const struct fr_layout_form *form = fr_layout_form_of(text);
    if (!form)
        return fr_fail(err, FR_ERR_INPUT, path,
                       "shows no node and no network; expected hwloc's XML (lstopo FILE.xml), "
                       "nvidia-smi topo -m, NCCL's topology (NCCL_TOPO_DUMP_FILE) or Slurm's "
                       "topology.conf");
    FR_TRY(form->read(text, path, layout, err));
    size_t used = strlen(layout->sources);
    fr_line_addf(layout->sources, sizeof layout->sources, &used, "%s%s", used ? ", " : "",
                 form->name);
    return FR_OK;
}

fr_status fr_layout_read(const char *path, struct fr_layout *layout, struct fr_error *err) {
    struct fr_log_text cleaned = {.text = NULL};
    char *data = NULL;
    size_t length = 0;
    FR_TRY(fr_file_read(path, FR_FILE_MAX_B, &data, &length, err));
    fr_status status = fr_log_text_clean(data, length, 0, &cleaned);
    if (status == FR_OK)
        status = read_text(cleaned.text, path, layout, err);
    else
        fr_fail(err, status, path, "does not fit in memory");
    fr_log_text_free(&cleaned);
    free(data);
    return status;
}

/* ---- writing ---------------------------------------------------------------------------------- */

void fr_layout_add_level(struct fr_json_writer *w, const char *name, int64_t ranks,
                         double rate_B_per_s, int64_t shared_by) {
    fr_json_begin_object(w);
    fr_json_add_string(w, "name", name);
    if (ranks)
        fr_json_add_integer(w, "ranks", ranks);
    else
        fr_json_add_string(w, "ranks", "?");
    fr_json_add_string(w, "latency", "?");
    if (rate_B_per_s > 0)
        fr_json_add_quantity(w, "bandwidth", rate_B_per_s, FR_QUANTITY_RATE);
    else
        fr_json_add_string(w, "bandwidth", "?");
    if (shared_by > 1) fr_json_add_integer(w, "shared_by", shared_by);
    fr_json_end_object(w);
}

static void add_levels(struct fr_json_writer *w, const struct fr_layout *l, int64_t node) {
    static const char *const names[] = {"leaf", "spine", "core", "top"};
    int64_t shared = l->adapters > 0 && node % l->adapters == 0 ? node / l->adapters : 0;
    fr_json_add_array(w, "levels");
    if (l->gpus_of_package > 1 && l->gpus_of_package < node && node == l->gpus)
        fr_layout_add_level(w, "package", l->gpus_of_package, 0, 0);
    fr_layout_add_level(w, "node", node, 0, 0);
    for (int i = 0; i < l->n_switches; i++)
        if (l->nodes_of_switch[i] > 1 && l->nodes_of_switch[i] < l->nodes)
            fr_layout_add_level(w, names[i], node * l->nodes_of_switch[i],
                                l->adapter_rate_B_per_s, shared);
    fr_layout_add_level(w, "system", node * l->nodes, l->adapter_rate_B_per_s, shared);
    fr_json_end_array(w);
}

static void add_device(struct fr_json_writer *w, const struct fr_layout *l) {
    fr_json_add_object(w, "device");
    fr_json_add_string(w, "name", *l->model ? l->model : "?");
    fr_json_add_string(w, "memory_bandwidth", "?");
    fr_json_add_object(w, "gemm");
    fr_json_add_object(w, "fp32");
    fr_json_add_string(w, "peak", "?");
    fr_json_end_object(w);
    fr_json_end_object(w);
    fr_json_end_object(w);
}

fr_status fr_layout_write(const struct fr_layout *l, int64_t ranks_per_node,
                          struct fr_text *text, struct fr_error *err) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    int64_t node = ranks_per_node ? ranks_per_node : l->gpus;
    char source[240];
    if (node < 1)
        return fr_fail(err, FR_ERR_INPUT, NULL,
                       "the files show switches and no node: give nvidia-smi topo -m or NCCL's "
                       "topology beside them, or --ranks-per-node N");
    snprintf(source, sizeof source, "%s; every ? is to be filled in", l->sources);
    fr_json_begin_object(&w);
    fr_file_schema_put(&w, "cluster");
    fr_json_add_string(&w, "name", "?");
    fr_json_add_string(&w, "source", source);
    add_device(&w, l);
    add_levels(&w, l, node);
    fr_json_add_object(&w, "calibration");
    fr_json_add_object(&w, "discovered");
    fr_json_add_integer(&w, "gpus", l->gpus);
    if (l->links) fr_json_add_integer(&w, "nvlinks", l->links);
    fr_json_add_integer(&w, "adapters", l->adapters);
    if (l->nodes) fr_json_add_integer(&w, "nodes", l->nodes);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
    fr_json_end_object(&w);
    return FR_OK;
}
