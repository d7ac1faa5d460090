/** @file
 *  Here-documents of a script: which file does it write, and which settings stand in it?
 *
 *      cat > config.yaml <<EOF     the lines up to EOF are that file, the script's variables put in
 *      cat > config.yaml <<'EOF'   the same as they stand
 *
 *  JSON, TOML and YAML are settings beside those of the command line.  A shell's are lines of the script.  A program in
 *  Python, a table of hosts and a text for the reader set nothing. */
#ifndef FR_ANSWER_TRAINER_HERE_H
#define FR_ANSWER_TRAINER_HERE_H

#include "answer/trainer/settings.h"
#include "answer/trainer/shell.h"
#include "base/text.h"

/** The end of each is searched for in all the rest, so that a text of many marks without ends is no script. */
enum { FR_HERE_WORD = 64, FR_HERE_UNENDED = 64 };

struct fr_here {
    char end[FR_HERE_WORD];         /**< the line that ends it; "": there is none */
    const struct fr_syntax *syntax; /**< of its settings; NULL: none */
    bool lines;                     /**< lines of the script */
    bool literal;                   /**< variables stay as they are */
    int line;                       /**< of its first line */
    int unended; /**< marks before it that had no end: after FR_HERE_UNENDED no more are tried */
    struct fr_text text;
};

/** Does line @p number of a script begin one, which rest[0..left) then ends?  Free @p here with fr_here_end. */
bool fr_here_begin(const char *line, size_t n, int number, const char *rest, size_t left,
                   struct fr_here *here);
/** Take a line of it.  @return whether it was the last: fr_here_end is next */
bool fr_here_add(struct fr_here *here, const struct fr_shell *shell, const char *line,
                 size_t n);
/** Put its settings into @p s, and free it. */
void fr_here_end(struct fr_here *here, struct fr_settings *s);

#endif
