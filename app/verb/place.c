/* Where ranks sit, and how many messages of segmented collectives leave a node for it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/launch_lines.h"
#include "app/load.h"
#include "app/verb.h"
#include "topology/messages.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"ranks", "N", "ranks to seat", 'n'},
    {"ways", "G", "sub-grids: ranks of equal place in them exchange where branches meet", 'g'},
    {"placement", "NAME|all",
     "linear, round-robin, by-axis[:AXIS-...], file:PATH, optimised[:SEED]; all (default)", 0},
    {"ranks-per-node", "R", "use R ranks of each node (default: all the cluster's)", 0},
    {"emit", "slurm|rankfile", "print only what the launcher needs, for the best of them", 0},
    FR_OPTION_SET,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

enum { SEATINGS_MAX = 8 };

/* One placement and what came of it. */
struct seated {
    struct fr_placement_choice choice;
    int64_t *slot;    /* of each rank */
    int64_t *mapping; /* rank of each slot */
    int64_t by_level[FR_LEVEL_MAX];
    int64_t intra, inter;
    double weight_s; /* see weight_of */
    struct fr_message_formula formula;
};

struct query {
    struct fr_levels levels;
    struct fr_mesh mesh;
    int node; /* the level called "node", else the innermost */
    int64_t ranks, ways, ranks_per_node;
    struct seated seated[SEATINGS_MAX];
    int n_seated;
    int64_t *owned_list;
};

/* Use R ranks of each node: every level shrinks alike. */
static fr_status shrink_nodes(struct query *q, int64_t per_node, struct fr_error *err) {
    int64_t have = q->levels.level[q->node].ranks;
    if (per_node > have)
        return fr_fail(err, FR_ERR_INPUT, "--ranks-per-node",
                       "a node of this cluster holds %" PRId64 " ranks", have);
    for (int l = 0; l < q->levels.count; l++) {
        int64_t *ranks = &q->levels.level[l].ranks;
        *ranks =
            l < q->node ? (*ranks < per_node ? *ranks : per_node) : *ranks / have * per_node;
    }
    return FR_OK;
}

/* Time of all messages one after the other, a megabyte each, every rank at its share of the link
 * [s]: what "optimised" minimises where no model says what the traffic is. */
static double weight_of(const struct query *q, const int64_t by_level[FR_LEVEL_MAX]) {
    static const double message_B = 1e6;
    double weight_s = 0;
    for (int l = 0; l < q->levels.count; l++)
        weight_s += (double)by_level[l] * (q->levels.level[l].latency_s +
                                           message_B * fr_level_s_per_B(&q->levels, l));
    return weight_s;
}

static double cost_of(const void *context, const int64_t *slot) {
    const struct query *q = context;
    int64_t by_level[FR_LEVEL_MAX];
    if (fr_messages_count(&q->levels, &q->mesh, FR_MESH_TP, slot, by_level, NULL) != FR_OK)
        return INFINITY;
    return weight_of(q, by_level);
}

static fr_status seat(struct query *q, const struct fr_placement_choice *choice,
                      struct fr_error *err) {
    struct seated *s = &q->seated[q->n_seated++];
    struct fr_seating seating = {&q->levels, &q->mesh, choice, cost_of, q};
    const char *refused = choice->row->refuses ? choice->row->refuses(choice, &q->mesh) : NULL;
    s->choice = *choice;
    if (refused) return fr_fail(err, FR_ERR_INPUT, "--placement", "%s", refused);
    s->slot = malloc((size_t)q->ranks * sizeof *s->slot);
    s->mapping = malloc((size_t)q->ranks * sizeof *s->mapping);
    if (!s->slot || !s->mapping) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    FR_TRY(choice->row->seat(&seating, s->slot, err));
    for (int64_t r = 0; r < q->ranks; r++) s->mapping[s->slot[r]] = r;
    FR_TRY(fr_messages_count(&q->levels, &q->mesh, FR_MESH_TP, s->slot, s->by_level, err));
    for (int l = 0; l < q->levels.count; l++)
        *(l <= q->node ? &s->intra : &s->inter) += s->by_level[l];
    s->weight_s = weight_of(q, s->by_level);
    s->formula = fr_messages_formula(choice->row, q->ranks, q->ways, q->ranks_per_node);
    return FR_OK;
}

