#include "base/json/memory.h"

#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

static json_malloc_t take; /* what was there before us; set once, before threads */
static json_free_t give_back;
static _Thread_local struct fr_json_reserve *own;

static void *from_reserve(size_t wanted_B) {
    enum { ALIGNED = 16 };
    size_t step_B = (wanted_B + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (!own || step_B < wanted_B || step_B > own->size - own->used) return NULL;
    void *block = own->block + own->used;
    own->used += step_B;
    return block;
}

static void *take_noted(size_t wanted_B) {
    void *block = take(wanted_B);
    if (block) return block;
    fr_alloc_failed(wanted_B);
    return from_reserve(wanted_B);
}

static void give_back_ours(void *block) {
    uintptr_t at = (uintptr_t)block, first = own ? (uintptr_t)own->block : 0;
    if (own && at >= first && at < first + own->size) return;
    give_back(block);
}

void fr_json_memory_watch(void) {
    json_get_alloc_funcs(&take, &give_back);
    json_set_alloc_funcs(take_noted, give_back_ours);
}

/* An element of two characters is a value of a hundred bytes; of long texts there is less of all. */
bool fr_json_reserve_begin(struct fr_json_reserve *reserve, size_t length) {
    enum { LEAST_B = 1 << 16, MOST_B = 1 << 26, FOR_EACH = 64 };
    *reserve = (struct fr_json_reserve){.block = NULL};
    if (!take || !fr_alloc_watched()) return true;
    reserve->size = length < MOST_B / FOR_EACH ? LEAST_B + FOR_EACH * length : MOST_B;
    reserve->block = fr_malloc(reserve->size, 1);
    if (!reserve->block) return false;
    own = reserve;
    return true;
}

void fr_json_reserve_end(struct fr_json_reserve *reserve) {
    if (!reserve->block) return;
    own = NULL;
    free(reserve->block);
    reserve->block = NULL;
}
