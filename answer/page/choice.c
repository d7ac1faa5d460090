#include "answer/page/choice.h"

#include <math.h>

#include "base/units.h"
#include "plots/html.h"

static const char *time_at(const struct fr_json *object, const char *key, char *out,
                           size_t capacity) {
    return fr_quantity_format(fr_json_number_at(object, key), FR_QUANTITY_TIME, out, capacity);
}

static void put_expected(const struct fr_json *root, struct fr_text *html) {
    struct fr_json of = fr_json_member(root, "expected");
    char time[40], low[40], high[40];
    if (!fr_json_is_object(&of)) return;
    fr_html_addf(
        html,
        "<p>Expected once the best plan runs: <b>%s</b> an iteration, %s to %s with 90 %%; "
        "%.1f %% above its prediction, since the best of many looks better than it "
        "is.</p>\n",
        time_at(&of, "iteration_time_s", time, sizeof time),
        time_at(&of, "low_s", low, sizeof low), time_at(&of, "high_s", high, sizeof high),
        100 * fr_json_number_at(&of, "selection_share"));
}

static void put_tried(const struct fr_json *root, struct fr_text *html) {
    struct fr_json answers = fr_json_member(root, "answers");
    double gain = fr_json_number_at(root, "trying_three_gain");
    if (!isfinite(gain)) return;
    fr_html_addf(
        html,
        "<p>Trying the first %s answers and keeping the fastest is expected to gain %.1f "
        "%% over the first alone.</p>\n",
        fr_json_array_length(&answers) > 2 ? "three" : "two", 100 * gain);
}

static void put_included(const struct fr_json *root, struct fr_text *html) {
    struct fr_json list = fr_json_member(root, "included");
    for (int64_t i = 0; fr_json_is_array(&list) && i < fr_json_array_length(&list); i++) {
        struct fr_json mine = fr_json_element(&list, i);
        const char *says = fr_json_text_at(&mine, "says");
        if (*says)
            fr_html_addf(html, "<p>Your plan %s: %s.</p>\n", fr_json_text_at(&mine, "name"),
                         says);
    }
}

void fr_page_choice(const struct fr_json *root, struct fr_text *html) {
    put_expected(root, html);
    put_tried(root, html);
    put_included(root, html);
}
