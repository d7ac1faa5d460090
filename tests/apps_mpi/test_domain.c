/* Gradients of convolutional networks whose images ranks divide by height, against those of the same network whose ranks
 * divide samples alone, to 1e-12 of the largest.  The latter is held against plain loops by test_convolution.c.  Halos send
 * the bytes that are priced, on ranks with two neighbours. */
#include "models/job/job.h"
#include "models/price/layers.h"
#include "tests/apps_mpi/mpi_case.h"

enum { SEED = 29, LAYERS = 4 };
static int rank, n_ranks, n_compared;

/* Windows that overlap, groups, steps, zeros around, and a pooling whose windows overlap; heights divide by four. */
static const char model[] =
    "{\"kind\": \"cnn\", \"dtype\": \"fp64\", \"global_batch\": 16, \"input\": [4, 16, 8], "
    "\"layers\": [{\"type\": \"conv\", \"filters\": 8, \"kernel\": 5, \"padding\": 2, "
    "\"pool\": {\"kernel\": 3, \"stride\": 2, \"padding\": 1}}, {\"type\": \"conv\", "
    "\"filters\": 16, \"kernel\": 3, \"groups\": 2, \"padding\": 1}, {\"type\": \"conv\", "
    "\"filters\": 8, \"kernel\": 3, \"padding\": 1, \"stride\": 2}, {\"type\": \"full\", "
    "\"outputs\": 16}]}";
static const int filters[LAYERS] = {8, 16, 8, 16}, inner[LAYERS] = {100, 36, 144, 64};

/* Gradients of all layers, each filter's weights and then the biases, as a rank has them that divides samples. */
static double reference(double *all) {
    struct mpi_case c;
    char plan[80];
    double loss = 0;
    snprintf(plan, sizeof plan, "{\"method\": \"grid\", \"dp\": %d}", n_ranks);
    if (mpi_case_open(&c, &fr_real_mesh, model, plan, SEED)) {
        loss = mpi_case_gradients(&c);
        for (int64_t i = 0; i < c.real.n_parameters; i++) all[i] = mpi_case_gradient(&c, i);
    }
    mpi_case_close(&c);
    return loss;
}

static void check_layers(const struct mpi_case *c, const char *plan, int domain, int tp,
                         const double *all) {
    static double wanted[4096];
    int64_t at = 0, from = 0;
    for (int l = 0; l < LAYERS; l++) {
        int rows = l < domain ? filters[l] : filters[l] / tp,
            first = l < domain ? 0 : rows * c->real.tp_rank, n = rows * inner[l];
        char what[200];
        memcpy(wanted, all + from + first * inner[l], (size_t)n * sizeof *wanted);
        memcpy(wanted + n, all + from + filters[l] * inner[l] + first,
               (size_t)rows * sizeof *wanted);
        snprintf(what, sizeof what, "layer %d of %s", l, plan);
        check_block(c, what, at, wanted, n + rows, 1e-12);
        at += n + rows;
        from += filters[l] * (inner[l] + 1);
    }
    if (at != c->real.n_parameters) FAIL("%s: parameters are left over", plan);
}

static const char cluster[] =
    "{\"device\": {\"memory_bandwidth\": \"1 TB/s\", \"gemm\": {\"fp64\": {\"peak\": \"1 "
    "TFLOP/s\", \"half_dim\": 8}}}, \"levels\": [{\"name\": \"node\", \"ranks\": 64, "
    "\"latency\": \"1 us\", \"bandwidth\": \"10 GB/s\"}]}";

/* Bytes of what is priced over tp in one pass, as an all-reduce and an all-gather send them. */
static double priced_B(const char *plan, double micro_batches) {
    const struct fr_job_names names = {.cluster = cluster, .model = model, .plan = plan};
    struct fr_job job = {0};
    struct fr_error err = {.status = FR_OK};
    struct fr_rank_work work;
    double sum = 0;
    if (fr_job_load(&names, &job, &err) != FR_OK) FAIL("%s: %s", plan, err.detail);
    double p = (double)job.plan.tp;
    struct fr_layers l = fr_layers_of_stage(&job, &job.plan, 0);
    while (fr_layers_next(&l)) {
        fr_layers_lower(&l, &work);
        for (int k = 0; k < work.n_ops; k++) {
            const struct fr_operation *o = &work.op[k];
            bool reduces = o->op == FR_OP_ALL_REDUCE;
            if (o->kind != FR_WORK_COLLECTIVE || o->axis != FR_AXIS_TP) continue;
            /* Eq. 4 counts a layer's outputs, a run sends as many gradients as it has inputs. */
            double size_B =
                reduces ? o->size / l.part.layer->outputs * l.part.layer->inputs : o->size;
            sum += o->op == FR_OP_SEND_RECV ? size_B : (reduces ? 2 : 1) * size_B * (p - 1) / p;
        }
    }
    fr_job_free(&job);
    return sum * micro_batches;
}

static void check_bytes(const struct mpi_case *c, const char *plan, int domain, int tp,
                        double micro_batches) {
    double gradients = 0;
    for (int l = 0; l < domain; l++) gradients += filters[l] * (inner[l] + 1);
    double got = c->real.sent_B[FR_REAL_TP] -
                 2 * gradients * sizeof(double) * (tp - 1) / tp, /* in two steps, tp then dp */
        want = priced_B(plan, micro_batches);
    if (c->real.tp_rank == 0 || c->real.tp_rank == tp - 1) return;
    if (!(fabs(got - want) <= 1e-9 * want))
        FAIL("%s, rank %d: sends %.17g B over tp, priced %.17g", plan, rank, got, want);
    n_compared++;
}

static void run(int domain, int tp, int micro, const double *all, double loss) {
    struct mpi_case c;
    char plan[160];
    int dp = n_ranks / tp;
    snprintf(
        plan, sizeof plan,
        "{\"method\": \"grid\", \"tp\": %d, \"dp\": %d, \"domain\": %d, \"micro_batch\": %d}",
        tp, dp, domain, micro);
    if (mpi_case_open(&c, &fr_real_mesh, model, plan, SEED)) {
        double got = mpi_case_gradients(&c);
        if (!(fabs(got - loss) <= 1e-12 * loss))
            FAIL("%s: loss %.17g, want %.17g", plan, got, loss);
        check_layers(&c, plan, domain, tp, all);
        check_bytes(&c, plan, domain, tp, 16. / dp / micro);
    }
    mpi_case_close(&c);
}

static void refused(const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    if (mpi_case_read(&c, &fr_real_mesh, model, plan, SEED, &err) != FR_OK)
        FAIL("%s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("%s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

int main(int argc, char **argv) {
    static double all[16384];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    double loss = reference(all);
    for (int tp = 2; tp <= 4 && tp <= n_ranks; tp *= 2)
        for (int domain = 1; domain < LAYERS; domain++)
            for (int parts = 1; parts <= 2; parts++)
                run(domain, tp, 16 * tp / n_ranks / parts, all, loss);
    refused("{\"method\": \"grid\", \"tp\": 2, \"pp\": 2, \"micro_batch\": 4, \"domain\": 1}",
            "pp 1");
    refused("{\"method\": \"grid\", \"tp\": 3, \"domain\": 1}", "height");
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &n_compared, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (n_ranks >= 4 && n_compared == 0) n_failed++;
    if (rank == 0) printf("bytes of %d ranks compared with their prices\n", n_compared);
    MPI_Finalize();
    return n_failed > 0;
}
