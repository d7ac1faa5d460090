#include "models/plan/reason.h"

#include <stddef.h>

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

void fr_reason_document(int reason, struct fr_text *text) {
    fr_text_addf(text, "| `%s` | %s | %s |\n", fr_reason_names[reason],
                 fr_reason_sentences[reason], fr_reason_helps[reason]);
}
