/* flash_1, fused attention of the first generation, as MPT's runs have it: written in Triton (mosaicml/llm-foundry,
 * scripts/train/benchmarking/submit_benchmarks.py: attn_impl triton).
 *
 * Its kernels nobody has published alone.  Sequences of the runs go from 512 to 65536 tokens, and with them attention
 * from a twentieth of the work to two thirds: the share of the peak that all of a device's runs say together, all else
 * held.  It is a calibration on those rows. */
#include <stdio.h>

#include "studies/presets/runs.h"

static fr_status fit(struct fr_reproduction *r, const char *preset,
                     const struct fr_table_set *runs, struct fr_cluster *cluster,
                     struct fr_error *err) {
    static const char *const names[] = {"flash_1_attention", NULL};
    double said = cluster->device.attention.flash_1;
    struct fr_device device;
    char note[80];
    double sigma;
    cluster->device.attention.flash_1 = fr_device_flash(&cluster->device, FR_FLASH_2) / 2;
    FR_TRY(fr_presets_tune(cluster, runs, names, &device, &sigma, NULL, err));
    snprintf(note, sizeof note, "%d runs: a calibration on them", runs->n);
    fr_presets_add(r, preset, "attention.flash_1", device.attention.flash_1, said, "1", true,
                   note);
    fr_presets_add_width(r, preset, "attention.flash_1", sigma,
                         cluster->widths.sigma[FR_VALUE_FLASH_1][FR_BF16], FR_PRESETS_LEFT);
    return FR_OK;
}

fr_status fr_presets_triton(struct fr_reproduction *r, const char *preset, const char *device,
                            struct fr_error *err) {
    const struct fr_table_selection want = {.dtype = "bf16", .device = device};
    const struct fr_presets_runs from = {
        .file = "training/llmfoundry_mpt_fsdp.csv", .selection = &want, .fit = fit};
    return fr_presets_from_runs(r, preset, &from, err);
}
