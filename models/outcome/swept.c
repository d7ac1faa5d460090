#include "models/outcome/swept.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/digest.h"

/* A key and behind it what is kept, n words; 0: nothing. */
struct place {
    uint64_t *words;
    size_t key, n, room;
};

struct fr_swept {
    size_t places;
    struct place *place;
    uint64_t *key; /* that was written last */
    size_t words, room;
};

struct fr_swept *fr_swept_make(size_t places) {
    struct fr_swept *s = fr_calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (struct fr_swept){.places = places, .place = fr_calloc(places, sizeof *s->place)};
    if (s->place) return s;
    free(s);
    return NULL;
}

void fr_swept_free(struct fr_swept *s) {
    if (!s) return;
    for (size_t i = 0; i < s->places; i++) free(s->place[i].words);
    free(s->place);
    free(s->key);
    free(s);
}

/* @return NULL without memory, and then @p words as they were */
static uint64_t *make_room(uint64_t **words, size_t *room, size_t n) {
    if (n <= *room) return *words;
    uint64_t *grown = fr_realloc(*words, n, sizeof *grown);
    if (!grown) return NULL;
    *room = n;
    return *words = grown;
}

uint64_t *fr_swept_key(struct fr_swept *s, size_t words) {
    s->words = 0;
    if (!make_room(&s->key, &s->room, words)) return NULL;
    s->words = words;
    return s->key;
}

static struct place *place_of(const struct fr_swept *s) {
    return &s->place[fr_digest_place(s->words, s->key, s->words) % s->places];
}

const double *fr_swept_find(struct fr_swept *s, size_t n) {
    const struct place *place = place_of(s);
    if (place->n != n || place->key != s->words || s->words == 0 ||
        memcmp(place->words, s->key, s->words * sizeof *s->key) != 0)
        return NULL;
    return (const double *)(const void *)(place->words + place->key);
}

void fr_swept_keep(struct fr_swept *s, const double *numbers, size_t n) {
    struct place *place = place_of(s);
    place->n = 0;
    if (s->words == 0 || !make_room(&place->words, &place->room, s->words + n)) return;
    memcpy(place->words, s->key, s->words * sizeof *s->key);
    memcpy(place->words + s->words, numbers, n * sizeof *numbers);
    place->key = s->words;
    place->n = n;
}
