/* A transformer whose attention, MLP, and embedding and logits have tensor degrees of their own (`layer_tp`), on the job's
 * ranks: two steps of a plan, against the same network as one rank trains it.  Losses are equal, and so is every
 * parameter of every rank with the row and column of the serial matrix that it is, by 1e-12.  And what the program sends is
 * what the plan's price says.
 *
 * Where gradients go compressed their codec has as many ranks as a batch has tokens.  No sum of gradients has a higher
 * rank, so that the codec loses rounding alone, and the network stays that of one rank, by 1e-9. */
#include "tests/apps_mpi/steps.h"

#include "real/apps/mesh/layer.h"

struct grids {
    int ranks;
    bool tied;
    const char *plan; /* beside method grid */
};

static bool coded;       /* gradients of the plan that runs go compressed */
static double tolerance; /* of its parameters and losses */

/* ---- the same parameters ------------------------------------------------------------------------- */

/* A matrix of the serial network, of which a rank has rows and columns. */
struct piece {
    const char *name;
    int row, rows, column, columns, of; /* of: columns of all */
};

static void compare(const struct mpi_case *c, const void *own, const struct mpi_case *one,
                    const void *whole, struct piece piece, int64_t unit, const char *text) {
    const struct fr_kernels *k = c->real.k;
    for (int i = 0; i < piece.rows; i++)
        for (int j = 0; j < piece.columns; j++) {
            size_t at = (size_t)(piece.row + i) * (size_t)piece.of + (size_t)(piece.column + j);
            double got = k->get(own, (size_t)(i * piece.columns + j)),
                   want = one->real.k->get(whole, at);
            if (fabs(got - want) <= tolerance) continue;
            FAIL("%s, rank %d: unit %d's %s, row %d, column %d: %.17g, want %.17g", text, rank,
                 (int)unit, piece.name, piece.row + i, piece.column + j, got, want);
            return;
        }
}

static void compare_layer(const struct mpi_case *c, const struct fr_unit *u,
                          const struct mpi_case *one, const struct fr_unit *serial,
                          const char *text) {
    struct fr_sublayer_weights w[FR_SUBLAYERS], want[FR_SUBLAYERS];
    int kind[FR_SUBLAYERS], n = fr_sublayers_of(u, kind);
    fr_layer_weights(&c->real, u, false, w);
    fr_layer_weights(&one->real, serial, false, want);
    for (int i = 0; i < n; i++) {
        const struct fr_sublayer s = fr_sublayer_of(u, kind[i]);
        const struct fr_sublayer_weights *own = &w[kind[i]], *all = &want[kind[i]];
        const struct piece norm = {"norm", 0, s.h, 0, 1, 1};
        bool rows = fr_sublayer_by_rows(&s);
        int first = rows ? s.rank * s.o : 0;
        compare(c, own->gain, one, all->gain, norm, u->index, text);
        compare(c, own->bias, one, all->bias, norm, u->index, text);
        for (int part = 0; part < s.thirds; part++) {
            size_t at = (size_t)(part * s.wide);
            const struct piece matrix = {"W1", part * s.all + s.from, s.wide, 0, s.h, s.h},
                               vector = {"b1", part * s.all + s.from, s.wide, 0, 1, 1};
            compare(c, fr_at(c->real.k, own->first, at * (size_t)s.h), one, all->first, matrix,
                    u->index, text);
            compare(c, fr_at(c->real.k, own->first_bias, at), one, all->first_bias, vector,
                    u->index, text);
        }
        const struct piece matrix = {"W2", first, s.rows, rows ? 0 : s.from, s.in, s.all},
                           vector = {"b2", first, s.o, 0, 1, 1};
        compare(c, own->second, one, all->second, matrix, u->index, text);
        compare(c, own->second_bias, one, all->second_bias, vector, u->index, text);
    }
}

