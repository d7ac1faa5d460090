#include "models/job/calibration.h"

#include <stdio.h>
#include <string.h>

static const char *const verdicts[] = {"PASS", "WARN", "FAIL", NULL};

static fr_status read_reason(const struct fr_json *object, struct fr_calibration *c,
                             struct fr_error *err) {
    struct fr_json reasons = fr_json_member(object, "reasons");
    const char *text = NULL;
    if (!fr_json_present(&reasons)) return FR_OK;
    FR_TRY(fr_json_array(&reasons, 0, 1000, err));
    if (fr_json_array_length(&reasons) == 0) return FR_OK;
    struct fr_json first = fr_json_element(&reasons, 0);
    FR_TRY(fr_json_text(&first, &text, err));
    snprintf(c->reason, sizeof c->reason, "%.319s", text);
    return FR_OK;
}

fr_status fr_calibration_read(const struct fr_json *object, struct fr_calibration *c,
                              struct fr_error *err) {
    int verdict = -1;
    if (!fr_json_is_object(object)) return FR_OK;
    FR_TRY(fr_json_get_bool(object, "oversubscribed", false, &c->oversubscribed, err));
    FR_TRY(fr_json_get_choice(object, "verdict", false, verdicts, &verdict, err));
    if (verdict >= 0) strcpy(c->verdict, verdicts[verdict]);
    FR_TRY(fr_json_get_number(object, "held_out", false, 0, 1e9, &c->held_out, err));
    FR_TRY(fr_json_get_number(object, "variation", false, 0, 1e9, &c->variation, err));
    return read_reason(object, c, err);
}

void fr_calibration_tell(const struct fr_calibration *c, struct fr_text *text) {
    if (!*c->verdict) return;
    bool failed = strcmp(c->verdict, "FAIL") == 0, passed = strcmp(c->verdict, "PASS") == 0;
    fr_text_addf(text, "from a calibration that %s%s%s",
                 passed   ? "passed"
                 : failed ? "failed"
                          : "passed with a warning",
                 *c->reason ? ": " : "", c->reason);
}

void fr_calibration_put(const struct fr_calibration *c, struct fr_json_writer *w) {
    if (!*c->verdict) return;
    fr_json_add_object(w, "calibration");
    fr_json_add_string(w, "verdict", c->verdict);
    if (*c->reason) fr_json_add_string(w, "reason", c->reason);
    fr_json_add_number(w, "held_out", c->held_out);
    fr_json_add_number(w, "variation", c->variation);
    fr_json_end_object(w);
}
