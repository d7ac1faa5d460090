/** @file
 *  Which cluster did a run take place on?
 *
 *  A row names it: `cluster`, a preset or file, and `cluster.KEY`, further facts of that machine from its source.
 *  Rows that name the same machine and the same software (software.h) share one checked cluster, with the rates of
 *  that software.  For published files the reader names the preset of the device. */
#ifndef FR_TRUST_RUNS_ROW_MACHINE_H
#define FR_TRUST_RUNS_ROW_MACHINE_H

#include "trust/runs/runs.h"

/** A cluster as rows name it. */
struct fr_machine {
    struct fr_cluster cluster;
    struct fr_json_document *document;
    bool lent; /**< the document is another's */
    char folder
        [512]; /**< of the file whose row named it first; a path may be relative to that */
    struct fr_run_row
        *named; /**< `cluster`, `runtime` and the row's KEYs of both, nothing else */
};

/** The machine of @p row, read the first time that a row names it; *machine NULL where the row names none and
 *  runs->ask.cluster is NULL.  Where all rows are on runs->ask.on, that with the row's runtime, NULL where it names
 *  none.  runs->ask.sets holds for all of them.
 *  @param folder  where a cluster file that the row names may lie
 *  @return FR_OK; FR_ERR_INPUT with the place; FR_ERR_NOMEM. */
fr_status fr_machine_find(struct fr_runs *runs, const struct fr_run_row *row,
                          const char *folder, const struct fr_machine **machine,
                          struct fr_error *err);

/** The machine that all runs took place on, with the software of most of them; NULL where they name several or none. */
const struct fr_machine *fr_machine_only(const struct fr_runs *runs);

void fr_machines_free(struct fr_runs *runs);

/** Parse what @p name stands for, as fr_preset_or_file_read; a path is tried below @p folder first.
 *  @param folder  of the file that names it; "" or NULL: the working directory alone */
fr_status fr_machine_document(const char *kind, const char *name, const char *folder,
                              struct fr_json_document **document, struct fr_error *err);

/** @p name as it is read: that of a file below @p folder where there is one and no preset has it. @return it, or @p path */
const char *fr_machine_path(const char *kind, const char *name, const char *folder, char *path,
                            size_t capacity);

/** The cluster preset of a device as submitters and vendors call it ("NVIDIA GB200 NVL72"); NULL: none. */
const char *fr_machine_of_device(const char *device);

/** The i-th preset that fr_machine_of_device may name, each once; NULL past the last. */
const char *fr_machine_preset(int i);

#endif
