/* The node's and the network's part of a cluster file, from hwloc and from files that administrators have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/from/expand.h"
#include "app/load.h"
#include "app/verb.h"
#include "base/file.h"
#include "topology/discover.h"
#include "topology/layout.h"

static const struct fr_option options[] = {
    {"hwloc", "FILE.xml", "read what lstopo wrote instead of looking at this machine", 0},
    {"ranks-per-node", "N", "of files that show the network alone", 0},
    {"rank", "auto|gpu|core|numa|package", "what a rank is (auto: a GPU, else a core)", 0},
    FR_OPTION_HELP,
    FR_OPTION_END};

/* Is the file hwloc's, whatever its version? */
static bool is_hwloc(const char *path) {
    char *data = NULL;
    size_t length = 0;
    bool is = fr_file_read(path, FR_FILE_MAX_B, &data, &length, NULL) == FR_OK &&
              strstr(data, "<topology") != NULL;
    free(data);
    return is;
}

/* A node and a network, each from a file of its own. */
static fr_status read_layout(const struct fr_args *args, struct fr_text *text,
                             struct fr_error *err) {
    struct fr_text notes = {0};
    struct fr_layout layout = {.notes = &notes};
    long long ranks_per_node = 0;
    FR_TRY(fr_args_integer(args, "ranks-per-node", 1, 1 << 20, &ranks_per_node, err));
    fr_status status = FR_OK;
    for (int i = 0; i < args->n_words && status == FR_OK; i++)
        status =
            is_hwloc(args->word[i])
                ? fr_fail(err, FR_ERR_INPUT, args->word[i],
                          "hwloc's XML stands alone: give the others with --ranks-per-node "
                          "N, and take the node's part from it")
                : fr_layout_read(args->word[i], &layout, err);
    if (status == FR_OK) status = fr_layout_write(&layout, ranks_per_node, text, err);
    fr_app_tell(&notes);
    fr_text_free(&notes);
    return status;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    struct fr_text text = {0};
    const char *xml = fr_args_get(args, "hwloc");
    int unit = FR_RANK_UNIT_auto;
    FR_TRY(fr_args_choice(args, "rank", fr_rank_unit_names, &unit, err));
    if (!xml && args->n_words == 1 && is_hwloc(args->word[0])) xml = args->word[0];
    bool layout = args->n_words > 0 && xml != args->word[0];
    if (layout && xml)
        return fr_fail(err, FR_ERR_USAGE, "--hwloc", "stands alone, without \"%.60s\"",
                       args->word[0]);
    fr_status status = layout ? read_layout(args, &text, err)
                              : fr_discover(xml, (fr_rank_unit)unit, &text, err);
    if (status == FR_OK) return fr_app_print(&text, err);
    fr_text_free(&text);
    return status;
}

const struct fr_verb fr_verb_discover = {
    .name = "discover",
    .summary = "the node part of a cluster file, from hwloc or what shows node and network",
    .usage = "[FILE...] [--hwloc FILE.xml] [--rank gpu|core|numa|package] [--ranks-per-node N] "
             "> cluster.json",
    .details =
        "Prints what hwloc sees: ranks of a package and a node, how many share an adapter, "
        "memory, names. It\nwrites \"?\" for what it cannot see; fill these in by hand or with "
        "forerun calibrate.\n"
        "  forerun discover > cluster.json\n"
        "  lstopo node.xml   (on the cluster)   forerun discover --hwloc node.xml > "
        "cluster.json\n"
        "FILE is hwloc's XML, or a node's nvidia-smi topo -m or NCCL topology "
        "(NCCL_TOPO_DUMP_FILE) and a\nnetwork's topology.conf of Slurm.\n"
        "  nvidia-smi topo -m > topo.txt\n"
        "  forerun discover topo.txt /etc/slurm/topology.conf > cluster.json\n",
    .options = options,
    .run = run,
};
