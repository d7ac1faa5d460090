/** @file
 *  A study as a description, studies/paper/<name>.study: what was published, what ours is computed from, how it is
 *  judged.  Its statements, one after the other:
 *
 *      let NAME = X                    NAME may have an index: gain[k]
 *      table A B: 1 2 3 4 ...          A[0], B[0], A[1], B[1], ...; `rows` is how many
 *      for K in 8, 16, 32 ... end      for K from 1 to 64 times 2 ... end;  step in place of times: K goes up by it
 *      when X ... else ... end
 *      part ... end                    left out from where a file is absent, which a row says
 *      do X
 *      ROLE ID = X; published X; within X; unit WORD; low X; high X; holds X; detail; note TEXT
 *      role X ID = ...                 a role that X computes
 *      ordering ID = X; note TEXT      holds where X is true
 *      point ID = X; unit WORD; published X
 *
 *  ROLE, ID, the tolerance (within), holds (nan: not judged) and detail as in studies/reproduce.h; ID and the note,
 *  which is the last, are templates.  X is an expression (base/describe/expression.h) of what was named before, `nan`
 *  and `infinity`, and of the study's own functions.  Functions that price a plan return its outcome, with facts by
 *  name: price(4, 8).time_s, or o.tp_comm.  They are time_s, energy_J, memory_peak_B, memory_spare_B, parameters,
 *  parameters_rank, low_s, high_s, low_J, high_J, feasible, short_of_memory, and the parts of the time.  fact(o,
 *  'tp_comm') is the same. */
#ifndef FR_STUDIES_ENGINE_STUDY_H
#define FR_STUDIES_ENGINE_STUDY_H

#include "base/describe/expression.h"
#include "models/outcome/outcome.h"
#include "studies/reproduce.h"

struct fr_study;

/** A call of a study's own function. */
struct fr_study_call {
    struct fr_study *study;
    void *context; /**< that fr_study_run was given */
    const struct fr_term_argument *arguments;
    int n;
    struct fr_term *out; /**< none before */
    struct fr_error *err;
};

struct fr_study_function {
    const char *name;
    fr_status (*call)(
        struct fr_study_call *call); /**< FR_OK, or what went wrong, told in call->err */
};

struct fr_study_text {
    const char *name, *text;
    const struct fr_study_function *functions; /**< ends at one without a name */
};

/** Run it, its rows added to @p r.  @p context is for its functions.
 *  @return FR_OK; FR_ERR_INPUT with the line that is wrong; what a function failed with. */
fr_status fr_study_run(const struct fr_study_text *of, void *context, struct fr_reproduction *r,
                       struct fr_error *err);

/** The call is @p number.  @return FR_OK */
fr_status fr_say(struct fr_study_call *call, double number);
/** The call is this outcome, on a cluster that says how unsure its energy is (NULL: none). */
fr_status fr_say_outcome(struct fr_study_call *call, const struct fr_outcome *outcome,
                         const struct fr_cluster *cluster);

/** Give @p name a value, as `let` does. */
fr_status fr_call_set(struct fr_study_call *call, const char *name, double value);
/** The number that is called NAME[@p index]; NaN where there is none. */
double fr_call_cell(const struct fr_study_call *call, const char *name, int index);

/** The number of the argument called @p name, or else of the one in place @p place of those without names;
 *  @p absent where there is none. */
double fr_call_number(const struct fr_study_call *call, const char *name, int place,
                      double absent);
/** Likewise its text; "" where there is none. */
const char *fr_call_word(const struct fr_study_call *call, const char *name, int place);

#endif
