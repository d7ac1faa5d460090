#include "models/outcome/recurrence_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"

/* A key and behind it what is kept, n words; 0: nothing. */
struct place {
    uint64_t *words;
    size_t key, n, capacity;
};

struct fr_recurrence_cache {
    size_t places;
    struct place *place;
    uint64_t *key; /* that was written last */
    size_t words, capacity;
};

struct fr_recurrence_cache *fr_recurrence_cache_make(size_t places) {
    struct fr_recurrence_cache *s = fr_calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (struct fr_recurrence_cache){.places = places,
                                      .place = fr_calloc(places, sizeof *s->place)};
    if (s->place) return s;
    free(s);
    return NULL;
}

void fr_recurrence_cache_free(struct fr_recurrence_cache *s) {
    if (!s) return;
    for (size_t i = 0; i < s->places; i++) free(s->place[i].words);
    free(s->place);
    free(s->key);
    free(s);
}

/* @return NULL without memory, and then @p words as they were */
static uint64_t *grow(uint64_t **words, size_t *capacity, size_t n) {
    if (n <= *capacity) return *words;
    uint64_t *grown = fr_realloc(*words, n, sizeof *grown);
    if (!grown) return NULL;
    *capacity = n;
    return *words = grown;
}

uint64_t *fr_recurrence_cache_key(struct fr_recurrence_cache *s, size_t words) {
    s->words = 0;
    if (!grow(&s->key, &s->capacity, words)) return NULL;
    s->words = words;
    return s->key;
}

static struct place *place_of(const struct fr_recurrence_cache *s) {
    return &s->place[fr_digest_place(s->words, s->key, s->words) % s->places];
}

const double *fr_recurrence_cache_find(struct fr_recurrence_cache *s, size_t n) {
    const struct place *place = place_of(s);
    if (place->n != n || place->key != s->words || s->words == 0 ||
        memcmp(place->words, s->key, s->words * sizeof *s->key) != 0)
        return NULL;
    return (const double *)(const void *)(place->words + place->key);
}

void fr_recurrence_cache_keep(struct fr_recurrence_cache *s, const double *numbers, size_t n) {
    struct place *place = place_of(s);
    place->n = 0;
    if (s->words == 0 || !grow(&place->words, &place->capacity, s->words + n)) return;
    memcpy(place->words, s->key, s->words * sizeof *s->key);
    memcpy(place->words + s->words, numbers, n * sizeof *numbers);
    place->key = s->words;
    place->n = n;
}
