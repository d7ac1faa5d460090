/* Where the ranks of a plan sit, and what of it leaves a node: groups of every axis, and of method subgraph
 * the messages of segmented collectives. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/placing.h"
#include "app/text/launch_lines.h"
#include "app/text/render.h"
#include "app/verb.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"ranks", "N", "ranks to seat (default: the plan's)", 'n'},
    {"ways", "G",
     "method subgraph: sub-grids, whose ranks of equal place exchange where branches meet",
     'g'},
    {"placement", "NAME|all",
     "linear, round-robin, by-axis[:AXIS-...], file:PATH, optimised[:SEED]; all (default, but "
     "for a plan that says one)",
     0},
    {"ranks-per-node", "R", "use R ranks of each node (default: all the cluster's)", 0},
    FR_OPTION_MODEL,
    FR_OPTION_PLAN,
    {"emit", "slurm|rankfile", "print only what the launcher needs, for the best of them", 0},
    FR_OPTION_SET,
    FR_OPTION_JSON,
    FR_OPTION_HELP,
    FR_OPTION_END};

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

static void json_plan(struct fr_json_writer *w, const struct fr_placing *q) {
    char numbering[96];
    fr_json_add_string(w, "method", q->plan.method->name);
    fr_json_add_integer(w, "ranks", q->ranks);
    for (int axis = 0; axis < FR_MESH_AXES; axis++)
        fr_json_add_integer(w, fr_mesh_axis_names[axis], q->mesh.size[axis]);
    if (q->segmented) fr_json_add_integer(w, "ways", q->ways);
    fr_json_add_string(w, "numbering", fr_placing_numbering(q, numbering, sizeof numbering));
}

static void json_groups(struct fr_json_writer *w, const struct fr_placing *q,
                        const struct fr_placed *s) {
    fr_json_key(w, "groups");
    fr_json_begin_object(w);
    for (int axis = 0; axis < FR_MESH_AXES; axis++) {
        fr_json_key(w, fr_mesh_axis_names[axis]);
        fr_json_begin_object(w);
        fr_json_add_integer(w, "count", q->ranks / q->mesh.size[axis]);
        fr_json_add_integer(w, "in_one_node", s->whole[axis]);
        fr_json_end_object(w);
    }
    fr_json_end_object(w);
}

static void json_messages(struct fr_json_writer *w, const struct fr_placing *q,
                          const struct fr_placed *s) {
    fr_json_add_integer(w, "messages", q->ranks * q->ways);
    fr_json_add_integer(w, "intra_node", s->intra);
    fr_json_add_integer(w, "inter_node", s->inter);
    fr_json_key(w, "by_level");
    fr_json_begin_object(w);
    for (int l = 0; l < q->levels.count; l++)
        fr_json_add_integer(w, q->levels.level[l].name, s->by_level[l]);
    fr_json_end_object(w);
}

static void json_placed(struct fr_json_writer *w, const struct fr_placing *q,
                        const struct fr_placed *s) {
    char name[64];
    fr_json_begin_object(w);
    fr_json_add_string(w, "schema", "forerun/place/1");
    fr_json_add_string(w, "placement", s->choice.row->name);
    fr_json_add_string(w, "choice", fr_placement_write(&s->choice, name, sizeof name));
    if (s->choice.row->searches) fr_json_add_integer(w, "seed", (int64_t)s->choice.seed);
    json_plan(w, q);
    fr_json_add_integer(w, "ranks_per_node", q->ranks_per_node);
    json_groups(w, q, s);
    if (q->segmented) json_messages(w, q, s);
    if (q->with_model) fr_json_add_number(w, "iteration_time_s", s->time_s);
    if (q->segmented) json_formula(w, &s->formula);
    fr_json_key(w, "mapping");
    fr_json_begin_array(w);
    for (int64_t i = 0; i < q->ranks; i++) fr_json_put_integer(w, s->mapping[i]);
    fr_json_end_array(w);
    fr_json_end_object(w);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_mapping(struct fr_text *text, const struct fr_placing *q,
                         const struct fr_placed *s) {
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

static void text_formula(struct fr_text *text, const struct fr_placing *q,
                         const struct fr_placed *s) {
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

/* "method tensor: 128 ranks, tp 8 x pp 4 x dp 4, rank = tp + 8 pp + 32 dp". */
static const char *what_line(const struct fr_placing *q, char *out, size_t capacity) {
    char numbering[96];
    size_t used = 0;
    fr_line_addf(out, capacity, &used, "method %s: %" PRId64 " ranks", q->plan.method->name,
                 q->ranks);
    for (int i = 0; i < FR_MESH_AXES; i++) {
        int axis = q->mesh.order[i];
        fr_line_addf(out, capacity, &used, "%s%s %" PRId64, i ? " x " : ", ",
                     fr_mesh_axis_names[axis], q->mesh.size[axis]);
    }
    fr_line_addf(out, capacity, &used, ", %s",
                 fr_placing_numbering(q, numbering, sizeof numbering));
    return out;
}

