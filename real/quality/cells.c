#include "real/quality/cells.h"

#include <stddef.h>
#include <string.h>

#define ASKED(type, key, field, max, what)                                                     \
    { #key, FR_CELLS_##type, true, offsetof(struct fr_quality_options, field), 0, max, what }
#define OWN(type, key, field, max)                                                             \
    { #key, FR_CELLS_##type, false, offsetof(struct fr_cell, field), 0, max, NULL }
#define END                                                                                    \
    { NULL, FR_CELLS_RAW, false, 0, 0, 0, NULL }

static const struct fr_cells_column head[] = {
    ASKED(TEXT, corpus, corpus, 1, "corpus"),
    ASKED(INTEGER, corpus_digest, digest, 0x1p62, "corpus, though of the same name"),
    ASKED(TEXT, model, model, 1, "model"),
    ASKED(INTEGER, ranks, launch.n_ranks, 0x1p62, "number of ranks"),
    ASKED(INTEGER, steps, steps, 0x1p62, "number of --steps"),
    ASKED(INTEGER, every, every, 0x1p62, "--every"),
    ASKED(INTEGER, held_out, held_out, 0x1p62, "--held-out"),
    END};

static const struct fr_cells_column line[] = {ASKED(TEXT, model, model, 0, NULL),
                                              OWN(TEXT, plan, plan_text, 1),
                                              OWN(INTEGER, seed, seed, 0x1p62),
                                              OWN(NUMBER, rate, rate, 1e6),
                                              ASKED(INTEGER, steps, steps, 0, NULL),
                                              ASKED(INTEGER, every, every, 0, NULL),
                                              ASKED(INTEGER, held_out, held_out, 0, NULL),
                                              OWN(INTEGER, held_out_from, held_out_from, 0),
                                              END};

static const struct fr_cells_column results[] = {OWN(NUMBER, train_s, train_s, 1e12),
                                                 OWN(NUMBER, sent_B, sent_B, 1e18),
                                                 OWN(LIST, loss, loss, 1),
                                                 OWN(LIST, train_loss, train_loss, 1),
                                                 OWN(RAW, observed, observed, 1),
                                                 END};

/* A rate is not chosen on the samples that it is judged by. */
static void complete(const void *question, struct fr_cell *cell) {
    const struct fr_quality_options *o = question;
    cell->held_out_from = fr_quality_is_tuning(cell->seed) ? o->held_out : 0;
    cell->plan = -1;
    for (int i = o->n_plans - 1; i >= 0; i--)
        if (strcmp(o->plans[i], cell->plan_text) == 0) cell->plan = i;
}

static const struct fr_cells_table table = {.schema = FR_TRAININGS_OF_PLANS_SCHEMA,
                                            .cell = "learn",
                                            .result = "learnt",
                                            .head = head,
                                            .line = line,
                                            .results = results,
                                            .complete = complete};

struct fr_cells_of fr_quality_cells_of(const struct fr_quality_options *o) {
    return (struct fr_cells_of){
        .table = &table, .question = o, .samples = o->samples, .points = fr_quality_points(o)};
}

fr_status fr_quality_want(struct fr_cells *cells, const struct fr_quality_options *o, int plan,
                          double rate, int64_t seed, struct fr_error *err) {
    const struct fr_cells_of of = fr_quality_cells_of(o);
    for (int i = 0; i < cells->n; i++) {
        const struct fr_cell *c = &cells->items[i];
        if (c->plan == plan && c->rate == rate && c->seed == seed) return FR_OK;
    }
    const struct fr_cell cell = {
        .plan_text = (char *)(uintptr_t)o->plans[plan], .rate = rate, .seed = seed};
    return fr_cells_append(cells, &of, cell, err);
}
