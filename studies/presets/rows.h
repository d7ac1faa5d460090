/** @file
 *  What the parts of forerun reproduce presets share: a table of measured rows, and a value of a preset beside
 *  what such rows say.  To two figures the same, where the preset takes its value from them. */
#ifndef FR_STUDIES_PRESETS_ROWS_H
#define FR_STUDIES_PRESETS_ROWS_H

#include "base/csv.h"
#include "models/job/cluster.h"
#include "studies/reproduce.h"

/** @return FR_OK and no rows where the file is absent.  Free with fr_csv_free. */
fr_status fr_presets_read(const char *file, struct fr_csv *csv, struct fr_error *err);
/** A cell; "" where there is none, and 0. */
const char *fr_presets_cell(const struct fr_csv *csv, int row, const char *column);
double fr_presets_number(const struct fr_csv *csv, int row, const char *column);

/** What @p rows say beside the preset's.  @p taken: it takes its value from these rows. */
void fr_presets_add(struct fr_reproduction *r, const char *preset, const char *what,
                    double rows, double ours, const char *unit, bool taken, const char *note);

/** How wide rows leave a value, beside the width that the preset states of it; @p ours 0: none. */
void fr_presets_add_width(struct fr_reproduction *r, const char *preset, const char *what,
                          double rows, double ours, const char *note);

/** What rows say of a value of @p dtype together with others, beside what @p cluster states of it. */
void fr_presets_add_together(struct fr_reproduction *r, const char *preset,
                             const struct fr_together *rows, const struct fr_cluster *cluster,
                             fr_dtype dtype, const char *note);
/** What @p cluster states of @p value of @p dtype together with others; NULL: nothing. */
const struct fr_together *fr_presets_together(const struct fr_cluster *cluster, fr_value value,
                                              fr_dtype dtype);

/** Bandwidth of links within a node, from measured collectives (links.c). */
fr_status fr_presets_links(struct fr_reproduction *r, struct fr_error *err);
/** Shares of the peak that fused attention reaches, from kernels timed alone (attention.c). */
fr_status fr_presets_attention(struct fr_reproduction *r, struct fr_error *err);
/** How far steps are apart, from logs of runs (jitter.c). */
fr_status fr_presets_jitter(struct fr_reproduction *r, struct fr_error *err);
/** Share of the peak that products reach, from training runs of dense models (share.c). */
fr_status fr_presets_share(struct fr_reproduction *r, const char *preset, struct fr_error *err);
/** host_launch and launch, from layers that wait for the host (host.c). */
fr_status fr_presets_host(struct fr_reproduction *r, const char *preset, struct fr_error *err);
/** Share of the peak that attention written in Triton reaches, from training runs (triton.c). */
fr_status fr_presets_triton(struct fr_reproduction *r, const char *preset, const char *device,
                            struct fr_error *err);
/** host_launch and host_overlap, from training runs that wait for the host (eager.c). */
fr_status fr_presets_eager(struct fr_reproduction *r, struct fr_error *err);

#endif
