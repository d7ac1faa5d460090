/** @file
 *  Going on with a file of real runs: is this the machine, and what is done already?
 *
 *      {"kind": "job", "ranks": 2, "machine": "..."}      the first line that a job writes
 */
#ifndef FR_REAL_APPS_RESUME_H
#define FR_REAL_APPS_RESUME_H

#include "real/apps/case.h"

enum { FR_MACHINE_B = 512 };

typedef fr_status fr_real_line_fn(const struct fr_json *root, void *context,
                                  struct fr_error *err);
/** Call @p each for every whole line of @p kind in @p text. */
fr_status fr_real_each_line(const char *text, const char *name, const char *kind,
                            fr_real_line_fn *each, void *context, struct fr_error *err);

/** A header, where @p text has one, says @p schema ("forerun/runs/1").  @return FR_OK or FR_ERR_INPUT */
fr_status fr_real_schema_check(const char *text, const char *name, const char *schema,
                               struct fr_error *err);

/** Rank 0: open the file that this job appends to, and hold it, so that no other job does.  A job whose launcher was killed
 *  is waited for.  @return FR_OK or FR_ERR_IO, naming process and host of the other */
fr_status fr_real_append(const char *out, int *fd, struct fr_error *err);

/** Processor, cores, kernel, MPI, BLAS and hosts of this job, on all ranks the same text. */
fr_status fr_real_machine(char machine[FR_MACHINE_B], struct fr_error *err);

/** Compare with the line of a job of as many ranks in @p text.
 *  @param[out] known  is there one?  FR_ERR_INPUT when it is of another machine. */
fr_status fr_real_machine_check(const char *text, const char *name, int n_ranks,
                                const char *machine, bool *known, struct fr_error *err);

/** done[case * passes + pass] := is its line "run" in @p text? */
fr_status fr_real_done_read(const char *text, const char *name,
                            const struct fr_real_cases *cases, int passes, bool *done,
                            struct fr_error *err);

#endif
