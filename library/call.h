/** @file
 *  The steps that every function of library/include/forerun.h takes before and after its work.
 *
 *  Between begin and end the thread reads and writes numbers as C does, whatever the program's
 *  locale.  A call during which memory runs out ends with FORERUN_NO_MEMORY, whatever became of
 *  its answer. */
#ifndef FR_LIBRARY_CALL_H
#define FR_LIBRARY_CALL_H

#include <locale.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"
#include "library/include/forerun.h"

struct fr_call {
    struct fr_error err;
    struct fr_alloc_watch watch, *outer;
    locale_t locale;
    bool words; /**< arguments are words of a command line: places are named as there */
};

void fr_call_begin(struct fr_call *call);

/** A call that changes settings of the process (GSL's error handler, files that wait) waits for the others of its kind,
 *  and lets the next one go on when it is done.  Within such a call, another of this thread goes on at once. */
void fr_call_wait(void);
void fr_call_go_on(void);

/** Fill @p error from what the call ended with. */
forerun_status fr_call_end(struct fr_call *call, fr_status status, forerun_error *error);

/** The same of a call that makes a result: it is handed over where there is one to be read, and
 *  freed where not. */
forerun_status fr_call_answer(struct fr_call *call, fr_status status, forerun_result *made,
                              forerun_result **result, forerun_error *error);

#endif
