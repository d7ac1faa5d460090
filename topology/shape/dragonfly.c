/* Dragonfly: g groups of a switches with t ports each; a link between any two switches of a group, h links of each
 * switch to other groups.  A group has a h such links, and the k-th, k < c (g-1), goes to the k mod (g-1)-th other
 * group.  So c = floor(a h / (g-1)) links join two groups, and the destination's number chooses among them.  Routes
 * are minimal: at most one link of the own group, one between groups, one of the other. */
#include "topology/shape.h"

enum { GROUPS, SWITCHES, PORTS, GLOBAL };

struct size {
    int64_t groups, switches, ports, global, copies;
};

static struct size size_of(const struct fr_fabric *f) {
    struct size s = {f->value[GROUPS][0], f->value[SWITCHES][0], f->value[PORTS][0],
                     f->value[GLOBAL][0], 0};
    s.copies = s.groups > 1 ? s.switches * s.global / (s.groups - 1) : 0;
    return s;
}

static const char *make(struct fr_fabric *f) {
    if (!f->count[GLOBAL]) f->value[GLOBAL][0] = 1;
    struct size s = size_of(f);
    double links = (double)s.groups * (double)s.switches * (double)(s.switches + s.global);
    if (links > FR_FABRIC_MAX || links * (double)s.ports > 1e3 * FR_FABRIC_MAX)
        return "has too many links";
    if (s.groups > 1 && s.copies == 0)
        return "has fewer links out of a group (routers x global) than other groups";
    f->n_ports = s.groups * s.switches * s.ports;
    f->n_switches = s.groups * s.switches;
    f->n_links = f->n_switches * (s.switches - 1) + s.groups * s.copies * (s.groups - 1);
    return NULL;
}

/* Local links first: of each switch, to the others of its group in order. */
static int64_t local(const struct size *s, int64_t from, int64_t to) {
    int64_t other = to % s->switches;
    return from * (s->switches - 1) + (other > from % s->switches ? other - 1 : other);
}

/* The k-th link of @p group hangs on its switch k mod a, so that they spread over the switches. */
static int64_t global_switch(const struct size *s, int64_t group, int64_t k) {
    return group * s->switches + k % s->switches;
}

/* Number, among the links of @p from, of its copy @p copy to the group @p to. */
static int64_t global_number(const struct size *s, int64_t from, int64_t to, int64_t copy) {
    return copy * (s->groups - 1) + (to > from ? to - 1 : to);
}

static int route(const struct fr_fabric *f, int64_t a, int64_t b, int64_t *links) {
    struct size s = size_of(f);
    int64_t at = a / s.ports, goal = b / s.ports;
    int64_t here = at / s.switches, there = goal / s.switches;
    int n = 0;
    if (here != there) {
        int64_t copy = b % s.copies, k = global_number(&s, here, there, copy);
        int64_t out = global_switch(&s, here, k);
        if (at != out) links[n++] = local(&s, at, out);
        links[n++] = f->n_switches * (s.switches - 1) + here * s.copies * (s.groups - 1) + k;
        at = global_switch(&s, there, global_number(&s, there, here, copy));
    }
    if (at != goal) links[n++] = local(&s, at, goal);
    return n;
}

static int64_t port(const struct fr_fabric *f, int64_t a) { return a / f->value[PORTS][0]; }

static void ends(const struct fr_fabric *f, int64_t link, int64_t *from, int64_t *to) {
    struct size s = size_of(f);
    int64_t locals = f->n_switches * (s.switches - 1);
    if (link < locals) {
        *from = link / (s.switches - 1);
        int64_t other = link % (s.switches - 1);
        *to =
            *from / s.switches * s.switches + (other >= *from % s.switches ? other + 1 : other);
        return;
    }
    int64_t of_group = s.copies * (s.groups - 1), group = (link - locals) / of_group;
    int64_t k = (link - locals) % of_group, other = k % (s.groups - 1);
    int64_t there = other >= group ? other + 1 : other;
    *from = global_switch(&s, group, k);
    *to = global_switch(&s, there, global_number(&s, there, group, k / (s.groups - 1)));
}

/* Half of the groups on either side; a single group is a complete graph of its switches.  Where
 * groups have few links inside for those between (a^2 / 4 against c (g-1)) a cut through them can be
 * cheaper, and this is an upper bound. */
static double bisection(const struct fr_fabric *f) {
    struct size s = size_of(f);
    double half = (double)(s.groups > 1 ? s.groups : s.switches) / 2;
    return half * half * (s.groups > 1 ? (double)s.copies : 1);
}

const struct fr_shape fr_shape_dragonfly = {
    .name = "dragonfly",
    .summary =
        "groups of routers, each joined to all of its group; ports and global links of a "
        "router",
    .example = "dragonfly groups=9 routers=4 ports=2 global=2",
    .source = "Kim, Dally, Scott & Abts, ISCA 2008; minimal routes",
    .key = {{"groups", 1, true},
            {"routers", 1, true},
            {"ports", 1, true},
            {"global", 1, false}},
    .make = make,
    .route = route,
    .port = port,
    .ends = ends,
    .bisection = bisection,
};
