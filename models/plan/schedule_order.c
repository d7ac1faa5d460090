#include "models/plan/schedule_order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum { STAGES_MAX = 4096, SLOTS_MAX = 1 << 22 };

static const char letters[] = {
    [FR_SLOT_FORWARD] = 'F', [FR_SLOT_BACKWARD] = 'B', [FR_SLOT_WEIGHT] = 'W'};

/* ---- who waits for whom -------------------------------------------------------------------- */

bool fr_slot_needs(const struct fr_schedule_args *a, int32_t i, const struct fr_slot *slot,
                   struct fr_slot *needed, int32_t *on) {
    int32_t first = 0, last = a->stages - 1;
    *needed = *slot;
    *on = i;
    if (slot->kind == FR_SLOT_WEIGHT) {
        needed->kind = FR_SLOT_BACKWARD;
    } else if (slot->kind == FR_SLOT_FORWARD) {
        if (i == first && slot->chunk == 0) return false;
        *on = i == first ? last : i - 1;
        needed->chunk = (int16_t)(slot->chunk - (i == first));
    } else if (i == last && slot->chunk == a->chunks - 1) {
        needed->kind = FR_SLOT_FORWARD;
    } else {
        *on = i == last ? first : i + 1;
        needed->chunk = (int16_t)(slot->chunk + (i == last));
    }
    return true;
}

static void add_slot(struct fr_text *text, const struct fr_slot *slot, int32_t chunks) {
    fr_text_addf(text, "%c%" PRId32, letters[slot->kind], slot->micro);
    if (chunks > 1) fr_text_addf(text, ".%d", slot->chunk);
}

fr_status fr_schedule_deadlock(const struct fr_schedule_args *a, const struct fr_slot *slots,
                               int64_t n_slots, const int64_t *next, const char *where,
                               struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_slot needed;
    int32_t at = 0, on;
    while (at < a->stages - 1 && next[at] == n_slots) at++;
    /* After as many steps as there are stages one stands on the cycle; then once round it. */
    for (int32_t step = 0; step < a->stages; step++) {
        fr_slot_needs(a, at, &slots[at * n_slots + next[at]], &needed, &on);
        at = on;
    }
    int32_t start = at, shown = 0;
    for (int32_t step = 0; step < a->stages; step++) { /* told from its lowest stage */
        fr_slot_needs(a, at, &slots[at * n_slots + next[at]], &needed, &on);
        at = on;
        if (at < start) start = at;
    }
    at = start;
    do {
        const struct fr_slot *slot = &slots[at * n_slots + next[at]];
        fr_slot_needs(a, at, slot, &needed, &on);
        if (++shown <= 4) {
            fr_text_addf(&text, "%sstage %" PRId32 " at ", shown > 1 ? ", " : "", at);
            add_slot(&text, slot, a->chunks);
            fr_text_addf(&text, " waits for ");
            add_slot(&text, &needed, a->chunks);
            fr_text_addf(&text, " of stage %" PRId32, on);
        }
        at = on;
    } while (at != start);
    if (shown > 4) fr_text_addf(&text, ", and so on round %" PRId32 " stages", shown);
    fr_status status = fr_fail(err, FR_ERR_INPUT, where, "the order of passes deadlocks: %s",
                               fr_text_get(&text));
    fr_text_free(&text);
    return status;
}

