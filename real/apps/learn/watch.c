/* Messages of a rank on the mesh, handed to observe.c as its codec encodes them. */
#include "real/apps/learn/observe.h"

static bool is_coded(const struct fr_coded_watch *w, int m) {
    const bool *epilogue = w->mesh->before_reads;
    int chunk = (w->chunk->number - 1) / w->mesh->stages;
    return !epilogue || epilogue[chunk * w->mesh->n_micro + m];
}

/* Micro-batches are encoded in turn, those that go compressed. */
static void tell(struct fr_codec_watcher *watcher, struct fr_real *real,
                 const struct fr_real_codec *c, const void *matrix, const void *packet) {
    struct fr_coded_watch *w = (struct fr_coded_watch *)watcher; /* its first member */
    const struct fr_mesh_micro *micro = w->chunk->micro;
    struct fr_observed *o = &w->observed;
    while (w->next < o->n_micro && !is_coded(w, w->next)) w->next++;
    if (w->next >= o->n_micro) return;
    int m = w->next++;
    bool before = m > 0 && is_coded(w, m - 1);
    fr_real_codec_decode(real, c, packet, 1, 0, o->room);
    fr_observe(real->k, o, m, matrix, o->room, micro[m].kept[0].x,
               before ? micro[m - 1].kept[0].x : NULL);
}

fr_status fr_coded_watch_open(const struct fr_real *real, struct fr_coded_watch *w,
                              struct fr_error *err) {
    struct fr_mesh_state *mesh = real->state;
    struct fr_mesh_chunk *c = &mesh->chunk[mesh->n_chunks - 1];
    *w = (struct fr_coded_watch){.watcher = {tell}, .mesh = mesh};
    if (c->first || !fr_real_codec_is_open(&c->codec) || real->run->plan->tp > 1) return FR_OK;
    w->chunk = c;
    return fr_observed_open(real->k, mesh->n_micro, c->unit[0].in, mesh->columns, &w->observed,
                            err);
}

void fr_coded_watch_close(struct fr_coded_watch *w) {
    fr_observed_close(&w->observed);
    *w = (struct fr_coded_watch){0};
}

void fr_coded_watch_begin(const struct fr_real *real, struct fr_coded_watch *w) {
    if (!w->chunk) return;
    w->next = 0;
    w->chunk->codec.watcher = &w->watcher;
    fr_observe_begin(real->k, &w->observed);
}

void fr_coded_watch_end(const struct fr_real *real, struct fr_coded_watch *w) {
    if (!w->chunk) return;
    w->chunk->codec.watcher = NULL;
    if (w->next > 0)
        fr_observe_end(real->k, &w->observed); /* nothing goes coded in a warm-up */
}
