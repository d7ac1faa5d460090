#include "real/apps/mesh/words.h"

#include <math.h>

#include "real/apps/random.h"

enum { STREAM_TABLE = 4, STREAM_LOGITS = 1004 };

int64_t fr_words_size(const struct fr_unit *u) { return (int64_t)u->words * u->block.hidden; }

void fr_words_fill(const struct fr_real *real, const struct fr_unit *u, bool logits) {
    bool own = logits && !real->run->workload->transformer.tied;
    int h = u->block.hidden;
    fr_fill_normal(real->k, real->run->seed, own ? STREAM_LOGITS : STREAM_TABLE,
                   (int64_t)u->tp_rank * u->words, u->words, 0, h, h, 1 / sqrt(h), u->table);
}

int fr_words_matrices(const struct fr_real *real, const struct fr_unit *u,
                      struct fr_unit_matrix *out, int capacity) {
    (void)real, (void)u, (void)out, (void)capacity;
    return 0;
}
