#include "models/plan/method.h"

#include <stddef.h>

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
