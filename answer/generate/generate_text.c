/* The cost of generating, on one screen and as a document. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "answer/brief/words.h"
#include "answer/generate/generate.h"
#include "answer/outcome/outcome_fact.h"
#include "answer/outcome/report_put.h"
#include "base/json/interval.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"
#include "models/job/calibration.h"
#include "models/job/runtime.h"

static void add_question(struct fr_brief *brief, const struct fr_generation *g) {
    char model[48], cluster[48], ranks[FR_READABLE], prompt[FR_READABLE], tokens[FR_READABLE],
        batch[FR_READABLE], line[300];
    const struct fr_job *job = &g->job;
    fr_brief_name(job->workload.name[0] ? job->workload.name : job->model_from, model);
    fr_brief_name(job->cluster.name[0] ? job->cluster.name : job->cluster_from, cluster);
    snprintf(line, sizeof line, "%s on %s %s%s of %s, %s x %s tokens after %s, %s", model,
             fr_readable_count(g->last.ranks, ranks), fr_brief_device(&job->cluster),
             g->last.ranks == 1 ? "" : "s", cluster, fr_readable_count(g->asked.batch, batch),
             fr_readable_count(g->asked.tokens, tokens),
             fr_readable_count(g->asked.prompt, prompt), fr_dtype_names[job->workload.dtype]);
    fr_brief_head(brief, line);
}

static void add_token(struct fr_brief *brief, const struct fr_generation *g) {
    char time[FR_READABLE], range[2 * FR_READABLE], rate[FR_READABLE], last[FR_READABLE];
    fr_readable(g->token_s, FR_QUANTITY_TIME, time);
    fr_readable_number(g->tokens_per_s, rate);
    if (g->high_s > g->low_s)
        fr_brief_row(brief, FR_BRIEF_MUST, "a token", "%s (90 %%: %s), %s tokens/s in all",
                     time, fr_readable_range(g->low_s, g->high_s, FR_QUANTITY_TIME, range),
                     rate);
    else
        fr_brief_row(brief, FR_BRIEF_MUST, "a token", "%s, %s tokens/s in all", time, rate);
    fr_brief_row(brief, FR_BRIEF_SHOULD, "", "%s behind the prompt, %s for the last token",
                 fr_readable(g->first_s, FR_QUANTITY_TIME, time),
                 fr_readable(g->last_s, FR_QUANTITY_TIME, last));
}

static void add_rows(struct fr_brief *brief, const struct fr_generation *g) {
    char a[FR_READABLE], b[FR_READABLE], c[FR_READABLE];
    struct fr_text plan = {0}, fits = {0};
    fr_brief_row(brief, FR_BRIEF_MUST, "first", "%s until the first token",
                 fr_readable(g->prompt_s, FR_QUANTITY_TIME, a));
    add_token(brief, g);
    if (isfinite(g->token_J))
        fr_brief_row(brief, FR_BRIEF_MUST, "energy", "%s a token",
                     fr_readable(g->token_J, FR_QUANTITY_ENERGY, a));
    fr_brief_row(brief, FR_BRIEF_MUST, "cache", "%s a rank, %s of weights beside it",
                 fr_readable(g->last.cache_B, FR_QUANTITY_SIZE, b),
                 fr_readable(g->last.memory_B[FR_MEMORY_PARAMETERS], FR_QUANTITY_SIZE, c));
    fr_brief_fits(&g->job, &g->last, &fits);
    fr_brief_words(brief, FR_BRIEF_MUST, "memory", &fits);
    fr_brief_row(brief, FR_BRIEF_MUST, "in all", "%s, %s",
                 fr_readable(g->all_s, FR_QUANTITY_TIME, a),
                 fr_readable(g->all_J, FR_QUANTITY_ENERGY, b));
    fr_brief_plan(&g->last, 0, &plan);
    fr_brief_words(brief, FR_BRIEF_MUST, "plan", &plan);
    fr_brief_blank(brief);
    fr_brief_parts(brief, &g->last);
    fr_brief_row(brief, FR_BRIEF_SHOULD, "left out",
                 "speculative decoding, continuous batching, the server's own work");
}

void fr_generation_text(struct fr_text *text, const struct fr_generation *g) {
    struct fr_brief brief = {0};
    add_question(&brief, g);
    fr_brief_reasons(&brief, &g->job, &g->last);
    if (isfinite(g->token_s)) add_rows(&brief, g);
    fr_brief_caveats(&brief, &g->last);
    fr_brief_inputs(&brief, &g->job, &g->last);
    fr_brief_print(&brief, FR_COLUMNS, text);
}

void fr_generation_json(struct fr_text *text, const struct fr_generation *g) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    struct fr_outcome_view view;
    fr_outcome_view(&g->job, &g->last, &view);
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/generate/1");
    fr_runtime_put(&g->job.cluster, &w);
    fr_calibration_put(&g->job.cluster.calibration, &w);
    fr_report_put_plan(&view, &w);
    fr_json_add_integer(&w, "ranks", g->last.ranks);
    fr_json_add_integer(&w, "prompt", g->asked.prompt);
    fr_json_add_integer(&w, "tokens", g->asked.tokens);
    fr_json_add_integer(&w, "batch", g->asked.batch);
    fr_json_add_number(&w, "first_token_s", g->prompt_s);
    fr_json_add_number(&w, "token_time_s", g->token_s);
    bool stated = g->high_s > g->low_s;
    fr_json_add_interval(&w, "token_time_s", stated ? g->low_s : NAN, stated ? g->high_s : NAN);
    fr_json_add_number(&w, "token_time_first_s", g->first_s);
    fr_json_add_number(&w, "token_time_last_s", g->last_s);
    fr_json_add_number(&w, "tokens_per_s", g->tokens_per_s);
    fr_json_add_number(&w, "token_energy_J", g->token_J);
    fr_json_add_number(&w, "time_s", g->all_s);
    fr_json_add_number(&w, "energy_J", g->all_J);
    fr_json_add_number(&w, "cache_size_B", view.known ? g->last.cache_B : NAN);
    fr_json_add_number(&w, "memory_peak_B", view.known ? g->last.memory_peak_B : NAN);
    fr_json_add_bool(&w, "feasible", g->last.reasons == 0);
    fr_report_put_reasons(&view, &w);
    fr_json_end_object(&w);
}
