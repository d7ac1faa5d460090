#include "base/describe/statements.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Joined to the one before, its indentation one blank. */
static char *take_line(struct fr_statements *s, const char *line, size_t length, int number,
                       char *to) {
    size_t blanks = strspn(line, " \t");
    if (blanks >= length || line[blanks] == '#') return to;
    if (blanks > 0 && s->n > 0)
        to[-1] = ' ';
    else
        s->item[s->n++] = (struct fr_statement){number, to};
    memcpy(to, line + blanks, length - blanks);
    to += length - blanks;
    *to++ = '\0';
    return to;
}

fr_status fr_statements_read(const char *text, struct fr_statements *out,
                             struct fr_error *err) {
    int lines = 1;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    *out = (struct fr_statements){.text = fr_malloc(strlen(text) + 2, 1),
                                  .item = fr_calloc((size_t)lines, sizeof *out->item)};
    if (!out->text || !out->item)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the description does not fit in memory");
    char *to = out->text;
    for (int number = 1; *text; number++) {
        size_t length = strcspn(text, "\n");
        to = take_line(out, text, length, number, to);
        text += length + (text[length] == '\n');
    }
    return FR_OK;
}

void fr_statements_free(struct fr_statements *s) {
    free(s->text);
    free(s->item);
    *s = (struct fr_statements){0};
}

const char *fr_statement_after(const char *text, const char *word) {
    size_t n = strlen(word);
    if (strncmp(text, word, n) != 0 || (text[n] && text[n] != ' ')) return NULL;
    return text + n + strspn(text + n, " ");
}
