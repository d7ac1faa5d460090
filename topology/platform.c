#include "topology/platform.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "topology/route.h"

struct writer {
    const struct fr_levels *levels;
    const struct fr_platform *platform;
    struct fr_text *text;
    uint8_t *written; /* [links] */
};

static int64_t slot_of(const struct writer *w, int64_t rank) {
    return w->platform->slot ? w->platform->slot[rank] : rank;
}

static void add_host(struct writer *w, int64_t rank) {
    const struct fr_platform *p = w->platform;
    fr_text_addf(w->text, "<host id=\"rank%" PRId64 "\" speed=\"%.17gf\" core=\"%d\"", rank,
                 p->speed_flop_per_s, p->cores);
    if (isnan(p->idle_W)) {
        fr_text_addf(w->text, "/>\n");
        return;
    }
    /* Idle, with one core just begun, and with all cores busy. */
    fr_text_addf(w->text,
                 "><prop id=\"wattage_per_state\" value=\"%.17g:%.17g:%.17g\"/>"
                 "<prop id=\"wattage_off\" value=\"0\"/></host>\n",
                 p->idle_W, p->idle_W, p->all_cores_W);
}

static void add_link_name(struct writer *w, int64_t link) {
    char name[64];
    fr_escape_xml(w->text, fr_link_name(w->levels, link, name, sizeof name));
}

static void add_links(struct writer *w, int64_t a, int64_t b) {
    int64_t links[FR_ROUTE_MAX];
    int n = fr_route(w->levels, slot_of(w, a), slot_of(w, b), links);
    for (int h = 0; h < n; h++) {
        if (w->written[links[h]]) continue;
        struct fr_link link = fr_link_at(w->levels, links[h]);
        w->written[links[h]] = 1;
        fr_text_addf(w->text, "<link id=\"");
        add_link_name(w, links[h]);
        fr_text_addf(w->text,
                     "\" bandwidth=\"%.17gBps\" latency=\"%.17gs\" "
                     "sharing_policy=\"SHARED\"/>\n",
                     link.rate_B_per_s, link.latency_s);
    }
}

static void add_route(struct writer *w, int64_t a, int64_t b) {
    int64_t links[FR_ROUTE_MAX];
    int n = fr_route(w->levels, slot_of(w, a), slot_of(w, b), links);
    fr_text_addf(w->text,
                 "<route src=\"rank%" PRId64 "\" dst=\"rank%" PRId64 "\" symmetrical=\"NO\">",
                 a, b);
    for (int h = 0; h < n; h++) {
        fr_text_addf(w->text, "<link_ctn id=\"");
        add_link_name(w, links[h]);
        fr_text_addf(w->text, "\"/>");
    }
    fr_text_addf(w->text, "</route>\n");
}

static void for_each_pair(struct writer *w, void (*add)(struct writer *, int64_t, int64_t)) {
    const struct fr_platform *p = w->platform;
    for (int64_t k = 0; k < p->n_pairs; k++) add(w, p->pairs[k][0], p->pairs[k][1]);
    for (int64_t a = 0; p->n_pairs < 0 && a < p->n_ranks; a++)
        for (int64_t b = 0; b < p->n_ranks; b++)
            if (a != b) add(w, a, b);
}

fr_status fr_platform_write(const struct fr_levels *levels, const struct fr_platform *platform,
                            struct fr_text *text, struct fr_error *err) {
    struct writer w = {levels, platform, text, NULL};
    if (platform->n_ranks > fr_levels_capacity(levels))
        return fr_fail(err, FR_ERR_INPUT, platform->name,
                       "holds %" PRId64 " ranks, %" PRId64 " are asked for",
                       fr_levels_capacity(levels), platform->n_ranks);
    if (platform->n_pairs < 0 && platform->n_ranks > FR_PLATFORM_RANKS_MAX)
        return fr_fail(err, FR_ERR_INPUT, platform->name,
                       "%" PRId64
                       " ranks are too many to write every pair's route; at most %d: "
                       "--ranks %d",
                       platform->n_ranks, FR_PLATFORM_RANKS_MAX, FR_PLATFORM_RANKS_MAX);
    w.written = fr_calloc((size_t)fr_links_count(levels) + 1, 1);
    if (!w.written)
        return fr_fail(err, FR_ERR_NOMEM, NULL, "the platform does not fit in memory");
    fr_text_addf(text, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                       "\"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n"
                       "<zone id=\"world\" routing=\"Full\">\n");
    for (int64_t r = 0; r < platform->n_ranks; r++) add_host(&w, r);
    for_each_pair(&w, add_links);
    for_each_pair(&w, add_route);
    fr_text_addf(text, "</zone>\n</platform>\n");
    free(w.written);
    return text->failed
               ? fr_fail(err, FR_ERR_NOMEM, NULL, "the platform does not fit in memory")
               : FR_OK;
}
