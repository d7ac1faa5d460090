/* Tries what works on this machine, and names what to install or ask for. */
#define _GNU_SOURCE /* unshare */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/load.h"
#include "app/page/page.h"
#include "app/verb.h"
#include "base/data.h"
#include "base/isolated.h"
#include "base/process.h"
#include "base/temporary.h"
#include "base/text/version.h"
#include "base/text/wrap.h"
#include "calibrate/measure/calibrate.h"
#include "calibrate/measure/device/device.h"
#include "calibrate/measure/device/library.h"
#include "calibrate/measure/power.h"
#include "calibrate/samples/samples.h"
#include "models/job/own.h"
#include "plots/gnuplot.h"

static const struct fr_option options[] = {FR_OPTION_JSON, FR_OPTION_HELP, FR_OPTION_END};

enum state { WORKS, LIMITED, MISSING };
static const char *const states[] = {"works", "limited", "missing"};
enum { FINDINGS_MAX = 56, AFTER_METERS = 20 };

struct finding {
    const char *name;
    enum state state;
    char found[400], ask[300]; /* ask: "" when it works */
};

struct doctor {
    struct finding finding[FINDINGS_MAX];
    int n;
    bool needed_missing; /* what every calibration needs */
};

static struct finding *add(struct doctor *d, const char *name, enum state state,
                           const char *ask) {
    struct finding *f = &d->finding[d->n++];
    *f = (struct finding){.name = name, .state = state};
    snprintf(f->ask, sizeof f->ask, "%s", state == WORKS ? "" : ask);
    return f;
}

static bool in_path(const char *program) { return fr_process_find(program, NULL); }

/* Is there a program of ours beside this one? */
static bool beside_us(const char *name) {
    char path[FR_PROCESS_PATH_B];
    return fr_process_beside(name, path);
}

static bool processor_has(const char *flag) {
    char line[8192], word[32];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(word, sizeof word, " %s ", flag);
    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = ' ';
        found = strncmp(line, "flags", 5) == 0 && strstr(line, word);
    }
    if (file) fclose(file);
    return found;
}

/* The smallest calibration there is: its provenance says what is here. */
static fr_status try_calibration(const char *launcher, const char *only, const char *sizes,
                                 struct fr_samples *samples, struct fr_error *err) {
    char folder[FR_TEMPORARY_PATH_B], path[FR_TEMPORARY_PATH_B];
    FR_TRY(fr_temporary_folder("doctor", folder, err));
    fr_temporary_in(folder, "samples.jsonl", path);
    /* Launchers explain a failure at length; doctor says it in a line. */
    const struct fr_calibrate_options o = {
        .launch = {.n_ranks = 2, .launcher = launcher, .quiet = true},
        .samples = path,
        .only = only,
        .sizes = sizes,
        .quick = true,
        .seed = -1,
        .reps = 1,
        .launches = 1,
        .budget_s = 1};
    fr_status status = fr_calibrate_run(&o, err);
    if (status == FR_OK) status = fr_samples_read(path, samples, err);
    fr_temporary_remove_folder(folder);
    return status;
}

static void check_blas(struct doctor *d, const struct fr_provenance *p) {
    bool avx512 = processor_has("avx512f"), avx2 = processor_has("avx2");
    bool old = strcmp(p->blas_core, "Prescott") == 0 && avx2;
    char ask[200];
    snprintf(
        ask, sizeof ask,
        "OPENBLAS_CORETYPE=%s in the environment, or a newer OpenBLAS: products are several "
        "times faster",
        avx512 ? "SkylakeX" : "Haswell");
    struct finding *f = add(d, "blas", old ? LIMITED : WORKS, ask);
    snprintf(f->found, sizeof f->found, "%.150s; kernels %s%s", p->blas, p->blas_core,
             old ? ", which are not this processor's" : ", which fit this processor");
}

