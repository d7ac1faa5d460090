#include "real/validate/program.h"

const char *fr_validate_program(const struct fr_workload *workload,
                                const struct fr_plan *plan) {
    if (workload->transformer.layers) return "pipeline";
    if (plan->method->branches) return "subgraph";
    return plan->layer_tp ? "grid" : "mesh";
}
