/** @file
 *  Iterations to a loss that were measured, as a document (docs/schemas/measured-iterations.json): what a long run
 *  leaves to be read again, and what ships as the preset of presets/iterations/phantom.json.  A row is one
 *  network of one setting at its best rate:
 *
 *      {"width": 512, "layers": 2, "batch": 128, "same_batch": true, "loss": 0.07, "most": 1000, "tp": 1,
 *       "ghost": 0, "rate": 0.0039, "seeds": 3, "reached": 3, "iterations": 6, "low": 6, "high": 6,
 *       "lowest_loss": null}
 *
 *  tp 1 is tensor parallelism, whatever its p: it computes what one processor would. */
#ifndef FR_STUDIES_PHANTOM_TABLE_H
#define FR_STUDIES_PHANTOM_TABLE_H

#include "base/json.h"
#include "real/iterations/iterations.h"

/** Networks of one width, depth, kind of samples and loss, each at its best rate. */
struct fr_phantom_measured {
    int64_t width, layers, batch, most;
    bool same_batch;
    double loss;
    struct fr_trained *rows;
    double *rate; /**< of each, Adam's */
    int n;
};

struct fr_phantom_table {
    char *command; /**< that says how it was measured; several, a line each */
    struct fr_phantom_measured *items;
    int n;
};

/** Did all seeds reach the loss?  False of NULL. */
bool fr_phantom_reached(const struct fr_trained *row);
/** Is @p a better than @p b: fewer iterations, else more seeds that reached the loss, else nearer to it? */
bool fr_phantom_better(const struct fr_trained *a, const struct fr_trained *b);

/** Make rows and rates @p more longer than the n there are.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_phantom_measured_capacity(struct fr_phantom_measured *one, int more,
                                       struct fr_error *err);
/** Append @p one, which the table then owns, also on error.  FR_OK or FR_ERR_NOMEM. */
fr_status fr_phantom_table_add(struct fr_phantom_table *table,
                               const struct fr_phantom_measured *one, struct fr_error *err);
void fr_phantom_table_free(struct fr_phantom_table *table);

/** Append the document. */
void fr_phantom_table_write(const struct fr_phantom_table *table, struct fr_text *text);
/** Read one; rows of a setting stand side by side.  Free with fr_phantom_table_free, also on error.
 *  @return FR_OK, FR_ERR_INPUT with the place, FR_ERR_NOMEM. */
fr_status fr_phantom_table_read(const struct fr_json *root, struct fr_phantom_table *table,
                                struct fr_error *err);
/** The one that ships. */
fr_status fr_phantom_table_shipped(struct fr_phantom_table *table, struct fr_error *err);

#endif
