#include "library/options.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "base/text/version.h"

/* Does the caller ask for something that came later than this library? */
static bool says_more(const unsigned char *given, size_t size, size_t given_size) {
    for (size_t i = size; i < given_size; i++)
        if (given[i]) return true;
    return false;
}

fr_status fr_options_take(void *own, size_t size, const void *given, const char *name,
                          struct fr_error *err) {
    enum { SIZE_MOST = 4096 };
    size_t given_size = size;
    if (!given) return FR_OK;
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < 2 * sizeof given_size || given_size > SIZE_MOST)
        return fr_fail(err, FR_ERR_USAGE, "options", "do not begin with %s", name);
    if (says_more(given, size, given_size))
        return fr_fail(err, FR_ERR_USAGE, "options",
                       "ask for something that this library (%s) is too old for", fr_version);
    memcpy(own, given, given_size < size ? given_size : size);
    return FR_OK;
}

fr_status fr_options_choice(const char *name, const char *word, const char *const *choices,
                            int *index, struct fr_error *err) {
    struct fr_text list = {0};
    if (!word) return fr_fail(err, FR_ERR_USAGE, name, "is NULL");
    for (int i = 0; choices[i]; i++) {
        if (strcmp(word, choices[i]) == 0) {
            *index = i;
            fr_text_free(&list);
            return FR_OK;
        }
        fr_text_addf(&list, "%s%s", i ? ", " : "", choices[i]);
    }
    fr_status status =
        fr_fail(err, FR_ERR_USAGE, name, "\"%.40s\" is none of %s", word, fr_text_get(&list));
    fr_text_free(&list);
    return status;
}