static void check_ranks(struct doctor *d, const struct fr_provenance *p) {
    int cores = fr_launch_cores();
    struct finding *f =
        add(d, "ranks", cores >= 2 && !p->oversubscribed ? WORKS : LIMITED,
            "more cores (or a larger quota) for this process: ranks that share one measure the "
            "scheduler");
    snprintf(f->found, sizeof f->found,
             "%d core(s), so up to %d rank(s) without oversubscription", cores, cores);
    bool pinned = strstr(p->pinning, "verified through hwloc") != NULL;
    f = add(
        d, "pinning", pinned ? WORKS : LIMITED,
        "a launcher that binds ranks to cores (mpirun --bind-to core, srun --cpu-bind=cores)");
    snprintf(f->found, sizeof f->found, "%s", p->pinning);
    f = add(d, "clock", p->clock_resolution_s < 1e-6 ? WORKS : LIMITED,
            "a finer clock source (tsc in /sys/devices/system/clocksource)");
    snprintf(f->found, sizeof f->found, "resolution %.0f ns", p->clock_resolution_s * 1e9);
}

static void check_mpi(struct doctor *d) {
    struct fr_samples samples = {0};
    struct fr_error err = {.status = FR_OK};
    fr_status status = try_calibration(NULL, "kernel,send_recv", "8", &samples, &err);
    struct finding *f =
        add(d, "mpi", status == FR_OK ? WORKS : MISSING,
            in_path("mpirun")
                ? "mpirun is installed, but runs no ranks here: see what mpirun -np 2 hostname "
                  "says, or name your launcher with --launcher"
                : "Open MPI (apt-get install openmpi-bin), or name your launcher with "
                  "--launcher");
    d->needed_missing = status != FR_OK;
    if (status == FR_OK) {
        snprintf(f->found, sizeof f->found, "%.80s: 2 ranks ran, on %.60s",
                 samples.provenance.mpi, samples.provenance.hosts);
        check_ranks(d, &samples.provenance);
        check_blas(d, &samples.provenance);
    } else
        snprintf(f->found, sizeof f->found, "%.100s%s%.250s", err.where, *err.where ? ": " : "",
                 err.detail);
    fr_samples_free(&samples);
}

static void check_meters(struct doctor *d) {
    for (int i = 0; fr_meters[i] && d->n < FINDINGS_MAX - AFTER_METERS; i++) {
        const struct fr_meter *m = fr_meters[i];
        struct fr_error err = {.status = FR_OK};
        void *state = NULL;
        bool works = m->by_request || m->open(NULL, &state, &err) == FR_OK;
        struct finding *f = add(d, m->name, works ? WORKS : MISSING, m->ask);
        if (works)
            snprintf(f->found, sizeof f->found, "power meter: %s (%s)%s", m->summary,
                     fr_quality_names[m->quality], m->by_request ? ", by --meter" : "");
        else
            snprintf(f->found, sizeof f->found, "power meter: %.80s%s%.200s", err.where,
                     *err.where ? ": " : "", err.detail);
        if (state) m->close(state);
    }
}

static void check_gpus(struct doctor *d, const char *id, const struct fr_device_driver *driver,
                       const char *maker) {
    int n = 0;
    char ask[100];
    struct fr_error err = {.status = FR_OK};
    fr_status status = driver->count(&n, &err);
    snprintf(ask, sizeof ask, "nothing, unless this machine has %s GPUs: then their driver",
             maker);
    struct finding *f = add(d, id, status == FR_OK ? WORKS : MISSING, ask);
    if (status == FR_OK)
        snprintf(f->found, sizeof f->found, "calibrate --device %s: %d GPU%s", driver->name, n,
                 n == 1 ? "" : "s");
    else
        snprintf(f->found, sizeof f->found, "calibrate --device %s: %.250s", driver->name,
                 err.detail);
}

/* Libraries of GPUs: there or not, and what each gives. */
static void check_libraries(struct doctor *d) {
    for (int i = 0; fr_device_libraries[i]; i++) {
        const struct fr_library *library = fr_device_libraries[i];
        struct fr_error err = {.status = FR_OK};
        char ask[300];
        bool works = fr_library_is_there(library, &err) == FR_OK;
        snprintf(ask, sizeof ask, "%.200s, where there are GPUs", library->brings);
        struct finding *f = add(d, library->id, works ? WORKS : MISSING, ask);
        if (works)
            snprintf(f->found, sizeof f->found, "%.80s: %.60s is here", library->gives,
                     library->name);
        else
            snprintf(f->found, sizeof f->found, "%.80s: %.250s", library->gives, err.detail);
    }
    check_gpus(d, "gpus", &fr_device_cuda, "NVIDIA");
    check_gpus(d, "amd-gpus", &fr_device_hip, "AMD");
}

