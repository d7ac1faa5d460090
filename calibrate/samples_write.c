#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "calibrate/samples.h"

const char *const fr_sample_level_names[] = {"node", "system", NULL};

static struct fr_json_writer begin(struct fr_text *line, const char *kind) {
    struct fr_json_writer w = {.text = line};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "kind", kind);
    return w;
}

static void end(struct fr_json_writer *w, int64_t rep, double time_s) {
    fr_json_add_integer(w, "rep", rep);
    fr_json_add_number(w, "time_s", time_s);
    fr_json_end_object(w);
    fr_text_add(w->text, "\n", 1);
}

void fr_sample_line_provenance(const struct fr_provenance *p, struct fr_text *line) {
    struct fr_json_writer w = {.text = line};
    fr_json_begin_object(&w);
    fr_json_add_string(&w, "schema", FR_SAMPLES_SCHEMA);
    fr_json_add_string(&w, "kind", "provenance");
    fr_json_add_string(&w, "date", p->date);
    fr_json_add_string(&w, "host", p->host);
    fr_json_add_string(&w, "kernel", p->kernel);
    fr_json_add_string(&w, "cpu", p->cpu);
    fr_json_add_integer(&w, "cores", p->cores);
    fr_json_add_number(&w, "memory_B", p->memory_B);
    fr_json_add_string(&w, "mpi", p->mpi);
    fr_json_add_string(&w, "blas", p->blas);
    fr_json_add_string(&w, "blas_core", p->blas_core);
    fr_json_add_integer(&w, "ranks", p->ranks);
    fr_json_add_integer(&w, "ranks_per_node", p->ranks_per_node);
    fr_json_add_integer(&w, "nodes", p->nodes);
    fr_json_add_bool(&w, "oversubscribed", p->oversubscribed);
    fr_json_add_integer(&w, "seed", p->seed);
    fr_json_add_string(&w, "version", p->version);
    if (*p->pinning) fr_json_add_string(&w, "pinning", p->pinning);
    fr_json_end_object(&w);
    fr_text_add(line, "\n", 1);
}

void fr_sample_line_collective(const struct fr_sample_collective *s, struct fr_text *line) {
    struct fr_json_writer w = begin(line, "collective");
    fr_json_add_string(&w, "op", fr_op_names[s->op]);
    fr_json_add_integer(&w, "ranks", s->n_ranks);
    fr_json_add_string(&w, "level", fr_sample_level_names[s->level]);
    fr_json_add_number(&w, "size_B", s->size_B);
    fr_json_add_integer(&w, "launch", s->launch);
    end(&w, s->rep, s->time_s);
}

void fr_sample_line_gemm(const struct fr_sample_gemm *s, struct fr_text *line) {
    struct fr_json_writer w = begin(line, "gemm");
    fr_json_add_string(&w, "dtype", fr_dtype_names[s->dtype]);
    fr_json_add_integer(&w, "m", s->m);
    fr_json_add_integer(&w, "n", s->n);
    fr_json_add_integer(&w, "k", s->k);
    end(&w, s->rep, s->time_s);
}

void fr_sample_line_memory(const struct fr_sample_memory *s, struct fr_text *line) {
    struct fr_json_writer w = begin(line, "memory");
    fr_json_add_number(&w, "size_B", s->size_B);
    end(&w, s->rep, s->time_s);
}

void fr_sample_line_kernel(const struct fr_sample_kernel *s, struct fr_text *line) {
    struct fr_json_writer w = begin(line, "kernel");
    end(&w, s->rep, s->time_s);
}

fr_status fr_sample_put(int fd, const char *path, struct fr_text *line, struct fr_error *err) {
    ssize_t put = -1;
    if (line->failed) {
        fr_text_free(line);
        return fr_fail(err, FR_ERR_NOMEM, path, "a sample does not fit in memory");
    }
    do put = write(fd, line->data, line->length);
    while (put < 0 && errno == EINTR);
    bool whole = put == (ssize_t)line->length;
    const char *why = put < 0 ? strerror(errno) : "no space left for a whole line";
    fr_text_free(line);
    return whole ? FR_OK : fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", why);
}
