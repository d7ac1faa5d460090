#include "models/plan/method.h"

#include <stddef.h>
#include <string.h>

#define FR_METHOD(name) extern const struct fr_method fr_method_##name;
#include "models/work/method_list.h"
#undef FR_METHOD

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

static bool has(const struct fr_method *method, size_t at) {
    return *(const bool *)((const char *)method + at);
}

const struct fr_method *fr_method_with(size_t at) {
    for (const struct fr_method *const *m = fr_methods; *m; m++)
        if (has(*m, at)) return *m;
    return NULL;
}

bool fr_method_is(const char *name, size_t at) {
    for (const struct fr_method *const *m = fr_methods; *m; m++)
        if (strcmp((*m)->name, name) == 0) return has(*m, at);
    return false;
}
