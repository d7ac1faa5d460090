/* Rail-optimised: the i-th adapters of the nodes of a pod share a switch, the i-th rail; a rail's
 * switches in different pods are joined by `up` links each.  There is no way from rail to rail but
 * through a node: a message for another rail first goes to the rank of its own node on that rail
 * (NCCL calls it PXN). */
#include "topology/shape.h"

enum { POD, UP, PODS };

static int64_t pods_of(const struct fr_fabric *f) { return f->value[PODS][0]; }

static const char *make(struct fr_fabric *f) {
    if (!f->count[PODS]) f->value[PODS][0] = 1;
    if (!f->count[UP]) f->value[UP][0] = f->value[POD][0];
    double switches = (double)pods_of(f) * (double)f->per_node;
    if (switches * (double)f->value[POD][0] > FR_FABRIC_MAX ||
        switches * (double)f->value[UP][0] > FR_FABRIC_MAX)
        return "has too many links";
    f->n_ports = pods_of(f) * f->value[POD][0] * f->per_node;
    bool spine = pods_of(f) > 1;
    f->n_switches = f->per_node * (pods_of(f) + spine);
    f->n_links = spine ? 2 * f->per_node * pods_of(f) * f->value[UP][0] : 0;
    return NULL;
}

static int64_t rail_of(const struct fr_fabric *f, int64_t a) { return a % f->per_node; }
static int64_t pod_of(const struct fr_fabric *f, int64_t a) {
    return a / f->per_node / f->value[POD][0];
}

static int64_t port(const struct fr_fabric *f, int64_t a) {
    return pod_of(f, a) * f->per_node + rail_of(f, a);
}

/* Links of each switch: those up, then those down. */
static int route(const struct fr_fabric *f, int64_t a, int64_t b, int64_t *links) {
    int64_t up = f->value[UP][0], choice = b / f->per_node % up;
    if (pod_of(f, a) == pod_of(f, b)) return 0;
    links[0] = 2 * port(f, a) * up + choice;
    links[1] = (2 * port(f, b) + 1) * up + choice;
    return 2;
}

static void ends(const struct fr_fabric *f, int64_t link, int64_t *from, int64_t *to) {
    int64_t up = f->value[UP][0], here = link / up / 2;
    int64_t spine = f->per_node * pods_of(f) + here % f->per_node;
    bool down = link / up % 2;
    *from = down ? spine : here;
    *to = down ? here : spine;
}

static int64_t leave(const struct fr_fabric *f, int64_t a, int64_t b) {
    return a - rail_of(f, a) + rail_of(f, b);
}

/* Half of the pods on either side; within one pod the adapters are the narrowest place. */
static double bisection(const struct fr_fabric *f) {
    if (pods_of(f) == 1) return -1;
    return (double)pods_of(f) / 2 * (double)(f->per_node * f->value[UP][0]);
}

const struct fr_shape fr_shape_rail = {
    .name = "rail",
    .summary =
        "the i-th adapters of a pod's nodes share a switch; pod, nodes in one; up, links "
        "of a switch to other pods; pods",
    .example = "rail pod=32 up=16 pods=4",
    .source = "as in NVIDIA's DGX SuperPOD reference architecture; routes as NCCL's PXN",
    .key = {{"pod", 1, true}, {"up", 1, false}, {"pods", 1, false}},
    .make = make,
    .route = route,
    .port = port,
    .ends = ends,
    .leave = leave,
    .bisection = bisection,
};
