/* Fat tree: d_1 ports a leaf switch, d_2 leaves a group, ..., and of the i-th tier's groups each
 * switch u_i links up, so that a group of tier i has U_i = u_1 ... u_i of them; u_i < d_i is
 * oversubscribed.  One way up and down again is taken by the destination's number, as D-mod-k
 * does: the link number b mod U_i of the group, up and down.  The switches of a group that are
 * side by side count as one here; D-mod-k never lets a message choose between them. */
#include "topology/shape.h"

enum { DOWN, UP };

/* Ports under one group of tier i, groups of that tier, links up from one; i = 1 .. tiers-1. */
static int64_t ports_of(const struct fr_fabric *f, int i) {
    int64_t n = 1;
    for (int k = 0; k < i; k++) n *= f->value[DOWN][k];
    return n;
}

static int64_t links_up(const struct fr_fabric *f, int i) {
    int64_t n = 1;
    for (int k = 0; k < i; k++) n *= f->value[UP][k];
    return n;
}

static const char *make(struct fr_fabric *f) {
    int tiers = f->count[DOWN];
    if (f->count[UP] > tiers - 1) return "has one number less in \"up\" than in \"down\"";
    for (int i = f->count[UP]; i < tiers - 1; i++) f->value[UP][i] = f->value[DOWN][i];
    f->n_ports = f->n_switches = 1;
    f->n_links = 0;
    for (int i = tiers; i-- > 0;) f->n_ports *= f->value[DOWN][i];
    for (int i = 1; i < tiers; i++) {
        int64_t groups = f->n_ports / ports_of(f, i);
        if (links_up(f, i) > FR_FABRIC_MAX / groups) return "has too many links";
        f->n_links += 2 * groups * links_up(f, i);
        f->n_switches += groups;
    }
    return NULL;
}

/* Links of tier 1 first; of each group its links up, then those down. */
static int route(const struct fr_fabric *f, int64_t a, int64_t b, int64_t *links) {
    int64_t base[FR_SHAPE_SIZES + 1], from = 0;
    int top = 1, n = 0;
    for (; top < f->count[DOWN] && a / ports_of(f, top) != b / ports_of(f, top); top++) {
        base[top] = from;
        from += 2 * (f->n_ports / ports_of(f, top)) * links_up(f, top);
    }
    for (int i = 1; i < top; i++)
        links[n++] = base[i] + 2 * (a / ports_of(f, i)) * links_up(f, i) + b % links_up(f, i);
    for (int i = top - 1; i >= 1; i--)
        links[n++] =
            base[i] + (2 * (b / ports_of(f, i)) + 1) * links_up(f, i) + b % links_up(f, i);
    return n;
}

static int64_t port(const struct fr_fabric *f, int64_t a) {
    return f->count[DOWN] > 1 ? a / f->value[DOWN][0] : 0;
}

/* Switches: groups of tier 1, of tier 2, ..., the top. */
static void ends(const struct fr_fabric *f, int64_t link, int64_t *from, int64_t *to) {
    int64_t first = 0;
    for (int i = 1; i < f->count[DOWN]; i++) {
        int64_t groups = f->n_ports / ports_of(f, i), all = 2 * groups * links_up(f, i);
        if (link < all) {
            int64_t group = link / links_up(f, i) / 2;
            bool down = link / links_up(f, i) % 2;
            int64_t here = first + group, above = first + groups + group / f->value[DOWN][i];
            *from = down ? above : here;
            *to = down ? here : above;
            return;
        }
        link -= all;
        first += groups;
    }
}

/* Half of the top's children on either side: cut all their links of the thinnest tier. */
static double bisection(const struct fr_fabric *f) {
    double least = -1;
    for (int i = 1; i < f->count[DOWN]; i++) {
        double cut = (double)(f->n_ports / ports_of(f, i)) / 2 * (double)links_up(f, i);
        if (least < 0 || cut < least) least = cut;
    }
    return least;
}

const struct fr_shape fr_shape_fat_tree = {
    .name = "fat-tree",
    .summary = "switches in tiers: down, children of a switch; up, links up (fewer: "
               "oversubscribed)",
    .example = "fat-tree down=18,16 up=9",
    .source = "Leiserson, IEEE Trans. Comput. C-34(10), 1985; routes D-mod-k, as SimGrid's "
              "fat-tree zone takes them",
    .key = {{"down", FR_SHAPE_SIZES, true}, {"up", FR_SHAPE_SIZES, false}},
    .make = make,
    .route = route,
    .port = port,
    .ends = ends,
    .bisection = bisection,
};
