/* The key that a run of the recurrence is looked up by. */
#include <string.h>

#include "models/outcome/sweep.h"

/* Words that the recurrence reads of a stage: always, with messages in order, and with compressed messages. */
enum { PLAIN = 4, IN_ORDER = 1, CODED = 9 };

/* Gradients change nothing of it: they go beside the passes, or after them. */
static uint64_t *write_stage(const struct fr_sweep *w, size_t i, uint64_t *key) {
    const struct fr_stage *s = &w->p->stage[i];
    const double *pass_s = w->pass_s + 3 * i;
    const double plain[] = {pass_s[0], pass_s[1], pass_s[2], s->message_s},
                 coded[] = {s->small_message_s,  s->small_forward_s,  s->small_message_B,
                            s->small_forward_B,  s->encode_s,         s->decode_s,
                            s->forward_encode_s, s->forward_decode_s, s->sends_whole};
    _Static_assert(sizeof plain == PLAIN * sizeof *key && sizeof coded == CODED * sizeof *key,
                   "words of a stage");
    memcpy(key, plain, sizeof plain);
    key += PLAIN;
    if (fr_sweep_in_order(w)) memcpy(key, &s->message_B, sizeof *key);
    key += fr_sweep_in_order(w);
    if (w->coded) memcpy(key, coded, sizeof coded);
    return key + (w->coded ? CODED : 0);
}

/* Which messages of an epilogue are compressed depends on the order of passes. */
bool fr_sweep_write_key(const struct fr_sweep *w, struct fr_recurrence_cache *cache) {
    const struct fr_pipeline *p = w->p;
    const struct fr_schedule_args *a = &p->args;
    const uint64_t head[] = {(uint64_t)(uintptr_t)p->schedule,
                             (uint64_t)(uintptr_t)a->order,
                             (uint64_t)a->stages,
                             (uint64_t)a->micro_batches,
                             (uint64_t)a->chunks,
                             (uint64_t)(w->messages | p->splits_backward << 2 |
                                        p->forward << 3 | w->codecs << 4 |
                                        p->codes_forward << 5) |
                                 (uint64_t)p->scope << 8 | (uint64_t)w->mode << 16,
                             fr_sweep_in_order(w) ? p->lines->digest : 0};
    enum { HEAD = sizeof head / sizeof *head };
    size_t stages = (size_t)a->stages,
           each = PLAIN + (fr_sweep_in_order(w) ? IN_ORDER : 0) + (w->coded ? CODED : 0);
    uint64_t *key = fr_recurrence_cache_key(cache, HEAD + each * stages);
    if (!key) return false;
    memcpy(key, head, sizeof head);
    key += HEAD;
    for (size_t i = 0; i < stages; i++) key = write_stage(w, i, key);
    return true;
}
