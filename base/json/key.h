/** @file
 *  One row a member of an object: what it is called, what it may be, where it goes, and a sentence.
 *
 *  A reader refuses what is no row (and offers the likeliest), holds every member against its row, and takes those
 *  that have a field; schemas and tables of docs/ are written from the same rows. */
#ifndef FR_BASE_JSON_KEY_H
#define FR_BASE_JSON_KEY_H

#include "base/json.h"
#include "base/units.h"

typedef enum {
    FR_KEY_INTEGER = 1, /**< within least and most; into an int64_t */
    FR_KEY_NUMBER,      /**< likewise; into a double */
    FR_KEY_QUANTITY,    /**< a number with a unit, its bounds in SI; into a double */
    FR_KEY_BOOL,        /**< into a bool */
    FR_KEY_CHOICE,      /**< one of words */
    FR_KEY_TEXT,        /**< of at most `most` bytes */
    FR_KEY_OTHER        /**< what its own reader says: a list, an object, a word or a number */
} fr_key_type;

struct fr_json_key {
    const char *name;
    fr_key_type type;
    double least, most;
    fr_quantity quantity;
    const char *const *words; /**< up to NULL */
    bool required;
    size_t field; /**< its place in what is read into, and one; 0: its reader takes it */
    const char *otherwise; /**< what it is where it is absent, in words */
    const char *help;
};

/** Refuse members of @p object that are in neither list of rows.  A list ends with a row without a name; @p more
 *  may be NULL. */
fr_status fr_json_check_keys(const struct fr_json *object, const struct fr_json_key *rows,
                             const struct fr_json_key *more, struct fr_error *err);

/** Take members of @p object whose rows have a field into @p into, which keeps what it has of absent ones, and refuse
 *  those that are not what their row says, in the order of rows.
 *  @param into  NULL: all rows are held against, those too that readers of their own take. */
fr_status fr_json_read_keys(const struct fr_json *object, const struct fr_json_key *rows,
                            void *into, struct fr_error *err);

/** The row called @p name, or NULL. */
const struct fr_json_key *fr_json_key_find(const struct fr_json_key *rows, const char *name);

#endif
