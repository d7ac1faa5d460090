/** @file
 *  Rows of a "forerun/reproduce/1" document, and which of them a pattern of ids picks. */
#ifndef FR_PLOTS_PAPER_ROWS_H
#define FR_PLOTS_PAPER_ROWS_H

#include <stddef.h>

#include "base/json.h"

enum { FR_PAPER_WORD = 48 };

struct fr_paper_row {
    char paper[32]; /**< in a document of several, else "" */
    char id[128], unit[16], role[16];
    double published, ours; /**< NaN: none */
    double low, high;       /**< 90 % interval of ours; NaN: none */
};

struct fr_paper_rows {
    char paper[32], version[32];
    char title[240]; /**< of the paper; "" where the document has none */
    struct fr_paper_row *row;
    size_t n;
};

/** Read; free with fr_paper_rows_free, also on error.  @return FR_OK, FR_ERR_INPUT with the place,
 *  FR_ERR_NOMEM. */
fr_status fr_paper_rows_read(const struct fr_json *root, struct fr_paper_rows *rows,
                             struct fr_error *err);
void fr_paper_rows_free(struct fr_paper_rows *rows);

/** Does @p id fit @p pattern, whose {x} and {s} stand for words without "/" (those of two {x}
 *  joined by a blank), and {*} for any?  @p x and @p s become
 *  "" where the pattern has none. */
bool fr_paper_id_fits(const char *pattern, const char *id, char x[FR_PAPER_WORD],
                      char s[FR_PAPER_WORD]);

#endif
