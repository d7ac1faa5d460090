#include "calibrate/apps/train.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/apps/network.h"
#include "calibrate/samples.h"

struct training {
    int64_t id, most;
    double loss; /* to reach */
    struct fr_network_options network;
};

static fr_status read_size(const struct fr_json *root, const char *key, int64_t min, int *out,
                           struct fr_error *err) {
    int64_t value = 0;
    FR_TRY(fr_json_get_integer(root, key, true, min, 1 << 20, &value, err));
    *out = (int)value;
    return FR_OK;
}

static fr_status read_training(const struct fr_json *root, struct training *t,
                               struct fr_error *err) {
    struct fr_network_options *o = &t->network;
    int64_t seed = 0;
    o->dtype = FR_FP32;
    o->fresh = true;
    FR_TRY(fr_json_get_integer(root, "id", true, 0, INT64_MAX / 2, &t->id, err));
    FR_TRY(read_size(root, "tp", 1, &o->p, err));
    FR_TRY(read_size(root, "ghost", 0, &o->ghost, err));
    FR_TRY(read_size(root, "width", 1, &o->width, err));
    FR_TRY(read_size(root, "layers", 1, &o->layers, err));
    FR_TRY(read_size(root, "batch", 1, &o->batch, err));
    FR_TRY(fr_json_get_integer(root, "seed", true, 0, INT64_MAX / 2, &seed, err));
    FR_TRY(fr_json_get_integer(root, "most", true, 1, 1 << 30, &t->most, err));
    FR_TRY(fr_json_get_number(root, "optimizer_state_B", true, 0, 1e6, &o->optimizer_state_B,
                              err));
    FR_TRY(fr_json_get_number(root, "rate", true, 0, 1e6, &o->rate, err));
    o->seed = (uint64_t)seed;
    return fr_json_get_number(root, "loss", true, 0, 1e30, &t->loss, err);
}

/* The loss before step i + 1 is that after i of them. */
static fr_status train(const struct training *t, int64_t *iterations, double *loss,
                       double *parameters, struct fr_error *err) {
    struct fr_network network;
    fr_status status = fr_network_open(&t->network, &network, err);
    *iterations = 0;
    *parameters = (double)network.n_counted;
    for (int64_t i = 0; status == FR_OK && i <= t->most; i++) {
        *loss = fr_network_step(&network);
        if (!(*loss < 1e30)) break; /* diverged */
        if (*loss > t->loss) continue;
        *iterations = i;
        break;
    }
    fr_network_close(&network);
    return status;
}

static fr_status run_one(const struct fr_json *root, int fd, const char *out,
                         struct fr_error *err) {
    struct training t = {0};
    struct fr_text line = {0};
    struct fr_json_writer w = {.text = &line};
    int64_t iterations = 0;
    double loss = 0, parameters = 0;
    FR_TRY(read_training(root, &t, err));
    FR_TRY(train(&t, &iterations, &loss, &parameters, err));
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", "trained");
    fr_json_add_integer(&w, "id", t.id);
    fr_json_add_integer(&w, "iterations", iterations);
    fr_json_add_number(&w, "loss", loss);
    fr_json_add_number(&w, "parameters", parameters);
    fr_json_end_object(&w);
    fr_text_add(&line, "\n", 1);
    return fr_sample_put(fd, out, &line, err);
}

static fr_status run_line(const char *line, size_t length, const char *place, int mine, int n,
                          int *count, int fd, const char *out, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    const char *kind = NULL;
    FR_TRY(fr_json_parse(line, length, place, &document, err));
    struct fr_json root = fr_json_root(document), node = fr_json_member(&root, "kind");
    fr_status status = fr_json_text(&node, &kind, err);
    if (status == FR_OK && strcmp(kind, "train") == 0 && (*count)++ % n == mine)
        status = run_one(&root, fd, out, err);
    fr_json_free(document);
    return status;
}

fr_status fr_train_run(const char *text, const char *name, const char *out, bool progress,
                       struct fr_error *err) {
    int rank = 0, n_ranks = 1, count = 0, number = 0;
    fr_status status = FR_OK;
    FR_MPI_TRY(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    FR_MPI_TRY(MPI_Comm_size(MPI_COMM_WORLD, &n_ranks));
    int fd = open(out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return fr_fail(err, FR_ERR_IO, out, "cannot be written: %s", strerror(errno));
    for (const char *at = text; *at && status == FR_OK;) {
        size_t length = strcspn(at, "\n");
        char place[160];
        snprintf(place, sizeof place, "%.120s: line %d", name, ++number);
        if (rank == 0 && progress) fprintf(stderr, "\rtraining %d\033[K", count + 1);
        if (length > 0)
            status = run_line(at, length, place, rank, n_ranks, &count, fd, out, err);
        at += length + (at[length] == '\n');
    }
    if (rank == 0 && progress) fputc('\n', stderr);
    close(fd);
    return status;
}
