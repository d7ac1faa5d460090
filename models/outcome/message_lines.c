#include "models/outcome/message_lines.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/extremes.h"

/* How far two shares of links may round apart. */
#define ROUNDING 1e-12

struct waiting {
    double ready_s;
    const struct fr_message_parts *parts;
    int64_t next; /* behind it in its line, or -1 */
};

struct line {
    int64_t first, last; /* messages, or -1; the first is under way or will be */
    double event_s;      /* its bytes start, or arrive; INFINITY: neither */
    double left_s, at_s; /* of the bytes at the rate alone, as of then */
    double share;        /* of that rate; 0: no bytes are under way */
};

struct fr_message_lines {
    const struct fr_lines *lines;
    struct line *line;
    struct waiting *waiting;      /* [n_messages] */
    int32_t *winner, places;      /* tree over the lines, root 1: the one whose event is next */
    int32_t *meets, *first_meets; /* [n + 1]: lines that meet a line */
    double *spare, *asking;       /* [links]: scratch of fill */
};

struct fr_message_parts fr_message_split(const struct fr_path *path, double size_B,
                                         double alone_s) {
    double flow_s = fr_smaller(size_B / path->alone_B_per_s, alone_s),
           before_s = fr_smaller(path->latency_s, alone_s - flow_s);
    return (struct fr_message_parts){before_s, flow_s, alone_s - before_s - flow_s};
}

/* ---- the next event ----------------------------------------------------------------------------- */

static void set_event(struct fr_message_lines *s, int32_t l, double event_s) {
    s->line[l].event_s = event_s;
    for (int32_t at = (s->places + l) / 2; at > 0; at /= 2) {
        int32_t a = s->winner[2 * at], b = s->winner[2 * at + 1];
        s->winner[at] = s->line[b].event_s < s->line[a].event_s ? b : a;
    }
}

/* ---- rates -------------------------------------------------------------------------------------- */

static void set_share(struct fr_message_lines *s, int32_t l, double share, double now_s) {
    struct line *line = &s->line[l];
    line->left_s -= (now_s - line->at_s) * line->share;
    line->at_s = now_s;
    line->share = share;
    set_event(s, l, now_s + fr_larger(0, line->left_s) / share);
}

/* Half the rate while any line that meets it is busy. */
static void halve(struct fr_message_lines *s, int32_t l, double now_s) {
    double share = 1;
    for (int32_t k = s->first_meets[l]; k < s->first_meets[l + 1]; k++)
        if (s->line[s->meets[k]].share > 0) share = 0.5;
    if (s->line[l].share > 0 && fabs(share - s->line[l].share) > 0)
        set_share(s, l, share, now_s);
}

/* The rate that the fullest link leaves those that are still raised, or a message's own. */
static double next_rate(const struct fr_message_lines *s) {
    double rate = INFINITY;
    for (int32_t l = 0; l < s->lines->n; l++) {
        const struct fr_path *path = &s->lines->path[l];
        if (!(s->line[l].share < 0)) continue;
        rate = fr_smaller(rate, path->alone_B_per_s);
        for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
            int32_t link = s->lines->links.uses[k].link;
            rate = fr_smaller(rate, s->spare[link] / s->asking[link]);
        }
    }
    return rate;
}

static bool stops(const struct fr_message_lines *s, const struct fr_path *path, double rate) {
    bool full = path->alone_B_per_s <= rate * (1 + ROUNDING);
    for (int32_t k = path->first; k < path->first + path->n_uses && !full; k++) {
        int32_t link = s->lines->links.uses[k].link;
        full = s->spare[link] <= s->asking[link] * rate * (1 + ROUNDING);
    }
    return full;
}

static void ask(struct fr_message_lines *s, const struct fr_path *path, double times) {
    for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
        const struct fr_link_use *use = &s->lines->links.uses[k];
        s->asking[use->link] += times * use->weight;
    }
}

/* Progressive filling of all lines.  A share of -1 is still raised, one of -2 stops: those that stop at one rate are
 * found before any of them leaves its links. */
static void fill(struct fr_message_lines *s, double now_s) {
    int32_t n = s->lines->n, left = 0;
    for (int32_t k = 0; k < s->lines->links.n; k++) {
        s->spare[k] = s->lines->links.rate_B_per_s[k];
        s->asking[k] = 0;
    }
    for (int32_t l = 0; l < n; l++) {
        struct line *line = &s->line[l];
        if (!(line->share > 0)) continue;
        line->left_s -= (now_s - line->at_s) * line->share;
        line->at_s = now_s;
        line->share = -1;
        ask(s, &s->lines->path[l], 1);
        left++;
    }
    while (left > 0) {
        double rate = next_rate(s);
        for (int32_t l = 0; l < n; l++)
            if (s->line[l].share < 0 && stops(s, &s->lines->path[l], rate))
                s->line[l].share = -2;
        for (int32_t l = 0; l < n; l++) {
            struct line *line = &s->line[l];
            const struct fr_path *path = &s->lines->path[l];
            if (!(line->share < -1)) continue;
            ask(s, path, -1);
            for (int32_t k = path->first; k < path->first + path->n_uses; k++)
                s->spare[s->lines->links.uses[k].link] -= s->lines->links.uses[k].weight * rate;
            line->share = rate / path->alone_B_per_s;
            set_event(s, l, now_s + fr_larger(0, line->left_s) / line->share);
            left--;
        }
    }
}

