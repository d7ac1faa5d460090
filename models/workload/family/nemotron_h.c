/* NVIDIA 2025: layers of Mamba-2, of attention and of MLPs in an order that the file gives. */
#include "models/workload/family.h"

const struct fr_family fr_family_nemotron_h = {
    .name = "nemotron_h",
    .architecture = "NemotronHForCausalLM",
    .summary = "known, not priced: state-space (Mamba-2) blocks",
    .refused = "state-space (Mamba-2) blocks",
    .refused_at = "hybrid_override_pattern",
};
