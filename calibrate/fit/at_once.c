/* How much longer a message or a collective takes while others do the same: the largest size of each that was also
 * measured alone.  1 where links are not shared. */
#include <stdlib.h>

#include "base/alloc.h"
#include "calibrate/fit/parts.h"

static void add(struct fr_fit_card *card, struct fr_fit_at_once one) {
    enum { MOST = sizeof card->at_once / sizeof *card->at_once };
    if (one.slower > 0 && card->n_at_once < MOST) card->at_once[card->n_at_once++] = one;
}

/* Pairs @p n at once of the sizes that are measured, at @p level and in @p direction. */
static double pairs_s(const struct fr_samples *s, const struct fr_sample_pairs *like, int64_t n,
                      double *scratch) {
    size_t found = 0;
    for (size_t i = 0; i < s->n_pairs; i++) {
        const struct fr_sample_pairs *p = &s->pairs[i];
        if (p->level == like->level && p->direction == like->direction && p->n_pairs == n &&
            p->size_B == like->size_B)
            scratch[found++] = p->time_s;
    }
    return fr_fit_median(scratch, found);
}

static bool leads_pairs(const struct fr_samples *s, size_t at) {
    const struct fr_sample_pairs *a = &s->pairs[at];
    for (size_t i = 0; i < s->n_pairs; i++) {
        const struct fr_sample_pairs *b = &s->pairs[i];
        if (a->level != b->level || a->direction != b->direction || a->n_pairs != b->n_pairs)
            continue;
        if (b->size_B > a->size_B || (b->size_B == a->size_B && i < at)) return false;
    }
    return a->n_pairs > 1;
}

static void take_pairs(const struct fr_samples *s, double *scratch, struct fr_fit_card *card) {
    for (size_t i = 0; i < s->n_pairs; i++) {
        const struct fr_sample_pairs *p = &s->pairs[i];
        if (!leads_pairs(s, i)) continue;
        double alone_s = pairs_s(s, p, 1, scratch),
               together_s = pairs_s(s, p, p->n_pairs, scratch);
        add(card, (struct fr_fit_at_once){.op = FR_OP_SEND_RECV,
                                          .level = p->level,
                                          .layout = p->direction,
                                          .n = p->n_pairs,
                                          .n_ranks = 2,
                                          .size_B = p->size_B,
                                          .slower = alone_s > 0 ? together_s / alone_s : 0});
    }
}

static bool same_group(const struct fr_sample_collective *a,
                       const struct fr_sample_collective *b) {
    return a->op == b->op && a->n_ranks == b->n_ranks && a->level == b->level;
}

static double groups_s(const struct fr_sample_collective *all, size_t n,
                       const struct fr_sample_collective *like, bool alone, double *scratch) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (same_group(&all[i], like) && all[i].size_B == like->size_B &&
            (alone || (all[i].layout == like->layout && all[i].n_groups == like->n_groups)))
            scratch[found++] = all[i].time_s;
    return fr_fit_median(scratch, found);
}

static bool leads_groups(const struct fr_samples *s, size_t at) {
    const struct fr_sample_collective *a = &s->segmented[at];
    for (size_t i = 0; i < s->n_segmented; i++) {
        const struct fr_sample_collective *b = &s->segmented[i];
        if (!same_group(a, b) || a->layout != b->layout || a->n_groups != b->n_groups) continue;
        if (b->size_B > a->size_B || (b->size_B == a->size_B && i < at)) return false;
    }
    return true;
}

/* One of the sizes that were measured alone lies nearest below: those of both rows are powers of two. */
static void take_groups(const struct fr_samples *s, double *scratch, struct fr_fit_card *card) {
    for (size_t i = 0; i < s->n_segmented; i++) {
        const struct fr_sample_collective *largest = &s->segmented[i];
        if (!leads_groups(s, i)) continue;
        struct fr_sample_collective like = *largest;
        double slower = 0, size_B = 0;
        for (size_t j = 0; j < s->n_segmented; j++) {
            const struct fr_sample_collective *g = &s->segmented[j];
            if (!same_group(g, largest) || g->layout != largest->layout ||
                g->n_groups != largest->n_groups || g->size_B <= size_B)
                continue;
            like.size_B = g->size_B;
            double alone_s = groups_s(s->collective, s->n_collective, &like, true, scratch);
            if (!(alone_s > 0)) continue;
            size_B = g->size_B;
            slower = groups_s(s->segmented, s->n_segmented, &like, false, scratch) / alone_s;
        }
        add(card, (struct fr_fit_at_once){.op = largest->op,
                                          .level = largest->level,
                                          .layout = largest->layout,
                                          .n = largest->n_groups,
                                          .n_ranks = largest->n_ranks,
                                          .size_B = size_B,
                                          .slower = slower});
    }
}

fr_status fr_fit_at_once(const struct fr_samples *samples, struct fr_fit_card *card) {
    size_t most = samples->n_collective + samples->n_segmented + samples->n_pairs + 1;
    double *scratch = fr_malloc(most, sizeof *scratch);
    if (!scratch) return FR_ERR_NOMEM;
    take_pairs(samples, scratch, card);
    take_groups(samples, scratch, card);
    free(scratch);
    return FR_OK;
}
