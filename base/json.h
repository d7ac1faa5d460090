/** @file
 *  JSON in, with the place of every value kept for messages; JSON out, in a fixed form.
 *
 *  Reading: jansson parses a document once; cursors then walk it.  Duplicate keys, trailing text,
 *  overflowing numbers, excessive size and depth are refused with line and column.  NaN and
 *  Infinity, which Python's json module writes and JSON does not have, become null.  A cursor is a
 *  small value on the stack that knows its parent, so that any error names the place
 *  ("cluster.json#/levels/1/bandwidth").  A cursor must not outlive its parent cursor or its
 *  document.
 *
 *  Readers of an object first call fr_json_object with all the keys they know; an unknown key
 *  is refused there, and the nearest known one suggested.
 *
 *  Writing: fr_json_writer appends to a fr_text; numbers are written with the fewest digits
 *  that read back as the same double; a number that is not finite becomes null.
 */
#ifndef FR_BASE_JSON_H
#define FR_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "base/units.h"

enum { FR_JSON_MAX_DEPTH = 64 };

/** A parsed document; opaque. */
struct fr_json_document;

/** A value and the way to it. */
struct fr_json {
    const void *value; /**< NULL: absent */
    const struct fr_json *parent;
    const struct fr_json_document *document;
    const char *key; /**< in the parent object, or NULL */
    int64_t index;   /**< in the parent array, when key is NULL */
};

/** Parse @p length bytes; @p name stands for the file in messages. */
fr_status fr_json_parse(const char *text, size_t length, const char *name,
                        struct fr_json_document **document, struct fr_error *err);
/** Read and parse a file ("-" is standard input). */
fr_status fr_json_read(const char *path, struct fr_json_document **document,
                       struct fr_error *err);
void fr_json_free(struct fr_json_document *document);

/** Set the value at the dotted @p path ("device.launch", "levels.0.latency") to @p text, which
 *  is taken as JSON where it is JSON and as a string otherwise.  Objects on the way are made.
 *  Errors read from there say that the value came from @p origin ("--set").
 *  @return FR_OK, or FR_ERR_USAGE when the path does not lead anywhere. */
fr_status fr_json_set(struct fr_json_document *document, const char *path, const char *text,
                      const char *origin, struct fr_error *err);

/** Leave out the root's member @p key, where it has one. */
void fr_json_drop(struct fr_json_document *document, const char *key);

struct fr_json fr_json_root(const struct fr_json_document *document);

/** Member @p key of an object; value NULL if absent (or @p node is no object). */
struct fr_json fr_json_member(const struct fr_json *node, const char *key);
/** Element of an array; value NULL if out of range. */
struct fr_json fr_json_element(const struct fr_json *node, int64_t index);
bool fr_json_present(const struct fr_json *node);
/** It is there and says null: what is not known. */
bool fr_json_is_null(const struct fr_json *node);
bool fr_json_is_object(const struct fr_json *node);
bool fr_json_is_array(const struct fr_json *node);
bool fr_json_is_string(const struct fr_json *node);
bool fr_json_is_number(const struct fr_json *node);
int64_t fr_json_array_length(const struct fr_json *node);

/** Write "file#/path" of @p node into @p out.  @return @p out. */
const char *fr_json_where(const struct fr_json *node, char *out, size_t capacity);
/** fr_fail with the place of @p node. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
fr_status
fr_json_fail(const struct fr_json *node, struct fr_error *err, const char *fmt, ...);

/** @p node must be an object having only @p keys (NULL-terminated).  The root may have "$schema" too, which editors read. */
fr_status fr_json_object(const struct fr_json *node, const char *const *keys,
                         struct fr_error *err);
/** @p node must be an array of @p min to @p max elements. */
fr_status fr_json_array(const struct fr_json *node, int64_t min, int64_t max,
                        struct fr_error *err);

/** Number of @p key, NaN where there is none: of documents that are shown, not relied on. */
double fr_json_number_at(const struct fr_json *object, const char *key);
/** Text of @p key, "" where there is none. */
const char *fr_json_text_at(const struct fr_json *object, const char *key);