static void text_head(struct fr_text *text, const struct fr_placing *q) {
    char what[192];
    int64_t nodes = (q->ranks + q->ranks_per_node - 1) / q->ranks_per_node;
    fr_text_addf(text, "%s; %" PRId64 " ranks a node on %" PRId64 " nodes\n",
                 what_line(q, what, sizeof what), q->ranks_per_node, nodes);
    if (q->segmented)
        fr_text_addf(text,
                     "n = %" PRId64 " ranks in g = %" PRId64 " sub-grids of n_g = %" PRId64
                     "; n g = %" PRId64 " messages, those to oneself among them\n",
                     q->ranks, q->ways, q->ranks / q->ways, q->ranks * q->ways);
    else
        fr_text_addf(text, "groups of each axis that sit in one node, of all its groups\n");
    fr_text_addf(text, "\n%-22s", "placement");
    if (q->segmented) fr_text_addf(text, " %11s %11s ", "intra-node", "inter-node");
    for (int l = 0; q->segmented && l < q->levels.count; l++)
        fr_text_addf(text, " %10s", q->levels.level[l].name);
    for (int axis = 0; !q->segmented && axis < FR_MESH_AXES; axis++)
        fr_text_addf(text, " %15s", fr_mesh_axis_names[axis]);
    if (q->with_model) fr_text_addf(text, " %10s", "iteration");
}

static void text_row(struct fr_text *text, const struct fr_placing *q,
                     const struct fr_placed *s) {
    char name[64], time[40];
    fr_text_addf(text, "\n%-22s", fr_placement_write(&s->choice, name, sizeof name));
    if (q->segmented) fr_text_addf(text, " %11" PRId64 " %11" PRId64 " ", s->intra, s->inter);
    for (int l = 0; q->segmented && l < q->levels.count; l++)
        fr_text_addf(text, " %10" PRId64, s->by_level[l]);
    for (int axis = 0; !q->segmented && axis < FR_MESH_AXES; axis++)
        fr_text_addf(text, " %7" PRId64 " /%6" PRId64, s->whole[axis],
                     q->ranks / q->mesh.size[axis]);
    if (q->with_model)
        fr_text_addf(text, " %10s",
                     fr_render_quantity(s->time_s, FR_QUANTITY_TIME, time, sizeof time));
}

static void print_text(struct fr_text *text, const struct fr_placing *q) {
    text_head(text, q);
    for (int i = 0; i < q->count; i++) text_row(text, q, &q->placed[i]);
    fr_text_addf(text, "\n");
    for (int i = 0; i < q->count; i++) text_formula(text, q, &q->placed[i]);
    for (int i = 0; i < q->count; i++) text_mapping(text, q, &q->placed[i]);
}

/* ---- the command ------------------------------------------------------------------------------ */

/* Sub-grids alone: the mesh is --ranks over --ways. */
static fr_status sub_grids(const struct fr_args *args, long long ranks, long long ways,
                           const struct fr_job *job, struct fr_plan *plan,
                           struct fr_error *err) {
    if (fr_app_plan_says(job, "method") && plan->method != &fr_method_subgraph)
        return fr_fail(err, FR_ERR_USAGE, "--model",
                       "is required: where method %s should sit is what its iterations take",
                       plan->method->name);
    if (!fr_args_has(args, "ways"))
        return fr_fail(
            err, FR_ERR_USAGE, "--ways",
            "is required to count the messages of sub-grids; or give --model and the "
            "plan's mesh (--plan, --set tp=...) to place what it says");
    if (!fr_args_has(args, "ranks"))
        return fr_fail(err, FR_ERR_USAGE, "--ranks", "is required");
    if (ranks % ways != 0)
        return fr_fail(err, FR_ERR_USAGE, "--ways", "%lld does not divide %lld ranks", ways,
                       ranks);
    plan->method = &fr_method_subgraph;
    plan->tp = ways;
    plan->dp = ranks / ways;
    plan->pp = plan->cp = 1;
    return FR_OK;
}

/* The plan's own method and mesh; of sub-grids --ways may say how many, and --ranks gives dp where the
 * plan leaves it open. */
static fr_status plan_mesh(const struct fr_args *args, long long ranks, long long ways,
                           const struct fr_job *job, struct fr_plan *plan,
                           struct fr_error *err) {
    bool given = fr_args_has(args, "ways");
    if (given && plan->method != &fr_method_subgraph)
        return fr_fail(err, FR_ERR_USAGE, "--ways",
                       "is for method subgraph, the plan's is %s: give its mesh (--set tp=%lld "
                       "...), or ask for --set method=subgraph",
                       plan->method->name, ways);
    if (given && fr_app_plan_says(job, "tp") && plan->tp != ways)
        return fr_fail(err, FR_ERR_USAGE, "--ways", "is %lld, the plan has tp = %" PRId64, ways,
                       plan->tp);
    if (given) plan->tp = ways;
    if (!fr_args_has(args, "ranks")) return FR_OK;
    int64_t others = fr_plan_ranks(plan) / plan->dp;
    if (!fr_app_plan_says(job, "dp") && ranks % others == 0) plan->dp = ranks / others;
    if (fr_plan_ranks(plan) == ranks) return FR_OK;
    return given ? fr_fail(err, FR_ERR_USAGE, "--ways", "%lld does not divide %lld ranks", ways,
                           ranks)
                 : fr_fail(err, FR_ERR_USAGE, "--ranks",
                           "is %lld, the plan has %" PRId64 " (dp x cp x pp x tp)", ranks,
                           fr_plan_ranks(plan));
}

