/** @file
 *  Tables in which others collected benchmark results of several machines (base/csv.h).
 *
 *  Each table has its own columns; one row of the list in collection.c says which of them hold
 *  the operation, ranks, nodes, size and time, and which texts tell series apart.  A table and
 *  the raw logs it was made of get the same texts, so they are one series.  A table of one's own has the columns
 *  op, ranks, size_B (as fr_op counts it) and time_s, and where it likes nodes, system, library, setup.
 *
 *  To add one: a row in collection.c. */
#ifndef FR_CALIBRATE_SAMPLES_COLLECTION_H
#define FR_CALIBRATE_SAMPLES_COLLECTION_H

#include "calibrate/samples/samples.h"

/** Add the samples and sources of every known table in @p folder; tables that are not there are
 *  passed over.  @return FR_OK, FR_ERR_INPUT with line and column, FR_ERR_NOMEM. */
fr_status fr_collections_read(const char *folder, struct fr_samples *samples,
                              struct fr_error *err);

/** Add what a table of any name holds, known by its columns: of several the one that names most of them.
 *  @param[out] rows  samples added
 *  @return FR_OK, FR_ERR_INPUT with line and column, or where no table has such columns, FR_ERR_NOMEM. */
fr_status fr_collection_parse(const char *text, size_t length, const char *name,
                              struct fr_samples *samples, int *rows, struct fr_error *err);

#endif
