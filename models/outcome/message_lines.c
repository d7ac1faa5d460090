#include "models/outcome/message_lines.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/extremes.h"

/* A share of a link's rate: rounding must not leave a line without any. */
#define ROUNDING 1e-12

struct waiting {
    double ready_s;
    const struct fr_message_parts *parts;
    int64_t next; /* behind it in its line, or -1 */
};

struct line {
    int64_t first, last; /* messages, or -1; the first is under way or will be */
    double begun_s;      /* the first */
    double event_s;      /* its bytes start, or arrive; INFINITY: neither */
    double left_B, since_s;
    double rate_B_per_s; /* 0: no bytes are under way */
    bool slowed;         /* was it ever below the rate alone? */
    bool raised;
};

/* A link while rates are raised. */
struct link {
    double left_B_per_s;
    int32_t weight; /* of the lines that are still raised */
    bool reached;
};

struct fr_message_lines {
    const struct fr_pair_lines *lines;
    struct line *line;
    struct waiting *waiting; /* [n_messages] */
    int32_t *winner, places; /* tree over the lines, root 1: the one whose event is next */
    struct link *link;
    int32_t *reached, n_reached; /* links */
};

struct fr_message_parts fr_message_split(const struct fr_path *path, double size_B,
                                         double alone_s) {
    double most_B = fr_smaller(size_B, alone_s * path->alone_B_per_s),
           flow_s = most_B / path->alone_B_per_s,
           before_s = fr_smaller(path->latency_s, alone_s - flow_s);
    return (struct fr_message_parts){most_B, alone_s, before_s, alone_s - before_s - flow_s};
}

/* ---- the next event ----------------------------------------------------------------------------- */

static bool sends(const struct line *line) { return line->rate_B_per_s > 0; }

/* Ends come before beginnings of one time. */
static bool sooner(const struct line *a, const struct line *b) {
    return a->event_s < b->event_s || (!(b->event_s < a->event_s) && sends(a) && !sends(b));
}

static void set_event(struct fr_message_lines *s, int32_t l, double event_s) {
    s->line[l].event_s = event_s;
    for (int32_t at = (s->places + l) / 2; at > 0; at /= 2) {
        int32_t a = s->winner[2 * at], b = s->winner[2 * at + 1];
        s->winner[at] = sooner(&s->line[b], &s->line[a]) ? b : a;
    }
}

/* ---- rates -------------------------------------------------------------------------------------- */

static void set_rate(struct fr_message_lines *s, int32_t l, double rate_B_per_s, double now_s) {
    struct line *line = &s->line[l];
    if (rate_B_per_s < s->lines->path[l].alone_B_per_s) line->slowed = true;
    if (!(rate_B_per_s < line->rate_B_per_s) && !(line->rate_B_per_s < rate_B_per_s)) return;
    line->left_B = fr_larger(0, line->left_B - line->rate_B_per_s * (now_s - line->since_s));
    line->since_s = now_s;
    line->rate_B_per_s = rate_B_per_s;
    set_event(s, l, now_s + line->left_B / rate_B_per_s);
}

/* Half the rate while any line that meets it is busy. */
static void halve(struct fr_message_lines *s, int32_t l, double now_s) {
    const struct fr_pair_lines *lines = s->lines;
    const struct fr_path *path = &lines->path[l];
    bool busy = false;
    if (!sends(&s->line[l])) return;
    for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
        int32_t link = lines->links.uses[k].link;
        for (int32_t at = lines->first_on[link]; at < lines->first_on[link + 1]; at++)
            busy = busy || (lines->on[at] != l && sends(&s->line[lines->on[at]]));
    }
    set_rate(s, l, path->alone_B_per_s / (busy ? 2 : 1), now_s);
}

static void halve_all(struct fr_message_lines *s, int32_t l, double now_s) {
    const struct fr_pair_lines *lines = s->lines;
    const struct fr_path *path = &lines->path[l];
    halve(s, l, now_s);
    for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
        int32_t link = lines->links.uses[k].link;
        for (int32_t at = lines->first_on[link]; at < lines->first_on[link + 1]; at++)
            if (lines->on[at] != l) halve(s, lines->on[at], now_s);
    }
}

static void reach(struct fr_message_lines *s, const struct fr_path *path, int by) {
    for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
        const struct fr_link_use *use = &s->lines->links.uses[k];
        struct link *link = &s->link[use->link];
        if (!link->reached) {
            *link = (struct link){.reached = true,
                                  .left_B_per_s = s->lines->links.rate_B_per_s[use->link]};
            s->reached[s->n_reached++] = use->link;
        }
        link->weight += by * use->weight;
    }
}

/* The lines that are joined to line @p l by links, and these. */
static void collect(struct fr_message_lines *s, int32_t l) {
    const struct fr_pair_lines *lines = s->lines;
    s->n_reached = 0;
    reach(s, &lines->path[l], 0);
    for (int32_t k = 0; k < s->n_reached; k++) {
        int32_t link = s->reached[k];
        for (int32_t at = lines->first_on[link]; at < lines->first_on[link + 1]; at++) {
            struct line *line = &s->line[lines->on[at]];
            if (line->raised || !sends(line)) continue;
            line->raised = true;
            reach(s, &lines->path[lines->on[at]], 1);
        }
    }
}

