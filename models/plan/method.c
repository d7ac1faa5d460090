#include "models/plan/method.h"

#include <stddef.h>
#include <string.h>

const struct fr_method *const fr_methods[] = {
#define FR_METHOD(name) &fr_method_##name,
#include "models/work/method_list.h"
#undef FR_METHOD
    NULL};

const char *const fr_method_names[] = {
#define FR_METHOD(name) #name,
#include "models/work/method_list.h"
#undef FR_METHOD
    NULL};

const struct fr_method *fr_method_named(const char *name) {
    for (const struct fr_method *const *m = fr_methods; *m; m++)
        if (strcmp((*m)->name, name) == 0) return *m;
    return NULL;
}

const struct fr_method *fr_method_with(size_t trait) {
    for (const struct fr_method *const *m = fr_methods; *m; m++)
        if (*(const bool *)((const char *)*m + trait)) return *m;
    return NULL;
}
