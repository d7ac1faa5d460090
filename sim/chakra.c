#include "sim/chakra.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/sort.h"
#include "models/work/operation.h"
#include "sim/protobuf.h"
#include "sim/rank_ops.h"
#include "sim/unfold.h"

/* Fields of et_def.proto's messages that are written, by their numbers. */
enum { NODE_ID = 1, NODE_NAME = 2, NODE_TYPE = 3, NODE_DATA_DEPS = 5, NODE_DURATION = 7 };
enum { NODE_ATTR = 10, META_VERSION = 1, META_ATTR = 2, ATTR_NAME = 1 };
/* Type of the value of an attribute; JSON has a name for it. */
enum { AS_INT32 = 7, AS_INT64 = 9, AS_BOOL = 27, AS_STRING = 29 };
/* CollectiveCommType; -1: none of them. */
static const int comm_types[FR_OP_COUNT] = {
    [FR_OP_ALL_REDUCE] = 0, [FR_OP_REDUCE] = 1,         [FR_OP_ALL_GATHER] = 2,
    [FR_OP_GATHER] = 3,     [FR_OP_SCATTER] = 4,        [FR_OP_BROADCAST] = 5,
    [FR_OP_ALL_TO_ALL] = 6, [FR_OP_REDUCE_SCATTER] = 7, [FR_OP_SEND_RECV] = -1};

typedef enum {
    COMP_NODE = 4,
    COMM_SEND_NODE = 5,
    COMM_RECV_NODE = 6,
    COMM_COLL_NODE = 7
} node_type;
static const char *const type_names[] = {[COMP_NODE] = "COMP_NODE",
                                         [COMM_SEND_NODE] = "COMM_SEND_NODE",
                                         [COMM_RECV_NODE] = "COMM_RECV_NODE",
                                         [COMM_COLL_NODE] = "COMM_COLL_NODE"};

enum { ATTRIBUTES = 6 };

struct attribute {
    const char *name, *text;
    int as;
    int64_t value;
};

struct node {
    uint64_t id, duration_us;
    char name[64], group[24];
    node_type type;
    struct attribute attr[ATTRIBUTES];
    int n_attr;
};

struct need {
    int32_t rank;
    int64_t later, before;
};

struct writer {
    const struct fr_network_work *work;
    const double *class_s;
    struct fr_chakra *chakra;
    int64_t tp, dp, stages; /* rank (d stages + r) tp + t */
    double *work_s;         /* [n_ranks]: so far */
    struct fr_rank_op *op;
    struct need *need;
    int64_t n_ops, n_needs, op_capacity, need_capacity;
    bool failed;
};

/* ---- a message of the format ------------------------------------------------------------------- */

static void add(struct node *n, const char *name, int as, int64_t value) {
    n->attr[n->n_attr++] = (struct attribute){.name = name, .as = as, .value = value};
}

static void put_attribute(struct fr_text *text, int field, const struct attribute *a) {
    struct fr_text inside = {0};
    fr_protobuf_string(&inside, ATTR_NAME, a->name);
    if (a->as == AS_STRING)
        fr_protobuf_string(&inside, AS_STRING, a->text);
    else
        fr_protobuf_integer(&inside, a->as, a->value);
    fr_protobuf_bytes(text, field, fr_text_get(&inside), inside.length);
    text->failed = text->failed || inside.failed;
    fr_text_free(&inside);
}

/* 64 bits are strings there. */
static void json_long(struct fr_json_writer *w, int64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    fr_json_put_string(w, digits);
}

