#include "answer/placement/launch_lines.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/script/script.h"

static int64_t node_of(const struct fr_launch_lines *l, int64_t rank) {
    return l->slot[rank] / l->ranks_per_node;
}

/* Does Slurm's plane=B put every rank on the node where it sits?  Blocks of B ranks are dealt to
 * the nodes in turn; B = 1 is cyclic, B = ranks_per_node block. */
static bool is_plane(const struct fr_launch_lines *l, int64_t block) {
    int64_t nodes = (l->ranks + l->ranks_per_node - 1) / l->ranks_per_node;
    if (l->ranks % l->ranks_per_node != 0 && block != l->ranks_per_node) return false;
    for (int64_t r = 0; r < l->ranks; r++)
        if (node_of(l, r) != r / block % nodes) return false;
    return true;
}

static void distribution(const struct fr_launch_lines *l, char *out, size_t capacity) {
    snprintf(out, capacity, "arbitrary");
    for (int64_t block = 1; block <= l->ranks_per_node; block++) {
        if (l->ranks_per_node % block != 0 || !is_plane(l, block)) continue;
        if (block == l->ranks_per_node)
            snprintf(out, capacity, "block");
        else if (block == 1)
            snprintf(out, capacity, "cyclic");
        else
            snprintf(out, capacity, "plane=%" PRId64, block);
    }
}

void fr_launch_number(const char *variable, struct fr_text *text) {
    fr_script_piece(text, "case ${");
    fr_script_word(text, FR_SCRIPT_BASH, variable);
    fr_script_piece(text, "-} in '' | *[!0-9]*) echo \"");
    fr_script_word(text, FR_SCRIPT_BASH, variable);
    fr_script_piece(text, " is no number: submit this with sbatch\" >&2; exit 1 ;; esac\n");
}

/* The node of every rank in order, as Slurm's arbitrary distribution reads them. */
static void hostfile(const struct fr_launch_lines *l, struct fr_text *text) {
    fr_launch_number("SLURM_JOB_ID", text);
    fr_text_addf(text, "mapfile -t hosts < <(scontrol show hostnames \"$SLURM_JOB_NODELIST\")\n"
                       "export SLURM_HOSTFILE=$PWD/hostfile.$SLURM_JOB_ID\n"
                       "for node in");
    for (int64_t r = 0; r < l->ranks; r++)
        fr_text_addf(text, r % 32 ? " %" PRId64 : " \\\n  %" PRId64, node_of(l, r));
    fr_script_piece(text,
                    "; do\n  printf '%s\\n' \"${hosts[$node]}\"\ndone > \"$SLURM_HOSTFILE\"\n");
}

void fr_launch_slurm(const struct fr_launch_lines *l, struct fr_text *text) {
    int64_t nodes = (l->ranks + l->ranks_per_node - 1) / l->ranks_per_node;
    int64_t per_node = l->ranks < l->ranks_per_node ? l->ranks : l->ranks_per_node;
    char how[40];
    distribution(l, how, sizeof how);
    fr_script_comment(text, "%s; placement %s", l->what, l->name);
    fr_text_addf(text,
                 "#SBATCH --nodes=%" PRId64 "\n#SBATCH --ntasks=%" PRId64
                 "\n#SBATCH --ntasks-per-node=%" PRId64 "\n#SBATCH --distribution=",
                 nodes, l->ranks, per_node);
    fr_script_word(text, FR_SCRIPT_BASH, how);
    fr_script_piece(text, "\n");
    if (how[0] == 'a') hostfile(l, text);
}

void fr_launch_rankfile(const struct fr_launch_lines *l, struct fr_text *text) {
    fr_script_comment(text, "%s; placement %s", l->what, l->name);
    fr_script_comment(text, "mpirun --rankfile FILE; nodes in the order of the allocation");
    for (int64_t r = 0; r < l->ranks; r++)
        fr_text_addf(text, "rank %" PRId64 "=+n%" PRId64 " slot=%" PRId64 "\n", r,
                     node_of(l, r), l->slot[r] % l->ranks_per_node);
}
