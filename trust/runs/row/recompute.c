#include "trust/runs/row/recompute.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

static bool says_nothing(const char *value) {
    return !*value || strncmp(value, "None", 4) == 0 || strncmp(value, "null", 4) == 0 ||
           *value == '~';
}

/* "['a', 'b']", "[a, b]", "a b", "a,b" as "a+b". */
static bool take_modules(const char *value, struct fr_run_row *row) {
    char modules[96];
    size_t used = 0;
    const char *granularity = fr_run_row_get(row, "plan.recompute");
    for (const char *at = value; *at;) {
        size_t n = 0;
        while (isalnum((unsigned char)at[n]) || at[n] == '_') n++;
        if (n)
            fr_line_addf(modules, sizeof modules, &used, "%s%.*s", used ? "+" : "", (int)n, at);
        at += n ? n : 1;
    }
    if (used == 0 || !granularity || strcmp(granularity, "selective") != 0) return false;
    fr_run_row_set(row, "plan.recompute", "%s", modules);
    return true;
}

bool fr_run_take_recompute(const char *name, const char *value, struct fr_run_row *row) {
    value += strspn(value, " \t\"'");
    size_t n = strcspn(value, " \t\r\n\"',");
    if (says_nothing(value)) return false;
    if (strcmp(name, "recompute_granularity") == 0)
        fr_run_row_set(row, "plan.recompute", "%.*s", (int)n, value);
    else if (strcmp(name, "recompute_modules") == 0)
        return take_modules(value, row);
    else if (strcmp(name, "recompute_method") == 0 && strncmp(value, "block", 5) == 0)
        fr_run_row_set(row, "plan.recompute_layers", "1"); /* until their number is said */
    else if (strcmp(name, "recompute_num_layers") == 0 &&
             fr_run_row_get(row, "plan.recompute_layers"))
        fr_run_row_set(row, "plan.recompute_layers", "%.*s", (int)n, value);
    else
        return false;
    return true;
}
