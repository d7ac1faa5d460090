#include "models/plan/reason.h"

#include <stddef.h>

const char *const fr_reason_names[] = {
#define FR_REASON_NAME(code, name) name,
    FR_REASON_LIST(FR_REASON_NAME)
#undef FR_REASON_NAME
        NULL};
