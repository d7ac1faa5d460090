/* Chakra traces of programs at random and of plans, read back by readers of their own, protobuf and JSON: every
 * task of every replica is there once, with its time, its bytes, its group, and waits for what its task waits
 * for.  tests/sim/chakra.py reads them with the published schema. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "models/work/operation.h"
#include "sim/chakra.h"
#include "sim/record.h"
#include "sim/run.h"
#include "tests/job.h"
#include "tests/plan_values.h"

enum { NODES = 4000, DEPS = 16, RANKS = 64, PLACES = 16 };
enum { COMP = 4, SEND = 5, RECEIVE = 6, COLLECTIVE = 7 };

struct node {
    int64_t id, type, duration_us, dep[DEPS];
    int n_deps;
    char name[80];
    /* attributes; what is not there is -1 */
    int64_t duration_ns, size, from, to, tag, comm_type, group, cpu;
    int attributes;
};

struct file {
    struct node *node;
    int n, at; /* at: the next to be looked for */
    char version[16], producer[16];
};

static struct file file_new(void) {
    struct file f = {.node = calloc(NODES, sizeof(struct node))};
    assert_non_null(f.node);
    return f;
}

static struct node *node_new(struct file *f) {
    assert_true(f->n < NODES);
    struct node *node = &f->node[f->n++];
    *node = (struct node){.duration_ns = -1, .size = -1, .from = -1, .to = -1};
    node->tag = node->comm_type = node->group = node->cpu = -1;
    return node;
}

/* Each attribute has a value of this kind: numbers of the fields of et_def.proto's AttributeProto. */
static void set_attribute(struct node *node, const char *name, int field, int64_t value) {
    const struct {
        const char *name;
        int field;
        int64_t *to;
    } known[] = {{"duration_ns", 9, &node->duration_ns},
                 {"comm_size", 9, &node->size},
                 {"comm_type", 9, &node->comm_type},
                 {"comm_src", 7, &node->from},
                 {"comm_dst", 7, &node->to},
                 {"comm_tag", 7, &node->tag},
                 {"pg_name", 29, &node->group},
                 {"is_cpu_op", 27, &node->cpu}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].name, name) == 0) {
            FR_TRUE(known[k].field == field && *known[k].to == -1, "%s: field %d", name, field);
            *known[k].to = value;
            node->attributes++;
            return;
        }
    fail_msg("attribute %s", name);
}

/* ---- protobuf ---------------------------------------------------------------------------------- */

struct bytes {
    const unsigned char *at, *end;
};

static uint64_t varint(struct bytes *b) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        assert_true(b->at < b->end && shift < 64);
        value |= (uint64_t)(*b->at & 127) << shift;
        if (*b->at++ < 128) return value;
    }
}

/* The next field; of bytes (wire type 2) what is in them. @return its number; 0: none is left */
static int field_next(struct bytes *b, uint64_t *value, struct bytes *in) {
    if (b->at == b->end) return 0;
    uint64_t tag = varint(b);
    *value = varint(b);
    assert_true((tag & 7) == 0 || (tag & 7) == 2);
    if ((tag & 7) == 2) {
        assert_true(*value <= (uint64_t)(b->end - b->at));
        *in = (struct bytes){b->at, b->at + *value};
        b->at += *value;
    }
    return (int)(tag >> 3);
}

static void take_text(struct bytes in, char *out, size_t capacity) {
    snprintf(out, capacity, "%.*s", (int)(in.end - in.at), (const char *)in.at);
}

static void attribute(struct bytes b, struct node *node, char *producer) {
    char name[32] = "", text[16];
    uint64_t value;
    struct bytes in;
    assert_int_equal(field_next(&b, &value, &in), 1);
    take_text(in, name, sizeof name);
    int field = field_next(&b, &value, &in);
    if (field == 29) {
        take_text(in, text, sizeof text);
        value = (uint64_t)atoll(text);
        if (!node) snprintf(producer, 16, "%s", strcmp(name, "producer") ? "" : text);
    }
    if (node) set_attribute(node, name, field, (int64_t)value);
    assert_true(b.at == b.end);
}

