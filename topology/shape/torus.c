/* Torus: a switch at each port, joined to its two neighbours in every dimension.  Messages go one
 * dimension after another, the shorter way round, upwards where both are equal.  In a dimension of
 * two the one neighbour is reached upwards, and the link down leads nowhere. */
#include "topology/shape.h"

enum { SIZE };

/* Links of a switch: up and down in each dimension. */
static int64_t link_of(const struct fr_fabric *f, int64_t at, int dimension, bool down) {
    return at * 2 * f->count[SIZE] + 2 * dimension + down;
}

static const char *make(struct fr_fabric *f) {
    int64_t longest = 0;
    f->n_ports = 1;
    for (int d = 0; d < f->count[SIZE]; d++) {
        f->n_ports *= f->value[SIZE][d];
        longest += f->value[SIZE][d] / 2;
    }
    if (longest > FR_ROUTE_MAX - 8) return "has routes of more than 120 links";
    f->n_switches = f->n_ports;
    f->n_links = f->n_ports * 2 * f->count[SIZE];
    return NULL;
}

/* The first dimension varies fastest.  @return the neighbour of @p at */
static int64_t neighbour(int64_t at, int64_t stride, int64_t size, bool down) {
    int64_t place = at / stride % size;
    int64_t next = down ? (place + size - 1) % size : (place + 1) % size;
    return at + (next - place) * stride;
}

static int route(const struct fr_fabric *f, int64_t a, int64_t b, int64_t *links) {
    int64_t stride = 1, a_left = a, b_left = b;
    int n = 0;
    for (int d = 0; d < f->count[SIZE]; d++) {
        int64_t size = f->value[SIZE][d], place = a_left % size, goal = b_left % size;
        int64_t ahead = goal - place + (goal < place ? size : 0);
        bool down = ahead > size - ahead;
        while (place != goal) { /* no division a hop */
            links[n++] = link_of(f, a, d, down);
            int64_t before = place;
            if (down)
                place = place ? place - 1 : size - 1;
            else
                place = place + 1 < size ? place + 1 : 0;
            a += (place - before) * stride;
        }
        a_left /= size;
        b_left /= size;
        stride *= size;
    }
    return n;
}

static int64_t port(const struct fr_fabric *f, int64_t a) {
    (void)f;
    return a;
}

static void ends(const struct fr_fabric *f, int64_t link, int64_t *from, int64_t *to) {
    int dimension = (int)(link / 2 % f->count[SIZE]);
    int64_t stride = 1;
    for (int d = 0; d < dimension; d++) stride *= f->value[SIZE][d];
    bool nowhere = link % 2 && f->value[SIZE][dimension] == 2;
    *from = link / (2 * f->count[SIZE]);
    *to = nowhere ? *from : neighbour(*from, stride, f->value[SIZE][dimension], link % 2);
}

/* Across a dimension of even size k: each of the n / k rings is cut twice; a ring of two is one
 * cable. */
static double bisection(const struct fr_fabric *f) {
    double least = -1;
    for (int d = 0; d < f->count[SIZE]; d++) {
        int64_t k = f->value[SIZE][d];
        double cut = (k > 2 ? 2.0 : 1.0) * (double)f->n_ports / (double)k;
        if (k > 1 && (least < 0 || cut < least)) least = cut;
    }
    return least;
}

const struct fr_shape fr_shape_torus = {
    .name = "torus",
    .summary = "a switch a port, two neighbours in each dimension; size, ports in each",
    .example = "torus size=8,8,8",
    .source =
        "Dally & Towles, Principles and Practices of Interconnection Networks, chapter 5; "
        "dimension-order routes",
    .key = {{"size", FR_SHAPE_SIZES, true}},
    .make = make,
    .route = route,
    .port = port,
    .ends = ends,
    .bisection = bisection,
};