static fr_status seat_all(struct query *q, struct fr_error *err) {
    for (const struct fr_placement *const *row = fr_placements; *row; row++) {
        struct fr_placement_choice choice = fr_placement_default();
        choice.row = *row;
        if (*row == &fr_placement_file) continue; /* only where one is named */
        FR_TRY(seat(q, &choice, err));
    }
    return FR_OK;
}

static const struct seated *best_of(const struct query *q) {
    const struct seated *best = &q->seated[0];
    for (int i = 1; i < q->n_seated; i++)
        if (q->seated[i].weight_s < best->weight_s) best = &q->seated[i];
    return best;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_pair(struct fr_json_writer *w, const char *key, bool known, int64_t intra,
                      int64_t inter) {
    fr_json_key(w, key);
    if (!known) {
        fr_json_put_null(w);
        return;
    }
    fr_json_begin_object(w);
    fr_json_add_integer(w, "intra_node", intra);
    fr_json_add_integer(w, "inter_node", inter);
    fr_json_end_object(w);
}

static void json_formula(struct fr_json_writer *w, const struct fr_message_formula *f) {
    fr_json_key(w, "formula");
    fr_json_begin_object(w);
    fr_json_add_bool(w, "applies", f->applies);
    if (f->equations) {
        fr_json_add_string(w, "equations", f->equations);
        fr_json_add_string(w, "condition", f->condition);
        fr_json_add_integer(w, "intra_node", f->intra);
        fr_json_add_integer(w, "inter_node", f->inter);
        json_pair(w, "printed", true, f->printed_intra, f->printed_inter);
        fr_json_add_string(w, "general_equation", f->general);
        json_pair(w, "general", f->general_applies, f->general_intra, f->general_inter);
    }
    fr_json_end_object(w);
}

static void json_seated(struct fr_json_writer *w, const struct query *q,
                        const struct seated *s) {
    char name[64];
    fr_json_begin_object(w);
    fr_json_add_string(w, "schema", "forerun/place/1");
    fr_json_add_string(w, "placement", s->choice.row->name);
    fr_json_add_string(w, "choice", fr_placement_write(&s->choice, name, sizeof name));
    if (s->choice.row->searches) fr_json_add_integer(w, "seed", (int64_t)s->choice.seed);
    fr_json_add_integer(w, "ranks", q->ranks);
    fr_json_add_integer(w, "ways", q->ways);
    fr_json_add_integer(w, "ranks_per_node", q->ranks_per_node);
    fr_json_add_integer(w, "messages", q->ranks * q->ways);
    fr_json_add_integer(w, "intra_node", s->intra);
    fr_json_add_integer(w, "inter_node", s->inter);
    fr_json_key(w, "by_level");
    fr_json_begin_object(w);
    for (int l = 0; l < q->levels.count; l++)
        fr_json_add_integer(w, q->levels.level[l].name, s->by_level[l]);
    fr_json_end_object(w);
    json_formula(w, &s->formula);
    fr_json_key(w, "mapping");
    fr_json_begin_array(w);
    for (int64_t i = 0; i < q->ranks; i++) fr_json_put_integer(w, s->mapping[i]);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_mapping(struct fr_text *text, const struct query *q, const struct seated *s) {
    enum { NODES_SHOWN = 16, RANKS_SHOWN = 16 };
    int64_t nodes = (q->ranks + q->ranks_per_node - 1) / q->ranks_per_node;
    char name[64];
    fr_text_addf(text, "\n%s: ranks node by node\n",
                 fr_placement_write(&s->choice, name, sizeof name));
    for (int64_t node = 0; node < nodes && node < NODES_SHOWN; node++) {
        fr_text_addf(text, "  node %-4" PRId64, node);
        for (int64_t i = 0; i < q->ranks_per_node && i < RANKS_SHOWN; i++) {
            int64_t at = node * q->ranks_per_node + i;
            if (at < q->ranks) fr_text_addf(text, " %4" PRId64, s->mapping[at]);
        }
        fr_text_addf(text, "%s\n", q->ranks_per_node > RANKS_SHOWN ? " ..." : "");
    }
    if (nodes > NODES_SHOWN)
        fr_text_addf(text, "  ... and %" PRId64 " more nodes (--json has them all)\n",
                     nodes - NODES_SHOWN);
}

static void text_formula(struct fr_text *text, const struct query *q, const struct seated *s) {
    const struct fr_message_formula *f = &s->formula;
    if (!f->equations) return;
    fr_text_addf(text, "\n%s (%s)\n", f->equations, s->choice.row->name);
    fr_text_addf(text, "  as printed          %10" PRId64 " intra %10" PRId64 " inter\n",
                 f->printed_intra, f->printed_inter);
    if (f->applies)
        fr_text_addf(text, "  corrected           %10" PRId64 " intra %10" PRId64 " inter\n",
                     f->intra, f->inter);
    else
        fr_text_addf(text, "  do not apply here: they hold where %s\n", f->condition);
    if (f->general_applies)
        fr_text_addf(text,
                     "  for any n_node | n  %10" PRId64 " intra %10" PRId64 " inter   %s\n",
                     f->general_intra, f->general_inter, f->general);
    fr_text_addf(text, "  counted             %10" PRId64 " intra %10" PRId64 " inter\n",
                 s->intra, s->inter);
    (void)q;
}

static void print_text(struct fr_text *text, const struct query *q) {
    char name[64];
    int64_t nodes = (q->ranks + q->ranks_per_node - 1) / q->ranks_per_node;
    fr_text_addf(text,
                 "n = %" PRId64 " ranks in g = %" PRId64 " sub-grids of n_g = %" PRId64
                 ", %" PRId64 " ranks a node on %" PRId64 " nodes; n g = %" PRId64
                 " messages, those to oneself among them\n\n%-22s %11s %11s ",
                 q->ranks, q->ways, q->ranks / q->ways, q->ranks_per_node, nodes,
                 q->ranks * q->ways, "placement", "intra-node", "inter-node");
    for (int l = 0; l < q->levels.count; l++)
        fr_text_addf(text, " %10s", q->levels.level[l].name);
    for (int i = 0; i < q->n_seated; i++) {
        const struct seated *s = &q->seated[i];
        fr_text_addf(text, "\n%-22s %11" PRId64 " %11" PRId64 " ",
                     fr_placement_write(&s->choice, name, sizeof name), s->intra, s->inter);
        for (int l = 0; l < q->levels.count; l++)
            fr_text_addf(text, " %10" PRId64, s->by_level[l]);
    }
    fr_text_addf(text, "\n");
    for (int i = 0; i < q->n_seated; i++) text_formula(text, q, &q->seated[i]);
    for (int i = 0; i < q->n_seated; i++) text_mapping(text, q, &q->seated[i]);
}

/* ---- the command ------------------------------------------------------------------------------ */

static fr_status read_query(const struct fr_args *args, const struct fr_job *job,
                            struct query *q, struct fr_error *err) {
    const char *given = NULL;
    long long ranks = 1, ways = 1, per_node = 0;
    FR_TRY(fr_args_required(args, "ranks", &given, err));
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_SEATS_MAX, &ranks, err));
    FR_TRY(fr_args_required(args, "ways", &given, err));
    FR_TRY(fr_args_integer(args, "ways", 1, FR_SEATS_MAX, &ways, err));
    FR_TRY(fr_args_integer(args, "ranks-per-node", 1, FR_SEATS_MAX, &per_node, err));
    if (ranks % ways != 0)
        return fr_fail(err, FR_ERR_USAGE, "--ways", "%lld does not divide %lld ranks", ways,
                       ranks);
    q->levels = job->cluster.levels;
    q->node = fr_levels_find(&q->levels, "node");
    if (q->node < 0) q->node = 0;
    if (per_node) FR_TRY(shrink_nodes(q, per_node, err));
    q->ranks = ranks;
    q->ways = ways;
    q->ranks_per_node = q->levels.level[q->node].ranks;
    /* D&SP numbers the ranks of a sub-grid one after the other. */
    q->mesh =
        (struct fr_mesh){{[FR_MESH_TP] = ways, [FR_MESH_PP] = 1, [FR_MESH_DP] = ranks / ways},
                         {FR_MESH_DP, FR_MESH_TP, FR_MESH_PP}};
    if (ranks > fr_levels_capacity(&q->levels))
        return fr_fail(err, FR_ERR_INPUT, job->cluster_from,
                       "%lld ranks are asked for, the cluster holds %" PRId64, ranks,
                       fr_levels_capacity(&q->levels));
    return FR_OK;
}