/* The fullest link: it has the least rate for each of its lines; -1: none has any that is raised. */
static int32_t fullest(const struct fr_message_lines *s, double *rate_B_per_s) {
    int32_t best = -1;
    for (int32_t k = 0; k < s->n_reached; k++) {
        const struct link *link = &s->link[s->reached[k]];
        if (link->weight == 0) continue;
        double least = ROUNDING * s->lines->links.rate_B_per_s[s->reached[k]],
               rate = fr_larger(link->left_B_per_s, least) / link->weight;
        if (best >= 0 && !(rate < *rate_B_per_s)) continue;
        best = s->reached[k];
        *rate_B_per_s = rate;
    }
    return best;
}

/* Rates are raised together until a link is full, whose lines stop there. */
static void fill(struct fr_message_lines *s, int32_t l, double now_s) {
    const struct fr_pair_lines *lines = s->lines;
    double rate = 0;
    collect(s, l);
    for (int32_t link; (link = fullest(s, &rate)) >= 0;)
        for (int32_t at = lines->first_on[link]; at < lines->first_on[link + 1]; at++) {
            const struct fr_path *path = &lines->path[lines->on[at]];
            struct line *line = &s->line[lines->on[at]];
            if (!line->raised) continue;
            line->raised = false;
            for (int32_t k = path->first; k < path->first + path->n_uses; k++) {
                const struct fr_link_use *use = &lines->links.uses[k];
                s->link[use->link].weight -= use->weight;
                s->link[use->link].left_B_per_s -= use->weight * rate;
            }
            set_rate(s, lines->on[at], fr_smaller(rate, path->alone_B_per_s), now_s);
        }
    for (int32_t k = 0; k < s->n_reached; k++) s->link[s->reached[k]].reached = false;
}

/* Line @p l began or ended to send. */
static void share_anew(struct fr_message_lines *s, int32_t l, double now_s) {
    (s->lines->halves ? halve_all : fill)(s, l, now_s);
}

/* ---- messages ----------------------------------------------------------------------------------- */

/* The first in line begins. */
static void begin(struct fr_message_lines *s, int32_t l, double now_s) {
    s->line[l].begun_s = now_s;
    set_event(s, l, now_s + fr_larger(0, s->waiting[s->line[l].first].parts->before_s));
}

void fr_message_lines_send(struct fr_message_lines *s, int32_t l, size_t message,
                           double ready_s, const struct fr_message_parts *parts) {
    struct line *line = &s->line[l];
    s->waiting[message] = (struct waiting){ready_s, parts, -1};
    if (line->first < 0) {
        line->first = (int64_t)message;
        begin(s, l, ready_s);
    } else
        s->waiting[line->last].next = (int64_t)message;
    line->last = (int64_t)message;
}

static void start_bytes(struct fr_message_lines *s, int32_t l) {
    struct line *line = &s->line[l];
    line->left_B = s->waiting[line->first].parts->size_B;
    line->since_s = line->event_s;
    line->rate_B_per_s = s->lines->path[l].alone_B_per_s;
    line->slowed = false;
    set_event(s, l, line->since_s + line->left_B / line->rate_B_per_s);
    share_anew(s, l, line->since_s);
}

/* Not held up it takes just its time alone. */
static double end_bytes(struct fr_message_lines *s, int32_t l) {
    struct line *line = &s->line[l];
    const struct waiting *over = &s->waiting[line->first];
    double now_s = line->event_s, end_s = line->begun_s + over->parts->alone_s;
    if (line->slowed) end_s = fr_larger(end_s, now_s + fr_larger(0, over->parts->after_s));
    line->rate_B_per_s = 0;
    line->first = over->next;
    if (line->first < 0)
        set_event(s, l, INFINITY);
    else
        begin(s, l, fr_larger(now_s, s->waiting[line->first].ready_s));
    share_anew(s, l, now_s);
    return end_s;
}

bool fr_message_lines_next(struct fr_message_lines *s, size_t *message, double *end_s) {
    for (;;) {
        int32_t l = s->winner[1];
        if (isinf(s->line[l].event_s)) return false;
        if (sends(&s->line[l])) {
            *message = (size_t)s->line[l].first;
            *end_s = end_bytes(s, l);
            return true;
        }
        start_bytes(s, l);
    }
}

/* ---- making ------------------------------------------------------------------------------------- */

struct fr_message_lines *fr_message_lines_make(const struct fr_pair_lines *lines,
                                               size_t n_messages) {
    struct fr_message_lines *s = fr_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->lines = lines;
    for (s->places = 1; s->places < lines->n; s->places *= 2) continue;
    s->line = fr_malloc((size_t)s->places, sizeof *s->line);
    s->winner = fr_malloc(2 * (size_t)s->places, sizeof *s->winner);
    s->waiting = fr_malloc(n_messages + 1, sizeof *s->waiting);
    s->link = fr_calloc((size_t)lines->links.n + 1, sizeof *s->link);
    s->reached = fr_malloc((size_t)lines->links.n + 1, sizeof *s->reached);
    if (!s->line || !s->winner || !s->waiting || !s->link || !s->reached) {
        fr_message_lines_free(s);
        return NULL;
    }
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
    free(s->link);
    free(s->reached);
    free(s);
}