static const char two_hosts[] =
    "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
    "<platform version=\"4.1\"><zone id=\"w\" routing=\"Full\">"
    "<host id=\"a\" speed=\"1Gf\"/>\n<host id=\"b\" speed=\"1Gf\"/>\n"
    "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/>"
    "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone></platform>\n";

/* SMPI on two hosts of our own. */
static fr_status try_smpi(struct fr_samples *samples, struct fr_error *err) {
    char folder[FR_TEMPORARY_PATH_B], path[FR_TEMPORARY_PATH_B];
    struct fr_text launcher = {0};
    FR_TRY(fr_temporary_folder("doctor", folder, err));
    fr_temporary_in(folder, "platform.xml", path);
    fr_text_addf(&launcher, "smpi:%s", path);
    fr_status status = fr_temporary_write(path, two_hosts, sizeof two_hosts - 1, err);
    if (status == FR_OK && launcher.failed)
        status = fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK)
        status = try_calibration(launcher.data, "send_recv", "8", samples, err);
    fr_text_free(&launcher);
    fr_temporary_remove_folder(folder);
    return status;
}

static void check_simulation(struct doctor *d) {
    struct fr_samples samples = {0};
    struct fr_error err = {.status = FR_OK};
    bool program = beside_us("forerun-simgrid");
    struct finding *f = add(d, "simgrid", program ? WORKS : MISSING,
                            "SimGrid (apt-get install libsimgrid-dev g++), then build again");
    snprintf(f->found, sizeof f->found, "--engine and --network simgrid: forerun-simgrid is %s",
             program ? "here" : "not built");
    fr_status status = try_smpi(&samples, &err);
    f = add(
        d, "smpi", status == FR_OK ? WORKS : MISSING,
        in_path("smpirun") && beside_us("forerun-smpi")
            ? "SimGrid is installed, but runs no ranks here: see what smpirun --version says"
        : beside_us("forerun-smpi")
            ? "SimGrid's smpirun (apt-get install libsimgrid-dev)"
            : "SimGrid (apt-get install libsimgrid-dev), then build again");
    snprintf(f->found, sizeof f->found, "calibrate --launcher smpi:PLATFORM: %.250s",
             status == FR_OK ? "2 simulated ranks ran" : err.detail);
    fr_samples_free(&samples);
}

/* Tried in a child, which leaves nothing behind. */
static fr_status unshare_hosts(void *context, struct fr_text *text, struct fr_error *err) {
    (void)context, (void)text, (void)err;
    return unshare(CLONE_NEWNET | CLONE_NEWUTS) == 0 ? FR_OK : FR_ERR_EXTERNAL;
}

static void check_namespaces(struct doctor *d) {
    struct fr_text nothing = {0};
    bool may = fr_isolated(unshare_hosts, NULL, "unshare", NULL, &nothing, NULL) == FR_OK;
    bool tools = in_path("ip") && in_path("tc") && in_path("unshare");
    struct finding *f = add(d, "namespaces", may && tools ? WORKS : MISSING,
                            may ? "iproute2 and util-linux" : "root, for network namespaces");
    snprintf(f->found, sizeof f->found, "several hosts on one machine (tests only): %s",
             !may    ? "this user may not make them"
             : tools ? "can be made"
                     : "ip, tc or unshare is not installed");
    fr_text_free(&nothing);
}

static void check_rest(struct doctor *d) {
    char data[512] = "";
    bool gnuplot = fr_gnuplot_installed(), srun = in_path("srun");
    bool has_data = fr_data_find("osu", data, sizeof data);
    struct finding *f = add(d, "pictures", gnuplot ? WORKS : MISSING,
                            "gnuplot (apt-get install gnuplot-nox), for forerun plot");
    snprintf(f->found, sizeof f->found, "pictures: %s",
             gnuplot ? "installed" : "not installed");
    f = add(d, "slurm-launcher", srun ? WORKS : MISSING,
            "nothing, unless this is a Slurm cluster: then load its module");
    snprintf(f->found, sizeof f->found, "srun is %s", srun ? "here" : "not here");
    f = add(
        d, "data", has_data ? WORKS : MISSING,
        "the folder of published measurements, named by FORERUN_DATA, for forerun reproduce");
    snprintf(f->found, sizeof f->found, "published measurements: %.200s",
             has_data ? data : "no shared/data above this folder and none in FORERUN_DATA");
}