static void protobuf_node(struct bytes b, struct node *node) {
    uint64_t value;
    struct bytes in;
    for (int field; (field = field_next(&b, &value, &in));) switch (field) {
        case 1:
            node->id = (int64_t)value;
            break;
        case 2:
            take_text(in, node->name, sizeof node->name);
            break;
        case 3:
            node->type = (int64_t)value;
            break;
        case 5:
            while (in.at < in.end) {
                assert_true(node->n_deps < DEPS);
                node->dep[node->n_deps++] = (int64_t)varint(&in);
            }
            break;
        case 7:
            assert_true(value > 0); /* proto3 does not write what is 0 */
            node->duration_us = (int64_t)value;
            break;
        case 10:
            attribute(in, node, NULL);
            break;
        default:
            fail_msg("field %d", field);
        }
}

static struct file read_protobuf(const struct fr_text *text) {
    struct file f = file_new();
    const unsigned char *data = (const unsigned char *)text->data;
    struct bytes b = {data, data + text->length}, in, head;
    uint64_t value = varint(&b);
    head = (struct bytes){b.at, b.at + value};
    b.at = head.end;
    assert_int_equal(field_next(&head, &value, &in), 1);
    take_text(in, f.version, sizeof f.version);
    assert_int_equal(field_next(&head, &value, &in), 2);
    attribute(in, NULL, f.producer);
    while (b.at < b.end) {
        value = varint(&b);
        in = (struct bytes){b.at, b.at + value};
        assert_true(in.end <= b.end);
        protobuf_node(in, node_new(&f));
        b.at = in.end;
    }
    return f;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static int64_t long_of(const struct fr_json *object, const char *key) {
    const char *text = fr_json_text_at(object, key);
    FR_TRUE(text, "%s is no text", key);
    return atoll(text);
}

static void json_attribute(const struct fr_json *a, struct node *node, char *producer) {
    static const struct {
        const char *key;
        int field;
    } kinds[] = {{"int32Val", 7}, {"int64Val", 9}, {"boolVal", 27}, {"stringVal", 29}};
    const char *name = fr_json_text_at(a, "name");
    for (int k = 0; k < 4; k++) {
        struct fr_json member = fr_json_member(a, kinds[k].key);
        if (!fr_json_present(&member)) continue;
        int64_t value = 0;
        bool is_true = false;
        if (k == 0) assert_int_equal(fr_json_integer(&member, 0, 1 << 30, &value, NULL), FR_OK);
        if (k == 2)
            assert_int_equal(fr_json_get_bool(a, kinds[k].key, true, &is_true, NULL), FR_OK);
        if (k % 2) value = long_of(a, kinds[k].key);
        if (node)
            set_attribute(node, name, kinds[k].field, k == 2 ? is_true : value);
        else
            snprintf(producer, 16, "%s", fr_json_text_at(a, kinds[k].key));
    }
}

static void json_line(const char *line, size_t length, struct file *f, bool head) {
    static const char *const types[] = {"COMP_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE",
                                        "COMM_COLL_NODE"};
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    if (fr_json_parse(line, length, "line", &document, &err) != FR_OK)
        fail_msg("%s", err.detail);
    struct fr_json root = fr_json_root(document), attr = fr_json_member(&root, "attr");
    struct node *node = head ? NULL : node_new(f);
    if (head) snprintf(f->version, sizeof f->version, "%s", fr_json_text_at(&root, "version"));
    for (int64_t i = 0; i < fr_json_array_length(&attr); i++) {
        struct fr_json a = fr_json_element(&attr, i);
        json_attribute(&a, node, f->producer);
    }
    if (node) {
        struct fr_json deps = fr_json_member(&root, "dataDeps");
        node->id = long_of(&root, "id");
        snprintf(node->name, sizeof node->name, "%s", fr_json_text_at(&root, "name"));
        for (int k = 0; k < 4; k++)
            if (strcmp(fr_json_text_at(&root, "type"), types[k]) == 0) node->type = COMP + k;
        node->duration_us = long_of(&root, "durationMicros");
        for (int64_t i = 0; i < fr_json_array_length(&deps); i++) {
            struct fr_json dep = fr_json_element(&deps, i);
            const char *text = NULL;
            assert_int_equal(fr_json_text(&dep, &text, NULL), FR_OK);
            assert_true(node->n_deps < DEPS);
            node->dep[node->n_deps++] = atoll(text);
        }
    }
    fr_json_free(document);
}

static struct file read_json(const struct fr_text *text) {
    struct file f = file_new();
    bool head = true;
    for (const char *at = text->data; *at; at += strcspn(at, "\n") + 1, head = false)
        json_line(at, strcspn(at, "\n"), &f, head);
    return f;
}

static void same(const struct file *a, const struct file *b) {
    assert_int_equal(a->n, b->n);
    assert_string_equal(a->version, "0.0.4");
    assert_string_equal(b->version, "0.0.4");
    assert_string_equal(a->producer, "forerun");
    assert_string_equal(b->producer, "forerun");
    for (int i = 0; i < a->n; i++)
        FR_TRUE(memcmp(&a->node[i], &b->node[i], sizeof *a->node) == 0, "node %d: %s, %s", i,
                a->node[i].name, b->node[i].name);
}

/* ---- what must be there ------------------------------------------------------------------------- */

struct traces {
    const struct fr_network_work *work;
    const double *class_s;
    const struct fr_chakra *chakra;
    struct file file[RANKS];
    struct fr_json_document *groups;
    int64_t tp, dp, stages;
    double work_s[RANKS];
    bool tag[1 << 16];
    int words;
};

static struct node *next_of(struct traces *x, int64_t rank) {
    struct file *f = &x->file[rank];
    FR_TRUE(f->at < f->n, "rank %" PRId64 " has %d nodes only", rank, f->n);
    return &f->node[f->at++];
}

static void is_called(const struct traces *x, const struct fr_task *task, bool word,
                      const char *name) {
    const struct fr_task_class *class = &x->work->program->classes[task->class_id];
    char wanted[100], micro[32] = "", chunk[32] = "";
    if (task->micro >= 0) snprintf(micro, sizeof micro, " micro-batch %d", task->micro);
    if (task->chunk > 0) snprintf(chunk, sizeof chunk, " chunk %d", task->chunk);
    snprintf(wanted, sizeof wanted, "%s%s stage %d%s%s", word ? "after " : "",
             fr_task_names[class->kind], class->stage, micro, chunk);
    assert_string_equal(name, wanted);
}

/* The group's ranks by what the axis means: replicas of a place, the tp ranks of a place, all. */
static void is_group(const struct traces *x, int64_t id, int axis, int64_t rank) {
    struct fr_json root = fr_json_root(x->groups);
    char name[24];
    snprintf(name, sizeof name, "%" PRId64, id);
    struct fr_json group = fr_json_member(&root, name);
    int64_t in_replica = x->stages * x->tp, first = 0, step = 1, n = in_replica * x->dp;
    if (axis == FR_AXIS_DP || (axis == FR_AXIS_COMMON && x->chakra->common_apart))
        first = rank % in_replica, step = in_replica, n = x->dp;
    else if (axis == FR_AXIS_TP)
        first = rank / x->tp * x->tp, n = x->tp;
    if (n == 1) return; /* of one rank alone no group is told */
    FR_TRUE(fr_json_array_length(&group) == n, "group %s of axis %d", name, axis);
    for (int64_t i = 0; i < n; i++) {
        struct fr_json element = fr_json_element(&group, i);
        int64_t member = -1;
        assert_int_equal(fr_json_integer(&element, 0, RANKS, &member, NULL), FR_OK);
        assert_int_equal(member, first + i * step);
    }
}

/* CollectiveCommType of et_def.proto, by hand. */
static int comm_type(fr_op op) {
    switch (op) {
    case FR_OP_ALL_REDUCE:
        return 0;
    case FR_OP_REDUCE:
        return 1;
    case FR_OP_ALL_GATHER:
        return 2;
    case FR_OP_GATHER:
        return 3;
    case FR_OP_SCATTER:
        return 4;
    case FR_OP_BROADCAST:
        return 5;
    case FR_OP_ALL_TO_ALL:
        return 6;
    case FR_OP_REDUCE_SCATTER:
        return 7;
    default:
        return -1;
    }
}

static void is_work(struct traces *x, const struct fr_task *task, int64_t rank,
                    const struct node *node) {
    const struct fr_chakra *c = x->chakra;
    const struct fr_task_class *class = &x->work->program->classes[task->class_id];
    double time_s = x->class_s[task->class_id],
           gathered_B = x->work->class_gathered_B[task->class_id];
    int type = c->layers ? comm_type((fr_op) class->op) : c->scattered ? 7 : 0;
    bool gradient = class->kind == FR_TASK_GRADIENT,
         asked = c->layers ? (gradient || class->kind == FR_TASK_COLLECTIVE) && type >= 0
                           : gradient && x->dp > 1;
    assert_int_equal(node->duration_ns, llround(1e9 * time_s));
    assert_int_equal(node->cpu, 0);
    if (asked && gathered_B >= 1) {
        assert_int_equal(node->type, COLLECTIVE);
        assert_int_equal(node->attributes, 5);
        assert_int_equal(node->comm_type, type);
        assert_int_equal(node->size, llround(gathered_B));
        assert_int_equal(node->duration_us, llround(1e6 * time_s));
        is_group(x, node->group, c->layers ? class->axis : FR_AXIS_DP, rank);
        return;
    }
    double before_us = round(1e6 * x->work_s[rank]);
    x->work_s[rank] += time_s;
    assert_int_equal(node->type, COMP);
    assert_int_equal(node->attributes, 2);
    assert_int_equal(node->duration_us, (int64_t)(round(1e6 * x->work_s[rank]) - before_us));
}

static void is_message(struct traces *x, const struct node *node, int64_t type, int64_t from,
                       int64_t to, int64_t size_B) {
    assert_int_equal(node->type, type);
    assert_int_equal(node->from, from);
    assert_int_equal(node->to, to);
    assert_int_equal(node->size, size_B);
    assert_int_equal(node->cpu, 0);
    assert_int_equal(node->attributes, 5);
    assert_int_equal(node->duration_us, 0);
    if (type == SEND) {
        FR_TRUE(node->tag > 0 && node->tag < (1 << 16) && !x->tag[node->tag], "tag %" PRId64,
                node->tag);
        x->tag[node->tag] = true;
    }
}

/* The nodes of a task of a replica; of a message, sends and receives, of an exchange both ways. */
struct made {
    const struct node *work, *sent[2], *got[2];
    int64_t rank, peer;
};

static int64_t rank_of(const struct traces *x, int32_t r, int64_t t, int64_t d) {
    return (d * x->stages + r) * x->tp + t;
}

static void waits_for(int64_t *wanted, int *n, const struct node *node) {
    for (int k = 0; k < *n; k++)
        if (wanted[k] == node->id) return;
    wanted[(*n)++] = node->id;
}

/* One byte from whoever is done with it, told behind the operation that waits for it. */
static const struct node *word(struct traces *x, const struct fr_task *before,
                               const struct made *of, int64_t rank) {
    const struct node *sent = next_of(x, of->rank), *got = next_of(x, rank);
    is_called(x, before, true, sent->name);
    is_called(x, before, true, got->name);
    is_message(x, sent, SEND, of->rank, rank, 1);
    is_message(x, got, RECEIVE, of->rank, rank, 1);
    assert_int_equal(sent->tag, got->tag);
    assert_int_equal(sent->n_deps, 1);
    assert_int_equal(sent->dep[0], of->work->id);
    assert_int_equal(got->n_deps, 0);
    x->words++;
    return got;
}

static void waits(struct traces *x, const struct made *made, int64_t copies, int64_t copy,
                  const struct fr_task *task, int64_t rank, const struct node *node) {
    int64_t wanted[DEPS];
    int n = 0, found = 0;
    for (int k = 0; k < FR_TASK_WAITS_MAX && task->after[k] >= 0; k++) {
        const struct made *of = &made[task->after[k] * copies + copy];
        if (of->work)
            waits_for(wanted, &n,
                      of->rank == rank
                          ? of->work
                          : word(x, &x->work->program->tasks[task->after[k]], of, rank));
        for (int way = 0; way < 2 && !of->work && of->sent[way]; way++) {
            if ((way ? of->peer : of->rank) == rank) waits_for(wanted, &n, of->sent[way]);
            if ((way ? of->rank : of->peer) == rank) waits_for(wanted, &n, of->got[way]);
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < node->n_deps; k++) found += node->dep[k] == wanted[i];
    FR_TRUE(node->n_deps == n && found == n, "%s: waits for %d, wanted %d", node->name,
            node->n_deps, n);
    for (int k = 1; k < n; k++) assert_true(node->dep[k - 1] < node->dep[k]);
}

static void is_task(struct traces *x, struct made *made, int64_t i, int64_t copy) {
    const struct fr_program *program = x->work->program;
    const struct fr_task *task = &program->tasks[i];
    fr_task_kind kind = program->classes[task->class_id].kind;
    int64_t copies = x->tp * x->dp, t = copy % x->tp, d = copy / x->tp;
    struct made *m = &made[i * copies + copy];
    bool message = fr_task_is_message(kind) && task->peer >= 0;
    *m = (struct made){.rank = rank_of(x, task->rank, t, d), .peer = -1};
    if (!message) {
        m->work = next_of(x, m->rank);
        is_called(x, task, false, m->work->name);
        is_work(x, task, m->rank, m->work);
        waits(x, made, copies, copy, task, m->rank, m->work);
        return;
    }
    m->peer = rank_of(x, task->peer, t, d);
    for (int way = 0; way < (kind == FR_TASK_EXCHANGE ? 2 : 1); way++) {
        int64_t from = way ? m->peer : m->rank, to = way ? m->rank : m->peer,
                size_B = (int64_t)fmax(1, round(x->work->class_B[task->class_id]));
        const struct node *sent = next_of(x, from), *got = next_of(x, to);
        is_called(x, task, false, sent->name);
        is_called(x, task, false, got->name);
        is_message(x, sent, SEND, from, to, size_B);
        is_message(x, got, RECEIVE, from, to, size_B);
        assert_int_equal(sent->tag, got->tag);
        assert_int_equal(got->n_deps, 0);
        waits(x, made, copies, copy, task, from, sent);
        m->sent[way] = sent, m->got[way] = got;
    }
}

/* As many groups as there are places with replicas, places with tp ranks, and one of all. */
static void counts_groups(const struct traces *x) {
    struct fr_json root = fr_json_root(x->groups);
    int64_t n = 0, wanted = x->dp > 1 ? x->stages * x->tp : 0;
    while (fr_json_key_at(&root, n)) n++;
    if (x->chakra->layers && x->tp > 1) wanted += x->stages * x->dp;
    if (x->chakra->layers && x->stages * x->tp * x->dp > 1) wanted++;
    assert_int_equal(n, wanted);
}

static void ids_differ(const struct file *f) {
    for (int i = 0; i < f->n; i++) {
        assert_true(f->node[i].id >= 1);
        for (int k = 0; k < i; k++) assert_true(f->node[i].id != f->node[k].id);
    }
}

/* @return how many words there are */
static int holds(const struct fr_network_work *work, const double *class_s,
                 struct fr_chakra how) {
    struct fr_chakra chakra[2] = {how, how};
    int64_t copies = work->rank_map.tp * work->rank_map.dp, n_nodes = 0;
    struct traces *x = calloc(1, sizeof *x);
    struct made *made = calloc((size_t)(work->program->n_tasks * copies) + 1, sizeof *made);
    assert_true(x && made && work->program->n_ranks * copies <= RANKS);
    *x = (struct traces){.work = work, .class_s = class_s, .chakra = &chakra[0]};
    x->tp = work->rank_map.tp, x->dp = work->rank_map.dp, x->stages = work->program->n_ranks;
    chakra[1].json = true;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(fr_chakra_write(work, class_s, &chakra[k], NULL), FR_OK);
        assert_int_equal(chakra[k].n_ranks, work->program->n_ranks * copies);
    }
    assert_int_equal(chakra[0].n_nodes, chakra[1].n_nodes);
    assert_string_equal(chakra[0].groups.data, chakra[1].groups.data);
    assert_int_equal(fr_json_parse(chakra[0].groups.data, chakra[0].groups.length, "groups",
                                   &x->groups, NULL),
                     FR_OK);
    counts_groups(x);
    for (int32_t r = 0; r < chakra[0].n_ranks; r++) {
        struct file other = read_json(&chakra[1].rank[r]);
        x->file[r] = read_protobuf(&chakra[0].rank[r]);
        same(&x->file[r], &other);
        ids_differ(&other);
        n_nodes += other.n;
        free(other.node);
    }
    assert_int_equal(n_nodes, chakra[0].n_nodes);
    for (int64_t i = 0; i < work->program->n_tasks; i++)
        for (int64_t copy = 0; copy < copies; copy++) is_task(x, made, i, copy);
    for (int32_t r = 0; r < chakra[0].n_ranks; r++) {
        assert_int_equal(x->file[r].at, x->file[r].n); /* and nothing else */
        free(x->file[r].node);
    }
    int words = x->words;
    fr_json_free(x->groups);
    for (int k = 0; k < 4; k++) fr_chakra_free(&chakra[k % 2]); /* twice is once */
    free(made);
    free(x);
    return words;
}

/* ---- programs at random --------------------------------------------------------------------------- */

enum { CLASSES = 48, TASKS = 60 };

struct drawn {
    struct fr_task_class class[CLASSES];
    struct fr_task task[TASKS];
    double class_s[CLASSES], class_B[CLASSES], gathered_B[CLASSES];
    struct fr_program program;
};

/* Every kind of work, every collective over every axis; times of half a microsecond and of none. */
static void draw_classes(struct drawn *x, uint64_t *dice) {
    static const double times_s[] = {0, 0.4e-6, 1.5e-6, 2.5e-3, 0.1234567},
                        sizes_B[] = {0, 0.4, 1, 1.6, 3e9};
    for (int c = 0; c < CLASSES; c++) {
        x->class[c] = (struct fr_task_class){.kind = (fr_task_kind)(c % FR_TASK_COUNT),
                                             .stage = c % 7,
                                             .op = (uint8_t)fr_test_random(dice, FR_OP_COUNT),
                                             .axis = (uint8_t)fr_test_random(dice, 3)};
        if (c >= 2 * FR_TASK_COUNT)
            x->class[c].kind = c % 2 ? FR_TASK_COLLECTIVE : FR_TASK_GRADIENT;
        x->class_s[c] = times_s[fr_test_random(dice, 5)];
        x->class_B[c] = sizes_B[fr_test_random(dice, 5)];
        x->gathered_B[c] = sizes_B[fr_test_random(dice, 5)];
    }
}

/* Tasks wait for others of their rank, of its neighbours' messages, and for work elsewhere. */
static void draw_tasks(struct drawn *x, int32_t n_ranks, uint64_t *dice) {
    for (int i = 0; i < TASKS; i++) {
        struct fr_task *task = &x->task[i];
        *task = (struct fr_task){.class_id = (int32_t)fr_test_random(dice, CLASSES),
                                 .rank = (int32_t)fr_test_random(dice, (uint64_t)n_ranks),
                                 .peer = -1,
                                 .micro = (int32_t)fr_test_random(dice, 4) - 1,
                                 .chunk = (int16_t)fr_test_random(dice, 3)};
        if (fr_task_is_message(x->class[task->class_id].kind) && n_ranks > 1 && i % 5 != 1)
            task->peer = (task->rank + 1) % n_ranks;
        for (int k = 0, waits = 0; k < FR_TASK_WAITS_MAX; k++) {
            int before = i > 0 ? (int)fr_test_random(dice, (uint64_t)i) : 0;
            bool again = false;
            task->after[k] = -1;
            for (int j = 0; j < waits; j++) again = again || task->after[j] == before;
            if (i > 0 && !again && k == waits) task->after[waits++] = before;
        }
    }
}

static void programs_at_random(void **state) {
    static const int64_t meshes[][3] = {{1, 1, 1}, {3, 1, 1}, {2, 4, 1}, {2, 1, 3}, {3, 2, 2}};
    static struct drawn x;
    uint64_t dice = 11;
    int words = 0;
    (void)state;
    for (int n = 0; n < 60; n++) {
        const int64_t *mesh = meshes[n % 5];
        draw_classes(&x, &dice);
        draw_tasks(&x, (int32_t)mesh[0], &dice);
        x.program = (struct fr_program){.n_ranks = (int32_t)mesh[0],
                                        .n_classes = CLASSES,
                                        .classes = x.class,
                                        .n_tasks = TASKS,
                                        .tasks = x.task};
        const struct fr_network_work work = {.program = &x.program,
                                             .class_B = x.class_B,
                                             .class_gathered_B = x.gathered_B,
                                             .rank_map = {mesh[1], mesh[2], NULL}};
        words += holds(&work, x.class_s,
                       (struct fr_chakra){.layers = n / 5 % 2,
                                          .scattered = n / 10 % 2,
                                          .common_apart = n / 20 % 2});
    }
    assert_true(words > 1000);
}

/* ---- plans --------------------------------------------------------------------------------------- */

static fr_status look(void *context, const struct fr_network_work *work, const double *class_s,
                      struct fr_error *err) {
    const struct fr_job *job = context;
    (void)err;
    holds(work, class_s,
          (struct fr_chakra){.layers = !fr_job_is_pipeline(job, &job->plan),
                             .scattered = job->plan.zero > 0,
                             .common_apart = job->plan.common_subgrid});
    return FR_OK;
}

static void plans(void **state) {
    static const char *const rows[][8] = {
        {"a100-hdr", "gpt-2.5b", "tp=2", "pp=4", "dp=2", "global_batch=16"},
        {"a100-hdr", "gpt-2.5b", "tp=2", "pp=4", "dp=2", "global_batch=8", "zero=1"},
        {"a100-hdr", "gpt-2.5b", "pp=2", "dp=2", "global_batch=8", "overlap=gradient"},
        {"a100-hdr", "gpt-2.5b", "pp=2", "global_batch=4", "schedule=1f1b", "p2p=duplex"},
        {"frontier", "ffn-4096", "tp=4", "dp=2", "method=phantom", "ghost=8"},
        {"a100-hdr", "alexnet", "tp=2", "dp=4", "method=grid"}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const char *sets[8] = {NULL};
        struct fr_simulation simulation;
        struct fr_error err = {0};
        struct fr_job job;
        for (int i = 0; i < 6 && rows[k][2 + i]; i++) sets[i] = rows[k][2 + i];
        fr_test_job(rows[k][0], rows[k][1], sets, &job);
        const struct fr_simulate_options how = {.look = look, .context = &job};
        if (fr_simulate(&job, &job.plan, &how, &simulation, &err) != FR_OK)
            fail_msg("%s: %s", err.where, err.detail);
        fr_simulation_free(&simulation);
        fr_job_free(&job);
    }
}

/* ---- how many ------------------------------------------------------------------------------------- */

static fr_status of(int32_t n_ranks, int64_t n_tasks, int64_t tp, int64_t dp) {
    struct fr_task_class class = {0};
    struct fr_program program = {
        .n_ranks = n_ranks, .n_classes = 1, .classes = &class, .n_tasks = n_tasks};
    const struct fr_network_work work = {.program = &program, .rank_map = {tp, dp, NULL}};
    double time_s = 0;
    struct fr_chakra chakra = {0};
    fr_status status = fr_chakra_write(&work, &time_s, &chakra, NULL);
    assert_true(status != FR_OK || chakra.n_ranks == n_ranks * tp * dp);
    fr_chakra_free(&chakra);
    return status;
}

static void no_more_than_told(void **state) {
    (void)state;
    assert_int_equal(of(512, 0, 4, 2), FR_OK);
    assert_int_equal(of(FR_CHAKRA_RANKS_MAX + 1, 0, 1, 1), FR_ERR_UNSUPPORTED);
    assert_int_equal(of(FR_CHAKRA_RANKS_MAX / 8 + 1, 0, 4, 2), FR_ERR_UNSUPPORTED);
    assert_int_equal(of(1, FR_CHAKRA_NODES_MAX / 8 + 1, 4, 2), FR_ERR_UNSUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_at_random),
                                       cmocka_unit_test(plans),
                                       cmocka_unit_test(no_more_than_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
