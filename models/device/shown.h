/** @file
 *  How much of a device's memory does software take besides its tensors?
 *
 *  An allocator hands out tensors from blocks that it reserves of the device.  While memory is plentiful it reserves
 *  more than it must; before it fails it gives blocks back.  So two numbers describe it: the memory that it reserves
 *  at ease, and the least with which a run still works.  The driver's context, libraries, kernels and the buffers of
 *  communicators are the device's alone: nvidia-smi shows them, the allocator does not count them.
 *
 *  These are facts of runtimes (models/job/fact_list.h), which a cluster file may state itself.  Less is better. */
#ifndef FR_MODELS_DEVICE_SHOWN_H
#define FR_MODELS_DEVICE_SHOWN_H

#include "base/json.h"

struct fr_shown {
    double least,
        reserved; /**< over the peak of tensors: with which it still runs, at ease; 0: 1 */
    double least_deviation, reserved_deviation; /**< standard deviations, as shares */
    double context_B; /**< of a process: context, libraries, kernels */
    double first_B,
        each_B; /**< of communicators: once; of each axis that several ranks are on */
    double
        all_to_all_B; /**< more where eight ranks or more send all to all; fewer: by their peers */
    double deviation_B; /**< standard deviation of the sum of these */
    bool
        margin; /**< the file states memory_margin, which then is the allocator: least and reserved are 1 */
};

/** Read what @p device, the object "device" of a cluster file, states of them. */
fr_status fr_shown_read(const struct fr_json *device, struct fr_shown *shown,
                        struct fr_error *err);

#endif
