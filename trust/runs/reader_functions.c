/* Functions that readers call (trust/runs/reader.h):
 *
 *      copy()                   sets every column that is not empty as the key it is
 *      key('model')             what was set before
 *      model(title)             1 where a preset's alias is in the title: sets model, note.model_layers, note.experts
 *      preset(device)           the cluster preset of a device
 *      ends_as_layers(layers)   sets plan.stage_layers: the embedding and the loss a layer each
 *      merak_stages(partition, layers, pp)   "[9, 8, 8, 7]" of "custom:0,10,18,26,34": the embedding, the layers
 *                                            and the head, counted alike; none where it does not fit
 *      watts(limits)            "["300 W", "275 W"]" of "300/275"
 *      machine(system)          but for how much of it: of eos-dfw_n64_ngc25.01_nemo, tyche_ngpu256_ngc25.04_nemo and
 *                               hpg.dgxb200x8.n16 what stands before the size */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trust/runs/reader.h"
#include "trust/runs/row/machine.h"

enum { STAGES_MAX = 1024 };

typedef struct fr_term function(const struct fr_run_source *in, struct fr_run_row *out,
                                const struct fr_term_argument *a);

static const struct fr_term none = {.kind = FR_TERM_NONE};

static struct fr_term copy(const struct fr_run_source *in, struct fr_run_row *out,
                           const struct fr_term_argument *a) {
    (void)a;
    for (int i = 0; i < in->csv->n_columns; i++) {
        const char *cell = fr_csv_get(in->csv, in->row, in->csv->column[i]);
        if (cell && *cell) fr_run_row_set(out, in->csv->column[i], "%s", cell);
    }
    return none;
}

static struct fr_term key(const struct fr_run_source *in, struct fr_run_row *out,
                          const struct fr_term_argument *a) {
    (void)in;
    const char *value = fr_run_row_get(out, a[0].value.text);
    return value ? fr_term_text(value) : none;
}

static struct fr_term model(const struct fr_run_source *in, struct fr_run_row *out,
                            const struct fr_term_argument *a) {
    (void)in;
    return fr_term_number(fr_run_find_model(a[0].value.text, out));
}

static struct fr_term preset(const struct fr_run_source *in, struct fr_run_row *out,
                             const struct fr_term_argument *a) {
    (void)in;
    (void)out;
    const char *cluster = fr_machine_of_device(a[0].value.text);
    return cluster ? fr_term_text(cluster) : none;
}

void fr_run_ends_as_layers(int64_t layers, struct fr_run_row *out) {
    const char *stages = fr_run_row_get(out, "plan.pp");
    int64_t pp = stages ? strtoll(stages, NULL, 10) : 1;
    struct fr_text list = {0};
    if (pp < 2 || pp > STAGES_MAX || (layers + 2) % pp != 0) return;
    for (int64_t i = 0; i < pp; i++)
        fr_text_addf(&list, "%s%" PRId64, i ? ", " : "[",
                     (layers + 2) / pp - (i == 0 || i == pp - 1));
    if (!list.failed) fr_run_row_set(out, "plan.stage_layers", "%s]", fr_text_get(&list));
    fr_text_free(&list);
}

static struct fr_term ends_as_layers(const struct fr_run_source *in, struct fr_run_row *out,
                                     const struct fr_term_argument *a) {
    (void)in;
    double layers = fr_term_as_number(&a[0].value);
    if (layers >= 1) fr_run_ends_as_layers((int64_t)layers, out);
    return none;
}

/* Whether the partition is of so many layers; its list, where it has one of its own. */
static struct fr_term merak_stages(const struct fr_run_source *in, struct fr_run_row *out,
                                   const struct fr_term_argument *a) {
    char list[144] = "[";
    const char *partition = a[0].value.text;
    long sum = 0, all = strtol(a[1].value.text, NULL, 10);
    int64_t pp = strtoll(a[2].value.text, NULL, 10);
    size_t used = 1;
    (void)in;
    if (strncmp(partition, "custom:", 7) != 0) return fr_term_number(all % pp == 0);
    const char *at = partition + 7;
    long from = strtol(at, (char **)(uintptr_t)&at, 10);
    for (int64_t i = 0; i < pp; i++) {
        if (*at != ',') return none;
        long to = strtol(at + 1, (char **)(uintptr_t)&at, 10),
             layers = to - from - (i == 0) - (i == pp - 1);
        if (layers < 0) return none;
        fr_line_addf(list, sizeof list, &used, "%s%ld", i ? ", " : "", layers);
        sum += layers;
        from = to;
    }
    if (*at || sum != all) return none;
    fr_run_row_set(out, "plan.stage_layers", "%s]", list);
    return fr_term_number(1);
}

static struct fr_term watts(const struct fr_run_source *in, struct fr_run_row *out,
                            const struct fr_term_argument *a) {
    char list[144] = "[";
    const char *at = a[0].value.text;
    size_t used = 1;
    (void)in;
    (void)out;
    for (int i = 0;; i++) {
        char *end = NULL;
        double limit_W = strtod(at, &end);
        if (end == at || !(limit_W > 0)) return none;
        fr_line_addf(list, sizeof list, &used, "%s\"%g W\"", i ? ", " : "", limit_W);
        at = end;
        if (*at != '/') break;
        at++;
    }
    fr_line_addf(list, sizeof list, &used, "]");
    return *at ? none : fr_term_text(list);
}

/* Is a size written here? */
static bool is_size(const char *at) {
    if ((*at != '_' && *at != '.') || at[1] != 'n') return false;
    at += strncmp(at + 2, "gpu", 3) == 0 ? 5 : 2;
    return *at >= '0' && *at <= '9';
}

static struct fr_term machine(const struct fr_run_source *in, struct fr_run_row *out,
                              const struct fr_term_argument *a) {
    struct fr_term name = a[0].value;
    char *end = name.text;
    (void)in;
    (void)out;
    while (*end && !is_size(end)) end++;
    *end = '\0';
    return name;
}

fr_status fr_run_reader_call(const struct fr_run_source *in, struct fr_run_row *out,
                             const char *name, const struct fr_term_argument *arguments, int n,
                             struct fr_term *value, struct fr_error *err) {
    static const struct {
        const char *name;
        function *of;
        int n;
    } functions[] = {{"copy", copy, 0},
                     {"key", key, 1},
                     {"model", model, 1},
                     {"preset", preset, 1},
                     {"ends_as_layers", ends_as_layers, 1},
                     {"merak_stages", merak_stages, 3},
                     {"watts", watts, 1},
                     {"machine", machine, 1}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        if (functions[i].n != n)
            return fr_fail(err, FR_ERR_INPUT, NULL, "%s takes %d values, not %d", name,
                           functions[i].n, n);
        *value = functions[i].of(in, out, arguments);
        return FR_OK;
    }
    return FR_ERR_UNSUPPORTED;
}
