/** @file
 *  Manual pages, in the Markdown that go-md2man makes pages of: one of the program, one a verb, one
 *  of the keys of a plan, from the tables that --help and the readers walk. */
#ifndef FR_APP_MANUAL_H
#define FR_APP_MANUAL_H

#include "app/verb.h"
#include "base/text.h"

/** forerun(1). */
void fr_manual_program(struct fr_text *text);
/** forerun-VERB(1). */
void fr_manual_verb(struct fr_text *text, const struct fr_verb *verb);
/** forerun-plan(5): every key, its values, its default, what reads it. */
void fr_manual_plan(struct fr_text *text);

/** All of them into the folder @p path, which is there: forerun.1.md, forerun-search.1.md, ...
 *  @return FR_OK; FR_ERR_IO; FR_ERR_NOMEM. */
fr_status fr_manual_write(const char *path, struct fr_error *err);

#endif
