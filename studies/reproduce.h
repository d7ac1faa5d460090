/** @file
 *  A paper's tables and figures, published beside ours.
 *
 *  Every row says what role its number plays, so that a fit is not mistaken for a prediction:
 *      identity       must hold to rounding
 *      fitted         our model was fitted to this very number
 *      predicted      it was not
 *      ordering       only an order is claimed: ours is 1 when it comes out, published 1
 *      not_explained  our model does not follow it, and is not tuned to
 *
 *  To add one: write studies/paper/<paper>.study, which states the published values, the computation and the
 *  judgement (studies/engine/study.h).  Write studies/paper/<paper>.c with the functions that it calls, exporting
 *  fr_paper_<paper>.  Add row FR_PAPER(<paper>) to studies/paper_list.h. */
#ifndef FR_STUDIES_REPRODUCE_H
#define FR_STUDIES_REPRODUCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/progress.h"
#include "base/status.h"

typedef enum {
    FR_ROLE_IDENTITY,
    FR_ROLE_FITTED,
    FR_ROLE_PREDICTED,
    FR_ROLE_ORDERING,
    FR_ROLE_NOT_EXPLAINED,
} fr_role;
extern const char *const fr_role_names[];

enum { FR_REPRODUCE_UNIT = 12 };

struct fr_reproduce_row {
    char id[96];
    double published;       /**< NaN: the paper gives no number */
    double ours, low, high; /**< low, high: its 90 % interval; NaN: none is stated */
    char unit[FR_REPRODUCE_UNIT];
    fr_role role;
    bool
        judged; /**< is there anything to hold it against: a published value, a stated target? */
    bool holds;  /**< false where it is not judged */
    bool detail; /**< one of very many: in JSON, not in the text */
    char note[400];
};

struct fr_reproduction {
    struct fr_reproduce_row *rows;
    size_t count, capacity;
    bool failed;                  /**< out of memory while adding */
    struct fr_progress *progress; /**< of a long paper: a step a table; or NULL */
};

/** Append a row that holds when |ours / published - 1| <= tolerance; where nothing is published
 *  (NaN) it is not judged.  @p note may be NULL. */
void fr_reproduce_add(struct fr_reproduction *r, fr_role role, double published, double ours,
                      const char *unit, double tolerance, const char *note,
                      const char *id_format, ...) __attribute__((format(printf, 8, 9)));
/** Append a point of a curve that is drawn and not judged: a detail (forerun plot paper). */
void fr_reproduce_add_point(struct fr_reproduction *r, double ours, const char *unit,
                            const char *id_format, ...) __attribute__((format(printf, 4, 5)));
/** Judge the row appended last against the target that its note states. */
void fr_reproduce_judge(struct fr_reproduction *r, bool holds);
/** State the 90 % interval of the row appended last, where it lies about its value. */
void fr_reproduce_interval(struct fr_reproduction *r, double low, double high);
/** Append an ordering. */
void fr_reproduce_add_ordering(struct fr_reproduction *r, bool holds, const char *note,
                               const char *id_format, ...)
    __attribute__((format(printf, 4, 5)));

struct fr_paper {
    const char *name;
    const char *title;
    fr_status (*run)(struct fr_reproduction *r, struct fr_error *err);
    bool measured;    /**< fitted to data from outside, for about a minute */
    const char *mark; /**< of its tables in docs/evidence/ (base/text/marked.h); NULL: none */
    const char *more; /**< how to get what it has beside these rows; NULL: nothing */
};

extern const struct fr_paper *const fr_papers[];

#endif
