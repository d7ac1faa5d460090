#include "base/text/launch.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text/launch_count.h"
#include "base/text/launch_options.h"

/* Ranks and nodes from any two of the three. */
static void fill(struct fr_launch_facts *f) {
    if (!f->ranks && f->nodes && f->ranks_per_node) f->ranks = f->nodes * f->ranks_per_node;
    if (!f->nodes && f->ranks && f->ranks_per_node)
        f->nodes = (f->ranks + f->ranks_per_node - 1) / f->ranks_per_node;
    if (f->ranks > FR_LAUNCH_COUNT_MAX) *f = (struct fr_launch_facts){0};
}

static void take_if_stated(struct fr_launch_facts *to, const struct fr_launch_facts *from) {
    if (from->ranks) to->ranks = from->ranks;
    if (from->nodes) to->nodes = from->nodes;
    if (from->ranks_per_node) to->ranks_per_node = from->ranks_per_node;
}

/* One inside another's: the inner one starts the ranks, the outer one says on how many nodes.
 * A torchrun that is started on several without an option that says so runs on each alone. */
static void within(const struct fr_launcher *l, const struct fr_launch_facts *outer,
                   struct fr_launch_stated *s) {
    if (l->unsaid >= FR_LAUNCH_ONE_NODE && !*s->unread) {
        s->facts = (struct fr_launch_facts){0};
        fr_launch_leave_open(s, l->name, "on several nodes, without their number");
    } else if (!s->facts.ranks) {
        s->facts.nodes = outer->nodes;
    }
}

static void take_command(struct fr_launch *launch, struct fr_launch_command *c) {
    struct fr_launch_facts outer = {0};
    for (int i = 0; i < c->n; i++) {
        const struct fr_launcher *l = fr_launcher_at(c, i);
        if (!l && fr_launch_benchmark(c->word[i])) return;
        if (!l) continue;
        struct fr_launch_stated s = {.facts = {0}};
        int options = i + 1;
        for (const char *const *word = l->second; word && *word && options < c->n; word++)
            if (strcmp(c->word[options], *word) == 0) {
                options++;
                word = l->second - 1; /* "flux mini run" */
            }
        i = fr_launch_options(l, c, options, &s) - 1;
        bool nodes_stated = s.facts.nodes > 0;
        fr_launch_complete(l, &s);
        if (l->reserves) {
            take_if_stated(&launch->reserved, &s.facts);
            continue;
        }
        if (outer.nodes > 1 && !nodes_stated) within(l, &outer, &s);
        bool says = s.facts.ranks || s.facts.nodes || s.facts.ranks_per_node || *s.unread;
        fill(&s.facts);
        outer = s.facts;
        if (launch->launcher && !says) continue;
        launch->run = s.facts;
        launch->launcher = l;
        snprintf(launch->unread, sizeof launch->unread, "%s", s.unread);
    }
}

/* ---- PBS, variables ----------------------------------------------------------------------------- */

static int64_t number_after(const char *text, const char *label) {
    const char *at = strstr(text, label);
    int64_t n = 0;
    if (!at) return 0;
    at += strlen(label);
    return fr_launch_count(at, strspn(at, "0123456789"), &n) ? n : 0;
}

/* "#PBS -l select=2:ncpus=36:mpiprocs=36", "#PBS -l nodes=2:ppn=8" */
static void take_pbs(struct fr_launch *launch, const char *line) {
    struct fr_launch_facts f = {.nodes = number_after(line, "select=")};
    if (!f.nodes) f.nodes = number_after(line, "nodes=");
    f.ranks_per_node = number_after(line, "mpiprocs=");
    if (!f.ranks_per_node) f.ranks_per_node = number_after(line, ":ppn=");
    take_if_stated(&launch->reserved, &f);
}

static const struct {
    const char *name;
    fr_launch_meaning means;
} variables[] = {
    {"SLURM_NTASKS", FR_LAUNCH_RANKS},
    {"SLURM_NPROCS", FR_LAUNCH_RANKS},
    {"SLURM_STEP_NUM_TASKS", FR_LAUNCH_RANKS},
    {"OMPI_COMM_WORLD_SIZE", FR_LAUNCH_RANKS},
    {"PMI_SIZE", FR_LAUNCH_RANKS},
    {"FLUX_JOB_SIZE", FR_LAUNCH_RANKS},
    {"MV2_COMM_WORLD_SIZE", FR_LAUNCH_RANKS},
    {"SLURM_NNODES", FR_LAUNCH_NODES},
    {"SLURM_JOB_NUM_NODES", FR_LAUNCH_NODES},
    {"SLURM_STEP_NUM_NODES", FR_LAUNCH_NODES},
    {"FLUX_JOB_NNODES", FR_LAUNCH_NODES},
    {"SLURM_NTASKS_PER_NODE", FR_LAUNCH_PER_NODE},
    {"SLURM_TASKS_PER_NODE", FR_LAUNCH_PER_NODE},
    {"SLURM_STEP_TASKS_PER_NODE", FR_LAUNCH_PER_NODE},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", FR_LAUNCH_PER_NODE},
    {"MPI_LOCALNRANKS", FR_LAUNCH_PER_NODE},
    {"slotsPerWorker", FR_LAUNCH_PER_NODE},
};

