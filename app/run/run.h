/** @file
 *  How is a verb carried out?  The same steps for the program and for the library (app/library): words are parsed and
 *  completed, contradictions are refused, the verb answers, and its files take their names. */
#ifndef FR_APP_RUN_RUN_H
#define FR_APP_RUN_RUN_H

#include "app/verb.h"

/** Carry out @p verb on the @p argc words that follow its name.  The answer goes to standard output, or to what
 *  the thread collects (base/file/collect.h).
 *  @return FR_OK; else a status whose sentence is in @p err.  FR_ERR_INFEASIBLE without a sentence: the answer was
 *          given, and is no. */
fr_status fr_app_run(const struct fr_verb *verb, int argc, char **argv, struct fr_error *err);

#endif
