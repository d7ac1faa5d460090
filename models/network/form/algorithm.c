/* A row of the table of algorithms, or the fastest applicable one, priced from the levels. */
#include <string.h>

#include "models/network/comm.h"

static const char *const keys[] = {"form",     "level",     "name",   "latency",
                                   "per_byte", "residuals", "domain", NULL};

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
    struct fr_json latency = fr_json_member(object, "latency"),
                   per_byte = fr_json_member(object, "per_byte");
    price->own_link = fr_json_present(&latency) || fr_json_present(&per_byte);
    if (!price->own_link) return FR_OK;
    FR_TRY(fr_json_get_quantity(object, "latency", true, FR_QUANTITY_TIME, 0, 3600,
                                &price->link.latency_s, err));
    return fr_json_get_quantity(object, "per_byte", true, FR_QUANTITY_INVERSE_RATE, 0, 1,
                                &price->link.s_per_B, err);
}

/* An algorithm that cannot run on this many ranks (a power of two only, say) is replaced by
 * the fastest that can, as MPI libraries do. */
static double time_s(const struct fr_price *price, const struct fr_group *group, double size_B,
                     bool *extrapolated) {
    (void)extrapolated;
    struct fr_collective_args args = fr_group_args(group, size_B);
    const struct fr_collective *row = price->algorithm;
    if (price->own_link) args.inner = args.outer = args.ring = args.rails = price->link;
    return row && row->applicable(&args) ? row->time_s(&args)
                                         : fr_collective_fastest_s(price->op, &args);
}

static void write(const struct fr_price *price, const struct fr_levels *levels,
                  struct fr_json_writer *w) {
    char text[64];
    (void)levels;
    fr_json_add_string(w, "name", price->algorithm ? price->algorithm->name : "auto");
    if (!price->own_link) return;
    fr_json_add_string(
        w, "latency",
        fr_quantity_format(price->link.latency_s, FR_QUANTITY_TIME, text, sizeof text));
    fr_json_add_string(
        w, "per_byte",
        fr_quantity_format(price->link.s_per_B, FR_QUANTITY_INVERSE_RATE, text, sizeof text));
}

static bool by_levels(const struct fr_price *price) {
    return !price->own_link && !price->one_level && !price->domain.stated;
}

const struct fr_form fr_form_algorithm = {
    .name = "algorithm",
    .equation = "of the algorithm, alpha and beta from the levels",
    .source = "see forerun list collectives",
    .read = read,
    .write = write,
    .time_s = time_s,
    .by_levels = by_levels,
};