/* "SLURM_NTASKS=16", "export SLURM_NTASKS=16", "slotsPerWorker: 8", "SLURM_TASKS_PER_NODE=8(x2)" */
static void take_variables(struct fr_launch *launch, const char *line) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = variables[i].name, *at = strstr(line, name);
        size_t n = strlen(name), digits;
        int64_t value = 0;
        if (!at || (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))) continue;
        at += n;
        at += *at == '"';
        if (*at != '=' && *at != ':') continue;
        at += 1 + strspn(at + 1, " \"'");
        digits = strspn(at, "0123456789");
        bool ends = !at[digits] || strchr(" \t\r,;\"')}", at[digits]) ||
                    (variables[i].means == FR_LAUNCH_PER_NODE &&
                     strncmp(at + digits, "(x", 2) == 0 && !strchr(at, ','));
        if (!ends || !fr_launch_count(at, digits, &value)) continue;
        if (variables[i].means == FR_LAUNCH_RANKS) launch->environment.ranks = value;
        if (variables[i].means == FR_LAUNCH_NODES) launch->environment.nodes = value;
        if (variables[i].means == FR_LAUNCH_PER_NODE)
            launch->environment.ranks_per_node = value;
    }
}

/* ---- lines -------------------------------------------------------------------------------------- */

static void take_line(struct fr_launch *launch, const char *line) {
    struct fr_launch_command c;
    fr_launch_split(line, &c);
    take_command(launch, &c);
}

static void append(struct fr_launch *launch, const char *line, size_t n) {
    size_t used = strlen(launch->pending);
    snprintf(launch->pending + used, sizeof launch->pending - used, "%s%.*s", used ? " " : "",
             (int)(n < FR_LAUNCH_LINE_B ? n : FR_LAUNCH_LINE_B), line);
}

void fr_launch_add(struct fr_launch *launch, const char *line) {
    line += strspn(line, " \t");
    size_t n = strlen(line);
    while (n > 0 && isspace((unsigned char)line[n - 1])) n--;
    if (n == 0) {
        *launch->pending = '\0';
        return;
    }
    take_variables(launch, line);
    if (strncmp(line, "#PBS", 4) == 0) take_pbs(launch, line);
    bool goes_on = line[n - 1] == '\\', item = strncmp(line, "- ", 2) == 0;
    bool within = *launch->pending && (!launch->list || item);
    if (!within) *launch->pending = '\0';
    if (within || goes_on || item) {
        launch->list = item;
        append(launch, item ? line + 2 : line, n - (item ? 2 : 0) - goes_on);
        take_line(launch, launch->pending);
        if (!goes_on && !item) *launch->pending = '\0';
        launch->list &= *launch->pending != '\0';
        return;
    }
    take_line(launch, line);
}

struct fr_launch_facts fr_launch_resolve(const struct fr_launch *launch) {
    struct fr_launch_facts f = launch->run, reserved = launch->reserved,
                           environment = launch->environment;
    const struct fr_launcher *l = launch->launcher;
    bool slurm = l && l->slurm, node_each = l && l->unsaid == FR_LAUNCH_RANK_A_NODE;
    fill(&f);
    if (slurm && !f.ranks && !f.nodes && !f.ranks_per_node) f = reserved;
    if (slurm && !f.ranks_per_node && !(f.ranks && f.nodes))
        f.ranks_per_node = reserved.ranks_per_node;
    if (l && !f.nodes) f.nodes = reserved.nodes;
    fill(&f);
    if (l && !f.ranks_per_node && !f.nodes) f.ranks_per_node = environment.ranks_per_node;
    if (l && !f.nodes) f.nodes = environment.nodes;
    fill(&f);
    if (!f.ranks && slurm) f.ranks = environment.ranks;
    if (!f.ranks && node_each && f.nodes) f.ranks = f.nodes; /* a task a node */
    fill(&f);
    if (f.nodes > f.ranks && f.ranks) f.nodes = f.ranks;
    return f;
}
