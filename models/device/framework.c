#include "models/device/framework.h"

#include "models/device/size_read.h"

static const char *const framework_keys[] = {"stage_buffers",
                                             "layer_copies",
                                             "stage_messages",
                                             "whole_messages",
                                             "gradient_copy",
                                             "reduce_buffer",
                                             "step_copy",
                                             "update_traffic",
                                             "reduce_traffic",
                                             "wide_shards",
                                             "kept_logits",
                                             "norm_traffic",
                                             "unfused",
                                             "casts",
                                             "frees_gradients",
                                             "update_rate",
                                             "kernel_gap",
                                             "spared_kernels",
                                             NULL};

fr_status fr_framework_read(const struct fr_json *device, struct fr_framework *f,
                            struct fr_error *err) {
    struct fr_json object = fr_json_member(device, "framework");
    FR_TRY(
        fr_json_get_number(device, "dummy_gradients", false, 0, 2, &f->dummy_gradients, err));
    FR_TRY(fr_json_get_number(device, "gathers", false, 0, 1, &f->gathers, err));
    FR_TRY(fr_size_read(device, "workspace", &f->workspace_B, err));
    FR_TRY(fr_size_read(device, "grouped_workspace", &f->grouped_workspace_B, err));
    if (!fr_json_present(&object)) return FR_OK;
    FR_TRY(fr_json_object(&object, framework_keys, err));
    FR_TRY(
        fr_json_get_number(&object, "stage_buffers", false, 0, 1000, &f->stage_buffers, err));
    FR_TRY(fr_json_get_number(&object, "layer_copies", false, 0, 100, &f->layer_copies, err));
    FR_TRY(
        fr_json_get_number(&object, "stage_messages", false, 0, 100, &f->stage_messages, err));
    FR_TRY(fr_json_get_number(&object, "whole_messages", false, 0, 1, &f->whole_messages, err));
    FR_TRY(fr_json_get_number(&object, "wide_shards", false, 0, 1, &f->wide_shards, err));
    FR_TRY(fr_json_get_number(&object, "kept_logits", false, 0, 1, &f->saved_logits, err));
    FR_TRY(fr_json_get_number(&object, "norm_traffic", false, 0, 100, &f->norm_traffic, err));
    FR_TRY(fr_json_get_number(&object, "unfused", false, 0, 1, &f->unfused, err));
    FR_TRY(fr_json_get_number(&object, "casts", false, 0, 1, &f->casts, err));
    FR_TRY(
        fr_json_get_number(&object, "frees_gradients", false, 0, 1, &f->frees_gradients, err));
    FR_TRY(fr_json_get_number(&object, "update_rate", false, 0, 1, &f->update_rate, err));
    FR_TRY(fr_json_get_number(&object, "spared_kernels", false, 0, 8, &f->spared_kernels, err));
    FR_TRY(fr_json_get_quantity(&object, "kernel_gap", false, FR_QUANTITY_TIME, 0, 3600,
                                &f->kernel_gap_s, err));
    FR_TRY(fr_size_read(&object, "gradient_copy", &f->gradient_copy_B, err));
    FR_TRY(fr_size_read(&object, "reduce_buffer", &f->reduce_buffer_B, err));
    FR_TRY(fr_size_read(&object, "update_traffic", &f->update_traffic_B, err));
    FR_TRY(fr_size_read(&object, "reduce_traffic", &f->reduce_traffic_B, err));
    return fr_size_read(&object, "step_copy", &f->step_copy_B, err);
}
