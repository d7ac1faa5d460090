/* Where the ranks of a plan sit, and what of it leaves a node: groups of every axis, and of method subgraph
 * the messages of segmented collectives. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "answer/outcome/report.h"
#include "answer/placement/place.h"
#include "answer/text/render.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/verb.h"
#include "base/text/wrap.h"
#include "models/price/rank_map.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"ranks", "N", "ranks to place (default: the plan's)", 'n'},
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

/* ---- text ------------------------------------------------------------------------------------ */

/* Ranks of a node, as many as fit a line. */
static void text_node(struct fr_text *text, const struct fr_placing *q,
                      const struct fr_placed *s, int64_t node) {
    enum { LEFT = 11, MORE = 4, RANKS_SHOWN = 16 };
    int width = 1 + snprintf(NULL, 0, "%" PRId64, q->ranks - 1);
    if (width < 5) width = 5;
    int64_t fit = (FR_COLUMNS - LEFT - MORE) / width, shown = s->ranks_per_node;
    if (fit > RANKS_SHOWN) fit = RANKS_SHOWN;
    if (shown > fit) shown = fit;
    fr_text_addf(text, "  node %-4" PRId64, node);
    for (int64_t i = 0; i < shown && node * s->ranks_per_node + i < q->ranks; i++)
        fr_text_addf(text, "%*" PRId64, width, s->mapping[node * s->ranks_per_node + i]);
    fr_text_addf(text, "%s\n", s->ranks_per_node > shown ? " ..." : "");
}

static void text_mapping(struct fr_text *text, const struct fr_placing *q,
                         const struct fr_placed *s) {
    enum { NODES_SHOWN = 16 };
    int64_t nodes = (q->ranks + s->ranks_per_node - 1) / s->ranks_per_node;
    char name[64];
    fr_text_addf(text, "\n%s: ranks node by node\n",
                 fr_placement_write(&s->choice, name, sizeof name));
    for (int64_t node = 0; node < nodes && node < NODES_SHOWN; node++)
        text_node(text, q, s, node);
    if (nodes > NODES_SHOWN)
        fr_text_addf(text, "  ... and %" PRId64 " more nodes (--json has them all)\n",
                     nodes - NODES_SHOWN);
}

static void text_formula(struct fr_text *text, const struct fr_placed *s) {
    const struct fr_message_formula *f = &s->formula;
    if (!f->equations) return;
    fr_text_addf(text, "\n%s (%s)\n", f->equations, s->choice.row->name);
    fr_text_addf(text, "  as printed          %10" PRId64 " intra %10" PRId64 " inter\n",
                 f->printed_intra, f->printed_inter);
    if (f->applies)
        fr_text_addf(text, "  corrected           %10" PRId64 " intra %10" PRId64 " inter\n",
                     f->intra, f->inter);
    else {
        fr_text_addf(text, "  do not apply here, but where\n    ");
        fr_wrap_cell(text, 4, f->condition);
    }
    if (f->general_applies) {
        fr_text_addf(text,
                     "  for any n_node | n  %10" PRId64 " intra %10" PRId64 " inter\n    ",
                     f->general_intra, f->general_inter);
        fr_wrap_cell(text, 4, f->general);
    }
    fr_text_addf(text, "  counted             %10" PRId64 " intra %10" PRId64 " inter\n",
                 s->intra, s->inter);
}

/* Messages by level stand beside those within and between nodes where the line is wide
 * enough. */
enum { NAME = 18, COUNT = 11, LEVEL = 10, TIME = 10 };

static int levels_shown(const struct fr_placing *q) {
    int used = NAME + 2 * COUNT + (q->with_model ? TIME : 0) + q->levels.count * LEVEL;
    return q->segmented && used <= FR_COLUMNS ? q->levels.count : 0;
}

static void text_what(struct fr_text *text, const struct fr_placing *q) {
    char what[192];
    struct fr_text line = {0};
    int64_t nodes = (q->ranks + q->ranks_per_node - 1) / q->ranks_per_node;
    fr_text_addf(&line, "%s; %" PRId64 " ranks a node on %" PRId64 " nodes",
                 fr_place_what(q, what, sizeof what), q->ranks_per_node, nodes);
    fr_wrap_list(text, fr_text_get(&line), 0, 2, FR_COLUMNS);
    fr_text_addf(text, "\n");
    line.length = 0;
    if (q->segmented)
        fr_text_addf(&line,
                     "n = %" PRId64 " ranks in g = %" PRId64 " sub-grids of n_g = %" PRId64
                     "; n g = %" PRId64 " messages, those to oneself among them",
                     q->ranks, q->ways, q->ranks / q->ways, q->ranks * q->ways);
    else
        fr_text_addf(&line, "groups of each axis that sit in one node, of all its groups");
    fr_wrap_list(text, fr_text_get(&line), 0, 2, FR_COLUMNS);
    text->failed = text->failed || line.failed;
    fr_text_free(&line);
}

static void text_head(struct fr_text *text, const struct fr_placing *q) {
    text_what(text, q);
    fr_text_addf(text, "\n");
    fr_render_software(text, &q->job->cluster, FR_COLUMNS);
    fr_text_addf(text, "\n%-*s", NAME, "placement");
    if (q->segmented) fr_text_addf(text, "%*s%*s", COUNT, "intra-node", COUNT, "inter-node");
    for (int l = 0; l < levels_shown(q); l++)
        fr_text_addf(text, " %*.*s", LEVEL - 1, LEVEL - 1, q->levels.level[l].name);
    for (int axis = 0; !q->segmented && axis < FR_MESH_AXES; axis++)
        fr_text_addf(text, " %15s", fr_mesh_axis_names[axis]);
    if (q->with_model) fr_text_addf(text, "%*s", TIME, "iteration");
}