/* The readers below take an object and a key.  When the key is absent, `*out` keeps the
 * default it holds if @p required is false; otherwise it is an error. */

/** Finite number within [min, max]. */
fr_status fr_json_get_number(const struct fr_json *object, const char *key, bool required,
                             double min, double max, double *out, struct fr_error *err);
/** Finite number within [min, max]; NaN where it is absent or null. */
fr_status fr_json_get_known(const struct fr_json *object, const char *key, double min,
                            double max, double *out, struct fr_error *err);
/** Whole number within [min, max]. */
fr_status fr_json_get_integer(const struct fr_json *object, const char *key, bool required,
                              int64_t min, int64_t max, int64_t *out, struct fr_error *err);
/** String with a unit, within [min, max] in SI. */
fr_status fr_json_get_quantity(const struct fr_json *object, const char *key, bool required,
                               fr_quantity quantity, double min, double max, double *out,
                               struct fr_error *err);
/** String, copied to @p out of @p capacity bytes; longer ones are refused. */
fr_status fr_json_get_string(const struct fr_json *object, const char *key, bool required,
                             char *out, size_t capacity, struct fr_error *err);
fr_status fr_json_get_bool(const struct fr_json *object, const char *key, bool required,
                           bool *out, struct fr_error *err);
/** One of @p choices (NULL-terminated); @p out is its index. */
fr_status fr_json_get_choice(const struct fr_json *object, const char *key, bool required,
                             const char *const *choices, int *out, struct fr_error *err);

/* The same for a value at hand (an array element). */
fr_status fr_json_number(const struct fr_json *node, double min, double max, double *out,
                         struct fr_error *err);
fr_status fr_json_integer(const struct fr_json *node, int64_t min, int64_t max, int64_t *out,
                          struct fr_error *err);
fr_status fr_json_quantity(const struct fr_json *node, fr_quantity quantity, double min,
                           double max, double *out, struct fr_error *err);
/** The string itself, owned by the document; error if @p node is no string. */
fr_status fr_json_text(const struct fr_json *node, const char **out, struct fr_error *err);

/** Names of the members of an object in file order: key @p i, or NULL past the end. */
const char *fr_json_key_at(const struct fr_json *object, int64_t i);
/** The key behind @p key, which is one of this object's (NULL: the first), in the same order; NULL
 *  behind the last.  Takes no longer for many keys. */
const char *fr_json_key_after(const struct fr_json *object, const char *key);

/** Writer.  Start zeroed but for `text` and `indent`. */
struct fr_json_writer {
    struct fr_text *text;
    int indent; /**< blanks a level; 0 writes one line */
    int depth;
    bool used[FR_JSON_MAX_DEPTH]; /**< level already holds a value */
    bool after_key;
};
void fr_json_begin_object(struct fr_json_writer *w);
void fr_json_end_object(struct fr_json_writer *w);
void fr_json_begin_array(struct fr_json_writer *w);
void fr_json_end_array(struct fr_json_writer *w);
void fr_json_key(struct fr_json_writer *w, const char *key);
void fr_json_put_string(struct fr_json_writer *w, const char *value);
void fr_json_put_number(struct fr_json_writer *w, double value);
void fr_json_put_integer(struct fr_json_writer *w, int64_t value);
void fr_json_put_bool(struct fr_json_writer *w, bool value);
void fr_json_put_null(struct fr_json_writer *w);
/** A value of a document, as it is. */
void fr_json_put_copy(struct fr_json_writer *w, const struct fr_json *node);
/* key and value in one */
void fr_json_add_string(struct fr_json_writer *w, const char *key, const char *value);
void fr_json_add_number(struct fr_json_writer *w, const char *key, double value);
void fr_json_add_integer(struct fr_json_writer *w, const char *key, int64_t value);
void fr_json_add_bool(struct fr_json_writer *w, const char *key, bool value);
/* key, and the beginning of what follows */
void fr_json_add_object(struct fr_json_writer *w, const char *key);
void fr_json_add_array(struct fr_json_writer *w, const char *key);

/** Shortest decimal text that reads back as @p value. @return @p out (32 bytes suffice). */
const char *fr_number_write(double value, char *out, size_t capacity);

#endif