static void json_attributes(struct fr_json_writer *w, const struct attribute *a, int n) {
    fr_json_add_array(w, "attr");
    for (int i = 0; i < n; i++, a++) {
        fr_json_begin_object(w);
        fr_json_add_string(w, "name", a->name);
        fr_json_key(w, a->as == AS_INT32   ? "int32Val"
                       : a->as == AS_INT64 ? "int64Val"
                       : a->as == AS_BOOL  ? "boolVal"
                                           : "stringVal");
        if (a->as == AS_INT32) fr_json_put_integer(w, a->value);
        if (a->as == AS_INT64) json_long(w, a->value);
        if (a->as == AS_BOOL) fr_json_put_bool(w, a->value != 0);
        if (a->as == AS_STRING) fr_json_put_string(w, a->text);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

static void put_head(const struct writer *w, struct fr_text *text) {
    static const char version[] = "0.0.4";
    static const struct attribute producer = {
        .name = "producer", .as = AS_STRING, .text = "forerun"};
    struct fr_text message = {0};
    if (w->chakra->json) {
        struct fr_json_writer json = {.text = text};
        fr_json_begin_object(&json);
        fr_json_add_string(&json, "version", version);
        json_attributes(&json, &producer, 1);
        fr_json_end_object(&json);
        fr_text_add(text, "\n", 1);
        return;
    }
    fr_protobuf_string(&message, META_VERSION, version);
    put_attribute(&message, META_ATTR, &producer);
    fr_protobuf_delimited(text, &message);
    fr_text_free(&message);
}

static void put_json(const struct node *n, const struct need *need, int64_t n_needs,
                     struct fr_text *text) {
    struct fr_json_writer w = {.text = text};
    fr_json_begin_object(&w);
    fr_json_key(&w, "id");
    json_long(&w, (int64_t)n->id);
    fr_json_add_string(&w, "name", n->name);
    fr_json_add_string(&w, "type", type_names[n->type]);
    fr_json_add_array(&w, "dataDeps");
    for (int64_t i = 0; i < n_needs; i++) json_long(&w, need[i].before);
    fr_json_end_array(&w);
    fr_json_key(&w, "durationMicros");
    json_long(&w, (int64_t)n->duration_us);
    json_attributes(&w, n->attr, n->n_attr);
    fr_json_end_object(&w);
    fr_text_add(text, "\n", 1);
}

/* A field of 0 is not written, as proto3 has it. */
static void put_protobuf(const struct node *n, const struct need *need, int64_t n_needs,
                         struct fr_text *text) {
    struct fr_text message = {0}, deps = {0};
    fr_protobuf_integer(&message, NODE_ID, (int64_t)n->id);
    fr_protobuf_string(&message, NODE_NAME, n->name);
    fr_protobuf_integer(&message, NODE_TYPE, n->type);
    for (int64_t i = 0; i < n_needs; i++) fr_protobuf_varint(&deps, (uint64_t)need[i].before);
    if (n_needs) fr_protobuf_bytes(&message, NODE_DATA_DEPS, deps.data, deps.length);
    if (n->duration_us) fr_protobuf_integer(&message, NODE_DURATION, (int64_t)n->duration_us);
    for (int i = 0; i < n->n_attr; i++) put_attribute(&message, NODE_ATTR, &n->attr[i]);
    fr_protobuf_delimited(text, &message);
    text->failed = text->failed || deps.failed;
    fr_text_free(&deps);
    fr_text_free(&message);
}

/* ---- a node of an operation ---------------------------------------------------------------------- */

/* Whole microseconds so that those of a rank add up to the sum of its work. */
static uint64_t whole_us(struct writer *w, int32_t rank, double length_s) {
    double before = round(1e6 * w->work_s[rank]);
    w->work_s[rank] += length_s;
    return (uint64_t)(round(1e6 * w->work_s[rank]) - before);
}

/* Which group over @p axis @p rank is in: those over replicas come first, then those over tp, then the one
 * of all.  Common layers on a sub-grid of their own are over replicas. */
static int64_t group_of(const struct writer *w, int axis, int32_t rank) {
    int64_t in_replica = w->stages * w->tp;
    if (axis == FR_AXIS_DP || (axis == FR_AXIS_COMMON && w->chakra->common_apart))
        return 1 + rank % in_replica;
    if (axis == FR_AXIS_TP) return 1 + in_replica + rank / w->tp;
    return 1 + in_replica + w->dp * w->stages;
}

static fr_op op_of(const struct writer *w, const struct fr_task_class *class) {
    if (w->chakra->layers) return (fr_op) class->op;
    return w->chakra->scattered ? FR_OP_REDUCE_SCATTER : FR_OP_ALL_REDUCE;
}

/* Is it a collective that the format has?  A pipeline's program tells only its gradients apart. */
static bool is_collective(const struct writer *w, const struct fr_task_class *class) {
    bool gradient = class->kind == FR_TASK_GRADIENT;
    if (!w->chakra->layers) return gradient && w->dp > 1;
    return (gradient || class->kind == FR_TASK_COLLECTIVE) && comm_types[class->op] >= 0;
}

static void add_collective(const struct writer *w, const struct fr_rank_op *op,
                           const struct fr_task_class *class, double size_B, struct node *n) {
    int axis = w->chakra->layers ? class->axis : FR_AXIS_DP;
    snprintf(n->group, sizeof n->group, "%" PRId64, group_of(w, axis, op->rank));
    n->type = COMM_COLL_NODE;
    add(n, "comm_type", AS_INT64, comm_types[op_of(w, class)]);
    add(n, "comm_size", AS_INT64, llround(size_B));
    add(n, "pg_name", AS_STRING, 0);
    n->attr[n->n_attr - 1].text = n->group;
}

static void add_work(struct writer *w, const struct fr_rank_op *op, struct node *n) {
    const struct fr_task *task = &w->work->program->tasks[op->task];
    const struct fr_task_class *class = &w->work->program->classes[task->class_id];
    double length_s = w->class_s[task->class_id],
           gathered_B = w->work->class_gathered_B[task->class_id];
    bool together = is_collective(w, class) && gathered_B >= 1;
    n->type = COMP_NODE;
    n->duration_us =
        together ? (uint64_t)llround(1e6 * length_s) : whole_us(w, op->rank, length_s);
    if (together) add_collective(w, op, class, gathered_B, n);
    add(n, "duration_ns", AS_INT64, llround(1e9 * length_s));
}

static void add_message(const struct fr_rank_op *op, struct node *n) {
    bool sent = op->kind == FR_RANK_SENDS || op->kind == FR_RANK_SENDS_WORD;
    n->type = sent ? COMM_SEND_NODE : COMM_RECV_NODE;
    add(n, "comm_size", AS_INT64, op->size_B);
    add(n, "comm_src", AS_INT32, sent ? op->rank : op->peer);
    add(n, "comm_dst", AS_INT32, sent ? op->peer : op->rank);
    add(n, "comm_tag", AS_INT32, op->tag);
}

static void name_node(const struct writer *w, const struct fr_rank_op *op, struct node *n) {
    const struct fr_task *task = &w->work->program->tasks[op->task];
    const struct fr_task_class *class = &w->work->program->classes[task->class_id];
    bool word = op->kind == FR_RANK_SENDS_WORD || op->kind == FR_RANK_RECEIVES_WORD;
    size_t used = 0;
    fr_line_addf(n->name, sizeof n->name, &used, "%s%s stage %d", word ? "after " : "",
                 fr_task_names[class->kind], class->stage);
    if (task->micro >= 0)
        fr_line_addf(n->name, sizeof n->name, &used, " micro-batch %d", task->micro);
    if (task->chunk > 0) fr_line_addf(n->name, sizeof n->name, &used, " chunk %d", task->chunk);
}

static void put_node(struct writer *w, const struct fr_rank_op *op, const struct need *need,
                     int64_t n_needs) {
    struct node n = {.id = (uint64_t)op->label};
    name_node(w, op, &n);
    if (op->kind == FR_RANK_WORKS)
        add_work(w, op, &n);
    else
        add_message(op, &n);
    add(&n, "is_cpu_op", AS_BOOL, 0);
    (w->chakra->json ? put_json : put_protobuf)(&n, need, n_needs, &w->chakra->rank[op->rank]);
}

/* ---- all of them ----------------------------------------------------------------------------------- */

/* Capacity for one more of @p n things. */
static void *grown(struct writer *w, void *things, int64_t n, int64_t *capacity, size_t size) {
    if (n < *capacity || w->failed) return things;
    int64_t more = *capacity ? 2 * *capacity : 1024;
    void *larger = fr_realloc(things, (size_t)more, size);
    w->failed = !larger;
    if (larger) *capacity = more;
    return larger ? larger : things;
}

static void take_op(void *context, const struct fr_rank_op *op) {
    struct writer *w = context;
    w->op = grown(w, w->op, w->n_ops, &w->op_capacity, sizeof *w->op);
    if (!w->failed) w->op[w->n_ops++] = *op;
}

static void take_need(void *context, int32_t rank, int64_t later, int64_t before) {
    struct writer *w = context;
    w->need = grown(w, w->need, w->n_needs, &w->need_capacity, sizeof *w->need);
    if (!w->failed) w->need[w->n_needs++] = (struct need){rank, later, before};
}

static int in_order(const void *a, const void *b) {
    const struct need *x = a, *y = b;
    if (x->rank != y->rank) return FR_ORDER(x->rank, y->rank);
    if (x->later != y->later) return FR_ORDER(x->later, y->later);
    return FR_ORDER(x->before, y->before);
}

/* Where those of @p op begin among the needs in order; @p n of them. */
static const struct need *needs_of(const struct writer *w, const struct fr_rank_op *op,
                                   int64_t *n) {
    const struct need first = {op->rank, op->label, INT64_MIN};
    int64_t low = 0, high = w->n_needs;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (in_order(&w->need[middle], &first) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (high < w->n_needs && w->need[high].rank == op->rank &&
           w->need[high].later == op->label)
        high++;
    *n = high - low;
    return w->need + low;
}

static void put_group(struct fr_json_writer *json, int64_t id, int64_t first, int64_t step,
                      int64_t n) {
    char name[24];
    snprintf(name, sizeof name, "%" PRId64, id);
    fr_json_add_array(json, name);
    for (int64_t i = 0; i < n; i++) fr_json_put_integer(json, first + i * step);
    fr_json_end_array(json);
}

/* As group_of numbers them; a pipeline's over tp and all are inside its passes. */
static void put_groups(const struct writer *w) {
    struct fr_json_writer json = {.text = &w->chakra->groups};
    int64_t in_replica = w->stages * w->tp, n = in_replica * w->dp;
    fr_json_begin_object(&json);
    for (int64_t i = 0; w->dp > 1 && i < in_replica; i++)
        put_group(&json, group_of(w, FR_AXIS_DP, (int32_t)i), i, in_replica, w->dp);
    for (int64_t i = 0; w->chakra->layers && w->tp > 1 && i < n; i += w->tp)
        put_group(&json, group_of(w, FR_AXIS_TP, (int32_t)i), i, 1, w->tp);
    if (w->chakra->layers && n > 1)
        put_group(&json, 1 + in_replica + w->dp * w->stages, 0, 1, n);
    fr_json_end_object(&json);
    fr_text_add(&w->chakra->groups, "\n", 1);
}

static fr_status write_all(struct writer *w, struct fr_error *err) {
    fr_rank_ops(w->work, &(struct fr_rank_ops_to){w, take_op, take_need});
    if (w->failed) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_sort_items(w->need, (size_t)w->n_needs, sizeof *w->need, in_order);
    for (int32_t i = 0; i < w->chakra->n_ranks; i++) put_head(w, &w->chakra->rank[i]);
    for (int64_t i = 0; i < w->n_ops; i++) {
        int64_t n = 0;
        const struct need *need = needs_of(w, &w->op[i], &n);
        put_node(w, &w->op[i], need, n);
    }
    put_groups(w);
    w->chakra->n_nodes = w->n_ops;
    bool failed = w->chakra->groups.failed;
    for (int32_t i = 0; i < w->chakra->n_ranks; i++)
        failed = failed || w->chakra->rank[i].failed;
    return failed ? fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory") : FR_OK;
}

static fr_status fits(const struct fr_network_work *work, struct fr_error *err) {
    double replicas = (double)work->rank_map.tp * (double)work->rank_map.dp,
           ranks = replicas * work->program->n_ranks,
           tasks = replicas * (double)work->program->n_tasks;
    if (ranks > FR_CHAKRA_RANKS_MAX)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "plan",
                       "has %.0f ranks; a file each is written of at most %d", ranks,
                       FR_CHAKRA_RANKS_MAX);
    if (tasks > FR_CHAKRA_NODES_MAX)
        return fr_fail(err, FR_ERR_UNSUPPORTED, "plan",
                       "has %.0f tasks on all ranks; at most %d are written", tasks,
                       FR_CHAKRA_NODES_MAX);
    return FR_OK;
}

fr_status fr_chakra_write(const struct fr_network_work *work, const double *class_s,
                          struct fr_chakra *chakra, struct fr_error *err) {
    struct fr_program whole = {0};
    struct fr_network_work all = *work;
    FR_TRY(fits(work, err));
    fr_status status = fr_program_unfold(work->program, &work->rank_map, &whole, err);
    all.program = &whole;
    struct writer w = {.work = &all,
                       .class_s = class_s,
                       .chakra = chakra,
                       .tp = work->rank_map.tp,
                       .dp = work->rank_map.dp,
                       .stages = work->program->n_ranks};
    if (status == FR_OK) {
        chakra->n_ranks = whole.n_ranks;
        chakra->rank = fr_calloc((size_t)whole.n_ranks, sizeof *chakra->rank);
        w.work_s = fr_calloc((size_t)whole.n_ranks, sizeof *w.work_s);
        status = chakra->rank && w.work_s ? write_all(&w, err)
                                          : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    free(w.work_s);
    free(w.op);
    free(w.need);
    fr_program_free(&whole);
    return status;
}

void fr_chakra_free(struct fr_chakra *chakra) {
    for (int32_t i = 0; chakra->rank && i < chakra->n_ranks; i++)
        fr_text_free(&chakra->rank[i]);
    free(chakra->rank);
    fr_text_free(&chakra->groups);
    chakra->rank = NULL;
}
