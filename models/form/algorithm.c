/* A row of the table of algorithms, or the fastest applicable one, priced from the levels. */
#include <string.h>

#include "models/comm.h"

static const char *const keys[] = {"form", "name", NULL};

static fr_status read(const struct fr_json *object, const struct fr_levels *levels,
                      struct fr_price *price, struct fr_error *err) {
    const char *names[32] = {"auto"};
    const struct fr_collective *rows[32] = {NULL};
    int count = 1, which = 0;
    (void)levels;
    FR_TRY(fr_json_object(object, keys, err));
    for (const struct fr_collective *const *row = fr_collectives; *row && count < 31; row++)
        if ((*row)->op == price->op) {
            rows[count] = *row;
            names[count++] = (*row)->name;
        }
    FR_TRY(fr_json_get_choice(object, "name", true, names, &which, err));
    price->algorithm = rows[which];
    return FR_OK;
}

/* An algorithm that cannot run on this many ranks (a power of two only, say) is replaced by
 * the fastest that can, as MPI libraries do. */
static double time_s(const struct fr_price *price, const struct fr_group *group, double size_B,
                     bool *extrapolated) {
    (void)extrapolated;
    struct fr_collective_args args = fr_group_args(group, size_B);
    double time_s = 0;
    if (price->algorithm && price->algorithm->applicable(&args))
        return price->algorithm->time_s(&args);
    fr_collective_fastest(price->op, &args, &time_s);
    return time_s;
}

const struct fr_form fr_form_algorithm = {
    .name = "algorithm",
    .equation = "of the algorithm, alpha and beta from the levels",
    .source = "see forerun list collectives",
    .read = read,
    .time_s = time_s,
};
