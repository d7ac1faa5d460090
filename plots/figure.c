#include "plots/figure.h"

#include <stddef.h>
#include <string.h>

const struct fr_figure *const fr_figures[] = {
#define FR_FIGURE(name) &fr_figure_##name,
#include "plots/figure_list.h"
#undef FR_FIGURE
    NULL};

enum { N_FIGURES = sizeof fr_figures / sizeof *fr_figures - 1 };

fr_status fr_figure_find(const char *name, const struct fr_figure **figure,
                         struct fr_error *err) {
    const char *known[N_FIGURES + 1] = {NULL};
    for (int i = 0; i < N_FIGURES; i++) {
        known[i] = fr_figures[i]->name;
        if (strcmp(name, known[i]) != 0) continue;
        *figure = fr_figures[i];
        return FR_OK;
    }
    struct fr_text list = {0};
    for (int i = 0; i < N_FIGURES; i++) fr_text_addf(&list, "%s%s", i ? ", " : "", known[i]);
    const char *near = fr_suggest(name, known);
    fr_status status = fr_fail(
        err, FR_ERR_USAGE, NULL, "there is no figure \"%.40s\"; %s%s%s there are %s", name,
        near ? "did you mean \"" : "", near ? near : "", near ? "\"?" : "", fr_text_get(&list));
    fr_text_free(&list);
    return status;
}
