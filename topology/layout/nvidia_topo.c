/* nvidia-smi topo -m: a matrix of GPUs and adapters, "NV18", "PIX", "SYS" where two meet, then CPU and NUMA affinity.
 * rocm-smi --showtopo prints the same with "XGMI". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topology/layout.h"

enum { WORDS_MAX = 96, GPUS_MAX = 64 };

struct words {
    char text[2048];
    char *word[WORDS_MAX];
    int n;
};

static const char *take_line(const char *at, struct words *w) {
    size_t length = strcspn(at, "\n");
    w->n = 0;
    snprintf(w->text, sizeof w->text, "%.*s", (int)(length < 2000 ? length : 2000), at);
    char *save = NULL;
    for (char *word = strtok_r(w->text, " \t\r", &save); word && w->n < WORDS_MAX;
         word = strtok_r(NULL, " \t\r", &save))
        w->word[w->n++] = word;
    return at + length + (at[length] == '\n');
}

/* "GPU12" */
static int gpu_of(const char *word) {
    if (strncmp(word, "GPU", 3) != 0 || !isdigit((unsigned char)word[3]) ||
        word[3 + strspn(word + 3, "0123456789")])
        return -1;
    long n = strtol(word + 3, NULL, 10);
    return n < GPUS_MAX ? (int)n : -1;
}

static bool is_adapter(const char *word) {
    static const char *const begins[] = {"NIC", "mlx",  "bnxt", "efa", "rdma",
                                         "ibp", "roce", "hfi",  NULL};
    for (int i = 0; begins[i]; i++)
        if (strncmp(word, begins[i], strlen(begins[i])) == 0) return true;
    return false;
}

/* The line of column names: GPU0 GPU1 ...; @return columns of the matrix, 0: it is another line. */
static int header(const struct words *w, int *gpus, int *adapters) {
    int n = 0;
    *gpus = *adapters = 0;
    if (w->n < 2 || gpu_of(w->word[0]) != 0 || gpu_of(w->word[1]) != 1) {
        bool alone = w->n >= 2 && gpu_of(w->word[0]) == 0 && strcmp(w->word[1], "X") != 0 &&
                     (is_adapter(w->word[1]) || strcmp(w->word[1], "CPU") == 0);
        if (!alone) return 0;
    }
    for (; n < w->n; n++) {
        bool behind = strcmp(w->word[n], "CPU") == 0 || strcmp(w->word[n], "NUMA") == 0 ||
                      strcmp(w->word[n], "GPU") == 0;
        if (behind) break;
        ++*(gpu_of(w->word[n]) >= 0 ? gpus : adapters);
    }
    return n;
}

static bool applicable(const char *text) {
    struct words w;
    int gpus, adapters;
    for (const char *at = text; *at;) {
        at = take_line(at, &w);
        if (header(&w, &gpus, &adapters)) return true;
    }
    return false;
}

struct matrix {
    int gpus, adapters, columns, rows;
    int links[GPUS_MAX]; /* of each GPU, the fewest to another; 0: none */
    int numa[GPUS_MAX];  /* -1: not said */
    bool joined;
};

static void take_row(struct matrix *m, const struct words *w, int gpu) {
    int fewest = 0, column = 0;
    for (int i = 1; i < w->n && column < m->columns; i++, column++) {
        if (column >= m->gpus || column == gpu) continue;
        int links = strncmp(w->word[i], "NV", 2) == 0 && isdigit((unsigned char)w->word[i][2])
                        ? (int)strtol(w->word[i] + 2, NULL, 10)
                        : 0;
        m->joined &= links > 0 || strcmp(w->word[i], "XGMI") == 0;
        if (links > 0 && (fewest == 0 || links < fewest)) fewest = links;
    }
    m->links[gpu] = fewest;
    int numa = 1 + m->columns + 1; /* behind "0-23,96-119" */
    m->numa[gpu] = numa < w->n && isdigit((unsigned char)*w->word[numa]) &&
                           !w->word[numa][strspn(w->word[numa], "0123456789")]
                       ? (int)strtol(w->word[numa], NULL, 10)
                       : -1;
    m->rows++;
}

/* GPUs of each memory of a processor, where all have as many; 0 otherwise. */
static int of_package(const struct matrix *m) {
    int each = 0;
    for (int i = 0; i < m->gpus; i++) {
        int here = 0;
        if (m->numa[i] < 0) return 0;
        for (int k = 0; k < m->gpus; k++) here += m->numa[k] == m->numa[i];
        if (each && here != each) return 0;
        each = here;
    }
    return each < m->gpus ? each : 0;
}

static fr_status read(const char *text, const char *name, struct fr_layout *layout,
                      struct fr_error *err) {
    struct matrix m = {.joined = true};
    struct words w;
    for (int i = 0; i < GPUS_MAX; i++) m.numa[i] = -1;
    for (const char *at = text; *at;) {
        int gpus, adapters, columns;
        at = take_line(at, &w);
        /* rocm-smi prints several matrices; that of the links stands last. */
        if ((columns = header(&w, &gpus, &adapters))) {
            m = (struct matrix){
                .gpus = gpus, .adapters = adapters, .columns = columns, .joined = true};
            for (int i = 0; i < GPUS_MAX; i++) m.numa[i] = -1;
            continue;
        }
        if (m.columns == 0) continue;
        int gpu = w.n > m.columns / 2 ? gpu_of(w.word[0]) : -1;
        if (gpu >= 0 && gpu < m.gpus && m.gpus <= GPUS_MAX) take_row(&m, &w, gpu);
    }
    if (m.gpus < 1 || m.gpus > GPUS_MAX || m.rows == 0)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "names %d GPUs in its header and has %d rows of them; expected all of "
                       "nvidia-smi topo -m",
                       m.gpus, m.rows);
    if (m.rows < m.gpus)
        fr_text_addf(layout->notes,
                     "%s: %d of %d rows are there; the others are taken to be like them\n",
                     name, m.rows, m.gpus);
    layout->gpus = m.gpus;
    layout->adapters = m.adapters;
    layout->joined = m.joined && m.gpus > 1;
    layout->gpus_of_package = layout->joined ? 0 : of_package(&m);
    for (int i = 0; i < m.gpus; i++)
        if (m.links[i] > layout->links) layout->links = m.links[i];
    if (!layout->joined && layout->links)
        fr_text_addf(layout->notes,
                     "%s: some GPUs are joined by NVLink and others not; the levels do "
                     "not say which\n",
                     name);
    return FR_OK;
}

const struct fr_layout_form fr_layout_nvidia_topo = {
    .name = "nvidia-smi topo -m",
    .source = "nvidia-smi topo -m",
    .applicable = applicable,
    .read = read,
};