/* Can all passes run, each after what it reads? */
static fr_status check_deadlock(const struct fr_json *node,
                                const struct fr_schedule_order *order, struct fr_error *err) {
    struct fr_schedule_args a = {order->stages, order->micro_batches, order->chunks, order};
    int64_t passes = (int64_t)a.stages * a.micro_batches * a.chunks, left = 1, before = 0;
    int64_t *next = fr_calloc((size_t)a.stages, sizeof *next);
    bool *done = fr_calloc(3 * (size_t)passes, sizeof *done);
    char where[384];
    fr_status status = FR_OK;
    if (!next || !done) {
        free(next);
        free(done);
        return fr_json_fail(node, err, "does not fit in memory");
    }
#define PLACE(i, x)                                                                            \
    (((int64_t)(x).kind * a.chunks + (x).chunk) * a.stages + (i)) * a.micro_batches + (x).micro
    while (left > 0 && status == FR_OK) {
        left = order->n_slots * a.stages;
        for (int32_t i = 0; i < a.stages; i++) {
            struct fr_slot needed;
            int32_t on;
            for (; next[i] < order->n_slots; next[i]++) {
                const struct fr_slot *slot = &order->slots[i * order->n_slots + next[i]];
                if (fr_slot_needs(&a, i, slot, &needed, &on) && !done[PLACE(on, needed)]) break;
                done[PLACE(i, *slot)] = true;
            }
            left -= next[i];
        }
        if (left > 0 && left == before)
            status = fr_schedule_deadlock(&a, order->slots, order->n_slots, next,
                                          fr_json_where(node, where, sizeof where), err);
        before = left;
    }
#undef PLACE
    free(next);
    free(done);
    return status;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* One pass, "F2" or "F2.1"; @return what follows it, or NULL. */
static const char *read_slot(const char *text, struct fr_slot *slot) {
    const char *kind = text[0] ? memchr(letters, text[0], sizeof letters) : NULL;
    char *end;
    if (!kind || text[1] < '0' || text[1] > '9') return NULL;
    long micro = strtol(text + 1, &end, 10), chunk = 0;
    if (end[0] == '.' && end[1] >= '0' && end[1] <= '9') chunk = strtol(end + 1, &end, 10);
    if (micro >= SLOTS_MAX || chunk >= 1024 || (end[0] && !strchr(" \t", end[0]))) return NULL;
    *slot = (struct fr_slot){
        .micro = (int32_t)micro, .chunk = (int16_t)chunk, .kind = (uint8_t)(kind - letters)};
    return end;
}

static fr_status grow(const struct fr_json *node, struct fr_schedule_order *order,
                      int64_t *count, const struct fr_slot *slot, struct fr_error *err) {
    if ((*count & (*count - 1)) == 0) { /* capacity is a power of two */
        struct fr_slot *grown = NULL;
        if (*count < SLOTS_MAX)
            grown = fr_realloc(order->slots, (size_t)(*count ? 2 * *count : 1), sizeof *grown);
        if (!grown) return fr_json_fail(node, err, "lists too many passes");
        order->slots = grown;
    }
    order->slots[(*count)++] = *slot;
    return FR_OK;
}

/* The passes of a text, separated by blanks. */
static fr_status read_text(const struct fr_json *node, struct fr_schedule_order *order,
                           int64_t *count, struct fr_error *err) {
    const char *at;
    FR_TRY(fr_json_text(node, &at, err));
    while (*(at += strspn(at, " \t"))) {
        struct fr_slot slot;
        const char *end = read_slot(at, &slot);
        if (!end)
            return fr_json_fail(node, err,
                                "\"%.16s\" is no pass; expected F, B or W and a micro-batch, "
                                "as in F3, or F3.1 for chunk 1",
                                at);
        FR_TRY(grow(node, order, count, &slot, err));
        if (slot.micro >= order->micro_batches) order->micro_batches = slot.micro + 1;
        if (slot.chunk >= order->chunks) order->chunks = slot.chunk + 1;
        if (slot.kind == FR_SLOT_WEIGHT) order->splits_backward = true;
        at = end;
    }
    return FR_OK;
}

static fr_status read_stage(const struct fr_json *node, struct fr_schedule_order *order,
                            int64_t *count, struct fr_error *err) {
    if (!fr_json_is_array(node)) return read_text(node, order, count, err);
    for (int64_t k = 0; k < fr_json_array_length(node); k++) {
        struct fr_json one = fr_json_element(node, k);
        FR_TRY(read_text(&one, order, count, err));
    }
    return FR_OK;
}

/* Every pass of every micro-batch and chunk once on each stage. */
static fr_status check_whole(const struct fr_json *list, const struct fr_schedule_order *order,
                             struct fr_error *err) {
    int64_t kinds = order->splits_backward ? 3 : 2;
    int64_t each = (int64_t)order->micro_batches * order->chunks;
    int64_t *seen = fr_calloc((size_t)(kinds * each), sizeof *seen);
    fr_status status = seen ? FR_OK : fr_json_fail(list, err, "does not fit in memory");
    for (int32_t i = 0; i < order->stages && status == FR_OK; i++) {
        struct fr_json node = fr_json_element(list, i);
        const struct fr_slot *slots = order->slots + i * order->n_slots;
        for (int64_t k = 0; k < order->n_slots && status == FR_OK; k++) {
            int64_t *mark =
                &seen[slots[k].kind * each + (int64_t)slots[k].chunk * order->micro_batches +
                      slots[k].micro];
            if (*mark == i + 1)
                status = fr_json_fail(&node, err, "runs %c%" PRId32 " of chunk %d twice",
                                      letters[slots[k].kind], slots[k].micro, slots[k].chunk);
            *mark = i + 1;
        }
    }
    free(seen);
    return status;
}

static fr_status read_stages(const struct fr_json *list, struct fr_schedule_order *order,
                             struct fr_error *err) {
    int64_t count = 0;
    FR_TRY(fr_json_array(list, 1, STAGES_MAX, err));
    order->stages = (int32_t)fr_json_array_length(list);
    int64_t *end = fr_calloc((size_t)order->stages, sizeof *end);
    fr_status status = end ? FR_OK : fr_json_fail(list, err, "does not fit in memory");
    for (int32_t i = 0; i < order->stages && status == FR_OK; i++) {
        struct fr_json node = fr_json_element(list, i);
        status = read_stage(&node, order, &count, err);
        end[i] = count;
    }
    order->n_slots =
        (order->splits_backward ? 3 : 2) * (int64_t)order->micro_batches * order->chunks;
    for (int32_t i = 0; i < order->stages && status == FR_OK; i++) {
        struct fr_json node = fr_json_element(list, i);
        int64_t has = end[i] - (i ? end[i - 1] : 0);
        if (has != order->n_slots)
            status = fr_json_fail(&node, err,
                                  "lists %" PRId64 " passes; %" PRId32
                                  " micro-batches x %" PRId32 " chunks need %" PRId64 " (%s)",
                                  has, order->micro_batches, order->chunks, order->n_slots,
                                  order->splits_backward ? "F, B and W" : "F and B");
    }
    free(end);
    if (status == FR_OK && order->n_slots == 0)
        status = fr_json_fail(list, err, "lists no pass; expected e.g. [\"F0 B0\", \"F0 B0\"]");
    if (status == FR_OK) status = check_whole(list, order, err);
    return status == FR_OK ? check_deadlock(list, order, err) : status;
}

fr_status fr_schedule_order_read(const struct fr_json *node, struct fr_schedule_order *order,
                                 struct fr_error *err) {
    static const char *const keys[] = {"name", "source", "stages", NULL};
    *order = (struct fr_schedule_order){.chunks = 1};
    if (fr_json_is_array(node)) return read_stages(node, order, err);
    FR_TRY(fr_json_object(node, keys, err));
    struct fr_json list = fr_json_member(node, "stages");
    return read_stages(&list, order, err);
}

fr_status fr_schedule_order_read_file(const char *path, struct fr_schedule_order *order,
                                      struct fr_error *err) {
    struct fr_json_document *document = NULL;
    *order = (struct fr_schedule_order){0};
    FR_TRY(fr_json_read(path, &document, err));
    struct fr_json root = fr_json_root(document);
    fr_status status = fr_schedule_order_read(&root, order, err);
    fr_json_free(document);
    return status;
}

void fr_schedule_order_free(struct fr_schedule_order *order) {
    free(order->slots);
    *order = (struct fr_schedule_order){0};
}
