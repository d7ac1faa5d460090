#include "real/trainings.h"

enum { TRAININGS_MOST = 1 << 20 };

fr_status fr_trainings_line(const struct fr_journal_line *line,
                            const struct fr_journal *journal, const char *const kinds[], int n,
                            int *kind, int64_t *id, struct fr_error *err) {
    FR_TRY(fr_json_get_choice(line->root, "kind", true, kinds, kind, err));
    if ((line->number == 1) != (*kind == FR_TRAININGS_HEAD))
        return fr_json_fail(line->root, err,
                            "is no file of trainings: provenance comes first, once");
    if (*kind == FR_TRAININGS_HEAD) return FR_OK;
    int64_t most = journal->sealed ? TRAININGS_MOST : n - (*kind == FR_TRAININGS_RESULT);
    return fr_json_get_integer(line->root, "id", true, 0, most, id, err);
}
