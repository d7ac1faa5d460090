/* Slurm's job script: nodes and tasks as the plan's placement seats its ranks, cores shared out among the
 * ranks of a node in their order, and what a framework reads of a rank's number. */
#include <inttypes.h>

#include "answer/emit.h"
#include "answer/placement/launch_lines.h"
#include "answer/placement/place.h"

static void launcher(const struct fr_placing *q, struct fr_text *line) {
    int64_t most = fr_placing_best(q)->ranks_per_node,
            a_node = q->ranks < most ? q->ranks : most;
    fr_launch_number("SLURM_CPUS_ON_NODE", line);
    fr_text_addf(line,
                 "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\n"
                 "export MASTER_ADDR\n"
                 "export MASTER_PORT=${MASTER_PORT:-29500}\n"
                 "# shellcheck disable=SC2016 # each rank has its own\n"
                 "srun --cpus-per-task=$((10#$SLURM_CPUS_ON_NODE / %" PRId64
                 ")) --cpu-bind=cores \\\n"
                 "  bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID "
                 "WORLD_SIZE=$SLURM_NTASKS; exec \"$@\"' rank \\\n",
                 a_node);
}

fr_status fr_emit_slurm(const struct fr_job *job, const struct fr_outcome *out,
                        struct fr_text *head, struct fr_text *line, struct fr_error *err) {
    struct fr_job placed = out->job ? *out->job : *job;
    struct fr_placing q = {0};
    fr_status status = fr_placing_open(&placed, true, &out->plan, 0, &q, err);
    if (status == FR_OK) status = fr_placing_add(&q, &out->plan.placement, err);
    if (status == FR_OK) {
        fr_place_lines(head, &q, FR_PLACE_SLURM);
        launcher(&q, line);
    }
    fr_placing_free(&q);
    return status;
}
