#include "models/plan/reason.h"

#include <stddef.h>

/* Every row has its name in reason.h, at the same place. */
enum {
#define FR_REASON(code, ...) ROW_##code,
#include "models/plan/reason_list.h"
#undef FR_REASON
    ROWS
};
#define FR_REASON(code, ...)                                                                   \
    _Static_assert((int)ROW_##code == (int)FR_REASON_##code,                                   \
                   "reason `" #code "` stands elsewhere in reason.h than in reason_list.h");
#include "models/plan/reason_list.h"
#undef FR_REASON
_Static_assert((int)ROWS == (int)FR_REASON_COUNT,
               "a reason that reason.h names is missing from reason_list.h");

const char *const fr_reason_names[] = {
#define FR_REASON(code, name, sentence, helps) name,
#include "models/plan/reason_list.h"
#undef FR_REASON
    NULL};

const char *const fr_reason_sentences[] = {
#define FR_REASON(code, name, sentence, helps) sentence,
#include "models/plan/reason_list.h"
#undef FR_REASON
};

const char *const fr_reason_helps[] = {
#define FR_REASON(code, name, sentence, helps) helps,
#include "models/plan/reason_list.h"
#undef FR_REASON
};
