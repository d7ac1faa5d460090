/** @file
 *  What kind of file is this?
 *
 *  Asked when a command refuses a file: the answer names what was given and what is wanted, whichever reader refused
 *  it.  The beginning of the file decides, so that a cut or broken file is recognised too: JSON by its outermost keys,
 *  text by words of its first lines, the rest by its first bytes.
 *
 *  To add a kind: a name in the enum, a row and a test in file_kind.c. */
#ifndef FR_MODELS_JOB_FILE_KIND_H
#define FR_MODELS_JOB_FILE_KIND_H

#include <stdbool.h>
#include <stddef.h>

typedef enum {
    FR_FILE_MISSING, /**< or it cannot be read */
    FR_FILE_DIRECTORY,
    FR_FILE_EMPTY,
    FR_FILE_BINARY, /**< a picture, an archive, a program */
    FR_FILE_CLUSTER,
    FR_FILE_MODEL,
    FR_FILE_CONFIG, /**< of Hugging Face */
    FR_FILE_PLAN,
    FR_FILE_RUNTIME,
    FR_FILE_OUTCOME, /**< of predict */
    FR_FILE_SEARCH,
    FR_FILE_FIT,
    FR_FILE_ANSWER, /**< another document with a schema of ours */
    FR_FILE_SAMPLES,
    FR_FILE_TRACE,
    FR_FILE_RUNS, /**< a table with measured times */
    FR_FILE_TABLE,
    FR_FILE_LOG,
    FR_FILE_BENCHMARK,
    FR_FILE_SCRIPT,
    FR_FILE_PAGE, /**< HTML or SVG */
    FR_FILE_JSON, /**< of no kind above */
    FR_FILE_TEXT,
    FR_FILE_KINDS
} fr_file_kind;

/** How many bytes of the beginning decide at most. */
enum { FR_FILE_KIND_B = 1 << 16 };

/** Kind of @p path.  Of standard input ("-") by what was read from it (base/file.h). */
fr_file_kind fr_file_kind_of(const char *path);
/** Kind of the file that begins with @p text. */
fr_file_kind fr_file_kind_of_text(const char *text, size_t length);
/** With its article: "a cluster file". */
const char *fr_file_kind_name(fr_file_kind kind);

#endif
