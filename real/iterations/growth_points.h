/** @file
 *  Trainings that laws of growth are fitted to (real/iterations/growth.h), those of earlier model files among them.
 *
 *  A model file keeps its trainings beside each law, so that the next one is fitted to all: that is how small networks
 *  of several widths and depths become one law. */
#ifndef FR_REAL_ITERATIONS_GROWTH_POINTS_H
#define FR_REAL_ITERATIONS_GROWTH_POINTS_H

#include "real/iterations/growth.h"

enum { FR_GROWTH_POINTS_MAX = 256 };

struct fr_growth_points {
    struct {
        fr_law_along of;
        struct fr_growth_point point;
    } items[FR_GROWTH_POINTS_MAX];
    int n;
};

/** Add one; it is left out where its ratio is not known, or the table is full. */
void fr_growth_points_add(struct fr_growth_points *all, fr_law_along of,
                          const struct fr_growth_point *point);

/** Add those of the model file @p path.  @return FR_OK, FR_ERR_IO, FR_ERR_INPUT */
fr_status fr_growth_points_read(const char *path, struct fr_growth_points *all,
                                struct fr_error *err);

/** The member "growth": of each kind its law and its trainings, where they say enough for one. */
void fr_growth_points_put(struct fr_json_writer *w, const struct fr_growth_points *all);

/** The same for people, a paragraph each. */
void fr_growth_points_say(struct fr_text *text, const struct fr_growth_points *all);

#endif
