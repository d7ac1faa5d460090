#include "models/workload/routing.h"

const char *const fr_balance_names[] = {"even", "loss", "none", NULL};

fr_status fr_routing_read(const struct fr_json *object, struct fr_transformer *t,
                          struct fr_error *err) {
    static const char *const keys[] = {"capacity", "imbalance", "balance"};
    int balance = FR_BALANCE_EVEN;
    for (int i = 0; i < 3 && t->experts == 0; i++) {
        struct fr_json node = fr_json_member(object, keys[i]);
        if (fr_json_present(&node))
            return fr_json_fail(&node, err, "has no effect without experts");
    }
    FR_TRY(fr_json_get_number(object, "capacity", false, 1, 1e6, &t->capacity, err));
    FR_TRY(fr_json_get_number(object, "imbalance", false, 1, 1e6, &t->imbalance, err));
    FR_TRY(fr_json_get_choice(object, "balance", false, fr_balance_names, &balance, err));
    t->balance = (fr_balance)balance;
    return FR_OK;
}
