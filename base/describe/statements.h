/** @file
 *  The lines of a description, of which those that begin with a blank go on with the one before, and those that begin
 *  with # are for people. */
#ifndef FR_BASE_DESCRIBE_STATEMENTS_H
#define FR_BASE_DESCRIBE_STATEMENTS_H

#include "base/status.h"

struct fr_statement {
    int line;         /**< from 1 */
    const char *text; /**< begins with its first word */
};

struct fr_statements {
    char *text; /**< that all point into */
    struct fr_statement *item;
    int n;
};

/** A description, as it was compiled in. */
struct fr_description {
    const char *name, *text;
};

/** Divide @p text.  Free with fr_statements_free, also on error.  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_statements_read(const char *text, struct fr_statements *out, struct fr_error *err);
void fr_statements_free(struct fr_statements *s);

/** The text behind the word @p word and blanks, where @p text begins with it; else NULL. */
const char *fr_statement_after(const char *text, const char *word);

#endif
