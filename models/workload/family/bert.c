/* Devlin et al. 2018. */
#include "models/workload/family.h"

const struct fr_family fr_family_bert = {
    .name = "bert",
    .architecture = "BertForMaskedLM",
    .summary =
        "known, not priced: attention in both directions and the masked language model's head",
    .refused = "attention in both directions and the masked language model's head",
    .refused_at = "model_type",
};
