#include "calibrate/measure/device/device.h"

#include <stddef.h>
#include <string.h>

#define FR_DEVICE(name) extern const struct fr_device_driver fr_device_##name;
#include "calibrate/measure/device/driver_list.h"
#undef FR_DEVICE

const struct fr_device_driver *const fr_device_drivers[] = {
#define FR_DEVICE(name) &fr_device_##name,
#include "calibrate/measure/device/driver_list.h"
#undef FR_DEVICE
    NULL};

const struct fr_device_driver *fr_device_find(const char *name) {
    for (int i = 0; fr_device_drivers[i]; i++)
        if (strcmp(fr_device_drivers[i]->name, name) == 0) return fr_device_drivers[i];
    return NULL;
}
