/* Collectives of a trace: their kernels say what was sent.  Sizes become those of fr_op.  The kernel's name is not
 * asked for the algorithm: one kernel serves several. */
#include <stdlib.h>
#include <string.h>

#include "calibrate/samples/trace.h"

/* PyTorch's names; of gathers the result counts. */
static const struct {
    const char *name;
    fr_op op;
    bool result;
} rows[] = {{"allreduce", FR_OP_ALL_REDUCE, false},
            {"allreduce_coalesced", FR_OP_ALL_REDUCE, false},
            {"allgather", FR_OP_ALL_GATHER, true},
            {"_allgather_base", FR_OP_ALL_GATHER, true},
            {"allgather_into_tensor_coalesced", FR_OP_ALL_GATHER, true},
            {"reduce_scatter", FR_OP_REDUCE_SCATTER, false},
            {"_reduce_scatter_base", FR_OP_REDUCE_SCATTER, false},
            {"reduce_scatter_tensor_coalesced", FR_OP_REDUCE_SCATTER, false},
            {"all_to_all", FR_OP_ALL_TO_ALL, false},
            {"all_to_allv", FR_OP_ALL_TO_ALL, false},
            {"broadcast", FR_OP_BROADCAST, false},
            {"reduce", FR_OP_REDUCE, false}};

static struct fr_json argument(const struct fr_json *event, const char *key) {
    struct fr_json args = fr_json_member(event, "args");
    return fr_json_member(&args, key);
}

/* Parts of an exchange; "[]" and silence are equal ones. */
static bool parts_are_equal(const struct fr_json *event, const char *key) {
    struct fr_json value = argument(event, key);
    const char *at = "";
    long first = -1;
    if (fr_json_is_array(&value)) {
        double one = 0, other = 0;
        for (int64_t i = 0; i < fr_json_array_length(&value); i++) {
            struct fr_json part = fr_json_element(&value, i);
            if (fr_json_number(&part, 0, 1e18, &other, NULL) != FR_OK) return false;
            if (i > 0 && other != one) return false;
            one = other;
        }
        return true;
    }
    if (!fr_json_is_string(&value) || fr_json_text(&value, &at, NULL) != FR_OK) return true;
    for (at = strpbrk(at, "0123456789"); at; at = strpbrk(at, "0123456789")) {
        char *end = NULL;
        long part = strtol(at, &end, 10);
        if (first >= 0 && part != first) return false;
        first = part;
        at = end;
    }
    return true;
}

/* The first two ranks of "[0, 8, ...]" say how the others go on. */
static bool read_ranks(const struct fr_json *event, double *first, double *step) {
    struct fr_json value = argument(event, "Process Group Ranks");
    const char *text = "";
    double second = 0;
    if (fr_json_is_array(&value) && fr_json_array_length(&value) > 1) {
        struct fr_json a = fr_json_element(&value, 0), b = fr_json_element(&value, 1);
        if (fr_json_number(&a, 0, 1e9, first, NULL) != FR_OK ||
            fr_json_number(&b, 0, 1e9, &second, NULL) != FR_OK)
            return false;
    } else {
        char *end = NULL;
        if (!fr_json_is_string(&value) || fr_json_text(&value, &text, NULL) != FR_OK)
            return false;
        text += strspn(text, "[ ");
        *first = (double)strtol(text, &end, 10);
        if (end == text || *end != ',') return false;
        second = (double)strtol(end + 1, NULL, 10);
    }
    *step = second - *first;
    return *first >= 0 && *step >= 1;
}

/* Nodes that evenly spaced ranks lie on; 0: not known. */
static int64_t nodes_of(const struct fr_json *event, int64_t ranks, int64_t per_node) {
    double first = 0, step = 1;
    if (per_node < 1 || !read_ranks(event, &first, &step)) return 0;
    if (step >= (double)per_node) return ranks;
    int64_t from = (int64_t)first / per_node,
            to = (int64_t)(first + step * (double)(ranks - 1)) / per_node;
    return to - from + 1;
}

bool fr_trace_collective(const struct fr_json *event, int64_t per_node,
                         struct fr_sample_collective *s) {
    struct fr_json args = fr_json_member(event, "args");
    const char *name = fr_trace_text(&args, "Collective name");
    fr_dtype ignored;
    size_t i = 0, n = sizeof rows / sizeof *rows;
    if (!fr_trace_is(event, "cat", "kernel")) return false;
    while (i < n && strcmp(rows[i].name, name) != 0) i++;
    if (i == n) return false;
    int64_t values = fr_trace_count(event, rows[i].result ? "Out msg nelems" : "In msg nelems");
    *s = (struct fr_sample_collective){
        .op = rows[i].op,
        .n_ranks = fr_trace_count(event, "Group size"),
        .n_groups = 1,
        .size_B = (double)values * fr_trace_value_B(fr_trace_text(&args, "dtype"), &ignored),
        .time_s = fr_trace_time_s(event)};
    if (s->n_ranks < 2 || s->n_ranks > FR_SAMPLE_COUNT_MAX || s->size_B < 1 ||
        s->size_B > FR_SAMPLE_SIZE_MAX_B || s->time_s < FR_SAMPLE_TIME_MIN_S)
        return false;
    if (s->op == FR_OP_ALL_TO_ALL &&
        (!parts_are_equal(event, "In split size") || !parts_are_equal(event, "Out split size")))
        return false;
    s->n_nodes = nodes_of(event, s->n_ranks, per_node);
    s->level = s->n_nodes > 1 || (s->n_nodes == 0 && per_node > 0 && s->n_ranks > per_node)
                   ? FR_SAMPLE_SYSTEM
                   : FR_SAMPLE_NODE;
    return true;
}
