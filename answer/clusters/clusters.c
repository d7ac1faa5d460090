#include "answer/clusters/clusters.h"

#include <stdlib.h>

#include "base/alloc.h"

const struct fr_outcome *fr_rival_best(const struct fr_rival *rival) {
    const struct fr_found_list *top = &rival->searched->result.top;
    return top->count ? &top->items[0].outcome : NULL;
}

const struct fr_job *fr_rival_job(const struct fr_rival *rival) {
    const struct fr_outcome *best = fr_rival_best(rival);
    return best && best->job ? best->job : &rival->searched->job;
}

static fr_status search_one(const struct fr_searches_asked *asked, struct fr_rival *rival,
                            struct fr_error *err) {
    struct fr_job_names names = asked->names;
    struct fr_searched *s = fr_calloc(1, sizeof *s);
    rival->searched = s;
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    names.cluster = rival->cluster;
    names.model = rival->model;
    names.pue = rival->training.pue;
    FR_TRY(fr_searched_load(asked, &names, &rival->training, s, err));
    if (fr_rival_best(rival) && fr_training_asked(&rival->training))
        rival->cost =
            fr_training_cost_of(&rival->training, fr_rival_job(rival), fr_rival_best(rival));
    return FR_OK;
}

fr_status fr_rivals_search(const struct fr_searches_asked *asked, struct fr_rivals *r,
                           struct fr_error *err) {
    for (int i = 0; i < r->n; i++) FR_TRY(search_one(asked, &r->of[i], err));
    return FR_OK;
}

void fr_rivals_free(struct fr_rivals *r) {
    for (int i = 0; i < r->n; i++) {
        if (r->of[i].searched) fr_searched_free(r->of[i].searched);
        free(r->of[i].searched);
        r->of[i].searched = NULL;
    }
}

static void put(struct fr_json_writer *w, const struct fr_rival *rival) {
    const struct fr_outcome *best = fr_rival_best(rival);
    const struct fr_search_result *result = &rival->searched->result;
    fr_json_begin_object(w);
    fr_json_add_string(w, "cluster", rival->cluster);
    fr_json_add_string(w, "model", rival->model);
    fr_json_add_integer(w, "plans_evaluated", result->evaluated);
    fr_json_add_integer(w, "plans_feasible", result->feasible);
    fr_searched_put_best(w, fr_rival_job(rival), best, &rival->training, &rival->cost);
    fr_json_end_object(w);
}

void fr_rivals_json(struct fr_text *text, const struct fr_rivals *r) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/clusters/1");
    fr_json_add_array(&w, "rows");
    for (int i = 0; i < r->n; i++) put(&w, &r->of[i]);
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}