static fr_status place(const struct fr_args *args, struct fr_job *job, struct query *q,
                       struct fr_error *err) {
    static const char *const launchers[] = {"slurm", "rankfile", NULL};
    const char *name = fr_args_get(args, "placement");
    bool all = !name || strcmp(name, "all") == 0, json = fr_args_has(args, "json");
    struct fr_text text = {0};
    int emit = -1;
    FR_TRY(fr_args_choice(args, "emit", launchers, &emit, err));
    FR_TRY(fr_app_load(args, false, job, err));
    FR_TRY(read_query(args, job, q, err));
    if (all)
        FR_TRY(seat_all(q, err));
    else {
        struct fr_placement_choice choice;
        FR_TRY(fr_placement_parse(name, "--placement", &choice, &q->owned_list, err));
        FR_TRY(seat(q, &choice, err));
    }
    if (emit >= 0) {
        const struct seated *best = best_of(q);
        struct fr_launch_lines lines = {.ranks = q->ranks,
                                        .ranks_per_node = q->ranks_per_node,
                                        .slot = best->slot,
                                        .name = best->choice.row->name};
        (emit == 0 ? fr_launch_slurm : fr_launch_rankfile)(&lines, &text);
    } else if (json) {
        struct fr_json_writer w = {.text = &text, .indent = 2};
        if (all) fr_json_begin_array(&w);
        for (int i = 0; i < q->n_seated; i++) json_seated(&w, q, &q->seated[i]);
        if (all) fr_json_end_array(&w);
    } else
        print_text(&text, q);
    return fr_app_print(&text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    struct query q = {0};
    fr_status status = place(args, &job, &q, err);
    for (int i = 0; i < q.n_seated; i++) {
        free(q.seated[i].slot);
        free(q.seated[i].mapping);
    }
    free(q.owned_list);
    fr_job_free(&job);
    return status;
}

const struct fr_verb fr_verb_place = {
    .name = "place",
    .summary = "where ranks sit: messages within and between nodes, and lines for the launcher",
    .usage = "--cluster C --ranks N --ways G [--placement NAME|all] [--emit slurm|rankfile] "
             "[--json]",
    .details =
        "Counts the messages of segmented all-to-alls between g sub-grids (D&SP), beside Eqs. "
        "4\n"
        "to 7 of that paper.  \"linear\" is its naive order, \"round-robin\" its "
        "topology-aware "
        "one.\n"
        "  forerun place --cluster lassen --ranks 16 --ways 4\n"
        "  forerun place --cluster lassen --ranks 64 --ways 8 --placement optimised --emit "
        "slurm\n",
    .options = options,
    .run = run,
};
