#include "calibrate/measure/harness/teams.h"

#include "calibrate/measure/harness/bench.h"

/* A team before its communicators exist: which rank is in, and with which colour. */
struct draft {
    struct fr_team team;
    bool one_per_node;
};

static bool is_first_of_node(const struct fr_bench *bench, int rank) {
    for (int r = 0; r < rank; r++)
        if (bench->node_of[r] == bench->node_of[rank]) return false;
    return true;
}

static int nodes_of_first(const struct fr_bench *bench, int n_ranks, int stride) {
    int count = 0;
    for (int r = 0; r < n_ranks; r++) {
        bool seen = false;
        for (int s = 0; s < r && !seen; s++)
            seen = bench->node_of[s * stride] == bench->node_of[r * stride];
        count += !seen;
    }
    return count;
}

/* The place of @p rank among the ranks of its node. */
static int place_in_node(const struct fr_bench *bench, int rank) {
    int place = 0;
    for (int r = 0; r < rank; r++) place += bench->node_of[r] == bench->node_of[rank];
    return place;
}

static int ranks_of_node(const struct fr_bench *bench, int node) {
    int count = 0;
    for (int r = 0; r < bench->n_ranks; r++) count += bench->node_of[r] == node;
    return count;
}

static bool in_group(const struct fr_bench *bench, const struct draft *draft) {
    if (!draft->one_per_node) return bench->rank < draft->team.n_ranks;
    return bench->node_of[bench->rank] < draft->team.n_ranks &&
           is_first_of_node(bench, bench->rank);
}

/* Pairs within the first node are its ranks 2i and 2i + 1; between two nodes their i-th ranks. */
static bool in_pairs(const struct fr_bench *bench, const struct fr_team *team) {
    int node = bench->node_of[bench->rank], place = place_in_node(bench, bench->rank);
    if (team->level == FR_SAMPLE_NODE) return node == 0 && place < 2 * team->n_pairs;
    return node < 2 && place < team->n_pairs;
}

static void find_partner(const struct fr_bench *bench, struct fr_team *team) {
    int node = bench->node_of[bench->rank], place = place_in_node(bench, bench->rank);
    bool inside = team->level == FR_SAMPLE_NODE;
    int wanted_node = inside ? 0 : 1 - node, wanted = inside ? place ^ 1 : place, at = 0;
    team->first = inside ? place % 2 == 0 : node == 0;
    for (int r = 0; r < bench->n_ranks; r++) { /* ranks in sync keep the world's order */
        int n = bench->node_of[r], p = place_in_node(bench, r);
        bool member = inside ? n == 0 && p < 2 * team->n_pairs : n < 2 && p < team->n_pairs;
        if (member && n == wanted_node && p == wanted) team->partner = at;
        at += member;
    }
}

static fr_status add(struct fr_bench *bench, struct draft draft, struct fr_error *err) {
    struct fr_teams *teams = &bench->teams;
    if (teams->count == FR_TEAMS_MAX) return FR_OK;
    struct fr_team *team = &teams->team[teams->count++];
    *team = draft.team;
    team->sync = team->call = MPI_COMM_NULL;
    if (team->n_groups == 0) team->n_groups = 1;
    bool inside = team->kind == FR_TEAM_GROUP   ? in_group(bench, &draft)
                  : team->kind == FR_TEAM_PAIRS ? in_pairs(bench, team)
                                                : true;
    FR_MPI_TRY(
        MPI_Comm_split(bench->world, inside ? 0 : MPI_UNDEFINED, bench->rank, &team->sync));
    int colour = 0;
    if (team->kind == FR_TEAM_SEGMENTS)
        colour = team->layout == FR_LAYOUT_BLOCK ? bench->rank / team->n_ranks
                                                 : bench->rank % team->n_groups;
    FR_MPI_TRY(MPI_Comm_split(bench->world, inside ? colour : MPI_UNDEFINED, bench->rank,
                              &team->call));
    if (!inside) return FR_OK;
    FR_MPI_TRY(MPI_Comm_set_errhandler(team->sync, MPI_ERRORS_RETURN));
    FR_MPI_TRY(MPI_Comm_set_errhandler(team->call, MPI_ERRORS_RETURN));
    FR_MPI_TRY(MPI_Comm_rank(team->call, &team->rank));
    if (team->kind == FR_TEAM_PAIRS) find_partner(bench, team);
    return FR_OK;
}

static bool known(const struct fr_teams *teams, int level, int n_ranks) {
    for (int i = 0; i < teams->count; i++)
        if (teams->team[i].kind == FR_TEAM_GROUP && teams->team[i].level == level &&
            teams->team[i].n_ranks == n_ranks)
            return true;
    return false;
}

