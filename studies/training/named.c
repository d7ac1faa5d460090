#include "studies/training/named.h"

const char *fr_call_word_or_null(const struct fr_study_call *call, const char *name) {
    const char *word = fr_call_word(call, name, -1);
    return *word ? word : NULL;
}

fr_status fr_named_runs_read(struct fr_study_call *call, struct fr_named_runs *all) {
    const struct fr_table_selection take = {.dtype = fr_call_word_or_null(call, "dtype"),
                                            .sharded = fr_call_word_or_null(call, "sharded"),
                                            .experts = fr_call_word_or_null(call, "experts"),
                                            .device = fr_call_word_or_null(call, "device"),
                                            .from_date =
                                                fr_call_word_or_null(call, "from_date")};
    if (all->n == FR_NAMED_RUNS_MAX)
        return fr_fail(call->err, FR_ERR_INPUT, NULL, "more than %d sets of runs",
                       FR_NAMED_RUNS_MAX);
    struct fr_table_set *set = &all->set[all->n];
    fr_say(call, all->n++);
    FR_TRY(fr_table_read(fr_call_word(call, "file", 0), set, call->err));
    fr_table_keep(set, &take);
    return FR_OK;
}

struct fr_table_set *fr_named_runs_of(const struct fr_study_call *call,
                                      struct fr_named_runs *all, const char *name, int place) {
    double which = fr_call_number(call, name, place, 0);
    return &all->set[which >= 0 && which < all->n ? (int)which : 0];
}

void fr_named_runs_free(struct fr_named_runs *all) {
    for (int i = 0; i < all->n; i++) fr_table_free(&all->set[i]);
}
