/** @file
 *  Which settings does a trainer's script, configuration or log make?
 *
 *  A setting is a name and a value as a trainer's own options spell them, in whatever syntax they stand.  Names lose their
 *  leading dashes, and dashes inside become underscores: --micro-batch-size and micro_batch_size are one name.
 *  Sections and objects around a name stand before it: "parallelism.tensor_parallel_degree".
 *
 *  To add a syntax: answer/trainer/syntax/<name>.c exporting fr_syntax_<name>, row FR_SYNTAX(<name>) in
 *  answer/trainer/syntax_list.h. */
#ifndef FR_ANSWER_TRAINER_SETTINGS_H
#define FR_ANSWER_TRAINER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

struct fr_setting {
    char *name, *value;
    int line; /**< of the file, from 1 */
};

struct fr_settings {
    struct fr_setting *item; /**< in the order of the file */
    int n, capacity;
    bool documents; /**< some stood in files that a script writes */
    bool failed;    /**< memory ran out */
};

/** Add name[0..name_length) = value[0..value_length), blanks and quote marks around the value left out. */
void fr_settings_add(struct fr_settings *s, const char *name, size_t name_length,
                     const char *value, size_t value_length, int line);
void fr_settings_free(struct fr_settings *s);

/** Is @p name the whole of setting @p full, or its last components? */
bool fr_setting_is(const char *full, const char *name);
/** The last setting called @p name, which is all that it says or its last components; NULL. */
const struct fr_setting *fr_settings_find(const struct fr_settings *s, const char *name);

/** A way to write settings down. */
struct fr_syntax {
    const char *name;
    /** Is @p text written so?  The first row that says so reads it. */
    bool (*knows)(const char *text, size_t length);
    void (*read)(const char *text, size_t length, struct fr_settings *s);
    bool
        whole; /**< what it does not set is at the trainer's default: a script; false of a printed excerpt */
};
/** Rows in table order, then NULL. */
extern const struct fr_syntax *const fr_syntaxes[];

/** For syntaxes: the line at @p *at as [*line, *line + *length), and *at behind it.  @return false at the end. */
bool fr_settings_line(const char *text, size_t end, size_t *at, const char **line,
                      size_t *length);

#endif
