/* Tables of collectives, a measurement a row (calibrate/samples/collection.h). */
#include <stdio.h>

#include "calibrate/samples/collection.h"
#include "calibrate/samples/import_text.h"

static fr_status read(struct fr_import *in, struct fr_error *err) {
    size_t first = in->samples->n_source;
    struct fr_text csv = {0};
    fr_import_as_csv(in, &csv);
    fr_status status = csv.failed ? FR_ERR_NOMEM
                                  : fr_collection_parse(fr_text_get(&csv), csv.length, in->name,
                                                        in->samples, &in->n_rows, err);
    fr_text_free(&csv);
    if (status != FR_OK) return status;
    in->has_sources = true;
    for (size_t i = first; i < in->samples->n_source; i++) {
        struct fr_sample_source *s = &in->samples->source[i];
        if (in->given.system) snprintf(s->system, sizeof s->system, "%s", in->given.system);
        if (in->given.setup) snprintf(s->setup, sizeof s->setup, "%s", in->given.setup);
        fr_import_clean(s);
    }
    return FR_OK;
}

const struct fr_importer fr_importer_collectives = {
    .name = "collectives",
    .spelling = "collectives",
    .reads = "CSV tables: op, ranks, nodes, size_B, time_s, system, library, setup",
    .read = read,
};
