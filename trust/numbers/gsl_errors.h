/** @file
 *  GSL's errors are return values to us; only memory that runs out ends the program, as it does
 *  anywhere else (base/alloc.h).  GSL's own handler would abort.
 *
 *      gsl_error_handler_t *before = fr_gsl_errors();
 *      ... calls that may fail or ask for memory ...
 *      gsl_set_error_handler(before);
 */
#ifndef FR_TRUST_NUMBERS_GSL_ERRORS_H
#define FR_TRUST_NUMBERS_GSL_ERRORS_H

#include <gsl/gsl_errno.h>

/** Put our handler in place.  @return the one before, to be put back */
gsl_error_handler_t *fr_gsl_errors(void);

#endif
