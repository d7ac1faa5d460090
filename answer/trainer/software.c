/* NeMo's containers, which hold Megatron-Bridge since 25.09: the image that a launcher names, and the head that it prints as
 * it starts, "== NeMo Framework ==" and below it "NVIDIA Release 24.03 (build 85286408)". */
#include <ctype.h>
#include <string.h>

#include "answer/trainer/trainer.h"
#include "models/job/preset.h"

static const char image[] = "nvcr.io/nvidia/nemo:", head[] = "== NeMo Framework ==",
                  version[] = "NVIDIA Release ";
static const char *const families[] = {"nemo-", "megatron-bridge-"};

/* "24.03" at the beginning of @p text. */
static bool is_release(const char *text) {
    static const char form[] = "00.00";
    for (int i = 0; form[i]; i++)
        if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
            return false;
    return !isdigit((unsigned char)text[sizeof form - 1]);
}

/* The newest runtime of the containers that is no newer than the release. */
static void name_runtime(const char *release, struct fr_run_row *row) {
    const char *best = NULL, *newest = "";
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
            size_t length = strlen(families[f]);
            if (strcmp(p->kind, "runtime") != 0 || strncmp(p->name, families[f], length) != 0)
                continue;
            const char *own = p->name + length;
            if (!is_release(own) || strncmp(own, release, 5) > 0 || strcmp(own, newest) <= 0)
                continue;
            newest = own;
            best = p->name;
        }
    if (best) fr_run_row_set(row, "runtime", "%s", best);
}

void fr_trainer_software(const char *line, bool *nemo, struct fr_run_row *row) {
    const char *at = strstr(line, image);
    *nemo |= strstr(line, head) != NULL;
    if (at && is_release(at + sizeof image - 1)) name_runtime(at + sizeof image - 1, row);
    at = strstr(line, version);
    if (*nemo && at && is_release(at + sizeof version - 1))
        name_runtime(at + sizeof version - 1, row);
}
