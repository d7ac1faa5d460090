/** @file
 *  Tables of collectives whose header names its columns: "size(B)  count  type  time(us)  algbw(GB/s)  busbw(GB/s)".
 *  For calibrate/samples/import/ only. */
#ifndef FR_CALIBRATE_SAMPLES_IMPORT_TABLE_H
#define FR_CALIBRATE_SAMPLES_IMPORT_TABLE_H

#include "calibrate/samples/import_text.h"

/** Columns, -1: the header does not have it. */
struct fr_import_table {
    int columns; /**< 0: no header yet */
    int size, time, algbw, busbw, type, scope, count;
};

/** Is @p words such a header?  Its first column begins with "size", another with one of @p times (NULL ends them). */
bool fr_import_table_header(struct fr_import_table *table, const struct fr_words *words,
                            const char *const *times);

/** Is @p words a row, all columns there and numbers where they must be? */
bool fr_import_table_row(const struct fr_import_table *table, const struct fr_words *words,
                         int64_t *size_B, double *time_us);

/** Add bus over algorithm bandwidth of this row and those behind it, up to another header. */
void fr_import_table_ratio(const struct fr_import_table *table, const struct fr_lines *lines,
                           const struct fr_words *row, struct fr_import_ratio *ratio);

#endif