/* A rank's words, and what every rank has: positions, or the last norm. */
static void compare_end(const struct mpi_case *c, const struct fr_unit *u,
                        const struct mpi_case *one, const struct fr_unit *serial,
                        const char *text) {
    int h = u->block.hidden, row = u->tp_rank * u->words;
    bool embeds = u->kind == &fr_unit_embedding;
    const struct piece table = {"table", row, u->words, 0, h, h},
                       positions = {"positions", 0, h * u->block.sequence, 0, 1, 1},
                       norm = {"norm", 0, 2 * h, 0, 1, 1};
    compare(c, u->table, one, serial->table, table, u->index, text);
    compare(c, embeds ? fr_at(c->real.k, u->w, (size_t)(u->words * h)) : u->w, one,
            embeds ? fr_at(one->real.k, serial->w, (size_t)(serial->words * h)) : serial->w,
            embeds ? positions : norm, u->index, text);
}

/* @return parameters that were compared */
static int64_t compare_units(const struct mpi_case *c, const struct mpi_case *one,
                             const char *text) {
    const struct fr_mesh_state *mesh = c->real.state, *serial = one->real.state;
    int64_t sum = 0;
    for (int chunk = 0; chunk < mesh->n_chunks; chunk++)
        for (int i = 0; i < mesh->chunk[chunk].n_units; i++) {
            const struct fr_unit *u = &mesh->chunk[chunk].unit[i],
                                 *want = &serial->chunk[0].unit[u->index + 1];
            bool layer = u->kind == &fr_unit_block;
            (layer ? compare_layer : compare_end)(c, u, one, want, text);
            sum += u->n;
        }
    return sum;
}

/* Matrices of which a rank's part has far more rows and columns than a batch has tokens. */
static const char *model_of_few_tokens(bool tied, char *text, size_t capacity) {
    snprintf(text, capacity,
             "{\"kind\": \"transformer\", \"layers\": 4, \"hidden\": 64, \"heads\": 4, "
             "\"ffn\": 144, "
             "\"sequence\": 2, \"vocabulary\": 128, \"vocabulary_multiple\": 1, "
             "\"tied_embedding\": %s, \"dtype\": \"fp64\", \"optimizer\": \"sgd\", "
             "\"global_batch\": 4}",
             tied ? "true" : "false");
    return text;
}

/* Sizes that three divides, tokens too: stages exchange a part of them a rank. */
static const char *model_for(const struct grids *x, char *text, size_t capacity) {
    if (coded) return model_of_few_tokens(x->tied, text, capacity);
    if (x->ranks != 6) return model_of(x->tied, text, capacity);
    snprintf(
        text, capacity,
        "{\"kind\": \"transformer\", \"layers\": 4, \"hidden\": 24, \"heads\": 6, \"ffn\": 30, "
        "\"sequence\": 9, \"vocabulary\": 36, \"vocabulary_multiple\": 1, "
        "\"tied_embedding\": %s, \"dtype\": \"fp64\", \"optimizer\": \"sgd\", "
        "\"global_batch\": %d}",
        x->tied ? "true" : "false", BATCH);
    return text;
}

/* Does the rank's stage code, as the plan says? */
static void check_coded(const struct mpi_case *c, const char *text) {
    const struct fr_mesh_state *mesh = c->real.state;
    bool codes = fr_plan_gradient_rank(c->run.plan, mesh->stage) > 0;
    if (codes != (mesh->n_coded > 0))
        FAIL("%s, rank %d: %d matrices go compressed", text, rank, mesh->n_coded);
}

static void run(const struct grids *x) {
    struct mpi_case c, one;
    char model[400], text[400];
    tolerance = coded ? 1e-9 : 1e-12;
    model_for(x, model, sizeof model);
    snprintf(text, sizeof text, "{\"method\": \"grid\", %s}", x->plan);
    if (open_on(MPI_COMM_WORLD, model, text, &c) && open_on(MPI_COMM_SELF, model, "{}", &one)) {
        double loss = take_steps(&c, MPI_COMM_WORLD, text);
        compare_loss_within(loss, take_steps(&one, MPI_COMM_SELF, text), tolerance, text);
        if (coded) check_coded(&c, text);
        compare_bytes(&c, model, text);
        mpi_case_gradients(&c); /* zero 3 gathers parameters for its passes alone */
        if (compare_units(&c, &one, text) != c.real.n_parameters)
            FAIL("%s: parameters are left over", text);
        mpi_case_close(&one);
    }
    mpi_case_close(&c);
    n_run++;
}

