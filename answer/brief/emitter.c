#include "answer/brief/emitter.h"

#include <stdlib.h>
#include <string.h>

#include "answer/emit.h"
#include "base/alloc.h"

static bool can_emit(const struct fr_emitter *to, const struct fr_job *job,
                     const struct fr_outcome *out, struct fr_emitted *e) {
    struct fr_error err = {0};
    *e = (struct fr_emitted){.job = job, .out = out};
    return fr_emit(to, job, out, e, &err) == FR_OK;
}

const char *fr_brief_emitter(const struct fr_job *job, const struct fr_outcome *out) {
    static const char *const usual = "megatron";
    struct fr_emitted *e = fr_calloc(1, sizeof *e);
    const char *word = NULL;
    if (!e || out->plan.forward) {
        free(e);
        return NULL;
    }
    size_t longest = 0; /* "megatron-bridge" before "megatron" */
    for (int i = 0; fr_emitters[i]; i++) {
        const struct fr_emitter *to = fr_emitters[i];
        const size_t length = strlen(to->runtimes);
        if (length <= longest || !fr_emitter_of(to, job->cluster.runtime)) continue;
        if (!can_emit(to, job, out, e)) continue;
        longest = length;
        word = to->name;
    }
    if (!word && can_emit(fr_emitter_find(usual), job, out, e)) word = usual;
    free(e);
    if (word) return word;
    struct fr_text head = {0}, line = {0};
    if (fr_emit_slurm(job, out, &head, &line, NULL) == FR_OK) word = "sbatch";
    fr_text_free(&head);
    fr_text_free(&line);
    return word;
}
