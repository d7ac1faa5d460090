#include "studies/optimus/turned_off.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "models/work/transformer.h"
#include "sim/engine.h"
#include "sim/price.h"

int fr_optimus_off(const char *word) {
    static const struct {
        const char *word;
        int off;
    } words[] = {{"forward_passes", FR_OFF_FORWARD_PASSES},
                 {"backward_passes", FR_OFF_BACKWARD_PASSES},
                 {"forward", FR_OFF_FORWARD},
                 {"backward", FR_OFF_BACKWARD},
                 {"messages", FR_OFF_FORWARD | FR_OFF_BACKWARD},
                 {"gradients", FR_OFF_GRADIENTS},
                 {"embedding", FR_OFF_EMBEDDING},
                 {"communication", FR_OFF_COMMUNICATION}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, word) == 0) return words[i].off;
    return 0;
}

/* The embedding's part of what stage @p i all-reduces over replicas, by bytes [s]: none where it is fused.  Only
 * matrices of layers are compressed, so it travels in what goes whole. */
static double embedding_s(const struct fr_job *job, const struct fr_plan *plan,
                          const struct fr_pipeline *p, int32_t i) {
    const struct fr_stage *stage = &p->stage[i];
    struct fr_rank_work work;
    bool has_it = i == 0 || i == p->args.stages - 1;
    if (!has_it || plan->compression.fused_embedding || stage->gradient_B <= 0) return 0;
    fr_transformer_stage(&job->workload, plan, i, &work);
    double embedding_B = work.embedding_rank * fr_dtype_size_B(job->workload.gradient_dtype);
    return (stage->gradient_s - stage->coded_s) * embedding_B / stage->gradient_B;
}

static void turn_off_gradient(double embedding_s, int off, double part_s[FR_PRICE_PARTS]) {
    double others_s = part_s[FR_PRICE_GRADIENTS] - embedding_s;
    part_s[FR_PRICE_GRADIENTS] =
        (off & FR_OFF_GRADIENTS ? 0 : others_s) + (off & FR_OFF_EMBEDDING ? 0 : embedding_s);
    if (off & FR_OFF_GRADIENTS) part_s[FR_PRICE_CODEC] = 0;
}

/* Which of @p off takes all of a task of this kind. */
static int taken_by(fr_task_kind kind) {
    switch (kind) {
    case FR_TASK_FORWARD:
        return FR_OFF_FORWARD_PASSES;
    case FR_TASK_BACKWARD:
    case FR_TASK_WEIGHT:
        return FR_OFF_BACKWARD_PASSES;
    case FR_TASK_FORWARD_MESSAGE:
        return FR_OFF_FORWARD;
    case FR_TASK_BACKWARD_MESSAGE:
    case FR_TASK_COMPRESSED_MESSAGE:
    case FR_TASK_COMPRESS:
    case FR_TASK_DECOMPRESS:
        return FR_OFF_BACKWARD;
    case FR_TASK_EXCHANGE:
        return FR_OFF_FORWARD | FR_OFF_BACKWARD;
    case FR_TASK_EMBEDDING:
        return FR_OFF_EMBEDDING;
    default:
        return 0;
    }
}

static void turn_off(const struct fr_job *job, const struct fr_plan *plan,
                     const struct fr_pipeline *p, const struct fr_program *program, int off,
                     struct fr_class_price *price) {
    for (int32_t c = 0; c < program->n_classes; c++) {
        const struct fr_task_class *class = &program->classes[c];
        int takes = taken_by(class->kind);
        if (takes && (off & takes) == takes) price[c] = (struct fr_class_price){.waiting = 0};
        if (class->kind == FR_TASK_GRADIENT)
            turn_off_gradient(embedding_s(job, plan, p, class->stage), off, price[c].part_s);
    }
}

static double end_s(const struct fr_job *job, const struct fr_plan *plan,
                    const struct fr_pipeline *p, const struct fr_program *program, int off) {
    double makespan_s = NAN;
    struct fr_class_price *price = fr_malloc((size_t)program->n_classes, sizeof *price);
    double *class_s = fr_malloc((size_t)program->n_classes, sizeof *class_s);
    double *ends_s = fr_malloc((size_t)program->n_tasks + 1, sizeof *ends_s);
    if (price && class_s && ends_s) {
        fr_price_pipeline(p, program, price);
        turn_off(job, plan, p, program, off, price);
        fr_price_with(price, program->n_classes, FR_WITH_ALL, class_s);
        makespan_s = fr_engine_run(program, class_s, ends_s) + job->cluster.device.fixed_s;
    }
    free(price), free(class_s), free(ends_s);
    return makespan_s;
}

double fr_optimus_without_s(const struct fr_job *job, const struct fr_plan *plan, int off) {
    struct fr_pipeline p;
    struct fr_program program = {0};
    uint32_t extrapolated = 0;
    double time_s = NAN;
    if (fr_pipeline_make(job, plan, &p, &extrapolated, NULL) == FR_OK && !p.lines &&
        fr_program_make(&p, &program, NULL) == FR_OK)
        time_s = end_s(job, plan, &p, &program, off);
    fr_program_free(&program);
    fr_pipeline_free(&p);
    return time_s;
}
