#include "models/device/shown.h"

#include "models/device/size_read.h"

static const char *const allocator_keys[] = {"least", "least_deviation", "reserved",
                                             "reserved_deviation", NULL};
static const char *const communicator_keys[] = {"first", "each", "all_to_all", NULL};

static fr_status allocator_read(const struct fr_json *object, struct fr_shown *s,
                                struct fr_error *err) {
    FR_TRY(fr_json_object(object, allocator_keys, err));
    FR_TRY(fr_json_get_number(object, "least", false, 1, 10, &s->least, err));
    FR_TRY(
        fr_json_get_number(object, "least_deviation", false, 0, 1, &s->least_deviation, err));
    FR_TRY(fr_json_get_number(object, "reserved", false, 1, 10, &s->reserved, err));
    return fr_json_get_number(object, "reserved_deviation", false, 0, 1, &s->reserved_deviation,
                              err);
}

fr_status fr_shown_read(const struct fr_json *device, struct fr_shown *s,
                        struct fr_error *err) {
    struct fr_json allocator = fr_json_member(device, "allocator"),
                   communicators = fr_json_member(device, "communicators"),
                   margin = fr_json_member(device, "memory_margin");
    s->margin = fr_json_present(&margin);
    if (fr_json_present(&allocator)) FR_TRY(allocator_read(&allocator, s, err));
    FR_TRY(fr_size_read(device, "context", &s->context_B, err));
    FR_TRY(fr_size_read(device, "context_deviation", &s->deviation_B, err));
    if (!fr_json_present(&communicators)) return FR_OK;
    FR_TRY(fr_json_object(&communicators, communicator_keys, err));
    FR_TRY(fr_size_read(&communicators, "first", &s->first_B, err));
    FR_TRY(fr_size_read(&communicators, "each", &s->each_B, err));
    return fr_size_read(&communicators, "all_to_all", &s->all_to_all_B, err);
}