static const struct grids plans[] = {
    {2, true, "\"tp\": 1, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 1, 2]"},
    {2, false, "\"tp\": 2, \"micro_batch\": 2, \"layer_tp\": [1, 2, 1]"},
    {6, true, "\"tp\": 3, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [3, 6, 3]"},
    {6, false,
     "\"tp\": 3, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [6, 3, 6], \"zero\": 1"},
    {6, true, "\"tp\": 3, \"micro_batch\": 2, \"pp\": 2, \"layer_tp\": [3, 3, 3]"},
    /* one group on a grid of its own; then two, of more rows and of fewer */
    {4, false, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 4, 2]"},
    {4, true, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 1, 2]"},
    {4, true, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [4, 2, 2]"},
    {4, false, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 2, 1]"},
    {4, true, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 2, 4]"},
    {4, false, "\"tp\": 1, \"dp\": 4, \"micro_batch\": 2, \"layer_tp\": [4, 2, 1]"},
    {4, true, "\"tp\": 1, \"dp\": 4, \"micro_batch\": 1, \"layer_tp\": [1, 4, 2]"},
    {4, true, "\"tp\": 4, \"micro_batch\": 4, \"layer_tp\": [1, 2, 4]"},
    {4, false, "\"tp\": 4, \"micro_batch\": 4, \"layer_tp\": [2, 1, 1]"},
    {4, true, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 2, 2]"},
    /* second products by their columns */
    {4, true,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [4, 1, 2], \"divide\": "
     "\"pairs\""},
    {8, false,
     "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [1, 4, 2], "
     "\"divide\": "
     "\"pairs\", \"schedule\": \"zero-bubble\", \"zero\": 1"},
    /* recomputed, in tiles */
    {4, false,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 4, 1], \"recompute\": "
     "\"full\""},
    {4, true,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [4, 1, 1], \"recompute\": "
     "\"selective\", \"attention\": \"flash\""},
    /* divided over copies, of which each group has its own number */
    {4, true, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 1, 4], \"zero\": 1"},
    {4, false,
     "\"tp\": 1, \"dp\": 4, \"micro_batch\": 2, \"layer_tp\": [1, 2, 1], \"zero\": 2"},
    {4, true, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [1, 1, 2], \"zero\": 3"},
    {8, true,
     "\"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"layer_tp\": [2, 4, 1], \"zero\": 3, "
     "\"zero_ranks\": 2"},
    {8, false,
     "\"tp\": 1, \"dp\": 8, \"micro_batch\": 2, \"layer_tp\": [2, 1, 1], \"zero\": 1, "
     "\"zero_ranks\": 2"},
    /* beside the last pass */
    {4, true,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 1, 2], \"overlap\": "
     "\"gradient\", \"bucket\": \"5 KB\""},
    {8, false,
     "\"tp\": 2, \"dp\": 4, \"micro_batch\": 2, \"layer_tp\": [4, 2, 1], \"overlap\": "
     "\"gradient\", \"bucket\": \"5 KB\", \"zero\": 1"},
    /* stages */
    {4, true, "\"tp\": 1, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 1, 2]"},
    {8, true, "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [4, 2, 1]"},
    {8, false,
     "\"tp\": 2, \"pp\": 4, \"micro_batch\": 2, \"layer_tp\": [2, 1, 2], \"schedule\": "
     "\"zero-bubble\""},
    {8, true,
     "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 4, 4], \"zero\": "
     "2, "
     "\"rank_order\": \"tp-dp-pp\""},
    {8, false,
     "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 4, 2], "
     "\"schedule\": \"interleaved\", \"chunks\": 2"},
    {8, true,
     "\"tp\": 1, \"pp\": 2, \"dp\": 4, \"micro_batch\": 1, \"layer_tp\": [4, 1, 2], "
     "\"schedule\": \"dualpipe-v\", \"chunks\": 2"},
    /* tokens in parts where nothing multiplies: by rows, on one grid or more, and in pairs */
    {4, true, "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"sequence_parallel\": true"},
    {4, false,
     "\"tp\": 4, \"micro_batch\": 4, \"sequence_parallel\": true, \"recompute\": \"full\", "
     "\"layer_tp\": [2, 4, 1]"},
    {4, true,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"sequence_parallel\": true, \"layer_tp\": [1, "
     "4, "
     "2], \"zero\": 1"},
    {4, true,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"sequence_parallel\": true, \"layer_tp\": [4, "
     "1, "
     "2], \"divide\": \"pairs\", \"overlap_tp\": true"},
    {8, false,
     "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"sequence_parallel\": true, "
     "\"layer_tp\": [4, 2, 1], \"zero\": 3, \"recompute\": \"selective\""},
    {8, true,
     "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"sequence_parallel\": true, "
     "\"schedule\": \"zero-bubble\", \"attention\": \"flash\""},
    {8, true,
     "\"tp\": 4, \"dp\": 2, \"micro_batch\": 4, \"sequence_parallel\": true, \"layer_tp\": [2, "
     "4, "
     "8], \"divide\": \"pairs\", \"overlap\": \"gradient\", \"bucket\": \"5 KB\", \"zero\": 1"},
    /* beside context parallel the MLP's */
    {8, true,
     "\"tp\": 2, \"cp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 4, 2], \"zero\": "
     "1"},
};

