/* Piecewise linear in the message size, one list of segments per level and rank count; between
 * rank counts interpolated linearly in log p and log t; never falling with the size (segment_fit.h). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "models/network/segment_fit.h"

static const char *const keys[] = {"form",      "level",  "message", "fits",
                                   "residuals", "domain", NULL};
static const char *const fit_keys[] = {"ranks", "level", "min", "max", "segments", NULL};
static const char *const segment_keys[] = {"up_to", "latency", "per_byte", NULL};
static const char *const messages[] = {"total", "per_rank", NULL};

static fr_status segment_read(const struct fr_json *node, double above_B,
                              struct fr_segment *segment, struct fr_error *err) {
    struct fr_json up_to = fr_json_member(node, "up_to");
    FR_TRY(fr_json_object(node, segment_keys, err));
    FR_TRY(fr_json_get_quantity(node, "up_to", true, FR_QUANTITY_SIZE, 0, 1e18,
                                &segment->up_to_B, err));
    FR_TRY(fr_json_get_quantity(node, "latency", true, FR_QUANTITY_TIME, 0, 3600,
                                &segment->latency_s, err));
    FR_TRY(fr_json_get_quantity(node, "per_byte", true, FR_QUANTITY_INVERSE_RATE, 0, 1,
                                &segment->s_per_B, err));
    if (segment->up_to_B <= above_B)
        return fr_json_fail(&up_to, err, "must be larger than the segment before");
    return FR_OK;
}

static fr_status fit_read(const struct fr_json *node, const struct fr_levels *levels,
                          struct fr_segment_fit *fit, struct fr_error *err) {
    struct fr_json level = fr_json_member(node, "level"),
                   list = fr_json_member(node, "segments");
    const char *level_name = NULL;
    FR_TRY(fr_json_object(node, fit_keys, err));
    FR_TRY(fr_json_get_integer(node, "ranks", true, 2, FR_RANKS_MAX, &fit->n_ranks, err));
    FR_TRY(fr_json_text(&level, &level_name, err));
    fit->level = fr_levels_find(levels, level_name);
    if (fit->level < 0) return fr_json_fail(&level, err, "names no level of this cluster");
    FR_TRY(
        fr_json_get_quantity(node, "min", true, FR_QUANTITY_SIZE, 0, 1e18, &fit->min_B, err));
    FR_TRY(fr_json_get_quantity(node, "max", true, FR_QUANTITY_SIZE, fit->min_B, 1e18,
                                &fit->max_B, err));
    FR_TRY(fr_json_array(&list, 1, 64, err));
    int count = (int)fr_json_array_length(&list);
    fit->segments = fr_calloc((size_t)count, sizeof *fit->segments);
    if (!fit->segments) return fr_json_fail(node, err, "does not fit in memory");
    for (fit->count = 0; fit->count < count; fit->count++) {
        struct fr_json one = fr_json_element(&list, fit->count);
        double above_B = fit->count ? fit->segments[fit->count - 1].up_to_B : -1;
        FR_TRY(segment_read(&one, above_B, &fit->segments[fit->count], err));
    }
    return FR_OK;
}

static int by_level_and_ranks(const void *x, const void *y) {
    const struct fr_segment_fit *a = x, *b = y;
    if (a->level != b->level) return FR_ORDER(a->level, b->level);
    return FR_ORDER(a->n_ranks, b->n_ranks);
}

static fr_status read(const struct fr_json *object, const struct fr_levels *levels,
                      struct fr_price *price, struct fr_error *err) {
    struct fr_json list = fr_json_member(object, "fits");
    int message = 0;
    FR_TRY(fr_json_object(object, keys, err));
    FR_TRY(fr_json_get_choice(object, "message", true, messages, &message, err));
    FR_TRY(fr_json_array(&list, 1, 1024, err));
    price->per_rank = message == 1;
    int64_t count = fr_json_array_length(&list);
    price->fits = fr_calloc((size_t)count, sizeof *price->fits);
    if (!price->fits) return fr_json_fail(object, err, "does not fit in memory");
    for (price->n_fits = 0; price->n_fits < count;) {
        struct fr_json node = fr_json_element(&list, price->n_fits);
        FR_TRY(fit_read(&node, levels, &price->fits[price->n_fits++], err));
    }
    fr_sort_items(price->fits, (size_t)count, sizeof *price->fits, by_level_and_ranks);
    for (int i = 1; i < price->n_fits; i++)
        if (by_level_and_ranks(&price->fits[i - 1], &price->fits[i]) == 0)
            return fr_json_fail(
                &list, err, "has two entries for %" PRId64 " ranks of level \"%s\"",
                price->fits[i].n_ranks, levels->level[price->fits[i].level].name);
    return FR_OK;
}

static void mark_outside(const struct fr_segment_fit *fit, double message_B,
                         bool *extrapolated) {
    if (message_B < fit->min_B * (1 - 1e-9) || message_B > fit->max_B * (1 + 1e-9))
        *extrapolated = true;
}

static double fit_time_s(const struct fr_segment_fit *fit, double message_B,
                         bool *extrapolated) {
    mark_outside(fit, message_B, extrapolated);
    return fr_segment_fit_s(fit, message_B);
}

/* The level with fits that stands for @p level: itself, else the next above, else the next below, each
 * likewise of one node or of several; else -1. */
