/** @file
 *  How is a file of runs that others published read?  By a description, trust/runs/reader/<name>.reader.  Its
 *  statements turn the cells of a row into the keys of a run (runs.h), one after the other:
 *
 *      about TEXT, source TEXT what it reads and where that was published, which docs/reference/formats.md says too
 *      columns A B             that tell the file: the first reader of the list all of whose columns a file has reads it
 *      strict                  the user's own file: a row that cannot be used is an error
 *      use NAME                the statements of another description, which has no columns
 *      skip REASON if X        a row is left out: REASON as FR_RUN_SKIP_LIST names it, no_time
 *      need REASON KEY = X     likewise where X is none;  need REASON X: where X is not true
 *      KEY = X                 model.layers = whole(layers); nothing where X is none
 *      let NAME = X            for later statements
 *      do X                    for what it does
 *      when X ... end          the statements between where X is true
 *
 *  X is an expression (base/describe/expression.h) of cells by the names of their columns ("" where there is none),
 *  of what `let` named, and of keys with a dot that were set before.  Besides the usual functions there are those of
 *  trust/runs/reader_functions.c.  Facts that a file leaves out are stated as a convention of its software, with the
 *  source, in the lines of the description that begin with #.
 *
 *  To add one: the file, and its row in trust/runs/reader_list.h; `ninja documents` writes the line of docs/reference/formats.md. */
#ifndef FR_CALIBRATE_RUNS_READER_H
#define FR_CALIBRATE_RUNS_READER_H

#include "base/describe/expression.h"
#include "base/describe/statements.h"
#include "trust/runs/runs.h"

/** A row of a published file and where it stands. */
struct fr_run_source {
    const struct fr_csv *csv;
    int row;
};

/** All of them in table order, then one whose name is NULL. */
extern const struct fr_description fr_run_readers[];

struct fr_run_reader {
    const struct fr_description *of;
    struct fr_statements statements;
    bool strict;
};

/** Divide the description.  Free with fr_run_reader_close, also on error. */
fr_status fr_run_reader_open(const struct fr_description *of, struct fr_run_reader *reader,
                             struct fr_error *err);
void fr_run_reader_close(struct fr_run_reader *reader);
/** Has the table every column that tells a file of this reader?  False of one that has no columns. */
bool fr_run_reader_knows(const struct fr_run_reader *reader, const struct fr_csv *csv);
/** Text after its first statement @p word: "about", "source", "columns".  NULL where it has none, as descriptions
 *  used by others. */
const char *fr_run_reader_says(const struct fr_run_reader *reader, const char *word);
/** Fill @p out from the row.  @param[out] skip  FR_RUN_USABLE, or why not
 *  @return FR_OK; FR_ERR_INPUT with the line of a description that is wrong. */
fr_status fr_run_reader_row(const struct fr_run_reader *reader, const struct fr_run_source *in,
                            struct fr_run_row *out, fr_run_skip *skip, struct fr_error *err);

/** Set plan.stage_layers so that the embedding and the loss count as a layer each of @p layers on plan.pp stages: the
 *  first and the last have one transformer layer fewer.  Nothing where that does not divide. */
void fr_run_ends_as_layers(int64_t layers, struct fr_run_row *out);

/** Functions that readers may call.  FR_ERR_UNSUPPORTED for another name. */
fr_status fr_run_reader_call(const struct fr_run_source *in, struct fr_run_row *out,
                             const char *name, const struct fr_term_argument *arguments, int n,
                             struct fr_term *value, struct fr_error *err);

#endif
