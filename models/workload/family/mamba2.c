/* Dao and Gu 2024. */
#include "models/workload/family.h"

const struct fr_family fr_family_mamba2 = {
    .name = "mamba2",
    .architecture = "Mamba2ForCausalLM",
    .summary = "known, not priced: state-space (Mamba-2) blocks",
    .refused = "state-space (Mamba-2) blocks",
    .refused_at = "state_size",
};
