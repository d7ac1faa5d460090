/* Any JSON is an order of a pipeline's passes, a placement, or is refused with a place. */
#include "models/plan/schedule_order.h"
#include "tests/fuzz/fuzz.h"
#include "topology/placement.h"

FR_FUZZ_TEXT(text, size) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    struct fr_schedule_order order = {.slots = NULL};
    struct fr_placement_choice choice = fr_placement_default();
    int64_t *rank_map = NULL;
    if (fr_json_parse(text, size, "fuzz", &document, &err) == FR_OK) {
        struct fr_json root = fr_json_root(document);
        if (fr_schedule_order_read(&root, &order, &err) == FR_OK)
            FR_FUZZ_REQUIRE(order.stages >= 1 && order.micro_batches >= 1 && order.chunks >= 1);
        else
            FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
        err = (struct fr_error){0};
        if (fr_placement_read_list(&root, &choice, &rank_map, &err) == FR_OK) {
            int64_t sum = 0;
            for (int64_t i = 0; i < choice.n_list; i++) sum += choice.list[i];
            FR_FUZZ_REQUIRE(sum == choice.n_list * (choice.n_list - 1) / 2);
        } else
            FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    }
    fr_schedule_order_free(&order);
    free(rank_map);
    fr_json_free(document);
}
