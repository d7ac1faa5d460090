/** @file
 *  How many ranks on how many nodes did a command start?
 *
 *  Lines of a log are handed over one after another; those that start something, reserve nodes ("#SBATCH -N 2") or
 *  print a batch system's variables ("SLURM_NTASKS=16") are taken, the others passed over.  Each launcher has its own
 *  rules: -N is the nodes of srun and flux, and the ranks of a node of Open MPI's mpirun and of aprun.
 *
 *      mpirun -np 16 -N 8          16 ranks, 8 a node: 2 nodes        srun -N 2 --ntasks-per-node=8    16 on 2
 *      mpirun -np 16 -H a:8,b:8    2 nodes                            jsrun -n 4 -r 2 -a 4             16 on 2
 *      torchrun --nnodes 2 --nproc-per-node 8                         16 on 2
 *
 *  Values that a line leaves open (a host file, a variable) stay 0, and `unread` names it.  Lines of a host file that
 *  was printed ("node1 slots=8", "node1:8") say what it left open.
 *
 *  To add a launcher: base/text/launcher.h.
 */
#ifndef FR_BASE_TEXT_LAUNCH_H
#define FR_BASE_TEXT_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

/** 0: not said. */
struct fr_launch_facts {
    int64_t ranks, nodes, ranks_per_node;
};

struct fr_launcher;
enum { FR_LAUNCH_LINE_B = 2048 };

/** Starts zeroed ({0}). */
struct fr_launch {
    struct fr_launch_facts run;      /**< of the last command that starts ranks */
    struct fr_launch_facts reserved; /**< of #SBATCH lines, salloc and the like */
    struct fr_launch_facts
        environment; /**< of variables that were printed: SLURM_NTASKS and its kin */
    const struct fr_launcher *launcher; /**< that started them; NULL: no line did */
    /** An option of the last command that says ranks or nodes, but not as a number. */
    char unread[80];
    char pending[FR_LAUNCH_LINE_B]; /**< a command that goes on in the next line */
    bool list;                      /**< it is a list of YAML, a word a line */
    bool by_node;                   /**< ranks of the last command go round the nodes */
    char hosts[1024];               /**< of a host file that was printed, "a:8,b:8" */
};

/** Take @p line into account. */
void fr_launch_add(struct fr_launch *launch, const char *line);

/** The facts of all of it together: the command, completed by what was reserved and by
 *  variables. */
struct fr_launch_facts fr_launch_resolve(const struct fr_launch *launch);

#endif
