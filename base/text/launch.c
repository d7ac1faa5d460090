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
        launch->by_node = s.by_node;
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

/* "select=2:mpiprocs=36+1:mpiprocs=8": each chunk so many nodes */
static void take_chunks(struct fr_launch_facts *f, const char *at) {
    int64_t ranks = 0, nodes = 0, each = 0;
    bool all = true, same = true;
    size_t length = strcspn(at, " \t");
    for (const char *stop = at + length; at < stop;) {
        int64_t n = 1, processes = 0;
        size_t chunk = strcspn(at, "+ \t");
        char text[200];
        snprintf(text, sizeof text, "%.*s", (int)(chunk < 199 ? chunk : 199), at);
        if (text[0] >= '0' && text[0] <= '9')
            fr_launch_count(text, strspn(text, "0123456789"), &n);
        processes = number_after(text, "mpiprocs=");
        all &= processes > 0;
        same &= nodes == 0 || processes == each;
        each = processes;
        nodes += n;
        ranks += n * processes;
        at += chunk + 1;
    }
    f->nodes = nodes;
    if (all && same) f->ranks_per_node = each;
    if (all) f->ranks = ranks;
}

/* "#PBS -l select=2:ncpus=36:mpiprocs=36", "#PBS -l nodes=2:ppn=8" */
static void take_pbs(struct fr_launch *launch, const char *line) {
    struct fr_launch_facts f = {0};
    const char *select = strstr(line, "select=");
    if (select)
        take_chunks(&f, select + strlen("select="));
    else if ((f.nodes = number_after(line, "nodes=")))
        f.ranks_per_node = number_after(line, ":ppn=");
    take_if_stated(&launch->reserved, &f);
}

/* "#PJM -L node=2x3x2", "#PJM --mpi proc=96", "#PJM --mpi max-proc-per-node=48" of Fujitsu's machines */
static void take_pjm(struct fr_launch *launch, const char *line) {
    struct fr_launch_facts f = {.ranks_per_node = number_after(line, "max-proc-per-node=")};
    const char *shape = strstr(line, " node="), *quoted = strstr(line, "\"node=");
    if (!shape) shape = quoted;
    if (!f.ranks_per_node) f.ranks = number_after(line, "proc=");
    if (shape) {
        f.nodes = 1;
        for (const char *at = shape + 6; at; at = *at == 'x' ? at + 1 : NULL) {
            int64_t n = 0;
            size_t digits = strspn(at, "0123456789");
            if (!fr_launch_count(at, digits, &n) || f.nodes > FR_LAUNCH_COUNT_MAX / n) break;
            f.nodes *= n;
            at += digits;
        }
    }
    take_if_stated(&launch->reserved, &f);
}

/* "node1 slots=8", "node1:8": a line of a host file that was printed */
static void take_host_line(struct fr_launch *launch, const char *line) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t name = strspn(line, letters), n = name + strspn(line + name, " \t"), used;
    int64_t slots = 0;
    bool letter =
        name > 0 && name < 128 && (isalpha((unsigned char)*line) || strchr(line, '.'));
    if (!letter) return;
    if (strncmp(line + n, "slots=", 6) == 0)
        n += 6;
    else if (n == name && line[n] == ':')
        n++;
    else
        return;
    size_t digits = strspn(line + n, "0123456789");
    if (digits == 0 || digits > 4 || !fr_launch_count(line + n, digits, &slots)) return;
    n += digits;
    const char *rest = line + n + strspn(line + n, " \t\r");
    if (*rest && strncmp(rest, "max", 3) != 0 && *rest != '#') return;
    used = strlen(launch->hosts);
    if (used + name + 8 < sizeof launch->hosts)
        snprintf(launch->hosts + used, sizeof launch->hosts - used, "%s%.*s:%d",
                 used ? "," : "", (int)name, line, (int)slots);
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