static void text_row(struct fr_text *text, const struct fr_placing *q,
                     const struct fr_placed *s) {
    char name[64], time[40];
    fr_placement_write(&s->choice, name, sizeof name);
    fr_text_addf(text, "\n%-*s", NAME, name);
    if (strlen(name) >= NAME) fr_text_addf(text, "\n%*s", NAME, "");
    if (q->segmented)
        fr_text_addf(text, "%*" PRId64 "%*" PRId64, COUNT, s->intra, COUNT, s->inter);
    for (int l = 0; l < levels_shown(q); l++)
        fr_text_addf(text, " %*" PRId64, LEVEL - 1, s->by_level[l]);
    for (int axis = 0; !q->segmented && axis < FR_MESH_AXES; axis++)
        fr_text_addf(text, " %7" PRId64 " /%6" PRId64, s->whole[axis],
                     q->ranks / q->mesh.size[axis]);
    if (q->with_model)
        fr_text_addf(text, "%*s", TIME,
                     fr_render_quantity(s->time_s, FR_QUANTITY_TIME, time, sizeof time));
}

static void print_text(struct fr_text *text, const struct fr_placing *q) {
    text_head(text, q);
    for (int i = 0; i < q->count; i++) text_row(text, q, &q->placed[i]);
    fr_text_addf(text, "\n");
    for (int i = 0; i < q->count; i++) text_formula(text, &q->placed[i]);
    for (int i = 0; i < q->count; i++) text_mapping(text, q, &q->placed[i]);
}

/* ---- the command ------------------------------------------------------------------------------ */

static fr_status read_ask(const struct fr_args *args, struct fr_place_ask *ask,
                          struct fr_error *err) {
    long long ranks = 0, ways = 0, per_node = 0;
    FR_TRY(fr_args_integer(args, "ranks", 1, FR_RANK_MAP_MAX, &ranks, err));
    FR_TRY(fr_args_integer(args, "ways", 1, FR_RANK_MAP_MAX, &ways, err));
    FR_TRY(fr_args_integer(args, "ranks-per-node", 1, FR_RANK_MAP_MAX, &per_node, err));
    *ask = (struct fr_place_ask){.ranks = ranks,
                                 .ways = ways,
                                 .ranks_per_node = per_node,
                                 .with_model = fr_args_has(args, "model"),
                                 .placement = fr_args_get(args, "placement")};
    return FR_OK;
}

/* The outcome of a plan that cannot be, with its reasons. */
static fr_status print_refused(const struct fr_job *job, const struct fr_placing *q,
                               struct fr_error *err) {
    struct fr_text text = {0};
    struct fr_json_writer w = {.text = &text, .indent = 2};
    fr_report_json(&w, job, &q->refused);
    err->detail[0] = '\0';
    FR_TRY(fr_app_print(&text, err));
    return FR_ERR_INFEASIBLE;
}

static fr_status place(const struct fr_args *args, struct fr_job *job, struct fr_placing *q,
                       struct fr_error *err) {
    struct fr_place_ask ask;
    struct fr_text text = {0}, page = {0};
    int emit = -1;
    FR_TRY(fr_args_choice(args, "emit", fr_place_launchers, &emit, err));
    if (emit >= 0 && fr_args_has(args, "json"))
        return fr_fail(err, FR_ERR_USAGE, "--emit",
                       "prints lines for the launcher, --json all that is known: give one");
    FR_TRY(fr_app_load(args, fr_args_has(args, "model"), job, err));
    FR_TRY(read_ask(args, &ask, err));
    fr_status status = fr_place(job, &ask, q, err);
    if (status == FR_ERR_INFEASIBLE && fr_args_has(args, "json"))
        return print_refused(job, q, err);
    FR_TRY(status);
    if (emit >= 0)
        fr_place_lines(&text, q, (fr_place_launcher)emit);
    else if (fr_args_has(args, "json"))
        fr_place_json(&text, q);
    else
        print_text(&text, q);
    if (fr_app_paged(args)) fr_place_json(&page, q);
    return fr_app_answer(args, &text, &page, err);
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
        "Places the ranks of the plan's method and mesh, and prints what an iteration of "
        "--model\n"
        "then takes. Groups of tensor parallelism stay inside nodes. --emit prints lines for "
        "the\n"
        "launcher for the best placement: Slurm's --distribution=block, cyclic or plane=B "
        "where\n"
        "one of them matches, else arbitrary with a host file, or an Open MPI rankfile. Both "
        "start\n"
        "with the method, the mesh and the numbering of ranks, which the program must share.\n"
        "For method subgraph it counts the messages of segmented all-to-alls between g "
        "sub-grids\n"
        "(D&SP), beside Eqs. 4 to 7 of that paper. With --ways alone it needs no model. "
        "\"linear\" is\n"
        "the paper's naive order, \"round-robin\" its topology-aware one.\n"
        "  forerun place --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 "
        "--emit slurm\n"
        "  forerun place --cluster lassen --ranks 16 --ways 4\n"
        "  forerun place --cluster lassen --ranks 64 --ways 8 --model t5-large-mod --set "
        "method=subgraph\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .run = run,
};
