/* Messages share links, those of one rank to another as well. */
#include "sim/sharing.h"

static fr_status open_fair(const struct fr_network_work *work, void **state,
                           struct fr_error *err) {
    return fr_sharing_open(work, false, state, err);
}

const struct fr_network fr_network_fair = {
    .name = "fair",
    .summary = "messages share links max-min fairly, also those from one rank to another, as "
               "SimGrid has it",
    .source =
        "progressive filling: Bertsekas & Gallager, Data Networks, 2nd ed., section 6.5.2",
    .engine = "event",
    .open = open_fair,
    .close = fr_sharing_close,
    .run = fr_sharing_run,
};