/* Where names of clusters and models are looked for, and the cluster that is meant unsaid. */
static void check_own(struct doctor *d) {
    struct fr_text folders = {0};
    struct fr_error err = {.status = FR_OK};
    char cluster[FR_OWN_PATH_B] = "";
    const char *origin = "";
    fr_status status = fr_own_folders(&folders, &err);
    if (status == FR_OK) status = fr_own_cluster(cluster, &origin, &err);
    struct finding *f = add(d, "settings", status == FR_OK ? WORKS : LIMITED,
                            "a config.json that can be read, or none");
    if (status != FR_OK)
        snprintf(f->found, sizeof f->found, "%.100s: %.200s", err.where, err.detail);
    else
        snprintf(f->found, sizeof f->found, "without --cluster: %.60s%s%s; own presets in: %s",
                 *cluster ? cluster : "none", *cluster ? ", of " : "", *cluster ? origin : "",
                 folders.length ? "" : "none");
    for (const char *at = fr_text_get(&folders); status == FR_OK && *at;
         at += strcspn(at, "\n") + 1)
        snprintf(f->found + strlen(f->found), sizeof f->found - strlen(f->found), "%s%.*s",
                 at == folders.data ? "" : ", ", (int)strcspn(at, "\n"), at);
    fr_text_free(&folders);
}

static void write_json(const struct doctor *d, struct fr_text *text) {
    struct fr_json_writer w = {.text = text, .indent = 2};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", "forerun/doctor/1");
    fr_json_add_string(&w, "version", fr_version);
    fr_json_add_bool(&w, "can_calibrate", !d->needed_missing);
    fr_json_add_array(&w, "checks");
    for (int i = 0; i < d->n; i++) {
        fr_json_begin_object(&w);
        fr_json_add_string(&w, "name", d->finding[i].name);
        fr_json_add_string(&w, "state", states[d->finding[i].state]);
        fr_json_add_string(&w, "found", d->finding[i].found);
        if (*d->finding[i].ask) fr_json_add_string(&w, "ask", d->finding[i].ask);
        fr_json_end_object(&w);
    }
    fr_json_end_array(&w);
    fr_json_end_object(&w);
}

static void write_text(const struct doctor *d, struct fr_text *text) {
    enum { FOUND = 25 };
    for (int i = 0; i < d->n; i++) {
        const struct finding *f = &d->finding[i];
        fr_text_addf(text, "%-15s %-8s ", f->name, states[f->state]);
        fr_wrap_cell(text, FOUND, f->found);
        if (!*f->ask) continue;
        fr_text_addf(text, "%*s-> ", FOUND, "");
        fr_wrap_cell(text, FOUND + 3, f->ask);
    }
    fr_text_addf(text, "\n%s\n",
                 d->needed_missing ? "This machine cannot be calibrated yet."
                                   : "This machine can be calibrated: forerun calibrate");
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct doctor doctor = {.n = 0};
    struct fr_text text = {0}, page = {0};
    if (args->n_words)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    check_mpi(&doctor);
    check_meters(&doctor);
    check_libraries(&doctor);
    check_simulation(&doctor);
    check_namespaces(&doctor);
    check_rest(&doctor);
    check_own(&doctor);
    if (fr_args_has(args, "json"))
        write_json(&doctor, &text);
    else
        write_text(&doctor, &text);
    if (fr_app_paged(args)) write_json(&doctor, &page);
    return fr_app_answer(args, &text, &page, err);
}

const struct fr_verb fr_verb_doctor = {
    .name = "doctor",
    .summary = "checks of this machine, and what to install or ask for",
    .usage = "[--json]",
    .details = "Tries what calibration needs: two MPI ranks, BLAS, pinning, power meters, "
               "simulated hosts,\nnamespaces, pictures. Nothing is left behind.\n",
    .options = options,
    .run = run,
};
