#include "models/workload/adapters.h"

const char *const fr_adapter_places[] = {"attention", "mlp", "all", NULL};
const char *const fr_adapter_exchanges[] = {"gather", "all_to_all", NULL};

fr_status fr_adapters_read(const struct fr_json *object, struct fr_transformer *t,
                           struct fr_error *err) {
    struct fr_json on = fr_json_member(object, "lora_on"),
                   how = fr_json_member(object, "lora_exchange");
    int place = 0, exchange = 0;
    FR_TRY(fr_json_get_integer(object, "lora_rank", false, 1, 1 << 20, &t->lora_rank, err));
    if (t->lora_rank == 0 && fr_json_present(&on))
        return fr_json_fail(&on, err, "has no effect without lora_rank");
    if (t->lora_rank == 0 && fr_json_present(&how))
        return fr_json_fail(&how, err, "has no effect without lora_rank");
    FR_TRY(fr_json_get_choice(object, "lora_on", false, fr_adapter_places, &place, err));
    FR_TRY(fr_json_get_choice(object, "lora_exchange", false, fr_adapter_exchanges, &exchange,
                              err));
    if (place > 0 && t->experts > 0)
        return fr_json_fail(&on, err,
                            "is \"%s\": of experts every one would have adapters of its own, "
                            "which are not priced; expected \"attention\"",
                            fr_adapter_places[place]);
    t->lora_attention = t->lora_rank > 0 && place != 1;
    t->lora_mlp = t->lora_rank > 0 && place != 0;
    t->lora_all_to_all = exchange > 0;
    return FR_OK;
}

int fr_adapters_list(const struct fr_transformer *t, struct fr_adapted list[FR_ADAPTED_MAX]) {
    double h = (double)t->hidden, q = (double)(t->heads * t->head_dim),
           kv = (double)(t->kv_heads * t->head_dim), f = (double)t->ffn;
    int n = 0;
    if (t->lora_attention) {
        list[n++] = (struct fr_adapted){h, q + 2 * kv, false, false};
        list[n++] = (struct fr_adapted){q, h, true, false};
    }
    if (t->lora_mlp) {
        list[n++] = (struct fr_adapted){h, (t->gated ? 2 : 1) * f, false, true};
        list[n++] = (struct fr_adapted){f, h, true, true};
    }
    return n;
}
