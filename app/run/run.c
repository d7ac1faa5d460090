#include "app/run/run.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/clashes.h"
#include "app/from/expand.h"
#include "app/outputs.h"
#include "app/words/taken.h"
#include "app/words/wrong_file.h"
#include "app/words/wrong_value.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/file/collect.h"

static fr_status carry_out(const struct fr_verb *verb, struct fr_args *args, int argc,
                           char **argv, struct fr_error *err) {
    fr_status status = fr_args_parse(argc, argv, verb->options, args, err);
    if (status == FR_OK) status = fr_taken(verb, args, err);
    if (status == FR_OK) status = fr_clashes_check(args, err);
    if (status == FR_OK) status = fr_outputs_check(verb, args, err);
    struct fr_app_from from = {0};
    if (status == FR_OK) status = fr_app_from_expand(verb, args, &from, err);
    if (status == FR_OK) status = verb->run(args, err);
    fr_wrong_file(verb, args, &status, err);
    if (status != FR_OK) fr_wrong_value(verb, args, err);
    fr_app_from_free(&from);
    return status;
}

fr_status fr_app_run(const struct fr_verb *verb, int argc, char **argv, struct fr_error *err) {
    struct fr_args *args = fr_calloc(1, sizeof *args);
    if (!args) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = carry_out(verb, args, argc, argv, err);
    free(args);
    if (!fr_collecting() && fflush(stdout) != 0 && status == FR_OK)
        status = fr_fail(err, FR_ERR_IO, "<stdout>", "cannot be written");
    /* Outputs that no print went before; of a command that failed, none is replaced. */
    bool done = status == FR_OK || (status == FR_ERR_INFEASIBLE && !*err->detail);
    if (done || status == FR_ERR_PARTIAL) {
        fr_status released = fr_file_release(err);
        if (released != FR_OK) status = released;
    }
    fr_file_drop();
    return err->status = status;
}
