#include "app/training_options.h"

#include <stdio.h>

/* The i-th of n, of one all the last. */
static fr_status one_of(const struct fr_args *args, const char *option, int i, int n,
                        const char **value, struct fr_error *err) {
    const char *values[FR_ARGS_MAX];
    char where[32];
    int given = fr_args_all(args, option, values);
    *value = given > 1 && n > 1 ? values[given == n ? i : 0] : fr_args_get(args, option);
    snprintf(where, sizeof where, "--%s", option);
    if (given <= 1 || n == 1 || given == n) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, where,
                   "is given %d times; expected once, or for each of %d", given, n);
}

fr_status fr_app_training_of(const struct fr_args *args, int i, int n,
                             struct fr_training *training, struct fr_error *err) {
    struct fr_training_words words = {.tokens = fr_args_get(args, "tokens"),
                                      .samples = fr_args_get(args, "samples"),
                                      .mtbf = fr_args_get(args, "mtbf"),
                                      .storage = fr_args_get(args, "storage"),
                                      .checkpoint_size = fr_args_get(args, "checkpoint-size"),
                                      .restart = fr_args_get(args, "restart")};
    FR_TRY(one_of(args, "price", i, n, &words.price, err));
    FR_TRY(one_of(args, "carbon", i, n, &words.carbon, err));
    FR_TRY(one_of(args, "pue", i, n, &words.pue, err));
    return fr_training_read(&words, training, err);
}

fr_status fr_app_training(const struct fr_args *args, struct fr_training *training,
                          struct fr_error *err) {
    return fr_app_training_of(args, 0, 1, training, err);
}
