/* Seal et al. 2025, phantom parallelism on preset frontier: what phantom.study computes with. */
#include <math.h>
#include <string.h>

#include "models/outcome/cost.h"
#include "studies/engine/study.h"
#include "studies/interval.h"
#include "studies/phantom/table.h"
#include "trust/numbers/nlfit.h"

enum { FITTED = 3, FULL = 0, LITERAL };

/* Values that vary around the preset: the convention of m, the three fitted numbers, the network. */
struct setting {
    struct fr_job job;
    struct fr_layer own, layer; /* of the preset, and as it is asked for */
    double batch;
};

struct both {
    struct setting of[2];
    struct setting *now;
    struct fr_phantom_table trained; /* networks that were trained here */
};

static struct setting *now(const struct fr_study_call *c) {
    return ((struct both *)c->context)->now;
}

/* ---- prices ------------------------------------------------------------------------------- */

/* Outcome at a batch that need not be whole: a line between the two whole ones. */
static struct fr_outcome at(const struct setting *s, const struct fr_method *method, int64_t p,
                            int64_t k, double batch) {
    struct fr_outcome low, high;
    int64_t below = (int64_t)fmax(1, floor(batch));
    double share = batch - (double)below;
    struct fr_plan plan = fr_plan_default();
    plan.method = method;
    plan.tp = p;
    plan.ghost = method->uses_ghost ? k : 0;
    plan.global_batch = below;
    fr_cost(&s->job, &plan, &low);
    plan.global_batch = below + 1;
    fr_cost(&s->job, &plan, &high);
    low.time_s += share * (high.time_s - low.time_s);
    low.energy_J += share * (high.energy_J - low.energy_J);
    for (int i = 0; i < FR_PART_COUNT; i++)
        low.part_s[i] += share * (high.part_s[i] - low.part_s[i]);
    return low;
}

static fr_status priced(struct fr_study_call *c, const struct fr_method *method) {
    const struct setting *s = now(c);
    struct fr_outcome out =
        at(s, method, (int64_t)fr_call_number(c, "p", 0, 1),
           (int64_t)fr_call_number(c, "k", 1, 0), fr_call_number(c, "batch", -1, s->batch));
    if (fr_call_number(c, "stated", -1, 0) != 0) fr_paper_interval(&s->job, &out);
    return fr_say_outcome(c, &out, &s->job.cluster);
}

static fr_status tensor(struct fr_study_call *c) { return priced(c, &fr_method_tensor); }

static fr_status phantom(struct fr_study_call *c) { return priced(c, &fr_method_phantom); }

/* ---- the fit ------------------------------------------------------------------------------ */

struct fitting {
    struct setting *setting;
    double p[FITTED], k[FITTED], tensor_J[FITTED], phantom_J[FITTED];
};

static void apply(struct setting *s, const double *params) {
    s->batch = params[0];
    s->job.cluster.device.launch_s = params[1];
    s->job.cluster.device.fixed_s = params[2];
}

static void residuals(void *context, const double *params, double *out) {
    const struct fitting *f = context;
    const struct setting *s = f->setting;
    apply(f->setting, params);
    for (int i = 0; i < FITTED; i++) {
        int64_t p = (int64_t)f->p[i];
        out[2 * i] = at(s, &fr_method_tensor, p, 0, s->batch).energy_J / f->tensor_J[i] - 1;
        out[2 * i + 1] = at(s, &fr_method_phantom, p, (int64_t)f->k[i], s->batch).energy_J /
                             f->phantom_J[i] -
                         1;
    }
}

/* fit(CONVENTION, p, k, tensor's J, phantom's J, ...): the root mean square of what is left. */
static fr_status fit(struct fr_study_call *c) {
    struct both *both = c->context;
    bool literal = strcmp(fr_call_word(c, "m", 0), "literal") == 0;
    struct fitting f = {.setting = &both->of[literal]};
    double params[3] = {500, 8e-6, 14e-3}, rms = 0;
    for (int i = 0; i < FITTED; i++) {
        f.p[i] = fr_call_number(c, "number", 4 * i + 1, NAN);
        f.k[i] = fr_call_number(c, "number", 4 * i + 2, NAN);
        f.tensor_J[i] = fr_call_number(c, "number", 4 * i + 3, NAN);
        f.phantom_J[i] = fr_call_number(c, "number", 4 * i + 4, NAN);
    }
    f.setting->job.cluster.price[FR_OP_ALL_GATHER].per_rank = literal;
    f.setting->job.cluster.price[FR_OP_REDUCE_SCATTER].per_rank = literal;
    FR_TRY(fr_nlfit(residuals, &f, 3, 2 * FITTED, params, &rms, c->err));
    apply(f.setting, params);
    return fr_say(c, rms);
}

/* ---- settings ----------------------------------------------------------------------------- */

