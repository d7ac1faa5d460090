#include "models/plan/schedule_order.h"

#define FR_SCHEDULE(name) extern const struct fr_schedule fr_schedule_##name;
#include "models/plan/schedule_list.h"
#undef FR_SCHEDULE

const struct fr_schedule *const fr_schedules[] = {
#define FR_SCHEDULE(name) &fr_schedule_##name,
#include "models/plan/schedule_list.h"
#undef FR_SCHEDULE
    0};

int64_t fr_schedule_periodic(const struct fr_schedule_args *a, int32_t warm_up,
                             struct fr_slot *slots) {
    struct fr_slot_writer w = {slots, 0};
    int32_t m = a->micro_batches, forward = 0;
    while (forward < warm_up && forward < m) fr_slot_put(&w, FR_SLOT_FORWARD, forward++, 0);
    for (int32_t backward = 0; backward < m; backward++) {
        if (forward < m) fr_slot_put(&w, FR_SLOT_FORWARD, forward++, 0);
        fr_slot_put(&w, FR_SLOT_BACKWARD, backward, 0);
    }
    return w.count;
}

bool fr_schedule_splits(const struct fr_schedule *schedule, const struct fr_schedule_args *a) {
    return schedule->splits_backward || (a->order && a->order->splits_backward);
}

/* The most by which one kind of slot is ahead of another. */
static int64_t most_ahead(uint8_t begins, uint8_t ends, const struct fr_slot *slots,
                          int64_t n_slots) {
    int64_t ahead = 0, most = 0;
    for (int64_t s = 0; s < n_slots; s++) {
        if (slots[s].kind == begins) ahead++;
        if (slots[s].kind == ends) ahead--;
        if (ahead > most) most = ahead;
    }
    return most;
}

int64_t fr_schedule_in_flight(bool splits, const struct fr_slot *slots, int64_t n_slots) {
    return most_ahead(FR_SLOT_FORWARD, splits ? FR_SLOT_WEIGHT : FR_SLOT_BACKWARD, slots,
                      n_slots);
}

int64_t fr_schedule_waiting(bool splits, const struct fr_slot *slots, int64_t n_slots) {
    return splits ? most_ahead(FR_SLOT_BACKWARD, FR_SLOT_WEIGHT, slots, n_slots) : 0;
}

const char *fr_schedule_fold_refuses(const struct fr_schedule_args *a) {
    if (a->stages < 2) return "a schedule that folds needs two stages at least";
    return a->chunks == 2 ? NULL : "a schedule that folds takes two chunks a stage (chunks 2)";
}

double fr_schedule_fold_bubble_s(const struct fr_schedule_args *a, double forward_s,
                                 double backward_s, double weight_s) {
    (void)backward_s, (void)weight_s;
    return (a->stages - 1) * forward_s / 2;
}
