/* Published mixtures of experts, as their recipes ran them and from the mesh alone. */
#include "studies/training/unseen.h"

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    extern const char fr_study_mixtures[];
    return fr_unseen_run("mixtures", fr_study_mixtures, r, err);
}

const struct fr_paper fr_paper_mixtures = {
    .name = "mixtures",
    .title = "mixtures of experts by others, as recipes ran them and from the mesh alone",
    .run = run,
    .measured = true,
};
