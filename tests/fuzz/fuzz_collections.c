/* Any table under the name of one that others published is samples that can be written and read again, or is
 * refused with its place. */
#include "calibrate/samples/collection.h"
#include "calibrate/samples/import.h"
#include "tests/fuzz/fuzz.h"

static const char *const names[] = {"osu_allreduce_cloud_study.csv",
                                    "osu_shm8260_9mpis.csv",
                                    "osu_bcast_reduce_epyc_algorithms.csv",
                                    "vtrain_nccl_allreduce_lut.csv",
                                    "deepbench_allreduce.csv",
                                    "rccl_mi325x_1to8nodes.csv",
                                    "mlengineering_allreduce.csv"};

/* Each leads to the one file of the input. */
static const char *folder_of(const char *file) {
    static bool made;
    const char *folder = fr_fuzz_folder();
    for (size_t i = 0; i < sizeof names / sizeof *names && !made; i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FR_FUZZ_REQUIRE(symlink(file, path) == 0);
    }
    made = true;
    return folder;
}

FR_FUZZ_TEXT(text, size) {
    struct fr_samples samples = {0}, back = {0};
    struct fr_text lines = {0};
    struct fr_error err = {0};
    const char *folder = folder_of(fr_fuzz_file(text, size));
    if (fr_collections_read(folder, &samples, &err) == FR_OK) {
        fr_import_write(&samples, &lines);
        fr_status status =
            fr_samples_parse(fr_text_get(&lines), lines.length, "back", &back, &err);
        if (status != FR_OK) fprintf(stderr, "%s: %s\n", err.where, err.detail);
        FR_FUZZ_REQUIRE(status == FR_OK && back.n_collective == samples.n_collective);
    } else
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_samples_free(&samples);
    fr_samples_free(&back);
    fr_text_free(&lines);
}
