#include "topology/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

const char *const fr_mesh_axis_names[] = {"tp", "pp", "dp", NULL};

#define FR_PLACEMENT(name) extern const struct fr_placement fr_placement_##name;
#include "topology/placement_list.h"
#undef FR_PLACEMENT

const struct fr_placement *const fr_placements[] = {
#define FR_PLACEMENT(name) &fr_placement_##name,
#include "topology/placement_list.h"
#undef FR_PLACEMENT
    NULL};

int64_t fr_mesh_ranks(const struct fr_mesh *mesh) {
    return mesh->size[FR_MESH_TP] * mesh->size[FR_MESH_PP] * mesh->size[FR_MESH_DP];
}

int64_t fr_mesh_order_stride(const struct fr_mesh *mesh, const uint8_t *order, int axis) {
    int64_t stride = 1;
    for (int i = 0; order[i] != axis; i++) stride *= mesh->size[order[i]];
    return stride;
}

int64_t fr_mesh_stride(const struct fr_mesh *mesh, int axis) {
    return fr_mesh_order_stride(mesh, mesh->order, axis);
}

struct fr_placement_choice fr_placement_default(void) {
    return (struct fr_placement_choice){
        .row = &fr_placement_linear, .order = {FR_MESH_TP, FR_MESH_PP, FR_MESH_DP}, .seed = 1};
}

/* "dp-tp" into an order; axes that are not named follow in their usual order. */
static fr_status parse_order(const char *text, const char *where, uint8_t *order,
                             struct fr_error *err) {
    bool named[FR_MESH_AXES] = {false};
    int n = 0;
    for (const char *at = text; at; at = strchr(at, '-') ? strchr(at, '-') + 1 : NULL) {
        int length = (int)strcspn(at, "-"), axis = 0;
        while (axis < FR_MESH_AXES &&
               (length != 2 || strncmp(fr_mesh_axis_names[axis], at, (size_t)length) != 0))
            axis++;
        if (axis == FR_MESH_AXES || named[axis])
            return fr_fail(err, FR_ERR_INPUT, where,
                           "by-axis: \"%.40s\" is no order of axes; expected e.g. \"tp\" or "
                           "\"dp-tp-pp\", innermost first",
                           text);
        named[axis] = true;
        order[n++] = (uint8_t)axis;
    }
    for (int axis = 0; axis < FR_MESH_AXES; axis++)
        if (!named[axis]) order[n++] = (uint8_t)axis;
    return FR_OK;
}

static fr_status parse_file(const char *path, struct fr_placement_choice *choice,
                            int64_t **owned, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    FR_TRY(fr_json_read(path, &document, err));
    struct fr_json root = fr_json_root(document), list = fr_json_member(&root, "mapping");
    fr_status status =
        fr_placement_read_list(fr_json_is_object(&root) ? &list : &root, choice, owned, err);
    fr_json_free(document);
    return status;
}

static fr_status parse_seed(const char *text, const char *where, uint64_t *seed,
                            struct fr_error *err) {
    char *end = NULL;
    *seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end)
        return fr_fail(err, FR_ERR_INPUT, where, "optimised: \"%.40s\" is no whole number",
                       text);
    return FR_OK;
}

static fr_status unknown(const char *text, const char *where, struct fr_error *err) {
    const char *names[16] = {NULL};
    struct fr_text list = {0};
    for (int i = 0; fr_placements[i]; i++) {
        names[i] = fr_placements[i]->name;
        fr_text_addf(&list, "%s%s%s%s", i ? ", " : "", names[i],
                     fr_placements[i]->argument ? ":" : "",
                     fr_placements[i]->argument ? fr_placements[i]->argument : "");
    }
    const char *near = fr_suggest(text, names);
    fr_fail(err, FR_ERR_INPUT, where, "unknown placement \"%.60s\"%s%s%s; known: %s", text,
            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "",
            fr_text_get(&list));
    fr_text_free(&list);
    return FR_ERR_INPUT;
}

fr_status fr_placement_parse(const char *text, const char *where,
                             struct fr_placement_choice *choice, int64_t **owned,
                             struct fr_error *err) {
    size_t length = strcspn(text, ":");
    const char *argument = text[length] ? text + length + 1 : NULL;
    int which = 0;
    *choice = fr_placement_default();
    *owned = NULL;
    while (fr_placements[which] && (strlen(fr_placements[which]->name) != length ||
                                    strncmp(fr_placements[which]->name, text, length) != 0))
        which++;
    choice->row = fr_placements[which];
    if (!choice->row || (argument && !choice->row->argument)) return unknown(text, where, err);
    if (choice->row == &fr_placement_by_axis)
        return argument ? parse_order(argument, where, choice->order, err) : FR_OK;
    if (choice->row == &fr_placement_optimised)
        return argument ? parse_seed(argument, where, &choice->seed, err) : FR_OK;
    if (choice->row != &fr_placement_file) return FR_OK;
    if (!argument)
        return fr_fail(
            err, FR_ERR_INPUT, where,
            "\"file\" needs a file: file:PATH, a JSON list of the rank of each slot");
    return parse_file(argument, choice, owned, err);
}

fr_status fr_placement_read_list(const struct fr_json *array,
                                 struct fr_placement_choice *choice, int64_t **owned,
                                 struct fr_error *err) {
    *choice = fr_placement_default();
    choice->row = &fr_placement_file;
    FR_TRY(fr_json_array(array, 1, FR_RANK_MAP_MAX, err));
    int64_t n = fr_json_array_length(array);
    int64_t *list = fr_malloc((size_t)n, sizeof *list);
    bool *seen = fr_calloc((size_t)n, sizeof *seen);
    fr_status status = FR_OK;
    if (!list || !seen) status = fr_json_fail(array, err, "does not fit in memory");
    for (int64_t i = 0; status == FR_OK && i < n; i++) {
        struct fr_json one = fr_json_element(array, i);
        status = fr_json_integer(&one, 0, n - 1, &list[i], err);
        if (status == FR_OK && seen[list[i]])
            status =
                fr_json_fail(&one, err, "rank %lld has a slot already", (long long)list[i]);
        if (status == FR_OK) seen[list[i]] = true;
    }
    free(seen);
    if (status != FR_OK) {
        free(list);
        return status;
    }
    choice->list = *owned = list;
    choice->n_list = n;
    return FR_OK;
}

const char *fr_placement_write(const struct fr_placement_choice *choice, char *out,
                               size_t capacity) {
    size_t used = 0;
    fr_line_addf(out, capacity, &used, "%s", choice->row->name);
    if (choice->row == &fr_placement_by_axis)
        for (int i = 0; i < FR_MESH_AXES; i++)
            fr_line_addf(out, capacity, &used, "%s%s", i ? "-" : ":",
                         fr_mesh_axis_names[choice->order[i]]);
    if (choice->row == &fr_placement_optimised && choice->seed != 1)
        fr_line_addf(out, capacity, &used, ":%llu", (unsigned long long)choice->seed);
    return out;
}
