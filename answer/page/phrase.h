/** @file
 *  Numbers of a document as sentences have them: "3.2 s", "20.7", "49.6 %", and "-" where the document has none. */
#ifndef FR_ANSWER_PAGE_PHRASE_H
#define FR_ANSWER_PAGE_PHRASE_H

#include "answer/page/table.h"
#include "base/json.h"
#include "base/units.h"

struct fr_phrase {
    char text[FR_PAGE_NUMBER];
};

/** Member @p key of @p object, with the unit of @p kind. */
struct fr_phrase fr_phrase_quantity(const struct fr_json *object, const char *key,
                                    fr_quantity kind);
struct fr_phrase fr_phrase_seconds(const struct fr_json *object, const char *key);
/** A number without a unit, of three digits below 100. */
struct fr_phrase fr_phrase_count(double value);
struct fr_phrase fr_phrase_number(const struct fr_json *object, const char *key);
/** A share of one in percent. */
struct fr_phrase fr_phrase_percent(const struct fr_json *object, const char *key);

/** @p word, or @p otherwise where it is "". */
const char *fr_phrase_or(const char *word, const char *otherwise);

#endif
