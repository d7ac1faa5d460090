/** @file
 *  --from FILE: a trainer's script, configuration or log as the options that say the same.
 *
 *  Before a verb runs, what the file says is put in front of what the line says, which so goes before it; every verb
 *  that has the option reads files alike.  --plan FILE takes a trainer's file, too: its plan alone. */
#ifndef FR_APP_FROM_EXPAND_H
#define FR_APP_FROM_EXPAND_H

#include "app/options.h"
#include "app/verb.h"
#include "trust/runs/runs.h"

#define FR_OPTION_FROM                                                                         \
    {"from", "FILE",                                                                           \
     "plan and model of a trainer's script, configuration or log: Megatron-LM, NeMo, "         \
     "torchtitan, DeepSpeed, nanotron, MaxText, OLMo, Hugging Face; --set goes before",        \
     0},                                                                                       \
        FR_OPTION_IGNORE
#define FR_OPTION_IGNORE                                                                       \
    {                                                                                          \
        "ignore", "NAME",                                                                      \
            "a setting of a trainer's file to leave out of account; may be repeated", 0        \
    }

/** Words that options point to. */
struct fr_app_from {
    char **word;
    int n;
};

/** Replace --from and a trainer's --plan by what their files say.  Free with fr_app_from_free, also on error.
 *  @return FR_OK; FR_ERR_INPUT; FR_ERR_USAGE; FR_ERR_NOMEM. */
fr_status fr_app_from_expand(const struct fr_verb *verb, struct fr_args *args,
                             struct fr_app_from *from, struct fr_error *err);
void fr_app_from_free(struct fr_app_from *from);

/** Sentences of @p stated to standard error. */
void fr_app_tell(const struct fr_text *stated);

#endif
