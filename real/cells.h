/** @file
 *  Single trainings, those of iterations and those of quality, and the file that holds them.
 *  Its first line states what all have in common.  Then comes a line for each training and, as
 *  they end, one for each result.  The programs that train (real/apps) read and append them
 *  too.
 *
 *  A table says what stands in each line: keys, and where their values are, in what was asked for or in the cell.  A cell's
 *  place is its id in the file.  Cells may grow from run to run. */
#ifndef FR_REAL_CELLS_H
#define FR_REAL_CELLS_H

#include "base/journal/journal.h"
#include "base/journal/keep.h"
#include "calibrate/measure/launch.h"

#define FR_TRAININGS_SCHEMA "forerun/trainings/1"
#define FR_TRAININGS_OF_PLANS_SCHEMA "forerun/trainings-of-plans/1"

struct fr_cell {
    int64_t seed;    /**< of quality 0: to find the rate */
    bool done, lost; /**< lost: what it trains is not known, its line did not verify */
    double train_s;
    /* of iterations */
    int64_t tp, ghost;                /**< tp 1: dense */
    double iterations;                /**< 0: the loss was not reached */
    double lowest, steps, parameters; /**< lowest: loss */
    /* of quality */
    char *plan_text;
    int plan; /**< -1: of none that is asked for */
    double rate;
    int64_t held_out_from;
    double sent_B;
    char *observed; /**< JSON text of what compression did, a list of ranks; NULL until done */
    double *loss, *train_loss; /**< of each evaluation, NaN from where it diverged */
};

struct fr_cells {
    struct fr_cell *items;
    int n;
};
void fr_cells_free(struct fr_cells *cells);
int fr_cells_done(const struct fr_cells *cells);

typedef enum {
    FR_CELLS_INTEGER,
    FR_CELLS_NUMBER,
    FR_CELLS_BOOL, /**< true or false; of FLAG 1 or 0 */
    FR_CELLS_FLAG,
    FR_CELLS_TEXT,
    FR_CELLS_LIST, /**< a number or null of each evaluation */
    FR_CELLS_RAW   /**< text of JSON, the last of a line */
} fr_cells_type;
/** A key of a line. */
struct fr_cells_column {
    const char *key;
    fr_cells_type type;
    bool asked; /**< its value is in the question, else in the cell */
    size_t at;
    double min, max;  /**< max 0: it is not read, but follows from the others */
    const char *what; /**< of the head: in words, where it differs; NULL: it was, is */
};

/** Lines as iterations or quality have them; columns end with a key NULL. */
struct fr_cells_table {
    const char *schema, *cell, *result; /**< kinds */
    const struct fr_cells_column *head, *line, *results;
    /** Derive the other values of a cell from those in its line; NULL: nothing. */
    void (*complete)(const void *question, struct fr_cell *cell);
};
/** The question, its file, and the number of evaluations of a training. */
struct fr_cells_of {
    const struct fr_cells_table *table;
    const void *question;
    const char *samples;
    int points;
};

/** FR_OK or FR_ERR_NOMEM. @param cell  its plan_text is copied */
fr_status fr_cells_append(struct fr_cells *cells, const struct fr_cells_of *of,
                          struct fr_cell cell, struct fr_error *err);
/** Write the file anew: all cells, and the results that are known. */
fr_status fr_cells_write(const struct fr_cells *cells, struct fr_cells_of of,
                         struct fr_error *err);
/** Read it; a training whose line is dropped is in it no more.  @return FR_ERR_INPUT when it is of other trainings,
 *  with what differs. */
fr_status fr_cells_read(struct fr_cells *cells, struct fr_cells_of of, struct fr_error *err);

/** Rounds of jobs: what is missing is trained, then asked what is missing now. */
struct fr_cells_job {
    struct fr_cells_of of;
    const struct fr_launch_options *launch;
    const char *verb, *corpus; /**< of forerun-mpi; corpus NULL: none */
    bool resume, force, progress;
    /** Ask for what is to be trained next.  @param[out] more  is there any? */
    fr_status (*next)(void *context, struct fr_cells *cells, bool *more, struct fr_error *err);
    void *context;
};
/** @return FR_OK; FR_ERR_PARTIAL when a job ended early, with what is known; FR_ERR_INPUT when the file cannot be
 *          resumed; FR_ERR_IO, FR_ERR_EXTERNAL, FR_ERR_NOMEM. */
fr_status fr_cells_run(const struct fr_cells_job *job, struct fr_cells *cells,
                       struct fr_error *err);

#endif
