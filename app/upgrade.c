#include "app/upgrade.h"

#include <stdlib.h>
#include <string.h>

#include "answer/upgrade/upgrade_brief.h"
#include "answer/upgrade/upgrade_text.h"
#include "app/load.h"
#include "app/page/page.h"
#include "app/searching.h"
#include "app/text/next.h"
#include "app/training_options.h"
#include "base/alloc.h"

enum { COMPARISONS_MAX = 32 };

struct comparisons {
    struct fr_upgrade of[COMPARISONS_MAX];
    int n;
};

/* Options of a search alone. */
static const char *const of_search[] = {"vary",         "fix", "objective", "per-iteration",
                                        "memory-limit", "fit", "max-lossy", "threads"};

static fr_status check(const struct fr_args *args, bool searches, const char *const *sets,
                       int n_sets, struct fr_error *err) {
    if (args->n_words > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "two files of samples, or runtimes: not \"%.64s\" beside --runtime",
                       args->word[0]);
    for (size_t i = 0; !searches && i < sizeof of_search / sizeof *of_search; i++)
        if (fr_args_has(args, of_search[i]))
            return fr_fail(err, FR_ERR_USAGE, "--runtime",
                           "prices one plan: --%s is of a search, which --ranks without --plan "
                           "makes",
                           of_search[i]);
    for (int i = 0; i < n_sets; i++)
        if (strncmp(sets[i], "runtime=", 8) == 0)
            return fr_fail(err, FR_ERR_USAGE, "--set", "%.60s stands beside --runtime",
                           sets[i]);
    return FR_OK;
}

static fr_status check_vary(const char *const *vary, int n, struct fr_error *err) {
    for (int i = 0; i < n; i++)
        if (strncmp(vary[i], "runtime", 7) == 0)
            return fr_fail(err, FR_ERR_USAGE, "--vary", "%.60s stands beside --runtime",
                           vary[i]);
    return FR_OK;
}

/* Every cluster with every model, in the order given, and of each every runtime. */
static fr_status list(const struct fr_args *args, const char *own, struct comparisons *c,
                      struct fr_error *err) {
    const char *clusters[FR_ARGS_MAX] = {own}, *models[FR_ARGS_MAX], *runtimes[FR_ARGS_MAX];
    int n_clusters = fr_args_all(args, "cluster", clusters),
        n_models = fr_args_all(args, "model", models),
        n_runtimes = fr_args_all(args, "runtime", runtimes);
    if (n_clusters == 0) n_clusters = 1;
    if (n_models == 0)
        return fr_fail(err, FR_ERR_USAGE, "--model", "is needed: what is trained there");
    if (n_clusters * n_models > COMPARISONS_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--cluster", "%d x %d are more than %d comparisons",
                       n_clusters, n_models, COMPARISONS_MAX);
    if (n_runtimes > FR_UPGRADE_MAX)
        return fr_fail(err, FR_ERR_USAGE, "--runtime", "%d are more than %d", n_runtimes,
                       FR_UPGRADE_MAX);
    for (int m = 0; m < n_models; m++)
        for (int k = 0; k < n_clusters; k++) {
            struct fr_upgrade *u = &c->of[c->n++];
            u->cluster = n_clusters == 1 && own ? own : clusters[k];
            u->model = models[m];
            for (u->n = 0; u->n < n_runtimes; u->n++) u->row[u->n].runtime = runtimes[u->n];
            FR_TRY(fr_app_training_of(args, k, n_clusters, &u->training, err));
        }
    return FR_OK;
}

/* Is any plan feasible with any runtime? */
static bool any_feasible(const struct comparisons *c) {
    for (int k = 0; k < c->n; k++)
        for (int i = 0; i < c->of[k].n; i++) {
            const struct fr_outcome *out = fr_upgrade_outcome(&c->of[k], i);
            if (out && out->reasons == 0) return true;
        }
    return false;
}

/* On one screen, or with --all the whole of it. */
static void print_text(const struct fr_args *args, struct fr_text *text,
                       const struct comparisons *c) {
    struct fr_text again = {0};
    if (!fr_args_has(args, "all")) {
        fr_next_again(args, "compare", &again);
        fr_upgrades_brief(text, c->of, c->n, fr_text_get(&again));
        fr_text_free(&again);
        return;
    }
    for (int k = 0; k < c->n; k++) {
        if (k > 0) fr_text_addf(text, "\n");
        fr_render_upgrade(text, &c->of[k]);
    }
}

static fr_status compare(const struct fr_args *args, struct comparisons *c,
                         struct fr_error *err) {
    const char *sets[FR_ARGS_MAX + 1], *vary[FR_ARGS_MAX], *name = NULL;
    char own[FR_OWN_PATH_B];
    struct fr_upgrade_asked asked = {.of = {.vary = vary, .ranks = fr_args_get(args, "ranks")}};
    struct fr_text text = {0}, page = {0};
    fr_app_names(args, sets, &asked.of.names);
    asked.search = asked.of.ranks && !asked.of.names.plan;
    asked.of.n_vary = fr_args_all(args, "vary", vary);
    asked.of.fixed = fr_args_has(args, "fix");
    FR_TRY(check(args, asked.search, sets, asked.of.names.n_sets, err));
    FR_TRY(check_vary(vary, asked.of.n_vary, err));
    FR_TRY(fr_app_cluster(args, own, &name, err));
    FR_TRY(list(args, fr_args_has(args, "cluster") ? NULL : name, c, err));
    FR_TRY(fr_app_search_options(args, &asked.of.options, err));
    asked.of.lossy = fr_app_search_lossy(args, &asked.of.options);
    for (int k = 0; k < c->n; k++) FR_TRY(fr_upgrade_make(&asked, &c->of[k], err));
    if (fr_args_has(args, "json"))
        fr_upgrades_json(&text, c->of, c->n);
    else
        print_text(args, &text, c);
    if (fr_app_paged(args)) fr_upgrades_json(&page, c->of, c->n);
    FR_TRY(fr_app_answer(args, &text, &page, err));
    return any_feasible(c) ? FR_OK : FR_ERR_INFEASIBLE;
}

fr_status fr_app_compare_runtimes(const struct fr_args *args, struct fr_error *err) {
    struct comparisons *c = fr_calloc(1, sizeof *c);
    if (!c) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = compare(args, c, err);
    for (int k = 0; k < c->n; k++) fr_upgrade_free(&c->of[k]);
    free(c);
    return status;
}
