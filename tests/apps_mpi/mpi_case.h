/** @file
 *  A case from the texts of a model and a plan, opened on all ranks of the job; and comparisons
 *  that print got and wanted. */
#ifndef FR_TESTS_APPS_MPI_CASE_H
#define FR_TESTS_APPS_MPI_CASE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/plan/iterations.h"
#include "real/apps/app.h"

struct mpi_case {
    struct fr_workload workload;
    struct fr_plan plan;
    struct fr_plan_lists lists;
    struct fr_real_case run;
    struct fr_real real;
    const struct fr_real_app *app;
};

static int n_failed;

#define FAIL(...)                                                                              \
    do {                                                                                       \
        fprintf(stderr, __VA_ARGS__);                                                          \
        fputc('\n', stderr);                                                                   \
        n_failed++;                                                                            \
    } while (0)

static inline fr_status mpi_case_read(struct mpi_case *c, const struct fr_real_app *app,
                                      const char *model, const char *plan, uint64_t seed,
                                      struct fr_error *err) {
    struct fr_json_document *document = NULL;
    memset(c, 0, sizeof *c);
    c->app = app;
    FR_TRY(fr_json_parse(model, strlen(model), "model", &document, err));
    fr_status status = fr_model_read(document, &c->workload, err);
    fr_json_free(document);
    FR_TRY(status);
    FR_TRY(fr_json_parse(plan, strlen(plan), "plan", &document, err));
    status = fr_plan_read(document, &c->plan, &c->lists, err);
    fr_json_free(document);
    c->run = (struct fr_real_case){
        .workload = &c->workload, .plan = &c->plan, .options = "", .seed = seed};
    return status;
}

static inline bool mpi_case_open(struct mpi_case *c, const struct fr_real_app *app,
                                 const char *model, const char *plan, uint64_t seed) {
    struct fr_error err = {.status = FR_OK};
    fr_status status = mpi_case_read(c, app, model, plan, seed, &err);
    if (status == FR_OK) status = fr_real_open(app, &c->run, MPI_COMM_WORLD, &c->real, &err);
    if (status != FR_OK) FAIL("%s %s: %s %s", app->name, plan, err.where, err.detail);
    return status == FR_OK;
}

static inline void mpi_case_close(struct mpi_case *c) {
    if (c->real.k) fr_real_close(c->app, &c->real);
    fr_workload_free(&c->workload);
    fr_plan_lists_free(&c->lists);
}

/* Gradients of one pass; the loss of all ranks together. */
static inline double mpi_case_gradients(struct mpi_case *c) {
    struct fr_error err = {.status = FR_OK};
    double loss = 0, all = 0;
    c->real.err = &err;
    if (c->app->gradients(&c->real, &loss) != FR_OK) FAIL("%s: %s", c->app->name, err.detail);
    MPI_Allreduce(&loss, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static inline double mpi_case_gradient(const struct mpi_case *c, int64_t i) {
    return c->real.k->get(c->real.gradients, (size_t)i);
}

/* Largest difference of n gradients from offset, relative to the largest wanted one. */
static inline void check_block(const struct mpi_case *c, const char *what, int64_t offset,
                               const double *wanted, int64_t n, double tolerance) {
    double largest = 0, worst = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        double difference = fabs(mpi_case_gradient(c, offset + i) - wanted[i]);
        largest = fmax(largest, fabs(wanted[i]));
        if (difference > worst) worst = difference, at = i;
    }
    if (!(largest > 0)) FAIL("%s: the wanted gradient is zero", what);
    if (!(worst <= tolerance * largest))
        FAIL("%s %s, rank %d of %d: got %.17g, want %.17g at %lld (%g of the largest, want %g)",
             c->app->name, what, c->real.rank, c->real.n_ranks,
             mpi_case_gradient(c, offset + at), wanted[at], (long long)at, worst / largest,
             tolerance);
}

/** Buckets go in equal shares, of which the last ends beyond it: so much may be sent beside @p sent_B. */
static inline double mpi_case_beyond_B(const struct mpi_case *c, double sent_B) {
    const struct fr_plan *plan = c->run.plan;
    double copies = (double)(plan->dp * plan->cp),
           buckets = sent_B / plan->bucket_size_B + 2 * (double)plan->chunks;
    return plan->overlap ? 2 * copies * (double)c->real.k->size_B * buckets : 0;
}

#endif
