/** @file
 *  What a launcher needs so that ranks sit where a placement says. */
#ifndef FR_ANSWER_PLACEMENT_LAUNCH_LINES_H
#define FR_ANSWER_PLACEMENT_LAUNCH_LINES_H

#include <stdint.h>

#include "base/text.h"

struct fr_launch_lines {
    int64_t ranks, ranks_per_node;
    const int64_t
        *slot;        /**< of each rank; slot s is position s mod ranks_per_node of its node */
    const char *name; /**< of the placement, for the comment */
    const char *what; /**< is placed: method, mesh and numbering, likewise */
};

/** #SBATCH lines: --distribution=block, cyclic or plane=B where one of them says it, else
 *  arbitrary with the lines that write SLURM_HOSTFILE. */
void fr_launch_slurm(const struct fr_launch_lines *lines, struct fr_text *text);

/** An Open MPI rankfile, with nodes by their place in the allocation (+n0, +n1, ...). */
void fr_launch_rankfile(const struct fr_launch_lines *lines, struct fr_text *text);

/** A line that ends the script with a sentence where @p variable, which Slurm sets, is no number: bash runs the
 *  commands that a text in arithmetic holds ("a[$(...)]"), and a text in a path leads elsewhere.
 *  @param variable  a name of ours */
void fr_launch_number(const char *variable, struct fr_text *text);

#endif
