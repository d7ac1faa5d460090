/** @file
 *  Other people's benchmark output as samples: collectives of nccl-tests, OSU, IMB and others, matrix products, tables
 *  of both.
 *
 *  A reader takes one file.  It skips lines that are not the tool's, since logs also hold output of
 *  schedulers and libraries.  Facts that the text does not state (how many ranks, which collective,
 *  whose machine) come from the sidecar or from the command line.  The sidecar is a JSON object in
 *  a file of the same name that ends in .json.  Where they contradict each other the file is
 *  refused.  Rows that cannot be used are left out and named in the notes ("log.txt:31: ...").
 *
 *  Sizes become those of fr_op: nccl-tests prints them so; OSU and IMB print the bytes of one
 *  rank for all-gather and of one destination for all-to-all.
 *
 *  To add one: calibrate/samples/import/<name>.c exporting fr_importer_<name>, row FR_IMPORTER(<name>)
 *  in calibrate/samples/import_list.h; calibrate/samples/import_text.h helps to take lines apart.
 */
#ifndef FR_CALIBRATE_SAMPLES_IMPORT_H
#define FR_CALIBRATE_SAMPLES_IMPORT_H

#include "base/json.h"
#include "base/text/log_lines.h"
#include "calibrate/samples/samples.h"

/** Facts about a file from the command line; zero or NULL: nothing. */
struct fr_import_options {
    int64_t n_ranks, nodes, ranks_per_node;
    const char *op, *system, *setup;
    const char *dtype;       /**< of a table's products */
    const char *const *only; /**< [n_only] "COLUMN=VALUE": rows of a table that are taken */
    int n_only;
};

/** One file being read. */
struct fr_import {
    const char *name; /**< for messages */
    const char *
        text; /**< as printed (base/text/log_lines.h); NUL-terminated, and no other NUL before @p length */
    size_t length;
    struct fr_import_options given;  /**< the command line's */
    struct fr_import_options beside; /**< the sidecar's numbers, and its collective */
    struct fr_sample_source source;  /**< sidecar's texts; readers add tool and version */
    struct fr_text *notes;           /**< a line for each row left out and each assumption */
    struct fr_samples *samples;      /**< where samples go; the source is added at the end */
    char op_beside[64];
    int64_t largest;                   /**< n_ranks of the largest block so far */
    int n_rows;                        /**< samples added */
    bool nodes_assumed;                /**< the note about it was made */
    bool has_sources;                  /**< the reader has added those of its samples */
    const struct fr_log_text *cleaned; /**< `text` and who printed which line */
    struct fr_log_tag printer;         /**< of the first row */
    bool unknown_form;                 /**< it was refused since nothing of the tool was seen */
};

struct fr_importer {
    const char *name;     /**< of the file in calibrate/samples/import/ */
    const char *spelling; /**< on the command line */
    const char *reads;    /**< for forerun list and help */
    /** Add the samples of @p in.  @return FR_OK; FR_ERR_INPUT with path:line where the file
     *  cannot be understood; FR_ERR_NOMEM. */
    fr_status (*read)(struct fr_import *in, struct fr_error *err);
};

/** Rows that others name. */
extern const struct fr_importer fr_importer_nccl_tests;
/** Rows in table order, then NULL. */
extern const struct fr_importer *const fr_importers[];

/** The name of the sidecar of @p path, whether it exists or not: "log.txt" has "log.json".
 *  @param[out] beside  freed by the caller; NULL when @p path has none
 *  @return FR_OK or FR_ERR_NOMEM. */
fr_status fr_import_sidecar(const char *path, char **beside, struct fr_error *err);

/** Read the file @p path and its sidecar, if there is one, and add its samples and its source
 *  to @p samples.  A file without a usable row is refused.
 *  @param notes  gets a line for everything left out or assumed */
fr_status fr_import_file(const struct fr_importer *importer, const char *path,
                         const struct fr_import_options *options, struct fr_samples *samples,
                         struct fr_text *notes, struct fr_error *err);

/** The same from text; @p sidecar may be NULL. */
fr_status fr_import_text(const struct fr_importer *importer, const char *text, size_t length,
                         const char *name, const struct fr_json_document *sidecar,
                         const struct fr_import_options *options, struct fr_samples *samples,
                         struct fr_text *notes, struct fr_error *err);

/** Append provenance, sources and all samples as samples.jsonl. */
void fr_import_write(const struct fr_samples *samples, struct fr_text *text);

#endif
