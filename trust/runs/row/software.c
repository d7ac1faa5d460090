#include "trust/runs/row/software.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/job/release.h"
#include "trust/runs/row/machine.h"

static const char word[] = "runtime", prefix[] = "runtime.", dated[] = "runtime.date";
enum { PREFIX = sizeof prefix - 1 };

/* A runtime as rows name it. */
struct fr_software {
    char
        *named; /* its name or file, then a line for each fact that a row puts before its own */
    struct fr_runtime runtime;
};

/* The newest of a date, of today's or of 2019's, for a generation of devices. */
struct fr_newest {
    bool modern;
    char generation[FR_RUNTIME_NAME], until[16], name[FR_RUNTIME_NAME];
};

bool fr_software_key(const char *key) {
    return strcmp(key, word) == 0 || strncmp(key, prefix, PREFIX) == 0;
}

static fr_status no_memory(struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, NULL, "the runtimes of the runs do not fit in memory");
}

/* The row wins over the file, and --set wins over the row. */
static fr_status put_facts(const struct fr_runs *runs, const struct fr_run_row *row,
                           struct fr_runtime *runtime, struct fr_error *err) {
    for (int i = 0; i < row->n; i++) {
        struct fr_error why = {0};
        if (strncmp(row->item[i].key, prefix, PREFIX) != 0 || !row->item[i].value[0]) continue;
        fr_status status = fr_runtime_set(runtime, row->item[i].key, row->item[i].value, &why);
        if (status == FR_ERR_USAGE)
            return fr_fail(err, FR_ERR_INPUT, row->item[i].key, "%.400s", why.detail);
        if (status != FR_OK && err) *err = why;
        FR_TRY(status);
    }
    for (int i = 0; i < runs->ask.n_sets; i++) {
        char key[160];
        const char *set = runs->ask.sets[i], *equals = strchr(set, '=');
        if (!equals || strncmp(set, prefix, PREFIX) != 0 || equals - set >= (int)sizeof key)
            continue;
        snprintf(key, sizeof key, "%.*s", (int)(equals - set), set);
        FR_TRY(fr_runtime_set(runtime, key, equals + 1, err));
    }
    return FR_OK;
}

static fr_status add(struct fr_runs *runs, const char *name, bool guessed,
                     const struct fr_run_row *row, char *named, struct fr_error *err) {
    struct fr_software **grown =
        fr_realloc(runs->software, (size_t)runs->n_software + 1, sizeof *grown);
    if (grown) runs->software = grown;
    struct fr_software *s = grown ? fr_calloc(1, sizeof *s) : NULL;
    if (!s) {
        free(named);
        return no_memory(err);
    }
    s->named = named;
    fr_status status = fr_runtime_read(name, &s->runtime, err);
    s->runtime.guessed = guessed;
    if (status == FR_OK) status = put_facts(runs, row, &s->runtime, err);
    if (status == FR_OK) {
        runs->software[runs->n_software++] = s;
        return FR_OK;
    }
    fr_runtime_free(&s->runtime);
    free(s->named);
    free(s);
    return status;
}

/* The runtime @p name with what @p row says of it, read where no row before named the same. */
static fr_status read_once(struct fr_runs *runs, const char *name, bool guessed,
                           const struct fr_run_row *row, struct fr_runtime **runtime,
                           struct fr_error *err) {
    struct fr_text named = {0};
    fr_text_addf(&named, "%s%s", name, guessed ? "\n" : "");
    for (int i = 0; i < row->n; i++)
        if (strncmp(row->item[i].key, prefix, PREFIX) == 0 && row->item[i].value[0])
            fr_text_addf(&named, "\n%s=%s", row->item[i].key, row->item[i].value);
    int i = 0;
    if (named.failed) {
        fr_text_free(&named);
        return no_memory(err);
    }
    while (i < runs->n_software && strcmp(runs->software[i]->named, fr_text_get(&named)) != 0)
        i++;
    if (i < runs->n_software)
        fr_text_free(&named);
    else
        FR_TRY(add(runs, name, guessed, row, named.data, err));
    *runtime = &runs->software[i]->runtime;
    return FR_OK;
}

fr_status fr_software_named(struct fr_runs *runs, const struct fr_run_row *row,
                            const char *folder, struct fr_runtime **runtime,
                            struct fr_error *err) {
    const char *name = fr_run_row_get(row, word);
    char path[1024];
    *runtime = NULL;
    if (name && *name)
        name = fr_machine_path(word, name, folder, path, sizeof path);
    else
        name = runs->ask.runtime;
    return name ? read_once(runs, name, false, row, runtime, err) : FR_OK;
}

/* When the software of @p row was out; NULL: not stated. */
static const char *date_of(const struct fr_runs *runs, const struct fr_run_row *row) {
    const char *set = fr_release_date_set(runs->ask.sets, runs->ask.n_sets);
    return set ? set : fr_run_row_get(row, dated);
}

static fr_status newest(struct fr_runs *runs, bool modern, const char *generation,
                        const char *until, const char **name, struct fr_error *err) {
    for (int i = 0; i < runs->n_newest; i++)
        if (runs->newest[i].modern == modern &&
            strcmp(runs->newest[i].generation, generation) == 0 &&
            strcmp(runs->newest[i].until, until) == 0) {
            *name = runs->newest[i].name;
            return FR_OK;
        }
    struct fr_newest *grown =
        fr_realloc(runs->newest, (size_t)runs->n_newest + 1, sizeof *grown);
    if (!grown) return no_memory(err);
    runs->newest = grown;
    struct fr_newest *of = &grown[runs->n_newest];
    *of = (struct fr_newest){.modern = modern};
    snprintf(of->generation, sizeof of->generation, "%s", generation);
    snprintf(of->until, sizeof of->until, "%s", until);
    fr_release_newest(modern, generation, of->until, of->name);
    runs->n_newest++;
    *name = of->name;
    return FR_OK;
}

fr_status fr_software_find(struct fr_runs *runs, const struct fr_run_row *row,
                           const char *folder, bool modern, const char *generation,
                           struct fr_runtime **runtime, struct fr_error *err) {
    const char *name = NULL;
    FR_TRY(fr_software_named(runs, row, folder, runtime, err));
    if (*runtime) return FR_OK;
    const char *until = date_of(runs, row);
    FR_TRY(newest(runs, modern, generation, until ? until : "", &name, err));
    return read_once(runs, name, !until, row, runtime, err);
}

void fr_software_free(struct fr_runs *runs) {
    for (int i = 0; i < runs->n_software; i++) {
        fr_runtime_free(&runs->software[i]->runtime);
        free(runs->software[i]->named);
        free(runs->software[i]);
    }
    free(runs->software);
    free(runs->newest);
    runs->software = NULL;
    runs->newest = NULL;
    runs->n_software = runs->n_newest = 0;
}
