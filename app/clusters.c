#include "app/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "answer/clusters/clusters_brief.h"
#include "answer/clusters/clusters_text.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/searching.h"
#include "app/text/next.h"
#include "app/training_options.h"
#include "base/alloc.h"

/* Every cluster with every model, in the order given. */
static fr_status list(const struct fr_args *args, struct fr_rivals *r, struct fr_error *err) {
    const char *clusters[FR_ARGS_MAX], *models[FR_ARGS_MAX];
    int n_clusters = fr_args_all(args, "cluster", clusters),
        n_models = fr_args_all(args, "model", models);
    if (n_models == 0)
        return fr_fail(err, FR_ERR_USAGE, "--model", "is needed: what is to be trained there");
    if (n_clusters * n_models > FR_RIVALS_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--cluster", "%d x %d are more than %d searches",
                       n_clusters, n_models, FR_RIVALS_MAX);
    for (int m = 0; m < n_models; m++)
        for (int c = 0; c < n_clusters; c++) {
            struct fr_rival *rival = &r->of[r->n++];
            rival->cluster = clusters[c];
            rival->model = models[m];
            FR_TRY(fr_app_training_of(args, c, n_clusters, &rival->training, err));
        }
    return FR_OK;
}

/* On one screen, or with --all the whole of it. */
static void print_text(const struct fr_args *args, const struct fr_rivals *r,
                       struct fr_text *text) {
    struct fr_text search = {0};
    const int first = fr_rivals_fastest(r);
    if (fr_args_has(args, "all")) {
        fr_render_rivals(text, r);
        return;
    }
    if (first >= 0)
        fr_next_search_of(args, r->of[first].cluster, r->of[first].model,
                          fr_rival_best(&r->of[first])->ranks, &search);
    fr_rivals_brief(text, r, fr_text_get(&search));
    fr_text_free(&search);
}

static fr_status compare(const struct fr_args *args, struct fr_rivals *r,
                         struct fr_error *err) {
    const char *sets[FR_ARGS_MAX + 1], *vary[FR_ARGS_MAX];
    struct fr_searches_asked asked = {.vary = vary};
    struct fr_text text = {0}, page = {0};
    bool any = false;
    if (args->n_words > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "two files of samples, or clusters: not \"%.64s\" beside --cluster",
                       args->word[0]);
    FR_TRY(fr_args_required(args, "ranks", &asked.ranks, err));
    FR_TRY(list(args, r, err));
    if (fr_args_has(args, "plan"))
        return fr_fail(err, FR_ERR_USAGE, "--plan",
                       "is of runtimes side by side; of clusters plans are searched for");
    fr_app_names(args, sets, &asked.names);
    asked.names.runtime = fr_args_get(args, "runtime");
    asked.n_vary = fr_args_all(args, "vary", vary);
    asked.fixed = fr_args_has(args, "fix");
    FR_TRY(fr_app_search_options(args, &asked.options, err));
    asked.lossy = fr_app_search_lossy(args, &asked.options);
    FR_TRY(fr_rivals_search(&asked, r, err));
    for (int i = 0; i < r->n; i++) any = any || fr_rival_best(&r->of[i]);
    if (fr_args_has(args, "json"))
        fr_rivals_json(&text, r);
    else
        print_text(args, r, &text);
    if (fr_app_paged(args)) fr_rivals_json(&page, r);
    FR_TRY(fr_app_answer(args, &text, &page, err));
    return any ? FR_OK : FR_ERR_INFEASIBLE;
}

fr_status fr_app_compare_clusters(const struct fr_args *args, struct fr_error *err) {
    struct fr_rivals *r = fr_calloc(1, sizeof *r);
    if (!r) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = compare(args, r, err);
    fr_rivals_free(r);
    free(r);
    return status;
}
