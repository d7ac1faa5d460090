#include "answer/page/phrase.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fr_phrase fr_phrase_quantity(const struct fr_json *object, const char *key,
                                    fr_quantity kind) {
    struct fr_phrase s = {"-"};
    double value = fr_json_number_at(object, key);
    if (isfinite(value)) fr_quantity_format(value, kind, s.text, sizeof s.text);
    return s;
}
struct fr_phrase fr_phrase_seconds(const struct fr_json *object, const char *key) {
    return fr_phrase_quantity(object, key, FR_QUANTITY_TIME);
}

/* Three digits are enough in a sentence: 20.7 days. */
static double rounded(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.3g", value);
    return strtod(text, NULL);
}
struct fr_phrase fr_phrase_count(double value) {
    struct fr_phrase s = {"-"};
    if (isfinite(value)) fr_page_number(fabs(value) < 100 ? rounded(value) : value, -1, s.text);
    return s;
}
struct fr_phrase fr_phrase_number(const struct fr_json *object, const char *key) {
    return fr_phrase_count(fr_json_number_at(object, key));
}
struct fr_phrase fr_phrase_percent(const struct fr_json *object, const char *key) {
    struct fr_phrase s = {"-"};
    double value = fr_json_number_at(object, key);
    if (isfinite(value)) snprintf(s.text, sizeof s.text, "%.3g %%", 100 * value);
    return s;
}

const char *fr_phrase_or(const char *word, const char *otherwise) {
    return *word ? word : otherwise;
}
