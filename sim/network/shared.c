/* Messages share links; those of one rank to another go one after another. */
#include "sim/sharing.h"

static fr_status open_shared(const struct fr_network_work *work, void **state,
                             struct fr_error *err) {
    return fr_sharing_open(work, true, state, err);
}

const struct fr_network fr_network_shared = {
    .name = "shared",
    .summary = "messages share links max-min fairly; those from one rank to another go in "
               "order, as NCCL runs them",
    .source = "progressive filling: Bertsekas & Gallager, Data Networks, 2nd ed., section "
              "6.5.2; order: "
              "NCCL user guide, point-to-point communication",
    .engine = "event",
    .open = open_shared,
    .close = fr_sharing_close,
    .run = fr_sharing_run,
};
