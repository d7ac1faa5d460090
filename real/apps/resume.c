#include "real/apps/resume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/journal/journal.h"
#include "base/journal/keep.h"

/* OpenBLAS has these in its library but, on Debian, not in cblas.h for every variant. */
char *openblas_get_config(void);
char *openblas_get_corename(void);

/* ---- machine --------------------------------------------------------------------------------- */

static void find_processor(char *out, size_t capacity) {
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, capacity, "unknown processor");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0) continue;
        snprintf(out, capacity, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
}

/* Over the names of all hosts in order of rank. */
static fr_status hash_hosts(uint64_t *hash, struct fr_error *err) {
    char name[MPI_MAX_PROCESSOR_NAME] = "", *all = NULL;
    int length = 0, rank = 0, n_ranks = 1;
    FR_MPI_TRY(MPI_Get_processor_name(name, &length));
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    FR_MPI_TRY(MPI_Comm_size(MPI_COMM_WORLD, &n_ranks));
    all = fr_calloc((size_t)n_ranks, sizeof name);
    if (!all) return fr_fail(err, FR_ERR_NOMEM, NULL, "names of %d hosts", n_ranks);
    int code =
        MPI_Gather(name, sizeof name, MPI_CHAR, all, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    *hash = fr_digest_bytes(FR_DIGEST_START, all, (size_t)n_ranks * sizeof name);
    free(all);
    FR_MPI_TRY(code);
    return FR_OK;
}

fr_status fr_real_machine(char machine[FR_MACHINE_B], struct fr_error *err) {
    struct utsname system = {0};
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "", processor[128];
    uint64_t hosts = 0;
    int length = 0;
    FR_TRY(hash_hosts(&hosts, err));
    FR_MPI_TRY(MPI_Get_library_version(mpi, &length));
    uname(&system);
    find_processor(processor, sizeof processor);
    snprintf(machine, FR_MACHINE_B,
             "%.100s, %ld cores, %.60s, %.*s, %.60s %.30s, hosts %016llx", processor,
             sysconf(_SC_NPROCESSORS_ONLN), system.release, (int)strcspn(mpi, ",\n"), mpi,
             openblas_get_config(), openblas_get_corename(), (unsigned long long)hosts);
    FR_MPI_TRY(MPI_Bcast(machine, FR_MACHINE_B, MPI_CHAR, 0, MPI_COMM_WORLD));
    return FR_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct of_kind {
    const char *kind;
    fr_real_line_fn *each;
    void *context;
};

static fr_status each_of_kind(const struct fr_journal_line *line, void *context,
                              struct fr_error *err) {
    const struct of_kind *k = context;
    struct fr_json node = fr_json_member(line->root, "kind");
    const char *found = NULL;
    FR_TRY(fr_json_text(&node, &found, err));
    return strcmp(found, k->kind) == 0 ? k->each(line->root, k->context, err) : FR_OK;
}

fr_status fr_real_each_line(const char *text, const char *name, const char *kind,
                            fr_real_line_fn *each, void *context, struct fr_error *err) {
    struct of_kind k = {kind, each, context};
    return fr_journal_each(text, strlen(text), name, each_of_kind, &k, err);
}

static fr_status check_schema(const struct fr_json *root, void *context, struct fr_error *err) {
    return fr_journal_schema(root, context, err);
}

fr_status fr_real_schema_check(const char *text, const char *name, const char *schema,
                               struct fr_error *err) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%s", schema);
    return fr_real_each_line(text, name, "provenance", check_schema, wanted, err);
}

fr_status fr_real_append(const char *out, int *fd, struct fr_error *err) {
    FR_TRY(fr_journal_open(out, fd, err));
    return fr_keep_append(*fd, out, FR_KEEP_KILLED_S, err);
}

struct checking {
    int n_ranks;
    const char *machine, *name;
    bool known;
};

static fr_status check_job(const struct fr_json *root, void *context, struct fr_error *err) {
    struct checking *c = context;
    struct fr_json node = fr_json_member(root, "machine");
    const char *was = NULL;
    int64_t ranks = 0;
    FR_TRY(fr_json_get_integer(root, "ranks", true, 1, 1 << 24, &ranks, err));
    FR_TRY(fr_json_text(&node, &was, err));
    if (ranks != c->n_ranks) return FR_OK;
    c->known = true;
    if (strcmp(was, c->machine) == 0) return FR_OK;
    return fr_fail(err, FR_ERR_INPUT, c->name,
                   "cannot be resumed: the machine was \"%.200s\", is \"%.200s\"; name another "
                   "--samples file",
                   was, c->machine);
}

fr_status fr_real_machine_check(const char *text, const char *name, int n_ranks,
                                const char *machine, bool *known, struct fr_error *err) {
    struct checking c = {.n_ranks = n_ranks, .machine = machine, .name = name};
    fr_status status = fr_real_each_line(text, name, "job", check_job, &c, err);
    *known = c.known;
    return status;
}

struct marking {
    const struct fr_real_cases *cases;
    int passes;
    bool *done;
};

static fr_status mark_run(const struct fr_json *root, void *context, struct fr_error *err) {
    struct marking *m = context;
    int64_t id = 0, pass = 0;
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &id, err));
    FR_TRY(fr_json_get_integer(root, "pass", true, 0, 1 << 30, &pass, err));
    for (int i = 0; pass < m->passes && i < m->cases->n; i++)
        if (m->cases->items[i].id == id) m->done[(int64_t)i * m->passes + pass] = true;
    return FR_OK;
}

fr_status fr_real_done_read(const char *text, const char *name,
                            const struct fr_real_cases *cases, int passes, bool *done,
                            struct fr_error *err) {
    struct marking m = {.cases = cases, .passes = passes, .done = done};
    return fr_real_each_line(text, name, "run", mark_run, &m, err);
}
