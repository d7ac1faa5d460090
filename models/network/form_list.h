/* Read more than once, so without guard.  One row per file in models/network/form/. */
FR_FORM(log)
FR_FORM(algorithm)
FR_FORM(segments)
FR_FORM(similarity)
