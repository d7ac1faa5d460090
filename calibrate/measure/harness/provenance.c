/* Which machine, which libraries, how the job was laid out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/digest.h"
#include "base/text/version.h"
#include "calibrate/measure/harness/binding.h"

/* OpenBLAS has these in its library but, on Debian, not in cblas.h for every variant. */
char *openblas_get_config(void);
char *openblas_get_corename(void);

/* First line of @p text without control characters, cut to the capacity. */
static void copy_line(char *out, size_t capacity, const char *text) {
    size_t n = 0;
    for (; text[n] && text[n] != '\n' && n + 1 < capacity; n++)
        out[n] = (unsigned char)text[n] < 0x20 ? ' ' : text[n];
    out[n] = '\0';
}

/* The value of the first line "key ... : value" of a file such as /proc/cpuinfo. */
static void find_line(const char *path, const char *key, char *out, size_t capacity) {
    char line[8192];
    FILE *file = fopen(path, "r");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0) continue;
        copy_line(out, capacity, colon + 1 + strspn(colon + 1, " \t"));
        break;
    }
    fclose(file);
}

/* Physical memory, or the control group's limit where that is smaller [B]. */
static double memory_B(void) {
    double size_B = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
           limit_B = 0;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
    if (!file) return size_B;
    if (fscanf(file, "%lf", &limit_B) == 1 && limit_B > 0 && limit_B < size_B) size_B = limit_B;
    fclose(file);
    return size_B;
}

/* Distinct host names in order of rank, and a digest of all of them. */
static fr_status list_hosts(struct fr_bench *bench, struct fr_error *err) {
    enum { NAME_B = 64 };
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length = 0;
    size_t used = 0;
    uint64_t hash = FR_DIGEST_START;
    struct fr_provenance *p = &bench->provenance;
    FR_MPI_TRY(MPI_Get_processor_name(name, &length));
    name[NAME_B - 1] = '\0';
    char(*names)[NAME_B] = fr_calloc((size_t)bench->n_ranks, sizeof *names);
    if (!names) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    int code = MPI_Gather(name, NAME_B, MPI_CHAR, names, NAME_B, MPI_CHAR, 0, bench->world);
    for (int r = 0; bench->rank == 0 && r < bench->n_ranks; r++) {
        hash = fr_digest_bytes(hash, names[r], strlen(names[r]));
        hash = fr_digest_one(hash, (uint64_t)r);
        if (r == 0 || strcmp(names[r], names[r - 1]) != 0)
            fr_line_addf(p->hosts, sizeof p->hosts, &used, "%s%s", used ? " " : "", names[r]);
    }
    free(names);
    snprintf(p->host_set, sizeof p->host_set, "%016llx", (unsigned long long)hash);
    FR_MPI_TRY(code);
    return FR_OK;
}

/* An OpenBLAS older than the processor falls back to its oldest kernels, several times slower.
 * It is measured as it runs, but the user should know. */
static void warn_of_old_kernels(const struct fr_provenance *p) {
    char flags[4096] = "";
    find_line("/proc/cpuinfo", "flags", flags, sizeof flags);
    if (strcmp(p->blas_core, "Prescott") != 0 || !strstr(flags, " avx2")) return;
    fprintf(stderr,
            "forerun-mpi: OpenBLAS does not know this processor and runs its Prescott kernels; "
            "OPENBLAS_CORETYPE=%s makes matrix products several times faster\n",
            strstr(flags, " avx512f") ? "SkylakeX" : "Haswell");
}

static void describe_device(const struct fr_device_facts *facts, struct fr_provenance *p) {
    copy_line(p->device, sizeof p->device, facts->name);
    copy_line(p->device_driver, sizeof p->device_driver, facts->driver);
    copy_line(p->device_libraries, sizeof p->device_libraries, facts->libraries);
    p->device_memory_B = facts->shown_B > 0 ? facts->shown_B : facts->memory_B;
    p->device_context_B = facts->context_B;
}

fr_status fr_bench_describe(struct fr_bench *bench, struct fr_error *err) {
    struct fr_provenance *p = &bench->provenance;
    struct utsname system = {0};
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    struct tm utc;
    time_t now = time(NULL);
    int length = 0, per_node = 0;

    uname(&system);
    copy_line(p->host, sizeof p->host, system.nodename);
    const char *cluster =
        getenv("SLURM_CLUSTER_NAME"); /* a host's name says little of its cluster */
    if (cluster) copy_line(p->cluster, sizeof p->cluster, cluster);
    snprintf(p->kernel, sizeof p->kernel, "%.30s %.60s %.30s", system.sysname, system.release,
             system.machine);
    strftime(p->date, sizeof p->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    find_line("/proc/cpuinfo", "model name", p->cpu, sizeof p->cpu);
    p->cores = sysconf(_SC_NPROCESSORS_ONLN);
    p->memory_B = memory_B();
    FR_MPI_TRY(MPI_Get_library_version(mpi, &length));
    copy_line(p->mpi, sizeof p->mpi, mpi);
    copy_line(p->blas, sizeof p->blas, openblas_get_config());
    copy_line(p->blas_core, sizeof p->blas_core, openblas_get_corename());
    if (bench->rank == 0) warn_of_old_kernels(p);
    snprintf(p->version, sizeof p->version, "%s", fr_version);
    FR_MPI_TRY(
        MPI_Allreduce(&bench->n_node_ranks, &per_node, 1, MPI_INT, MPI_MAX, bench->world));
    p->ranks = bench->n_ranks;
    p->ranks_per_node = per_node;
    p->nodes = bench->n_nodes;
    p->seed = (int64_t)bench->options.seed;
    p->simulated = strstr(mpi, "SMPI") != NULL;
    if (bench->driver) describe_device(bench->driver->facts(bench->device), p);
    p->clock_resolution_s = p->simulated ? 0 : fr_clock_resolution_s();
    FR_TRY(list_hosts(bench, err));
    return fr_binding_describe(bench, err);
}
