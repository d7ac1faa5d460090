#include "models/outcome/messages/unshared.h"

#include <stdlib.h>

#include "base/alloc.h"

/* A flow that is shorter than what lies between two sends by this share ends before the next, however sums round. */
#define SURE (1 - 1e-6)

bool fr_unshared_make(const struct fr_pair_lines *lines, size_t messages,
                      struct fr_unshared *s) {
    size_t n = (size_t)lines->n;
    *s = (struct fr_unshared){.lines = lines,
                              .line = fr_calloc(n, sizeof *s->line),
                              .flows = fr_malloc(n * messages + 1, sizeof *s->flows)};
    if (!s->line || !s->flows) return false;
    for (size_t l = 0; l < n; l++) s->line[l].flow = s->flows + l * messages;
    return true;
}

void fr_unshared_free(struct fr_unshared *s) {
    free(s->line);
    free(s->flows);
}

/* One stage's messages that are over before it sends the next never meet. */
static bool apart(const struct fr_unshared *s, int32_t a, int32_t b, const double *apart_s) {
    const struct fr_unshared_line *x = &s->line[a], *y = &s->line[b];
    int32_t from = s->lines->path[a].from;
    return s->lines->path[b].from == from && !x->waited && !y->waited &&
           fr_larger(x->longest_s, y->longest_s) < apart_s[from] * SURE;
}

/* A flow without length that touches another counts as meeting it: which goes first is not known. */
static bool overlap(const struct fr_unshared_line *a, const struct fr_unshared_line *b) {
    const struct fr_message_flow *x = a->flow, *y = b->flow, *x_end = x + a->n,
                                 *y_end = y + b->n;
    while (x < x_end && y < y_end) {
        if (x->end_s <= y->start_s && x->start_s < x->end_s)
            x++;
        else if (y->end_s <= x->start_s && y->start_s < y->end_s)
            y++;
        else
            return true;
    }
    return false;
}

bool fr_unshared_meet(const struct fr_unshared *s, const double *apart_s) {
    const struct fr_pair_lines *lines = s->lines;
    for (int32_t link = 0; link < lines->links.n; link++)
        for (int32_t i = lines->first_on[link]; i < lines->first_on[link + 1]; i++)
            for (int32_t k = i + 1; k < lines->first_on[link + 1]; k++) {
                int32_t a = lines->on[i], b = lines->on[k];
                if (s->line[a].n == 0 || s->line[b].n == 0 || apart(s, a, b, apart_s)) continue;
                if (overlap(&s->line[a], &s->line[b])) return true;
            }
    return false;
}
