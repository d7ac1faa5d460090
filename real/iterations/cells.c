#include "real/iterations/cells.h"

#include <stddef.h>

#define ASKED(type, key, max)                                                                  \
    { #key, FR_CELLS_##type, true, offsetof(struct fr_training_options, key), 0, max, NULL }
#define OWN(type, key, field, min, max)                                                        \
    { #key, FR_CELLS_##type, false, offsetof(struct fr_cell, field), min, max, NULL }
#define END                                                                                    \
    { NULL, FR_CELLS_RAW, false, 0, 0, 0, NULL }

/* Keys that all trainings of a file have in common; the seeds, p and k may grow from run to
 * run. */
static const struct fr_cells_column head[] = {
    ASKED(INTEGER, width, 1e18),   ASKED(INTEGER, layers, 1e18),
    ASKED(INTEGER, batch, 1e18),   ASKED(INTEGER, most, 1e18),
    ASKED(NUMBER, loss, 1e18),     ASKED(NUMBER, rate, 1e18),
    ASKED(FLAG, same_batch, 1e18), END};

static const struct fr_cells_column line[] = {OWN(INTEGER, tp, tp, 1, 1 << 20),
                                              OWN(INTEGER, ghost, ghost, 0, 1 << 20),
                                              OWN(INTEGER, seed, seed, 1, 0x1p62),
                                              ASKED(INTEGER, width, 0),
                                              ASKED(INTEGER, layers, 0),
                                              ASKED(INTEGER, batch, 0),
                                              ASKED(BOOL, same_batch, 0),
                                              ASKED(NUMBER, optimizer_state_B, 0),
                                              ASKED(NUMBER, rate, 0),
                                              ASKED(NUMBER, loss, 0),
                                              ASKED(INTEGER, most, 0),
                                              END};

static const struct fr_cells_column results[] = {
    OWN(NUMBER, iterations, iterations, 0, 1e12), OWN(NUMBER, steps, steps, 0, 1e12),
    OWN(NUMBER, loss, lowest, 0, 1e30),           OWN(NUMBER, parameters, parameters, 0, 1e18),
    OWN(NUMBER, train_s, train_s, 0, 1e12),       END};

static const struct fr_cells_table table = {.schema = FR_TRAININGS_SCHEMA,
                                            .cell = "train",
                                            .result = "trained",
                                            .head = head,
                                            .line = line,
                                            .results = results};

struct fr_cells_of fr_training_cells_of(const struct fr_training_options *o,
                                        struct fr_training_options *asked) {
    *asked = *o;
    asked->rate = fr_training_rate(o);
    return (struct fr_cells_of){.table = &table, .question = asked, .samples = o->samples};
}

fr_status fr_training_want(struct fr_cells *cells, const struct fr_training_options *o,
                           int64_t tp, int64_t ghost, struct fr_error *err) {
    struct fr_training_options asked;
    const struct fr_cells_of of = fr_training_cells_of(o, &asked);
    for (int64_t seed = 1; seed <= o->seeds; seed++) {
        bool there = false;
        for (int i = 0; i < cells->n; i++) {
            const struct fr_cell *c = &cells->items[i];
            there = there || (c->tp == tp && c->ghost == ghost && c->seed == seed);
        }
        if (there) continue;
        const struct fr_cell cell = {.tp = tp, .ghost = ghost, .seed = seed};
        FR_TRY(fr_cells_append(cells, &of, cell, err));
    }
    return FR_OK;
}
