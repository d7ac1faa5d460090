/** @file
 *  How is a program called that starts ranks, and what do its options mean?
 *
 *  For base/text/launch.c and its launchers alone.
 *
 *  To add a launcher: base/text/launch/<name>.c exporting fr_launcher_<name>, row FR_LAUNCHER(<name>) in
 *  base/text/launch_list.h. */
#ifndef FR_BASE_TEXT_LAUNCHER_H
#define FR_BASE_TEXT_LAUNCHER_H

#include <stdbool.h>

/** Kinds of value of an option. */
typedef enum {
    FR_LAUNCH_FLAG,   /**< none follows */
    FR_LAUNCH_SKIP,   /**< a value that says nothing here */
    FR_LAUNCH_SKIP_2, /**< two */
    FR_LAUNCH_RANKS,  /**< of the whole run */
    FR_LAUNCH_NODES,
    FR_LAUNCH_PER_NODE,    /**< ranks */
    FR_LAUNCH_ONE_A_NODE,  /**< no value: a rank a node */
    FR_LAUNCH_HOSTS,       /**< "a:8,b:8", slots filled one node after the other */
    FR_LAUNCH_HOSTS_ROUND, /**< how ranks are spread over them depends on the library */
    FR_LAUNCH_HOST_FILE,
    FR_LAUNCH_MAP,     /**< "ppr:8:node", "node" */
    FR_LAUNCH_BY_NODE, /**< no value: round the nodes */
    FR_LAUNCH_LIST,    /**< "node[0-3,7]" */
    FR_LAUNCH_GPUS,    /**< of the whole run */
    FR_LAUNCH_GPUS_PER_NODE,
    FR_LAUNCH_RANKS_PER_GPU,
    FR_LAUNCH_SETS, /**< jsrun's resource sets */
    FR_LAUNCH_SETS_PER_NODE,
    FR_LAUNCH_RANKS_PER_SET,
    FR_LAUNCH_OPEN,    /**< ranks of a part of a node: leaves open what no other option says */
    FR_LAUNCH_INCLUDE, /**< DeepSpeed's "a:0,1@b:0,1" */
    FR_LAUNCH_SPAN,    /**< LSF's "span[ptile=8]" */
} fr_launch_meaning;

struct fr_launch_option {
    /** Without its dashes; one letter: one dash, and the value may stand behind it. */
    const char *name;
    fr_launch_meaning means;
};

/** Options that nobody gave. */
typedef enum {
    FR_LAUNCH_NOTHING,     /**< they say nothing */
    FR_LAUNCH_RANK_A_NODE, /**< a rank on each node */
    FR_LAUNCH_ONE_NODE,
    FR_LAUNCH_ONE_RANK, /**< on one node */
} fr_launch_unsaid;

struct fr_launcher {
    const char *name;
    const char *const *words;               /**< that it is called by; NULL ends them */
    const char *const *second;              /**< one of them must follow; NULL: none need to */
    const struct fr_launch_option *options; /**< a NULL name ends them */
    fr_launch_unsaid unsaid;
    bool long_names;  /**< behind one dash too: "-N4" is no -N with its value */
    bool reserves;    /**< nodes; another one starts what runs on them */
    bool batch;       /**< takes from a batch job what its options do not say */
    bool lists_hosts; /**< as many names as ranks stand before the program */
};

/** Rows in table order, then NULL. */
extern const struct fr_launcher *const fr_launchers[];

/** Those of srun, sbatch and salloc. */
extern const struct fr_launch_option fr_slurm_options[];

#endif
