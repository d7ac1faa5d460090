#include "models/outcome/messages/message_lines.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/extremes.h"
#include "models/outcome/messages/earliest.h"

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
    double left_B, since_s;
    double rate_B_per_s; /* 0: no bytes are under way */
    int32_t busy;        /* lines that meet this one and send; counted where rates are halves */
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
    struct waiting *waiting;   /* [n_messages] */
    struct fr_earliest events; /* of each line: its bytes start, or arrive; INFINITY: neither */
    struct link *link;
    int32_t *reached, n_reached; /* links */
};

struct fr_message_parts fr_message_split(const struct fr_path *path, double size_B,
                                         double alone_s) {
    double most_B = fr_smaller(size_B, alone_s * path->alone_B_per_s),
           flow_s = most_B / path->alone_B_per_s,
           before_s = fr_smaller(path->latency_s, alone_s - flow_s);
    return (struct fr_message_parts){most_B, alone_s, before_s, flow_s,
                                     alone_s - before_s - flow_s};
}

/* ---- the next event ----------------------------------------------------------------------------- */

static bool sends(const struct line *line) { return line->rate_B_per_s > 0; }

/* The first line of a block that ends at @p now_s; else @p first, or the first that begins then. */
static int32_t next_of_block(const struct fr_message_lines *s, int32_t block, double now_s,
                             int32_t first, bool *ends) {
    const int32_t begin = block << s->events.shift, end = (block + 1) << s->events.shift;
    for (int32_t at = begin; at < end; at += 8)
        for (uint32_t due = fr_due_of_8(s->events.time_s + at, now_s); due; due &= due - 1) {
            int32_t l = at + __builtin_ctz(due);
            *ends = sends(&s->line[l]);
            if (*ends) return l;
            if (first < 0) first = l;
        }
    return first;
}

/* The line whose event at @p now_s is next.  Ends come before beginnings of one time. */
static int32_t next_line(const struct fr_message_lines *s, double now_s) {
    int32_t first = -1;
    bool ends = false;
    for (int32_t g = 0; g < s->events.groups; g++)
        for (uint32_t due = fr_due_of_8(s->events.least_s + 8 * g, now_s); due;
             due &= due - 1) {
            first = next_of_block(s, 8 * g + __builtin_ctz(due), now_s, first, &ends);
            if (ends) return first;
        }
    return first;
}

static void set_event(struct fr_message_lines *s, int32_t l, double event_s) {
    fr_earliest_set(&s->events, l, event_s);
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

/* Half the rate while any line that meets it is busy: line @p l began to send. */
static void halve(struct fr_message_lines *s, int32_t l, double now_s) {
    const struct fr_pair_lines *lines = s->lines;
    struct line *line = &s->line[l];
    for (int32_t k = lines->first_met[l]; k < lines->first_met[l + 1]; k++) {
        int32_t other = lines->met[k];
        if (s->line[other].busy++ == 0 && sends(&s->line[other]))
            set_rate(s, other, lines->path[other].alone_B_per_s / 2, now_s);
    }
    line->slowed = line->busy > 0;
    if (line->slowed) line->rate_B_per_s /= 2;
    set_event(s, l, now_s + line->left_B / line->rate_B_per_s);
}

/* It ended. */
static void restore(struct fr_message_lines *s, int32_t l, double now_s) {
    const struct fr_pair_lines *lines = s->lines;
    for (int32_t k = lines->first_met[l]; k < lines->first_met[l + 1]; k++) {
        int32_t other = lines->met[k];
        if (--s->line[other].busy == 0 && sends(&s->line[other]))
            set_rate(s, other, lines->path[other].alone_B_per_s, now_s);
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

static void start_bytes(struct fr_message_lines *s, int32_t l, double now_s) {
    struct line *line = &s->line[l];
    const struct fr_message_parts *parts = s->waiting[line->first].parts;
    line->left_B = parts->size_B;
    line->since_s = now_s;
    line->rate_B_per_s = s->lines->path[l].alone_B_per_s;
    line->slowed = false;
    if (s->lines->halves) {
        halve(s, l, now_s);
    } else {
        set_event(s, l, now_s + parts->flow_s);
        fill(s, l, now_s);
    }
}

/* Not held up it takes just its time alone. */
static double end_bytes(struct fr_message_lines *s, int32_t l, double now_s) {
    struct line *line = &s->line[l];
    const struct waiting *over = &s->waiting[line->first];
    double end_s = line->begun_s + over->parts->alone_s;
    if (line->slowed) end_s = fr_larger(end_s, now_s + fr_larger(0, over->parts->after_s));
    line->rate_B_per_s = 0;
    line->first = over->next;
    if (line->first < 0)
        set_event(s, l, INFINITY);
    else
        begin(s, l, fr_larger(now_s, s->waiting[line->first].ready_s));
    (s->lines->halves ? restore : fill)(s, l, now_s);
    return end_s;
}

bool fr_message_lines_next(struct fr_message_lines *s, size_t *message, int32_t *to,
                           double *end_s) {
    for (;;) {
        double now_s = fr_earliest_s(&s->events);
        if (isinf(now_s)) return false;
        int32_t l = next_line(s, now_s);
        if (sends(&s->line[l])) {
            *message = (size_t)s->line[l].first;
            *to = s->lines->path[l].to;
            *end_s = end_bytes(s, l, now_s);
            return true;
        }
        start_bytes(s, l, now_s);
    }
}

/* ---- making ------------------------------------------------------------------------------------- */

struct fr_message_lines *fr_message_lines_make(const struct fr_pair_lines *lines,
                                               size_t n_messages) {
    struct fr_message_lines *s = fr_calloc(1, sizeof *s);
    if (!s) return NULL;
    s->lines = lines;
    s->line = fr_malloc((size_t)lines->n, sizeof *s->line);
    s->waiting = fr_malloc(n_messages + 1, sizeof *s->waiting);
    s->link = fr_calloc((size_t)lines->links.n + 1, sizeof *s->link);
    s->reached = fr_malloc((size_t)lines->links.n + 1, sizeof *s->reached);
    if (!fr_earliest_make(lines->n, &s->events) || !s->line || !s->waiting || !s->link ||
        !s->reached) {
        fr_message_lines_free(s);
        return NULL;
    }
    for (int32_t l = 0; l < lines->n; l++) s->line[l] = (struct line){.first = -1, .last = -1};
    return s;
}

void fr_message_lines_free(struct fr_message_lines *s) {
    if (!s) return;
    free(s->line);
    fr_earliest_free(&s->events);
    free(s->waiting);
    free(s->link);
    free(s->reached);
    free(s);
}
