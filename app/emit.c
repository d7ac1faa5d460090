#include "app/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file/collect.h"
#include "base/script/script.h"
#include "base/text/meant.h"

static const char sbatch[] = "sbatch";

static fr_status unknown(const char *word, struct fr_error *err) {
    const char *known[16] = {sbatch};
    char tail[320];
    for (int i = 0; fr_emitters[i] && i < 14; i++) known[i + 1] = fr_emitters[i]->name;
    return fr_fail(err, FR_ERR_USAGE, "--emit", "unknown \"%.40s\"%s", word,
                   fr_meant_tail(word, known, tail, sizeof tail));
}

/* One of the words, once. */
static fr_status take(const char *word, struct fr_app_emit *emit, struct fr_error *err) {
    const struct fr_emitter *to = fr_emitter_find(word);
    bool slurm = strcmp(word, sbatch) == 0;
    if (!to && !slurm) return unknown(word, err);
    if ((to && emit->to) || (slurm && emit->slurm))
        return fr_fail(err, FR_ERR_USAGE, "--emit",
                       "is for one framework, alone or in a job script: sbatch,megatron");
    if (to) emit->to = to;
    emit->slurm = emit->slurm || slurm;
    return FR_OK;
}

fr_status fr_app_emit_read(const struct fr_args *args, struct fr_app_emit *emit,
                           struct fr_error *err) {
    const char *at = fr_args_get(args, "emit");
    *emit = (struct fr_app_emit){.to = NULL};
    while (at) {
        char word[64];
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        FR_TRY(take(word, emit, err));
        at = at[length] ? at + length + 1 : NULL;
    }
    if (fr_app_emits(emit) && fr_args_has(args, "csv"))
        return fr_fail(err, FR_ERR_USAGE, "--emit",
                       "prints a script, or with --json its lines");
    if (!emit->to && emit->slurm && fr_args_has(args, "json"))
        return fr_fail(err, FR_ERR_USAGE, "--emit", "with --json names a framework");
    return FR_OK;
}

/* ---- scripts -------------------------------------------------------------------------------- */

static fr_status script(const struct fr_app_emit *emit, const struct fr_job *job,
                        const struct fr_emitted *e, struct fr_text *text,
                        struct fr_error *err) {
    struct fr_text head = {0}, line = {0};
    if (!emit->slurm) {
        fr_emit_script(text, e, NULL);
        return FR_OK;
    }
    fr_status status = fr_emit_slurm(job, e->out, &head, &line, err);
    const struct fr_emit_launch launch = {fr_text_get(&head), fr_text_get(&line)};
    if (status == FR_OK) fr_emit_script(text, e, &launch);
    fr_text_free(&head);
    fr_text_free(&line);
    return status;
}

static fr_status one(const struct fr_app_emit *emit, const struct fr_job *job,
                     const struct fr_outcome *plan, struct fr_json_writer *w,
                     struct fr_text *text, struct fr_emitted *e, struct fr_error *err) {
    *e = (struct fr_emitted){.job = plan->job ? plan->job : job, .out = plan};
    if (emit->to) FR_TRY(fr_emit(emit->to, job, plan, e, err));
    if (!w) return script(emit, job, e, text, err);
    fr_emit_put(w, e);
    return FR_OK;
}

static fr_status scripts(const struct fr_app_emit *emit, const struct fr_job *job,
                         const struct fr_outcome *const *plans, size_t n, struct fr_emitted *e,
                         struct fr_text *text, struct fr_error *err) {
    fr_text_addf(text, "#!/bin/bash\n");
    if (emit->able) fr_script_comment(text, "of what %s can run the best", emit->to->framework);
    if (n == 1) return one(emit, job, plans[0], NULL, text, e, err);
    fr_script_comment(text, "one plan of %zu: FORERUN_PLAN=2 bash ...", n);
    fr_text_addf(text, "case ${FORERUN_PLAN:-1} in\n");
    for (size_t i = 0; i < n; i++) {
        fr_text_addf(text, "%zu)\n", i + 1);
        FR_TRY(one(emit, job, plans[i], NULL, text, e, err));
        fr_text_addf(text, ";;\n");
    }
    fr_text_addf(text, "esac\n");
    return FR_OK;
}

static fr_status documents(const struct fr_app_emit *emit, const struct fr_job *job,
                           const struct fr_outcome *const *plans, size_t n,
                           struct fr_emitted *e, struct fr_text *text, struct fr_error *err) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/emit/1");
    fr_json_add_array(&w, "plans");
    for (size_t i = 0; i < n; i++) FR_TRY(one(emit, job, plans[i], &w, text, e, err));
    fr_json_end_array(&w);
    fr_json_end_object(&w);
    return FR_OK;
}

/* Say once for each script if it is for other software than its plan was priced with. */
static void note(const struct fr_app_emit *emit, const struct fr_job *job,
                 const struct fr_outcome *const *plans, size_t n) {
    const char *stated = "";
    for (size_t i = 0; emit->to && i < n; i++) {
        const char *runtime = (plans[i]->job ? plans[i]->job : job)->cluster.runtime;
        if (!*runtime || strcmp(runtime, stated) == 0 || fr_emitter_of(emit->to, runtime))
            continue;
        stated = runtime;
        fr_note("forerun: priced for %s, written for %s\n", runtime,
                emit->to->framework);
    }
}

fr_status fr_app_emit(const struct fr_app_emit *emit, const struct fr_job *job,
                      const struct fr_outcome *const *plans, size_t n, bool json,
                      struct fr_text *text, struct fr_error *err) {
    if (n > 1 && emit->slurm)
        return fr_fail(err, FR_ERR_USAGE, "--emit",
                       "a job script is for one plan: --top 1, or the framework alone");
    struct fr_emitted *e = fr_calloc(1, sizeof *e);
    if (!e) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    fr_status status = (json ? documents : scripts)(emit, job, plans, n, e, text, err);
    free(e);
    if (status != FR_OK)
        fr_text_free(text);
    else
        note(emit, job, plans, n);
    return status;
}
