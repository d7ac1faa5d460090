#include "studies/dsp/messages.h"

#include "topology/messages.h"

struct tally {
    double cases, printed, corrected, conditioned, general;
};

/* Counted by pairs, not by the library's own counting. */
static int64_t intra_of(const struct fr_placement *placement, int64_t n, int64_t g,
                        int64_t n_node) {
    int64_t n_g = n / g, nodes = n / n_node, intra = 0;
    bool dealt = placement == &fr_placement_round_robin;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = a % n_g; b < n; b += n_g)
            intra += dealt ? a % nodes == b % nodes : a / n_node == b / n_node;
    return intra;
}

static struct tally tally_of(const struct fr_placement *placement) {
    struct tally t = {0};
    for (int64_t n = 1; n <= 64; n++)
        for (int64_t g = 1; g <= n; g++)
            for (int64_t n_node = 1; n % g == 0 && n_node <= n; n_node++) {
                if (n % n_node != 0) continue;
                struct fr_message_formula f = fr_messages_formula(placement, n, g, n_node);
                int64_t intra = intra_of(placement, n, g, n_node);
                t.cases++;
                t.printed += f.printed_intra == intra && f.printed_inter == n * g - intra;
                t.conditioned += f.applies;
                t.corrected += f.applies && f.intra == intra && f.inter == n * g - intra;
                t.general += f.general_intra == intra;
            }
    return t;
}

void fr_dsp_messages(struct fr_reproduction *r) {
    struct tally naive = tally_of(&fr_placement_linear),
                 aware = tally_of(&fr_placement_round_robin);
    int64_t worse = 0;
    for (int64_t n = 1; n <= 64; n++)
        for (int64_t g = 1; g <= n; g++)
            for (int64_t n_node = 1; n % g == 0 && n_node <= n; n_node++)
                worse += n % n_node == 0 && intra_of(&fr_placement_round_robin, n, g, n_node) <
                                                intra_of(&fr_placement_linear, n, g, n_node);
    fr_reproduce_add(
        r, FR_ROLE_NOT_EXPLAINED, naive.cases, naive.printed, "cases", 0,
        "Eqs. 4 and 5 as printed against counting, all n <= 64, g | n, n_node | n: "
        "their two cases are exchanged",
        "eq4_5/printed");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, naive.conditioned, naive.corrected, "cases", 0,
                     "exchanged back, where n_g divides n_node or n_g >= n_node",
                     "eq4_5/corrected");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, naive.cases, naive.general, "cases", 0,
                     "our closed form, N (s (q+1)^2 + (n_g - s) q^2), everywhere",
                     "eq4_5/general");
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, aware.cases, aware.printed, "cases", 0,
                     "Eqs. 6 and 7 as printed, without a condition", "eq6_7/printed");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, aware.conditioned, aware.corrected, "cases", 0,
                     "where N divides n_g or n_g divides N", "eq6_7/guarded");
    fr_reproduce_add(r, FR_ROLE_IDENTITY, aware.cases, aware.general, "cases", 0,
                     "our closed form, n g gcd(n_g, N) / N, everywhere", "eq6_7/general");
    fr_reproduce_add(r, FR_ROLE_NOT_EXPLAINED, 12,
                     (double)intra_of(&fr_placement_round_robin, 6, 2, 3), "msgs", 0,
                     "n = 6, n_node = 3, g = 2: Eq. 6 gives 12 within nodes, counting 6",
                     "eq6/n=6/g=2/n_node=3");
    fr_reproduce_add_ordering(r, worse == 0,
                              "topology-aware order never sends more between nodes than naive, "
                              "all n <= 64",
                              "ordering/aware_never_more_inter_node");
}