static int stands_for(const struct fr_price *price, int level) {
    int found = -1;
    for (int i = price->n_fits - 1; i >= 0; i--) { /* by level, descending */
        int l = price->fits[i].level;
        if ((l == 0) == (level == 0) && (l >= level || found < 0)) found = l;
    }
    return found;
}

static bool measured(const struct fr_price *price, int level) {
    return stands_for(price, level) >= 0;
}

static double time_s(const struct fr_price *price, const struct fr_group *group, double size_B,
                     bool *extrapolated) {
    double message_B = fr_price_message_B(price, group->n_ranks, size_B);
    int level = stands_for(price, group->level), first = 0, last;
    if (level != group->level) *extrapolated = true;
    if (level < 0) return fr_comm_levels_s(price, group, size_B);
    while (first < price->n_fits - 1 && price->fits[first].level != level) first++;
    for (last = first; last + 1 < price->n_fits && price->fits[last + 1].level == level;)
        last++;

    int above = first;
    while (above < last && price->fits[above].n_ranks < group->n_ranks) above++;
    const struct fr_segment_fit *b = &price->fits[above];
    if (b->n_ranks == group->n_ranks) return fit_time_s(b, message_B, extrapolated);
    bool outside = group->n_ranks < price->fits[first].n_ranks || group->n_ranks > b->n_ranks;
    if (outside) *extrapolated = true;
    if (first == last) return fit_time_s(b, message_B, extrapolated);
    if (above == first) b = &price->fits[++above];
    const struct fr_segment_fit *a = &price->fits[above - 1];
    mark_outside(a, message_B, extrapolated);
    mark_outside(b, message_B, extrapolated);
    return fr_segment_fits_s(a, b, (double)group->n_ranks, message_B);
}

static void write_quantity(struct fr_json_writer *w, const char *key, double si,
                           fr_quantity quantity, bool exact) {
    char text[64];
    fr_json_add_string(w, key,
                       exact ? fr_quantity_write(si, quantity, text, sizeof text)
                             : fr_quantity_format(si, quantity, text, sizeof text));
}

static void write(const struct fr_price *price, const struct fr_levels *levels,
                  struct fr_json_writer *w) {
    fr_json_add_string(w, "message", messages[price->per_rank]);
    fr_json_add_array(w, "fits");
    for (int i = 0; i < price->n_fits; i++) {
        const struct fr_segment_fit *fit = &price->fits[i];
        fr_json_begin_object(w);
        fr_json_add_integer(w, "ranks", fit->n_ranks);
        fr_json_add_string(w, "level", levels->level[fit->level].name);
        write_quantity(w, "min", fit->min_B, FR_QUANTITY_SIZE, true);
        write_quantity(w, "max", fit->max_B, FR_QUANTITY_SIZE, true);
        fr_json_add_array(w, "segments");
        for (int k = 0; k < fit->count; k++) {
            const struct fr_segment *segment = &fit->segments[k];
            fr_json_begin_object(w);
            write_quantity(w, "up_to", segment->up_to_B, FR_QUANTITY_SIZE, true);
            write_quantity(w, "latency", segment->latency_s, FR_QUANTITY_TIME, false);
            write_quantity(w, "per_byte", segment->s_per_B, FR_QUANTITY_INVERSE_RATE, false);
            fr_json_end_object(w);
        }
        fr_json_end_array(w);
        fr_json_end_object(w);
    }
    fr_json_end_array(w);
}

const struct fr_form fr_form_segments = {
    .name = "segments",
    .equation = "t = latency + per_byte m in each segment of m, per level and p",
    .source = "measured by forerun calibrate, fitted by forerun fit",
    .read = read,
    .write = write,
    .time_s = time_s,
    .measured = measured,
};
