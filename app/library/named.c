/* A function for each verb that has none with options of its own (library/include/forerun_verbs.h). */
#include <string.h>

#include "library/call.h"

/* "compare_plans" is compare-plans on the command line. */
static forerun_status named(const char *identifier, const char *const *words,
                            forerun_result **result, forerun_error *error) {
    char verb[32];
    size_t n = strlen(identifier);
    if (n >= sizeof verb) n = sizeof verb - 1;
    for (size_t i = 0; i < n; i++) verb[i] = identifier[i] == '_' ? '-' : identifier[i];
    verb[n] = '\0';
    return forerun_ask(verb, words, result, error);
}

#define FR_ASKED(name)
#define FR_ASKED_BY_NAME(name)                                                                 \
    forerun_status forerun_##name(const char *const *words, forerun_result **result,           \
                                  forerun_error *error) {                                      \
        return named(#name, words, result, error);                                             \
    }
#include "app/library/verb_list.h"
#undef FR_ASKED
#undef FR_ASKED_BY_NAME
