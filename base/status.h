/** @file
 *  The kinds of error, in one place.
 *
 *  Functions that meet the outside world (files, JSON, MPI, gnuplot) return a fr_status and
 *  fill a fr_error.  Functions behind the checked structs are total: they return their value.
 */
#ifndef FR_BASE_STATUS_H
#define FR_BASE_STATUS_H

/* The number is the exit code of the program that ends with this status. */
#define FR_STATUS_LIST(X)                                                                      \
    X(FR_OK, 0, "ok")                                                                          \
    X(FR_ERR_IO, 1, "file could not be read or written")                                       \
    X(FR_ERR_NOMEM, 1, "out of memory")                                                        \
    X(FR_ERR_NUMERIC, 1, "fit or solver did not converge")                                     \
    X(FR_ERR_EXTERNAL, 1, "another program or library reported an error")                      \
    X(FR_ERR_USAGE, 2, "the command line does not fit")                                        \
    X(FR_ERR_INPUT, 3, "input does not fit its schema")                                        \
    X(FR_ERR_UNSUPPORTED, 3, "valid, but no model covers it")                                  \
    X(FR_ERR_INFEASIBLE, 4, "nothing feasible")                                                \
    X(FR_ERR_PARTIAL, 5, "ended early; a partial result is saved")

typedef enum {
#define FR_STATUS_ENUM(code, exit_code, text) code,
    FR_STATUS_LIST(FR_STATUS_ENUM)
#undef FR_STATUS_ENUM
} fr_status;

/** First error of a call chain: what, where in the user's input, and why. */
struct fr_error {
    fr_status status;
    char where[384];  /**< "cluster.json#/levels/0/bandwidth", or "" */
    char detail[640]; /**< a finished sentence, printed as it is */
};

/** Fixed text of @p s; never NULL. */
const char *fr_status_text(fr_status s);

/** Exit code of a program that ends with @p s (DESIGN: 0 ok, 1 failure at run time, 2 usage,
 *  3 bad input, 4 nothing feasible, 5 partial result saved). */
int fr_status_exit_code(fr_status s);

/** Fill @p err (which may be NULL) and return @p s: `return fr_fail(err, ...)`.
 *  @p where may be NULL.  Control characters in the text become '?'. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
fr_status
fr_fail(struct fr_error *err, fr_status s, const char *where, const char *fmt, ...);

/** Return from the enclosing function unless @p call succeeds. */
#define FR_TRY(call)                                                                           \
    do {                                                                                       \
        fr_status status_ = (call);                                                            \
        if (status_ != FR_OK) return status_;                                                  \
    } while (0)

#endif