/* Gradients that go compressed over the copies of each group, all stages' or some. */
static const struct grids coded_plans[] = {
    {4, true,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 1, 2], \"compression\": "
     "{\"gradient\": {\"stages\": 1, \"rank\": 8}}"},
    {4, false,
     "\"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [1, 2, 4], \"zero\": 1, "
     "\"compression\": {\"gradient\": {\"stages\": 1, \"rank\": 8}}"},
    {8, true,
     "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, 1, 1], "
     "\"compression\": {\"gradient\": {\"stages\": 1, \"rank\": 8}}"},
    {8, false,
     "\"tp\": 2, \"pp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [1, 2, 2], "
     "\"overlap\": "
     "\"gradient\", \"zero\": 1, \"compression\": {\"gradient\": {\"stages\": 2, \"ranks\": "
     "[8, "
     "0]}}"},
};

static void refused(const char *plan, const char *because) {
    struct mpi_case c;
    struct fr_error err = {.status = FR_OK};
    char model[400];
    model_of(true, model, sizeof model);
    if (mpi_case_read(&c, &fr_real_pipeline, model, plan, SEED, &err) != FR_OK)
        FAIL("%s: %s", plan, err.detail);
    else if (c.app->check(&c.run, &err) != FR_ERR_INPUT || !strstr(err.detail, because))
        FAIL("%s: want \"%s\" refused, got \"%s\"", plan, because, err.detail);
    mpi_case_close(&c);
}

static void refusals(void) {
    refused(
        "{\"method\": \"grid\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 1, \"layer_tp\": [1, "
        "2, 2]}",
        "in samples, 1, does not divide by tp, 2");
    refused("{\"method\": \"grid\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": "
            "[8, 2, 2]}",
            "the ranks of a stage, 4, does not divide by");
    refused(
        "{\"method\": \"grid\", \"tp\": 2, \"dp\": 3, \"micro_batch\": 2, \"layer_tp\": [2, "
        "3, 1]}",
        "must divide the other");
    refused(
        "{\"method\": \"grid\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": [2, "
        "4]}",
        "lists P_r of its attention");
    refused("{\"method\": \"grid\", \"tp\": 2, \"dp\": 2, \"micro_batch\": 2, \"layer_tp\": "
            "\"best\"}",
            "must be numbers here");
    refused(
        "{\"method\": \"grid\", \"tp\": 2, \"cp\": 2, \"micro_batch\": 2, \"layer_tp\": [1, "
        "2, 2]}",
        "only the MLP has a P_r of its own");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        if (plans[i].ranks == n_ranks) run(&plans[i]);
    coded = true;
    for (size_t i = 0; i < sizeof coded_plans / sizeof *coded_plans; i++)
        if (coded_plans[i].ranks == n_ranks) run(&coded_plans[i]);
    refusals();
    if (n_run == 0) FAIL("no plan is of %d ranks", n_ranks);
    MPI_Allreduce(MPI_IN_PLACE, &n_failed, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return n_failed > 0;
}
