#include "trust/numbers/gsl_errors.h"

#include "base/alloc.h"

static void on_error(const char *reason, const char *file, int line, int code) {
    (void)reason, (void)file, (void)line;
    if (code == GSL_ENOMEM) fr_alloc_failed(0);
}

gsl_error_handler_t *fr_gsl_errors(void) { return gsl_set_error_handler(on_error); }
