/* Where ranks sit, and how many messages of segmented collectives leave a node for it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/launch_lines.h"
#include "app/load.h"
#include "app/placing.h"
#include "app/render.h"
#include "app/verb.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"ranks", "N", "ranks to seat", 'n'},
    {"ways", "G", "sub-grids: ranks of equal place in them exchange where branches meet", 'g'},
    {"placement", "NAME|all",
     "linear, round-robin, by-axis[:AXIS-...], file:PATH, optimised[:SEED]; all (default)", 0},
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

static void json_placed(struct fr_json_writer *w, const struct fr_placing *q,
                        const struct fr_placed *s) {
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
    if (q->with_model) fr_json_add_number(w, "iteration_time_s", s->time_s);
    json_formula(w, &s->formula);
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

static void print_text(struct fr_text *text, const struct fr_placing *q) {
    char name[64], time[40];
    int64_t nodes = (q->ranks + q->ranks_per_node - 1) / q->ranks_per_node;
    fr_text_addf(text,
                 "n = %" PRId64 " ranks in g = %" PRId64 " sub-grids of n_g = %" PRId64
                 ", %" PRId64 " ranks a node on %" PRId64 " nodes; n g = %" PRId64
                 " messages, those to oneself among them\n\n%-22s %11s %11s ",
                 q->ranks, q->ways, q->ranks / q->ways, q->ranks_per_node, nodes,
                 q->ranks * q->ways, "placement", "intra-node", "inter-node");
    for (int l = 0; l < q->levels.count; l++)
        fr_text_addf(text, " %10s", q->levels.level[l].name);
    if (q->with_model) fr_text_addf(text, " %10s", "iteration");
    for (int i = 0; i < q->count; i++) {
        const struct fr_placed *s = &q->placed[i];
        fr_text_addf(text, "\n%-22s %11" PRId64 " %11" PRId64 " ",
                     fr_placement_write(&s->choice, name, sizeof name), s->intra, s->inter);
        for (int l = 0; l < q->levels.count; l++)
            fr_text_addf(text, " %10" PRId64, s->by_level[l]);
        if (q->with_model)
            fr_text_addf(text, " %10s",
                         fr_render_quantity(s->time_s, FR_QUANTITY_TIME, time, sizeof time));
    }
    fr_text_addf(text, "\n");
    for (int i = 0; i < q->count; i++) text_formula(text, q, &q->placed[i]);
    for (int i = 0; i < q->count; i++) text_mapping(text, q, &q->placed[i]);
}

/* ---- the command ------------------------------------------------------------------------------ */

static fr_status open_placing(const struct fr_args *args, struct fr_job *job,
                              struct fr_placing *q, struct fr_error *err) {
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
    return fr_placing_open(job, fr_args_has(args, "model"), ranks, ways, per_node, q, err);
}

static fr_status seat(const char *name, struct fr_placing *q, struct fr_error *err) {
    struct fr_placement_choice choice;
    int64_t *owned = NULL;
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
    bool all = !name || strcmp(name, "all") == 0;
    struct fr_text text = {0};
    int emit = -1;
    FR_TRY(fr_args_choice(args, "emit", launchers, &emit, err));
    FR_TRY(fr_app_load(args, fr_args_has(args, "model"), job, err));
    FR_TRY(open_placing(args, job, q, err));
    FR_TRY(seat(name, q, err));
    if (emit >= 0) {
        const struct fr_placed *best = fr_placing_best(q);
        struct fr_launch_lines lines = {.ranks = q->ranks,
                                        .ranks_per_node = q->ranks_per_node,
                                        .slot = best->slot,
                                        .name = best->choice.row->name};
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
    .usage = "--cluster C --ranks N --ways G [--placement NAME|all] [--model M] [--emit "
             "slurm|rankfile] [--json]",
    .details =
        "Counts the messages of segmented all-to-alls between g sub-grids (D&SP), beside Eqs. "
        "4\n"
        "to 7 of that paper.  \"linear\" is its naive order, \"round-robin\" its "
        "topology-aware "
        "one;\n\"optimised\" minimises the time of those messages, or of an iteration of "
        "--model.\n"
        "  forerun place --cluster lassen --ranks 16 --ways 4\n"
        "  forerun place --cluster lassen --ranks 64 --ways 8 --model t5-large-mod --emit "
        "slurm\n",
    .options = options,
    .run = run,
};
