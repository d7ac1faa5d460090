/* Devlin et al. 2018: attention in both directions, norms behind the additions, biases, learned positions and segments,
 * a head for masked words; of BertForPreTraining a pooler and the next sentence's two logits besides. */
#include <string.h>

#include "models/workload/family.h"

enum { MOST = FR_FAMILY_SIZE_MAX };

/* A file names the classes that it was saved from, the first one counts; none: the model as it is pre-trained. */
static fr_status read_head(const struct fr_json *config, struct fr_transformer *t,
                           struct fr_error *err) {
    struct fr_json classes = fr_json_member(config, "architectures"),
                   first = fr_json_element(&classes, 0);
    const char *name = "BertForPreTraining";
    if (fr_json_is_string(&first)) FR_TRY(fr_json_text(&first, &name, err));
    t->masked_head = true;
    t->pooler = !strstr(name, "ForMaskedLM");
    return FR_OK;
}

static fr_status read(const struct fr_json *config, struct fr_transformer *t,
                      struct fr_error *err) {
    struct fr_json decoder = fr_json_member(config, "is_decoder");
    bool decodes = false;
    *t = (struct fr_transformer){.tied = true,
                                 .biases = true,
                                 .norm_biases = true,
                                 .positions = true,
                                 .both_ways = true,
                                 .token_types = 2};
    FR_TRY(fr_family_bool(config, "is_decoder", &decodes, err));
    if (decodes) return fr_json_fail(&decoder, err, "such a BERT is not priced yet");
    FR_TRY(fr_family_read_sizes(config, &fr_family_usual_sizes, t, err));
    FR_TRY(fr_family_integer(config, "type_vocab_size", false, MOST, &t->token_types, err));
    FR_TRY(fr_family_dropout(config, "attention_probs_dropout_prob", "hidden_dropout_prob",
                             &t->dropout, err));
    return read_head(config, t, err);
}

const struct fr_family fr_family_bert = {
    .name = "bert",
    .architecture = "BertForMaskedLM",
    .summary = "an encoder alone: attention in both directions, a head for masked words",
    .read = read,
};