static fr_status add_group(struct fr_bench *bench, int p, struct fr_error *err) {
    struct draft draft = {.team = {.kind = FR_TEAM_GROUP, .n_ranks = p}};
    draft.team.n_nodes = nodes_of_first(bench, p, 1);
    draft.team.level = draft.team.n_nodes > 1 ? FR_SAMPLE_SYSTEM : FR_SAMPLE_NODE;
    return add(bench, draft, err);
}

static fr_status add_groups(struct fr_bench *bench, struct fr_error *err) {
    int all = bench->n_ranks;
    for (int p = 2, last = 0; p <= all && !last; p = 2 * p < all ? 2 * p : all) {
        FR_TRY(add_group(bench, p, err));
        last = p == all;
    }
    for (int p = 2; p <= bench->n_nodes; p *= 2) {
        if (known(&bench->teams, FR_SAMPLE_SYSTEM, p)) continue;
        struct draft draft = {
            .one_per_node = true,
            .team = {
                .kind = FR_TEAM_GROUP, .level = FR_SAMPLE_SYSTEM, .n_ranks = p, .n_nodes = p}};
        FR_TRY(add(bench, draft, err));
    }
    return FR_OK;
}

/* Devices come in threes, fives and sixes too: within the first node, all of it, and three nodes. */
static fr_status add_odd_groups(struct fr_bench *bench, struct fr_error *err) {
    int node = ranks_of_node(bench, 0), three = 3 * node;
    for (int p = 3; p <= node && p < 8; p++)
        if (p != 4 && !known(&bench->teams, FR_SAMPLE_NODE, p))
            FR_TRY(add_group(bench, p, err));
    if (bench->n_nodes > 3 && !known(&bench->teams, FR_SAMPLE_SYSTEM, three))
        return add_group(bench, three, err);
    return FR_OK;
}

/* Does some communicator of a segmentation leave its node? */
static int segments_level(const struct fr_bench *bench, int p, int layout) {
    int n_groups = bench->n_ranks / p;
    for (int r = 0; r < bench->n_ranks; r++) {
        int first = layout == FR_LAYOUT_BLOCK ? r / p * p : r % n_groups;
        if (bench->node_of[r] != bench->node_of[first]) return FR_SAMPLE_SYSTEM;
    }
    return FR_SAMPLE_NODE;
}

static fr_status add_segments(struct fr_bench *bench, struct fr_error *err) {
    for (int p = 2; 2 * p <= bench->n_ranks; p *= 2) {
        if (bench->n_ranks % p != 0) continue;
        for (int layout = FR_LAYOUT_BLOCK; layout <= FR_LAYOUT_STRIDE; layout++) {
            int stride = layout == FR_LAYOUT_BLOCK ? 1 : bench->n_ranks / p;
            struct draft draft = {.team = {.kind = FR_TEAM_SEGMENTS,
                                           .level = segments_level(bench, p, layout),
                                           .n_ranks = p,
                                           .n_nodes = nodes_of_first(bench, p, stride),
                                           .n_groups = bench->n_ranks / p,
                                           .layout = layout}};
            FR_TRY(add(bench, draft, err));
        }
    }
    return FR_OK;
}

static fr_status add_pairs(struct fr_bench *bench, struct fr_error *err) {
    int inside = ranks_of_node(bench, 0) / 2, across = 0;
    if (bench->n_nodes > 1) {
        int a = ranks_of_node(bench, 0), b = ranks_of_node(bench, 1);
        across = a < b ? a : b;
    }
    for (int level = FR_SAMPLE_NODE; level <= FR_SAMPLE_SYSTEM; level++)
        for (int n = 1; n <= (level == FR_SAMPLE_NODE ? inside : across); n *= 2) {
            struct draft draft = {.team = {.kind = FR_TEAM_PAIRS,
                                           .level = level,
                                           .n_ranks = 2,
                                           .n_nodes = level == FR_SAMPLE_NODE ? 1 : 2,
                                           .n_pairs = n}};
            FR_TRY(add(bench, draft, err));
        }
    return FR_OK;
}

fr_status fr_teams_open(struct fr_bench *bench, struct fr_error *err) {
    struct draft everyone = {.team = {.kind = FR_TEAM_EVERYONE,
                                      .n_ranks = bench->n_ranks,
                                      .n_nodes = bench->n_nodes}};
    everyone.team.level = bench->n_nodes > 1 ? FR_SAMPLE_SYSTEM : FR_SAMPLE_NODE;
    FR_TRY(add(bench, everyone, err));
    FR_TRY(add_groups(bench, err));
    if (bench->driver) FR_TRY(add_odd_groups(bench, err));
    FR_TRY(add_segments(bench, err));
    return add_pairs(bench, err);
}

void fr_teams_close(struct fr_teams *teams) {
    for (int i = 0; i < teams->count; i++) {
        if (teams->team[i].sync != MPI_COMM_NULL) MPI_Comm_free(&teams->team[i].sync);
        if (teams->team[i].call != MPI_COMM_NULL) MPI_Comm_free(&teams->team[i].call);
    }
    teams->count = 0;
}