/* Setting of the named convention, with the preset's own network. */
static fr_status setting(struct fr_study_call *c) {
    struct both *both = c->context;
    both->now = &both->of[strcmp(fr_call_word(c, "m", 0), "literal") == 0 ? LITERAL : FULL];
    both->now->layer = both->now->own;
    return FR_OK;
}

static void set_network(struct setting *s, double width, int layers) {
    s->layer = fr_layer_fully_connected(width, width, true, layers);
}

static fr_status network(struct fr_study_call *c) {
    set_network(now(c), fr_call_number(c, "width", 0, 1),
                (int)fr_call_number(c, "layers", 1, 2));
    if (fr_call_number(c, "biases", -1, 1) == 0) now(c)->layer.biases = 0;
    return FR_OK;
}

/* How much longer phantom takes than tensor, p = 256, k = 64. */
static fr_status flip_s(struct fr_study_call *c) {
    struct setting *s = now(c);
    double batch = fr_call_number(c, "batch", 1, 1);
    set_network(s, fr_call_number(c, "width", 0, 1), 2);
    return fr_say(c, at(s, &fr_method_phantom, 256, 64, batch).time_s -
                         at(s, &fr_method_tensor, 256, 0, batch).time_s);
}

/* measured(WIDTH, k, p): iterations of two layers to a loss of 0.12 on new samples; k = 0 is tensor parallelism. */
static fr_status measured(struct fr_study_call *c) {
    const struct fr_phantom_table *table = &((struct both *)c->context)->trained;
    int64_t width = (int64_t)fr_call_number(c, "width", 0, 1),
            k = (int64_t)fr_call_number(c, "k", 1, 0),
            p = (int64_t)fr_call_number(c, "p", 2, 1);
    for (int i = 0; i < table->n; i++) {
        const struct fr_phantom_measured *one = &table->items[i];
        bool asked = one->width == width && one->layers == 2 && !one->same_batch &&
                     one->loss > 0.11 && one->loss < 0.13;
        for (int j = 0; asked && j < one->n; j++)
            if (one->rows[j].tp == p && one->rows[j].ghost == k &&
                fr_phantom_reached(&one->rows[j]))
                return fr_say(c, one->rows[j].iterations);
    }
    return fr_say(c, NAN);
}

#define NUMBER(name, value)                                                                    \
    static fr_status name(struct fr_study_call *c) {                                           \
        const struct setting *s = now(c);                                                      \
        return fr_say(c, value);                                                               \
    }
NUMBER(batch, s->batch)
NUMBER(launch_s, s->job.cluster.device.launch_s)
NUMBER(fixed_s, s->job.cluster.device.fixed_s)
NUMBER(layers, s->layer.repeat)
NUMBER(state_B, fr_workload_state_B(&s->job.workload, &s->job.cluster.device))

static fr_status load(struct setting *s, struct fr_error *err) {
    const struct fr_job_names names = {.cluster = "frontier", .model = "ffn-16384"};
    FR_TRY(fr_job_load(&names, &s->job, err));
    s->own = s->layer = s->job.workload.layers[0];
    return FR_OK;
}

static fr_status run(struct fr_reproduction *r, struct fr_error *err) {
    static const struct fr_study_function functions[] = {
        {"tensor", tensor},   {"phantom", phantom},   {"fit", fit},
        {"setting", setting}, {"network", network},   {"flip_s", flip_s},
        {"batch", batch},     {"launch_s", launch_s}, {"fixed_s", fixed_s},
        {"layers", layers},   {"state_B", state_B},   {"measured", measured},
        {NULL, NULL}};
    extern const char fr_study_phantom[];
    const struct fr_study_text study = {"phantom", fr_study_phantom, functions};
    struct both both = {.now = &both.of[FULL]};
    struct fr_layer *loaded[2] = {NULL, NULL};
    fr_status status = FR_OK;
    for (int k = 0; k < 2 && status == FR_OK; k++) {
        status = load(&both.of[k], err);
        loaded[k] = both.of[k].job.workload.layers;
        both.of[k].job.workload.layers = &both.of[k].layer;
    }
    if (status == FR_OK) status = fr_phantom_table_shipped(&both.trained, err);
    if (status == FR_OK) status = fr_study_run(&study, &both, r, err);
    fr_phantom_table_free(&both.trained);
    for (int k = 0; k < 2; k++) {
        both.of[k].job.workload.layers = loaded[k];
        fr_job_free(&both.of[k].job);
    }
    return status;
}

const struct fr_paper fr_paper_phantom = {
    .name = "phantom",
    .title = "Seal et al., Compression-Induced Communication-Efficient Large Model Training "
             "and Inferencing, 2025: Table I, Eqs. 8 to 10, Figures 5 to 7",
    .run = run,
};
