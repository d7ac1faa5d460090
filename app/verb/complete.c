/* For completion in a shell: what may stand next. */
#include "app/complete.h"
#include "app/load.h"
#include "app/verb.h"

static const struct fr_option options[] = {FR_OPTION_HELP, FR_OPTION_END};

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_text text = {0};
    fr_complete(&text, args->word, args->n_words);
    return fr_app_print(&text, err);
}

const struct fr_verb fr_verb_complete = {
    .name = "complete",
    .summary = "words that may stand next on a command line, for completion in a shell",
    .usage = "-- [WORD]...",
    .details = "The last word is the one to complete.  Example:\n"
               "  forerun complete -- search --cluster dgx\n",
    .options = options,
    .run = run,
};
