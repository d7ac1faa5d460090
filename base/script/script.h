/** @file
 *  Texts of others in scripts that people run: a comment stays a comment, a word stays one word.
 *
 *  Names of models and clusters, paths and hosts come from files that others wrote.  A file that writes scripts
 *  prints no string by itself: it goes through one of these (tests/repo/scripts.sh). */
#ifndef FR_BASE_SCRIPT_SCRIPT_H
#define FR_BASE_SCRIPT_SCRIPT_H

#include "base/text.h"

/** Bytes of a comment; what is longer is cut. */
enum { FR_SCRIPT_COMMENT_B = 4096 };

/** A whole line "# ..." of bash, Python, YAML or TOML.  Line ends and tabs become blanks, other hidden characters
 *  (fr_is_hidden) and bytes that are no UTF-8 '?'.  The blank behind # keeps it from being a directive, such as #SBATCH
 *  or #!.  In Python, which reads the encoding there, it may not be of the first two lines. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void fr_script_comment(struct fr_text *script, const char *fmt, ...);

typedef enum {
    FR_SCRIPT_BASH, /**< not sh: hidden characters stand in $'...' */
    FR_SCRIPT_PYTHON,
    FR_SCRIPT_YAML,
    FR_SCRIPT_TOML,
    FR_SCRIPT_JSON
} fr_script_language;

/** @p text as one word of bash, bare where that is the same, or as a string in double quotes of the others; always on one
 *  line.  Bash's reads as the same bytes, the others as the same characters, with U+FFFD for bytes that are no UTF-8. */
void fr_script_word(struct fr_text *script, fr_script_language language, const char *text);

/** A piece of script that is our own, as it stands: never a name, a source, a path. */
void fr_script_piece(struct fr_text *script, const char *ours);

#endif
