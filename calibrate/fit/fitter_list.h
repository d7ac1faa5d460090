/* Read more than once, so without guard.  One row per file in calibrate/fit/fitter/; the order is
 * that of fr_fit_form. */
FR_FITTER(log)
FR_FITTER(segments)
FR_FITTER(algorithm)
FR_FITTER(similarity)
