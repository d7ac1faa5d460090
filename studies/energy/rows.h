/** @file
 *  Rows of an energy table: measured and predicted, collected, then judged as a table. */
#ifndef FR_STUDIES_ENERGY_ROWS_H
#define FR_STUDIES_ENERGY_ROWS_H

#include "base/csv.h"
#include "studies/training/table.h"

struct fr_energy_row {
    char id[80], group[80];
    double measured, predicted, sigma; /**< sigma: of the prediction, relative */
    /** Independent errors that sigma comes from: networks, trainings or benchmarks, whose rows err
     *  alike; 0: so many that it is known. */
    int degrees;
    double
        least; /**< what it may be as low as for what nobody logged, and is not sigma's; 0: nothing */
};

struct fr_energy_rows {
    struct fr_energy_row *items;
    int count, capacity;
    bool failed; /**< out of memory while adding, which the table says */
};

void fr_energy_rows_add(struct fr_energy_rows *rows, const struct fr_energy_row *row);

/** The table @p name of @p rows, each with its 90 % interval (fr_reach_90 of sigma's degrees
 *  of freedom); rows are freed. */
fr_status fr_energy_rows_table(struct fr_reproduction *r, struct fr_energy_rows *rows,
                               const char *name, const char *procedure, const char *unit,
                               const struct fr_table_limits *limits, struct fr_error *err);

/** Read @p file below the data folder.  @return FR_ERR_IO where it is absent. */
fr_status fr_energy_csv(const char *file, struct fr_csv *csv, struct fr_error *err);
/** The number of a cell; NaN where it is empty, none, or there is no such column. */
double fr_energy_number(const struct fr_csv *csv, int row, const char *column);
/** The text of a cell; "" where there is no such column. */
const char *fr_energy_text(const struct fr_csv *csv, int row, const char *column);

#endif