/* "8(x2),4": ranks of each node; @return nodes, 0: it is no such list */
static int64_t nodes_of_counts(const char *at, int64_t *ranks) {
    int64_t nodes = 0;
    *ranks = 0;
    for (; *at >= '0' && *at <= '9'; at += *at == ',') {
        int64_t each = 0, times = 1;
        size_t n = strspn(at, "0123456789");
        if (!fr_launch_count(at, n, &each)) return 0;
        at += n;
        if (strncmp(at, "(x", 2) == 0) {
            n = strspn(at + 2, "0123456789");
            if (!fr_launch_count(at + 2, n, &times) || at[2 + n] != ')') return 0;
            at += n + 3;
        }
        nodes += times;
        *ranks += each * times;
        if (*ranks > FR_LAUNCH_COUNT_MAX || nodes > FR_LAUNCH_COUNT_MAX) return 0;
    }
    return *at && !strchr(" \t\r;\"'}", *at) ? 0 : nodes;
}

/* Counts and names that say both: SLURM_TASKS_PER_NODE, SLURM_JOB_NODELIST */
static void take_lists(struct fr_launch *launch, const char *line) {
    static const char *const counts[] = {"SLURM_TASKS_PER_NODE=", "SLURM_STEP_TASKS_PER_NODE="},
                             *const names[] = {"SLURM_JOB_NODELIST=", "SLURM_NODELIST=",
                                               "SLURM_STEP_NODELIST="};
    struct fr_launch_facts *f = &launch->environment;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(line, counts[i]);
        int64_t ranks = 0;
        if (!at) continue;
        at += strlen(counts[i]);
        int64_t nodes = nodes_of_counts(at + strspn(at, "\"'"), &ranks);
        if (nodes > 1 || strstr(at, "(x")) {
            f->nodes = nodes;
            f->ranks = ranks;
        }
    }
    for (int i = 0; i < 3; i++) {
        const char *at = strstr(line, names[i]);
        char list[400];
        if (!at) continue;
        at += strlen(names[i]);
        at += strspn(at, "\"'");
        size_t n = strcspn(at, " \t\r\"';");
        if (n == 0 || n >= sizeof list || *at == '$') continue;
        snprintf(list, sizeof list, "%.*s", (int)n, at);
        int64_t nodes = fr_launch_names(list);
        if (nodes > 0 && nodes <= FR_LAUNCH_COUNT_MAX) f->nodes = nodes;
    }
}

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
    take_lists(launch, line);
    take_host_line(launch, line);
    if (strncmp(line, "#PBS", 4) == 0) take_pbs(launch, line);
    if (strncmp(line, "#PJM", 4) == 0) take_pjm(launch, line);
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

/* The slots of a host file are filled one node after the other, or round the nodes. */
static void from_hosts(const struct fr_launch *launch, struct fr_launch_facts *f) {
    int64_t hosts = 0, slots = 0;
    fr_launch_hosts(launch->hosts, &hosts, &slots);
    if (!f->ranks) f->ranks = slots;
    if (f->nodes || f->ranks_per_node) return;
    f->nodes = launch->by_node ? hosts : fr_launch_hosts_filled(launch->hosts, f->ranks);
    if (!f->nodes) f->nodes = hosts;
}

struct fr_launch_facts fr_launch_resolve(const struct fr_launch *launch) {
    struct fr_launch_facts f = launch->run, reserved = launch->reserved,
                           environment = launch->environment;
    const struct fr_launcher *l = launch->launcher;
    bool batch = l && l->batch,
         node_each = l && l->unsaid == FR_LAUNCH_RANK_A_NODE && !*launch->unread;
    if (l && *launch->hosts && (*launch->unread || !f.ranks)) from_hosts(launch, &f);
    fill(&f);
    if (batch && !f.ranks && !f.nodes && !f.ranks_per_node && !*launch->unread) f = reserved;
    if (batch && !f.ranks_per_node && !(f.ranks && f.nodes) && !launch->by_node &&
        f.ranks <= reserved.nodes * reserved.ranks_per_node)
        f.ranks_per_node = reserved.ranks_per_node;
    if (l && !f.nodes) f.nodes = f.ranks_per_node && f.ranks ? 0 : reserved.nodes;
    fill(&f);
    if (l && !f.ranks_per_node && !f.nodes) f.ranks_per_node = environment.ranks_per_node;
    if (l && !f.nodes) f.nodes = environment.nodes;
    fill(&f);
    if (!f.ranks && batch && !*launch->unread) f.ranks = environment.ranks;
    if (!f.ranks && node_each && f.nodes) f.ranks = f.nodes; /* a task a node */
    fill(&f);
    if (f.nodes > f.ranks && f.ranks) f.nodes = f.ranks;
    return f;
}
