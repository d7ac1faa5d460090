/* The node's part of a cluster file, from hwloc. */
#include <stdlib.h>

#include "app/load.h"
#include "app/verb.h"
#include "topology/discover.h"

static const struct fr_option options[] = {
    {"hwloc", "FILE.xml", "read what lstopo wrote instead of looking at this machine", 0},
    {"rank", "auto|gpu|core|numa|package", "what a rank is (auto: a GPU, else a core)", 0},
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_text text = {0};
    int unit = FR_RANK_UNIT_auto;
    if (args->n_words > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "\"%.40s\": an hwloc file goes after --hwloc",
                       args->word[0]);
    FR_TRY(fr_args_choice(args, "rank", fr_rank_unit_names, &unit, err));
    fr_status status = fr_discover(fr_args_get(args, "hwloc"), (fr_rank_unit)unit, &text, err);
    if (status == FR_OK) return fr_app_print(&text, err);
    fr_text_free(&text);
    return status;
}

const struct fr_verb fr_verb_discover = {
    .name = "discover",
    .summary = "the node part of a cluster file, from hwloc",
    .usage = "[--hwloc FILE.xml] [--rank gpu|core|numa|package] > cluster.json",
    .details =
        "Prints what hwloc sees: ranks of a package and a node, how many share an adapter, "
        "memory, names. What it\ncannot see is written \"?\", to be filled in by hand or by "
        "forerun calibrate.\n"
        "  forerun discover > cluster.json\n"
        "  lstopo node.xml   (on the cluster)   forerun discover --hwloc node.xml > "
        "cluster.json\n",
    .options = options,
    .run = run,
};