static fr_status open_placing(const struct fr_args *args, struct fr_job *job,
                              struct fr_placing *q, struct fr_error *err) {
    struct fr_plan plan = job->plan;
    long long ranks = 1, ways = 1, per_node = 0;
    bool priced = fr_args_has(args, "model");
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_SEATS_MAX, &ranks, err));
    FR_TRY(fr_args_integer(args, "ways", 1, FR_SEATS_MAX, &ways, err));
    FR_TRY(fr_args_integer(args, "ranks-per-node", 1, FR_SEATS_MAX, &per_node, err));
    FR_TRY((priced ? plan_mesh : sub_grids)(args, ranks, ways, job, &plan, err));
    return fr_placing_open(job, priced, &plan, per_node, q, err);
}

/* By --placement, else by the plan's own where it says one, else by all. */
static fr_status seat(const char *name, const struct fr_job *job, struct fr_placing *q,
                      struct fr_error *err) {
    struct fr_placement_choice choice;
    int64_t *owned = NULL;
    if (!name && fr_app_plan_says(job, "placement"))
        return fr_placing_add(q, &job->plan.placement, err);
    if (!name || strcmp(name, "all") == 0) return fr_placing_add_all(q, err);
    FR_TRY(fr_placement_parse(name, "--placement", &choice, &owned, err));
    fr_status status = fr_placing_add(q, &choice, err);
    free(owned);
    return status;
}

static fr_status place(const struct fr_args *args, struct fr_job *job, struct fr_placing *q,
                       struct fr_error *err) {
    static const char *const launchers[] = {"slurm", "rankfile", NULL};
    const char *name = fr_args_get(args, "placement");
    struct fr_text text = {0};
    int emit = -1;
    FR_TRY(fr_args_choice(args, "emit", launchers, &emit, err));
    FR_TRY(fr_app_load(args, fr_args_has(args, "model"), job, err));
    FR_TRY(open_placing(args, job, q, err));
    FR_TRY(seat(name, job, q, err));
    bool all = q->count > 1;
    if (emit >= 0) {
        const struct fr_placed *best = fr_placing_best(q);
        char what[192];
        struct fr_launch_lines lines = {.ranks = q->ranks,
                                        .ranks_per_node = q->ranks_per_node,
                                        .slot = best->slot,
                                        .name = best->choice.row->name,
                                        .what = what_line(q, what, sizeof what)};
        (emit == 0 ? fr_launch_slurm : fr_launch_rankfile)(&lines, &text);
    } else if (fr_args_has(args, "json")) {
        struct fr_json_writer w = {.text = &text, .indent = 2};
        if (all) fr_json_begin_array(&w);
        for (int i = 0; i < q->count; i++) json_placed(&w, q, &q->placed[i]);
        if (all) fr_json_end_array(&w);
    } else
        print_text(&text, q);
    return fr_app_print(&text, err);
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_job job = {0};
    struct fr_placing q = {0};
    fr_status status = place(args, &job, &q, err);
    fr_placing_free(&q);
    fr_job_free(&job);
    return status;
}

const struct fr_verb fr_verb_place = {
    .name = "place",
    .summary = "where ranks sit: messages within and between nodes, and lines for the launcher",
    .usage =
        "--cluster C --model M [--plan P] [--set KEY=VALUE] [--ranks N] [--placement NAME|all] "
        "[--emit slurm|rankfile] [--json]\n"
        "       forerun place --cluster C --ranks N --ways G [...]",
    .details =
        "Seats the ranks of the plan's method and mesh, by what an iteration of --model takes: "
        "of\n"
        "tensor parallelism, tp groups stay inside nodes.  --emit prints lines for the "
        "launcher, for\n"
        "the best of the placements: Slurm's --distribution=block, cyclic or plane=B where one "
        "of\n"
        "them says it (else arbitrary, with a host file that the batch script writes), or an "
        "Open\n"
        "MPI rankfile.  Both start with the method, the mesh and how ranks are numbered, which "
        "the\n"
        "program must do likewise.\n"
        "Of method subgraph it counts the messages of segmented all-to-alls between g "
        "sub-grids\n"
        "(D&SP), beside Eqs. 4 to 7 of that paper; with --ways alone it needs no model.  "
        "\"linear\" is\n"
        "its naive order, \"round-robin\" its topology-aware one.\n"
        "  forerun place --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 "
        "--emit "
        "slurm\n"
        "  forerun place --cluster lassen --ranks 16 --ways 4\n"
        "  forerun place --cluster lassen --ranks 64 --ways 8 --model t5-large-mod --set "
        "method=subgraph\n",
    .options = options,
    .run = run,
};
