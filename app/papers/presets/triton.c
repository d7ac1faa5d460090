/* flash_1, fused attention of the first generation, as MPT's runs have it: written in Triton (mosaicml/llm-foundry,
 * scripts/train/benchmarking/submit_benchmarks.py: attn_impl triton).
 *
 * Its kernels nobody has published alone.  Sequences of the runs go from 512 to 65536 tokens, and with them attention
 * from a twentieth of the work to two thirds: the share of the peak that all of a device's runs say together, all else
 * held.  It is a calibration on those rows. */
#include <stdio.h>
#include <stdlib.h>

#include "app/papers/presets/rows.h"
#include "app/papers/training/table.h"
#include "base/alloc.h"
#include "base/data.h"

static const char file[] = "training/llmfoundry_mpt_fsdp.csv";

static fr_status fit(struct fr_reproduction *r, const char *preset,
                     const struct fr_table_set *set, struct fr_cluster *cluster,
                     struct fr_tune_result *tuned, struct fr_error *err) {
    struct fr_tune_options options = {.rows_max = 100, .threads = 1};
    double said = cluster->device.attention.flash_1;
    char note[80];
    options.held = ~((uint32_t)1 << fr_coefficient_find("flash_1_attention"));
    cluster->device.attention.flash_1 = fr_device_flash(&cluster->device, FR_FLASH_2) / 2;
    FR_TRY(fr_tune(cluster, set->use, set->n, &options, tuned, err));
    snprintf(note, sizeof note, "%d runs: a calibration on them", set->n);
    fr_presets_add(r, preset, "attention.flash_1", tuned->cluster.device.attention.flash_1,
                   said, "1", true, note);
    return FR_OK;
}

fr_status fr_presets_triton(struct fr_reproduction *r, const char *preset, const char *device,
                            struct fr_error *err) {
    const struct fr_table_selection want = {.dtype = "bf16", .device = device};
    struct fr_table_set set = {0};
    struct fr_cluster cluster = {0};
    char path[512];
    if (!fr_data_find(file, path, sizeof path)) return FR_OK;
    struct fr_tune_result *tuned = fr_calloc(1, sizeof *tuned);
    fr_status status = tuned ? fr_table_cluster(preset, &cluster, err)
                             : fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK) status = fr_table_read(file, &set, err);
    if (status == FR_OK) fr_table_keep(&set, &want);
    if (status == FR_OK && set.n > 0) status = fit(r, preset, &set, &cluster, tuned, err);
    fr_table_free(&set);
    fr_cluster_free(&cluster);
    free(tuned);
    return status;
}