/* Line @p l began or ended to send. */
static void share_anew(struct fr_message_lines *s, int32_t l, double now_s) {
    if (!s->lines->halves) {
        fill(s, now_s);
        return;
    }
    halve(s, l, now_s);
    for (int32_t k = s->first_meets[l]; k < s->first_meets[l + 1]; k++)
        halve(s, s->meets[k], now_s);
}

/* ---- messages ----------------------------------------------------------------------------------- */

void fr_message_lines_send(struct fr_message_lines *s, int32_t l, size_t message,
                           double ready_s, const struct fr_message_parts *parts) {
    struct line *line = &s->line[l];
    s->waiting[message] = (struct waiting){ready_s, parts, -1};
    if (line->first < 0) {
        line->first = (int64_t)message;
        set_event(s, l, ready_s + parts->before_s);
    } else
        s->waiting[line->last].next = (int64_t)message;
    line->last = (int64_t)message;
}

static void start_bytes(struct fr_message_lines *s, int32_t l) {
    struct line *line = &s->line[l];
    line->left_s = s->waiting[line->first].parts->flow_s;
    line->at_s = line->event_s;
    line->share = 1;
    set_event(s, l, line->at_s + line->left_s);
    share_anew(s, l, line->at_s);
}

static double end_bytes(struct fr_message_lines *s, int32_t l) {
    struct line *line = &s->line[l];
    const struct waiting *over = &s->waiting[line->first];
    double now_s = line->event_s, next_s = INFINITY;
    line->share = 0;
    line->first = over->next;
    if (line->first >= 0) {
        const struct waiting *next = &s->waiting[line->first];
        next_s = fr_larger(now_s, next->ready_s) + next->parts->before_s;
    }
    set_event(s, l, next_s);
    share_anew(s, l, now_s);
    return now_s + over->parts->after_s;
}

bool fr_message_lines_next(struct fr_message_lines *s, size_t *message, double *end_s) {
    for (;;) {
        int32_t l = s->winner[1];
        if (isinf(s->line[l].event_s)) return false;
        if (s->line[l].share > 0) {
            *message = (size_t)s->line[l].first;
            *end_s = end_bytes(s, l);
            return true;
        }
        start_bytes(s, l);
    }
}

/* ---- making ------------------------------------------------------------------------------------- */

/* Lines on each link, then for each line those on its links; a line that meets another twice is named twice. */
static bool list_meetings(struct fr_message_lines *s) {
    const struct fr_lines *lines = s->lines;
    size_t n = (size_t)lines->n, n_links = (size_t)lines->links.n;
    int32_t(*on)[2] = fr_malloc(n_links + 1, sizeof *on);
    s->first_meets = fr_calloc(n + 1, sizeof *s->first_meets);
    s->meets = fr_malloc((size_t)lines->links.n_uses + 1, sizeof *s->meets);
    bool fits = on && s->first_meets && s->meets;
    for (size_t k = 0; fits && k < n_links; k++) on[k][0] = on[k][1] = -1;
    for (int32_t l = 0; fits && l < lines->n; l++)
        for (int32_t k = 0; k < lines->path[l].n_uses; k++) {
            int32_t *both = on[lines->links.uses[lines->path[l].first + k].link];
            both[both[0] >= 0] = l;
        }
    for (int32_t l = 0, n_meets = 0; fits && l < lines->n; l++) {
        s->first_meets[l] = n_meets;
        for (int32_t k = 0; k < lines->path[l].n_uses; k++) {
            const int32_t *both = on[lines->links.uses[lines->path[l].first + k].link];
            int32_t other = both[both[0] == l];
            if (other >= 0) s->meets[n_meets++] = other;
        }
        s->first_meets[l + 1] = n_meets;
    }
    free(on);
    return fits;
}

struct fr_message_lines *fr_message_lines_make(const struct fr_lines *lines,
                                               size_t n_messages) {
    struct fr_message_lines *s = fr_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->lines = lines;
    for (s->places = 1; s->places < lines->n; s->places *= 2) continue;
    s->line = fr_malloc((size_t)s->places, sizeof *s->line);
    s->winner = fr_malloc(2 * (size_t)s->places, sizeof *s->winner);
    s->waiting = fr_malloc(n_messages + 1, sizeof *s->waiting);
    s->spare = fr_malloc(2 * (size_t)lines->links.n + 1, sizeof *s->spare);
    bool fits = s->line && s->winner && s->waiting && s->spare;
    if (fits) fits = !lines->halves || list_meetings(s);
    if (!fits) {
        fr_message_lines_free(s);
        return NULL;
    }
    s->asking = s->spare + lines->links.n;
    for (int32_t l = 0; l < s->places; l++) {
        s->line[l] = (struct line){.first = -1, .last = -1, .event_s = INFINITY};
        s->winner[s->places + l] = l;
    }
    for (int32_t at = s->places - 1; at > 0; at--) s->winner[at] = s->winner[2 * at];
    return s;
}

void fr_message_lines_free(struct fr_message_lines *s) {
    if (!s) return;
    free(s->line);
    free(s->winner);
    free(s->waiting);
    free(s->spare);
    free(s->meets);
    free(s->first_meets);
    free(s);
}
