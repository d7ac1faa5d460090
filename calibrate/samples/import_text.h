/** @file
 *  Shared parts of readers of benchmark output: lines, words, numbers, ranks, and how a row
 *  becomes a sample.  For calibrate/samples/import/ only. */
#ifndef FR_CALIBRATE_SAMPLES_IMPORT_TEXT_H
#define FR_CALIBRATE_SAMPLES_IMPORT_TEXT_H

#include "base/text/launch.h"
#include "calibrate/samples/import.h"

enum { FR_WORDS_MAX = 40, FR_LINE_MAX = 1024 };

/** A line cut into words; longer lines and further words are cut off, `cut` tells. */
struct fr_words {
    char text[FR_LINE_MAX]; /**< the line, without blanks at its ends */
    char copy[FR_LINE_MAX]; /**< that the words are in */
    char *word[FR_WORDS_MAX];
    int count;
    bool cut;
};

/** Walks the lines of a text. */
struct fr_lines {
    const char *at, *stop;
    long number; /**< of the line last taken, from 1 */
    bool last;   /**< it has no end: the file was cut there, or just lacks a newline */
};
struct fr_lines fr_lines_begin(const struct fr_import *in);
/** @return false past the end. */
bool fr_lines_next(struct fr_lines *lines, struct fr_words *words);

/** Cut @p length bytes at @p from into words; they may be those of words->text. */
void fr_words_split(struct fr_words *words, const char *from, size_t length);

/** Words before those that a line says: 1 where it begins with a "#" that stands alone, or with several.  Pages of Markdown eat it. */
int fr_words_after_hash(const struct fr_words *words);

/** Is @p word a whole number >= 0 / a number (not nan, not inf)? */
bool fr_word_integer(const char *word, int64_t *out);
bool fr_word_number(const char *word, double *out);

/** The operation that @p name means ("allreduce", "all_reduce_perf", "Reduce_scatter",
 *  "sendrecv"), whatever its case, underscores and dashes.  @return false when there is none. */
bool fr_import_op(const char *name, fr_op *op);

/** The same; where there is none, a note says that @p name is left out. */
bool fr_import_op_or_note(struct fr_import *in, long line, const char *name, fr_op *op);

/** A note, "name:line: ...". */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void fr_import_note(struct fr_import *in, long line, const char *fmt, ...);
/** The note on a row that has not the @p columns of its header. */
void fr_import_note_columns(struct fr_import *in, const struct fr_lines *lines,
                            const struct fr_words *row, int columns);
/** Refuse the file, "name:line: ...". */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
fr_status
fr_import_refuse(const struct fr_import *in, long line, struct fr_error *err, const char *fmt,
                 ...);

/** For a refusal since the text holds nothing of the tool: words before its lines that no logger known here writes are
 *  then looked for. */
const struct fr_import *fr_import_unknown(struct fr_import *in);

/** Make the texts of a source what a samples file holds, whatever bytes they were or where they were cut. */
void fr_import_clean(struct fr_sample_source *source);

/** Bus bandwidth over algorithm bandwidth of a block's rows: it says the ranks. */
struct fr_import_ratio {
    double low, high; /**< between what the printed digits allow */
    int rows;
};
/** Take a row's two numbers as they were printed. */
void fr_import_ratio_add(struct fr_import_ratio *ratio, const char *algbw, const char *busbw);
/** Ranks that it allows, [low, high].  @return false: it says nothing of @p op */
bool fr_import_ratio_ranks(const struct fr_import_ratio *ratio, fr_op op, double *low,
                           double *high);

/** Where a block of results was measured. */
struct fr_import_block {
    fr_op op;
    int pattern;
    int64_t n_ranks, nodes; /**< nodes 0: not stated */
    int64_t launch;         /**< blocks of this kind before it in the file */
    int64_t per_process;    /**< ranks of one process; 0: one */
    struct fr_import_ratio ratio;
    bool elided; /**< the list of its ranks leaves some out, and may say too few */
    bool part;   /**< it may use fewer ranks than were started */
};

/** Ranks and nodes of a block: what its text says (@p stated; 0 is silent), the sidecar, the launch line; the command
 *  line decides between them.  Facts that contradict each other are refused otherwise, and so is a block whose
 *  rank count nobody gives. */
fr_status fr_import_place(struct fr_import *in, long line,
                          const struct fr_import_options *stated,
                          const struct fr_launch *launch, struct fr_import_block *block,
                          struct fr_error *err);

struct fr_row {
    double size_B; /**< as the tool counts it; all-gather of one rank, ... */
    bool per_rank; /**< so that all-gather and all-to-all are times the ranks */
    double time_s;
    int64_t rep;
    bool in_place, failed;
};
/** Add a sample.  A time of 0 is left out with a note. */
fr_status fr_import_add(struct fr_import *in, long line, const struct fr_import_block *block,
                        const struct fr_row *row, struct fr_error *err);

/** A matrix product of @p m x @p n results, and what was printed of it: a time, a rate, or both, which must agree. */
struct fr_import_product {
    int64_t m, n, k, batch;
    double time_s;          /**< 0: not printed */
    double rate_flop_per_s; /**< 0: not printed */
    const char *dtype;      /**< as printed; NULL or "": not at all, then --dtype says it */
};
/** Add it.  One of an unknown dtype, without a time, or whose time and rate disagree is left out with a note.
 *  @return FR_OK; FR_ERR_INPUT where neither the file nor the command line says the dtype; FR_ERR_NOMEM. */
fr_status fr_import_product(struct fr_import *in, long line,
                            const struct fr_import_product *product, struct fr_error *err);

/** JSON of nccl-tests (-J) as the lines that it prints.  @return false: the text is none of it */
bool fr_import_nccl_json(const struct fr_import *in, struct fr_text *out);

/** The text as CSV, where another sign parts the columns of its header: a tab, a semicolon, the bars of a Markdown
 *  table, blanks.  Lines keep their numbers. */
void fr_import_as_csv(const struct fr_import *in, struct fr_text *csv);

/** The dtype that @p name means ("bfloat16", "torch.float16", "bf16_r", "f8_e4m3"), or -1. */
int fr_import_dtype(const char *name);

#endif
