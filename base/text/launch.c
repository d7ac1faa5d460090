#include "base/text/launch.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t COUNT_MAX = (int64_t)1 << 31;

/* Kinds of value of an option. */
typedef enum {
    FLAG,   /* none follows */
    SKIP,   /* a value that says nothing here */
    SKIP_2, /* two */
    RANKS,  /* of the whole run */
    NODES,
    PER_NODE,    /* ranks */
    ONE_A_NODE,  /* no value: a rank a node */
    HOSTS,       /* "a:8,b:8", slots filled one node after the other */
    HOSTS_ROUND, /* how ranks are spread over them depends on the library */
    HOST_FILE,
    MAP,     /* "ppr:8:node", "node" */
    BY_NODE, /* no value: round the nodes */
    LIST,    /* "node[0-3,7]" */
    GPUS,    /* of the whole run */
    GPUS_PER_NODE,
    RANKS_PER_GPU,
    SETS, /* jsrun's resource sets */
    SETS_PER_NODE,
    RANKS_PER_SET,
} meaning;

struct option {
    const char *
        name; /* without its dashes; of one letter: one dash, and the value may stand behind it */
    meaning means;
};

/* ---- launchers ---------------------------------------------------------------------------------- */

static const struct option mpi_options[] = {{"np", RANKS},
                                            {"n", RANKS},
                                            {"c", RANKS},
                                            {"N", PER_NODE},
                                            {"npernode", PER_NODE},
                                            {"ppn", PER_NODE},
                                            {"perhost", PER_NODE},
                                            {"grr", PER_NODE},
                                            {"pernode", ONE_A_NODE},
                                            {"rr", ONE_A_NODE},
                                            {"H", HOSTS},
                                            {"host", HOSTS},
                                            {"hosts", HOSTS_ROUND},
                                            {"hostfile", HOST_FILE},
                                            {"machinefile", HOST_FILE},
                                            {"f", HOST_FILE},
                                            {"map-by", MAP},
                                            {"bynode", BY_NODE},
                                            {"x", SKIP},
                                            {"mca", SKIP_2},
                                            {"gmca", SKIP_2},
                                            {"omca", SKIP_2},
                                            {"prtemca", SKIP_2},
                                            {"pmixmca", SKIP_2},
                                            {"am", SKIP},
                                            {"env", SKIP_2},
                                            {"genv", SKIP_2},
                                            {"envlist", SKIP},
                                            {"genvlist", SKIP},
                                            {"wdir", SKIP},
                                            {"wd", SKIP},
                                            {"bind-to", SKIP},
                                            {"rank-by", SKIP},
                                            {"prefix", SKIP},
                                            {"output-filename", SKIP},
                                            {"rf", SKIP},
                                            {"rankfile", SKIP},
                                            {"path", SKIP},
                                            {"launcher", SKIP},
                                            {"rmk", SKIP},
                                            {"iface", SKIP},
                                            {"output", SKIP},
                                            {"npersocket", SKIP},
                                            {"cpu-bind", SKIP},
                                            {"depth", SKIP},
                                            {"d", SKIP},
                                            {"gpus-per-proc", SKIP},
                                            {"display", SKIP},
                                            {"tag-output", FLAG},
                                            {"timestamp-output", FLAG},
                                            {"allow-run-as-root", FLAG},
                                            {"oversubscribe", FLAG},
                                            {"report-bindings", FLAG},
                                            {"display-map", FLAG},
                                            {"bind-to-core", FLAG},
                                            {"bind-to-none", FLAG},
                                            {"l", FLAG},
                                            {"prepend-rank", FLAG},
                                            {"genvall", FLAG},
                                            {"envall", FLAG},
                                            {"genvnone", FLAG},
                                            {"q", FLAG},
                                            {"v", FLAG},
                                            {"verbose", FLAG},
                                            {"nooversubscribe", FLAG},
                                            {"nolocal", FLAG},
                                            {"line-buffer", FLAG},
                                            {"no-transfer", FLAG},
                                            {"ssh", FLAG},
                                            {"rsh", FLAG},
                                            {"export-all", FLAG},
                                            {NULL, FLAG}};

static const struct option slurm_options[] = {{"N", NODES},
                                              {"nodes", NODES},
                                              {"n", RANKS},
                                              {"ntasks", RANKS},
                                              {"ntasks-per-node", PER_NODE},
                                              {"tasks-per-node", PER_NODE},
                                              {"w", LIST},
                                              {"nodelist", LIST},
                                              {"G", GPUS},
                                              {"gpus", GPUS},
                                              {"gpus-per-node", GPUS_PER_NODE},
                                              {"gres", GPUS_PER_NODE},
                                              {"ntasks-per-gpu", RANKS_PER_GPU},
                                              {"l", FLAG},
                                              {"label", FLAG},
                                              {"u", FLAG},
                                              {"unbuffered", FLAG},
                                              {"K", FLAG},
                                              {"exclusive", FLAG},
                                              {"v", FLAG},
                                              {"overlap", FLAG},
                                              {"exact", FLAG},
                                              {"O", FLAG},
                                              {"overcommit", FLAG},
                                              {"pty", FLAG},
                                              {"no-container-mount-home", FLAG},
                                              {"container-writable", FLAG},
                                              {"Q", FLAG},
                                              {"quiet", FLAG},
                                              {"s", FLAG},
                                              {"oversubscribe", FLAG},
                                              {"requeue", FLAG},
                                              {"no-requeue", FLAG},
                                              {"use-min-nodes", FLAG},
                                              {NULL, FLAG}};

static const struct option aprun_options[] = {{"n", RANKS}, {"N", PER_NODE}, {"b", FLAG},
                                              {"q", FLAG},  {"ss", FLAG},    {NULL, FLAG}};

static const struct option jsrun_options[] = {
    {"n", SETS},          {"nrs", SETS},
    {"r", SETS_PER_NODE}, {"rs_per_host", SETS_PER_NODE},
    {"a", RANKS_PER_SET}, {"tasks_per_rs", RANKS_PER_SET},
    {"p", RANKS},         {"np", RANKS},
    {"smpiargs", SKIP},   {"M", SKIP},
    {NULL, FLAG}};

static const struct option lrun_options[] = {{"N", NODES}, {"T", PER_NODE}, {"n", RANKS},
                                             {"1", FLAG},  {"v", FLAG},     {NULL, FLAG}};

static const struct option flux_options[] = {{"N", NODES},
                                             {"nodes", NODES},
                                             {"n", RANKS},
                                             {"ntasks", RANKS},
                                             {"tasks-per-node", PER_NODE},
                                             {"x", FLAG},
                                             {"exclusive", FLAG},
                                             {"l", FLAG},
                                             {"label-io", FLAG},
                                             {"u", FLAG},
                                             {"unbuffered", FLAG},
                                             {"v", FLAG},
                                             {"verbose", FLAG},
                                             {NULL, FLAG}};

static const struct option ibrun_options[] = {
    {"n", RANKS}, {"np", RANKS}, {"o", SKIP}, {"tacc_affinity", FLAG}, {NULL, FLAG}};

static const struct option torchrun_options[] = {
    {"nnodes", NODES}, {"nproc-per-node", PER_NODE}, {"standalone", FLAG}, {"m", FLAG},
    {"module", FLAG},  {"no-python", FLAG},          {"use-env", FLAG},    {NULL, FLAG}};

static const struct option accelerate_options[] = {{"num-processes", RANKS},
                                                   {"num-machines", NODES},
                                                   {"multi-gpu", FLAG},
                                                   {"use-deepspeed", FLAG},
                                                   {"use-fsdp", FLAG},
                                                   {"m", FLAG},
                                                   {NULL, FLAG}};

static const struct option deepspeed_options[] = {
    {"num-gpus", PER_NODE}, {"num-nodes", NODES},    {"hostfile", HOST_FILE}, {"H", HOST_FILE},
    {"no-ssh", FLAG},       {"no-local-rank", FLAG}, {"module", FLAG},        {NULL, FLAG}};

/* The meaning of an option that nobody gave. */
typedef enum { NOTHING, RANK_A_NODE, ONE_NODE } unsaid;

static const struct launcher {
    const char *name;
    const char *const *words;  /* that it is called by; NULL ends them */
    const char *const *second; /* that must follow; NULL: none need to */
    const struct option *options;
    unsaid unsaid;
    bool reserves; /* nodes; what it starts is another's */
} launchers[] = {
    {"mpirun",
     (const char *const[]){"mpirun", "mpiexec", "orterun", "prterun", "prun", "mpiexec.hydra",
                           "mpirun.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec_mpt",
                           "mpirun_rsh", "mpiexec.openmpi", NULL},
     NULL, mpi_options, NOTHING, false},
    {"srun", (const char *const[]){"srun", "yhrun", NULL}, NULL, slurm_options, RANK_A_NODE,
     false},
    {"aprun", (const char *const[]){"aprun", NULL}, NULL, aprun_options, NOTHING, false},
    {"jsrun", (const char *const[]){"jsrun", NULL}, NULL, jsrun_options, NOTHING, false},
    {"lrun", (const char *const[]){"lrun", NULL}, NULL, lrun_options, NOTHING, false},
    {"flux", (const char *const[]){"flux", NULL},
     (const char *const[]){"run", "submit", "mini", "bulksubmit", NULL}, flux_options,
     RANK_A_NODE, false},
    {"ibrun", (const char *const[]){"ibrun", NULL}, NULL, ibrun_options, NOTHING, false},
    {"torchrun",
     (const char *const[]){"torchrun", "torch.distributed.run", "torch.distributed.launch",
                           NULL},
     NULL, torchrun_options, ONE_NODE, false},
    {"accelerate", (const char *const[]){"accelerate", NULL},
     (const char *const[]){"launch", NULL}, accelerate_options, ONE_NODE, false},
    {"deepspeed", (const char *const[]){"deepspeed", NULL}, NULL, deepspeed_options, ONE_NODE,
     false},
    {"salloc", (const char *const[]){"salloc", "sbatch", "#SBATCH", NULL}, NULL, slurm_options,
     NOTHING, true},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* ---- words -------------------------------------------------------------------------------------- */

enum { WORDS_MAX = 160 };

struct command {
    char text[FR_LAUNCH_LINE_B];
    char *word[WORDS_MAX];
    int n;
};

/* Words of a shell, or of a list of JSON or YAML: quotes, commas and brackets at their ends go. */
static void take_apart(const char *line, struct command *c) {
    c->n = 0;
    snprintf(c->text, sizeof c->text, "%s", line);
    char *save = NULL;
    for (char *word = strtok_r(c->text, " \t\r\n", &save); word && c->n < WORDS_MAX;
         word = strtok_r(NULL, " \t\r\n", &save)) {
        while (*word && strchr("'\"[`(", *word)) word++;
        size_t n = strlen(word);
        while (n > 0 && strchr("'\",;`", word[n - 1])) word[--n] = '\0';
        if (n > 1 && (word[n - 1] == ']' || word[n - 1] == ')') &&
            !strchr(word, word[n - 1] == ']' ? '[' : '('))
            word[--n] = '\0';
        while (n > 0 && strchr("'\"", word[n - 1])) word[--n] = '\0';
        if (n > 0) c->word[c->n++] = word;
    }
}

static bool count_of(const char *text, int64_t *out) {
    char *end = NULL;
    if (!isdigit((unsigned char)*text)) return false;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (*end || errno || value < 1 || value > COUNT_MAX) return false;
    *out = value;
    return true;
}

static int64_t rounded_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- what one command says ---------------------------------------------------------------------- */

struct said {
    struct fr_launch_facts facts;
    int64_t gpus, gpus_per_node, ranks_per_gpu, sets, sets_per_node, ranks_per_set;
    int64_t hosts, slots; /* of a list of hosts */
    char host_list[1024];
    bool by_node, one_a_node;
    int64_t before; /* ranks of parts before a ":" */
    bool parts;
    char unread[80];
};

static void leave_open(struct said *s, const char *name, const char *value) {
    if (!*s->unread)
        snprintf(s->unread, sizeof s->unread, "%.30s %.45s", name, value ? value : "");
}

/* "a:8,b:8": each name a node, however often it stands there; without a number a slot each time. */
static void take_hosts(struct said *s, const char *more) {
    size_t used = strlen(s->host_list);
    snprintf(s->host_list + used, sizeof s->host_list - used, "%s%s", used ? "," : "", more);
    const char *list = s->host_list;
    s->hosts = s->slots = 0;
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ","), name = strcspn(at, ":,");
        int64_t slots = at[name] == ':' ? strtoll(at + name + 1, NULL, 10) : 1;
        bool again = false;
        for (const char *p = list; p < at && !again; p += strcspn(p, ",") + 1)
            again = strcspn(p, ":,") == name && strncmp(p, at, name) == 0;
        if (slots < 1 || slots > COUNT_MAX) slots = 1;
        s->hosts += !again;
        s->slots += slots;
        if (s->slots > COUNT_MAX) s->slots = COUNT_MAX;
        at += n + (at[n] == ',');
    }
}

/* Nodes that @p ranks take where the slots of one are filled before those of the next. */
static int64_t filled(const char *list, int64_t ranks) {
    int64_t left = ranks, nodes = 0;
    for (const char *at = list; *at && left > 0;) {
        size_t n = strcspn(at, ","), name = strcspn(at, ":,");
        int64_t slots = at[name] == ':' ? strtoll(at + name + 1, NULL, 10) : 1;
        bool again = false;
        for (const char *p = list; p < at && !again; p += strcspn(p, ",") + 1)
            again = strcspn(p, ":,") == name && strncmp(p, at, name) == 0;
        nodes += !again;
        left -= slots < 1 ? 1 : slots;
        at += n + (at[n] == ',');
    }
    return left > 0 ? 0 : nodes;
}

/* "node[0-3,7],login1" */
static int64_t names_in_list(const char *list) {
    int64_t n = 0;
    for (const char *at = list; *at;) {
        const char *open = at + strcspn(at, "[,");
        if (*open != '[') {
            n++;
            at = *open ? open + 1 : open;
            continue;
        }
        const char *close = strchr(open, ']');
        if (!close) return 0;
        for (const char *p = open + 1; p < close;) {
            long long from = strtoll(p, NULL, 10), to = from;
            const char *dash = p + strspn(p, "0123456789");
            if (*dash == '-') to = strtoll(dash + 1, NULL, 10);
            if (to < from || to - from > COUNT_MAX) return 0;
            n += to - from + 1;
            p += strcspn(p, ",]") + 1;
        }
        at = close + 1 + (close[1] == ',');
    }
    return n;
}

static void take_map(struct said *s, const char *name, const char *value) {
    if (strncmp(value, "ppr:", 4) == 0) {
        char *end = NULL;
        long long n = strtoll(value + 4, &end, 10);
        bool node =
            *end == ':' && strncmp(end + 1, "node", 4) == 0 && !isalpha((unsigned char)end[5]);
        if (n >= 1 && n <= COUNT_MAX && node)
            s->facts.ranks_per_node = n;
        else
            leave_open(s, name, value);
    } else if (strncmp(value, "node", 4) == 0 && !isalpha((unsigned char)value[4])) {
        s->by_node = true;
    }
}

/* "8", "h100:8", "gpu:h100:8(S:0-3)" */
static int64_t gpus_of(const char *value) {
    const char *colon = strrchr(value, ':'), *open = strchr(value, '(');
    int64_t n = 0;
    char number[24];
    if (open)
        for (colon = open; colon > value && *colon != ':';) colon--;
    const char *from = colon && *colon == ':' ? colon + 1 : value;
    snprintf(number, sizeof number, "%.*s", (int)strcspn(from, "(,"), from);
    return count_of(number, &n) ? n : 0;
}

static void take_count(struct said *s, const char *name, const char *value, int64_t *out) {
    int64_t n = 0;
    if (!count_of(value, &n)) leave_open(s, name, value);
    if (!*out) *out = n; /* the first: what a program is given may look the same */
}

static void take_value(struct said *s, meaning means, const char *name, const char *value) {
    struct fr_launch_facts *f = &s->facts;
    int64_t n = 0;
    switch (means) {
    case RANKS:
        take_count(s, name, value, &f->ranks);
        break;
    case NODES:
        take_count(s, name, value, &f->nodes);
        break;
    case PER_NODE:
        take_count(s, name, value, &f->ranks_per_node);
        break;
    case SETS:
        take_count(s, name, value, &s->sets);
        break;
    case SETS_PER_NODE:
        take_count(s, name, value, &s->sets_per_node);
        break;
    case RANKS_PER_SET:
        take_count(s, name, value, &s->ranks_per_set);
        break;
    case RANKS_PER_GPU:
        take_count(s, name, value, &s->ranks_per_gpu);
        break;
    case HOSTS:
        take_hosts(s, value);
        break;
    case HOSTS_ROUND:
    case HOST_FILE:
        if (!f->nodes) leave_open(s, name, value);
        break;
    case MAP:
        take_map(s, name, value);
        break;
    case LIST:
        if ((n = names_in_list(value))) s->hosts = n;
        break;
    case GPUS:
        s->gpus = gpus_of(value);
        break;
    case GPUS_PER_NODE:
        s->gpus_per_node = gpus_of(value);
        break;
    case ONE_A_NODE:
        s->one_a_node = true;
        break;
    case BY_NODE:
        s->by_node = true;
        break;
    case FLAG:
    case SKIP:
    case SKIP_2:
        break;
    }
}

/* Names are the same with "_" for "-". */
static bool same_name(const char *word, size_t n, const char *name) {
    if (strlen(name) != n) return false;
    for (size_t i = 0; i < n; i++)
        if ((word[i] == '_' ? '-' : word[i]) != (name[i] == '_' ? '-' : name[i])) return false;
    return true;
}

static const struct option *option_of(const struct launcher *l, const char *word,
                                      const char **value) {
    size_t dashes = strspn(word, "-"), n = strcspn(word + dashes, "=");
    const char *name = word + dashes;
    *value = name[n] == '=' ? name + n + 1 : NULL;
    for (const struct option *o = l->options; o->name; o++)
        if (same_name(name, n, o->name) && (o->name[1] || dashes == 1)) return o;
    /* "-N4": not of mpirun, whose names of several letters begin with one dash. */
    for (const struct option *o = l->options;
         o->name && dashes == 1 && l->options != mpi_options; o++)
        if (!o->name[1] && *name == *o->name && isdigit((unsigned char)name[1])) {
            *value = name + 1;
            return o;
        }
    return NULL;
}

/* Programs whose own options begin there, whatever stood before. */
static bool is_benchmark(const char *word) {
    const char *base = strrchr(word, '/');
    base = base ? base + 1 : word;
    return strstr(base, "_perf") || strncmp(base, "osu_", 4) == 0 ||
           strncmp(base, "IMB-", 4) == 0;
}

static const struct launcher *launcher_at(const struct command *c, int i);

/* Options from word @p i on, up to what they start.  @return the word that it is */
static int take_options(const struct launcher *l, struct command *c, int i, struct said *s) {
    while (i < c->n && !is_benchmark(c->word[i])) {
        const char *word = c->word[i], *value = NULL;
        if (strcmp(word, ":") == 0) { /* another part of the run */
            s->before += s->facts.ranks;
            s->facts.ranks = 0;
            s->parts = true;
            i++;
            continue;
        }
        if (*word != '-' || !word[1]) {
            if (!s->parts && strcmp(word, "-") != 0 && strcmp(word, "\\") != 0) {
                /* The program; a part behind ":" may follow. */
                for (int k = i; k < c->n; k++)
                    if (strcmp(c->word[k], ":") == 0) {
                        i = k;
                        word = NULL;
                        break;
                    }
                if (word) return i;
                continue;
            }
            i++;
            continue;
        }
        const struct option *o = option_of(l, word, &value);
        i++;
        if (!o ||
            o->means ==
                SKIP) { /* what looks like an option or a path is no value of one unknown */
            bool path = !o && i < c->n && strchr(c->word[i], '/');
            if (i < c->n && !value && !strchr(word, '=') && *c->word[i] != '-' && !path &&
                !launcher_at(c, i) && !is_benchmark(c->word[i]))
                i++;
            continue;
        }
        if (o->means == FLAG || o->means == ONE_A_NODE || o->means == BY_NODE) {
            take_value(s, o->means, word, "");
            continue;
        }
        if (!value) {
            if (i >= c->n) break;
            value = c->word[i++];
        }
        if (o->means == SKIP_2) i++;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        take_value(s, o->means, name, value);
    }
    return i;
}

/* Derive facts from those that were given. */
static void complete(const struct launcher *l, struct said *s) {
    struct fr_launch_facts *f = &s->facts;
    int64_t a_set = s->ranks_per_set ? s->ranks_per_set : 1;
    if (s->parts) {
        f->ranks += s->before;
        if (!f->ranks_per_node) f->nodes = 0;
    }
    if (s->sets && !f->ranks) f->ranks = s->sets * a_set;
    if (s->sets_per_node) f->ranks_per_node = s->sets_per_node * a_set;
    if (s->one_a_node && !f->ranks_per_node) f->ranks_per_node = 1;
    if (s->ranks_per_gpu && s->gpus_per_node && !f->ranks_per_node)
        f->ranks_per_node = s->gpus_per_node * s->ranks_per_gpu;
    if (s->ranks_per_gpu && s->gpus && !f->ranks) f->ranks = s->gpus * s->ranks_per_gpu;
    if (s->hosts && !*s->host_list && !f->nodes) f->nodes = s->hosts; /* Slurm's list */
    if (*s->host_list) {
        if (!f->ranks) f->ranks = f->ranks_per_node ? s->hosts * f->ranks_per_node : s->slots;
        if (!f->ranks_per_node && s->by_node)
            f->nodes = s->hosts < f->ranks ? s->hosts : f->ranks;
        else if (!f->ranks_per_node)
            f->nodes = filled(s->host_list, f->ranks);
        if (!f->ranks_per_node && !f->nodes) f->nodes = s->hosts;
    }
    if (l->unsaid == ONE_NODE && !*s->unread) {
        if (!f->nodes) f->nodes = 1;
        if (!f->ranks_per_node && !f->ranks && l->options == torchrun_options)
            f->ranks_per_node = 1;
    }
    if (f->ranks && f->nodes && f->ranks_per_node && f->ranks > f->nodes * f->ranks_per_node) {
        char what[80];
        snprintf(what, sizeof what, "%lld ranks on %lld nodes of %lld", (long long)f->ranks,
                 (long long)f->nodes, (long long)f->ranks_per_node);
        leave_open(s, "", what);
        *f = (struct fr_launch_facts){0};
    }
    if (f->ranks > COUNT_MAX || f->ranks_per_node > COUNT_MAX) *f = (struct fr_launch_facts){0};
}

/* Ranks and nodes from any two of the three. */
static void fill(struct fr_launch_facts *f) {
    if (!f->ranks && f->nodes && f->ranks_per_node) f->ranks = f->nodes * f->ranks_per_node;
    if (!f->nodes && f->ranks && f->ranks_per_node)
        f->nodes = rounded_up(f->ranks, f->ranks_per_node);
    if (f->ranks > COUNT_MAX) *f = (struct fr_launch_facts){0};
}

static const struct launcher *launcher_at(const struct command *c, int i) {
    const char *base = strrchr(c->word[i], '/');
    base = base ? base + 1 : c->word[i];
    for (int k = 0; k < LAUNCHERS; k++)
        for (const char *const *word = launchers[k].words; *word; word++) {
            if (strcmp(base, *word) != 0) continue;
            bool follows = !launchers[k].second;
            for (const char *const *second = launchers[k].second; second && *second; second++)
                follows |= i + 1 < c->n && strcmp(c->word[i + 1], *second) == 0;
            if (follows) return &launchers[k];
        }
    return NULL;
}

static void take_if_said(struct fr_launch_facts *to, const struct fr_launch_facts *from) {
    if (from->ranks) to->ranks = from->ranks;
    if (from->nodes) to->nodes = from->nodes;
    if (from->ranks_per_node) to->ranks_per_node = from->ranks_per_node;
}

/* One inside another's: the inner one starts the ranks, the outer one says on how many nodes.
 * A torchrun that is started on several without an option that says so runs on each alone. */
static void within(const struct launcher *l, const struct fr_launch_facts *outer,
                   struct said *s) {
    if (l->unsaid == ONE_NODE && !*s->unread) {
        s->facts = (struct fr_launch_facts){0};
        leave_open(s, l->name, "on several nodes, without their number");
    } else if (!s->facts.ranks) {
        s->facts.nodes = outer->nodes;
    }
}

static void take_command(struct fr_launch *launch, struct command *c) {
    struct fr_launch_facts outer = {0};
    for (int i = 0; i < c->n; i++) {
        const struct launcher *l = launcher_at(c, i);
        if (!l && is_benchmark(c->word[i])) return;
        if (!l) continue;
        struct said s = {.facts = {0}};
        int options = i + 1;
        for (const char *const *word = l->second; word && *word && options < c->n; word++)
            if (strcmp(c->word[options], *word) == 0) {
                options++;
                word = l->second - 1; /* "flux mini run" */
            }
        i = take_options(l, c, options, &s) - 1;
        bool nodes_said = s.facts.nodes > 0;
        complete(l, &s);
        if (l->reserves) {
            take_if_said(&launch->reserved, &s.facts);
            continue;
        }
        if (outer.nodes > 1 && !nodes_said) within(l, &outer, &s);
        bool says = s.facts.ranks || s.facts.nodes || s.facts.ranks_per_node || *s.unread;
        fill(&s.facts);
        outer = s.facts;
        if (launch->launcher && !says) continue;
        launch->run = s.facts;
        launch->launcher = l->name;
        snprintf(launch->unread, sizeof launch->unread, "%s", s.unread);
    }
}

/* ---- PBS, variables ----------------------------------------------------------------------------- */

static int64_t number_behind(const char *text, const char *label) {
    const char *at = strstr(text, label);
    char number[24];
    int64_t n = 0;
    if (!at) return 0;
    at += strlen(label);
    snprintf(number, sizeof number, "%.*s", (int)strspn(at, "0123456789"), at);
    return count_of(number, &n) ? n : 0;
}

/* "#PBS -l select=2:ncpus=36:mpiprocs=36", "#PBS -l nodes=2:ppn=8" */
static void take_pbs(struct fr_launch *launch, const char *line) {
    struct fr_launch_facts f = {.nodes = number_behind(line, "select=")};
    if (!f.nodes) f.nodes = number_behind(line, "nodes=");
    f.ranks_per_node = number_behind(line, "mpiprocs=");
    if (!f.ranks_per_node) f.ranks_per_node = number_behind(line, ":ppn=");
    take_if_said(&launch->reserved, &f);
}

static const struct {
    const char *name;
    meaning means;
} variables[] = {
    {"SLURM_NTASKS", RANKS},
    {"SLURM_NPROCS", RANKS},
    {"SLURM_STEP_NUM_TASKS", RANKS},
    {"OMPI_COMM_WORLD_SIZE", RANKS},
    {"PMI_SIZE", RANKS},
    {"FLUX_JOB_SIZE", RANKS},
    {"MV2_COMM_WORLD_SIZE", RANKS},
    {"SLURM_NNODES", NODES},
    {"SLURM_JOB_NUM_NODES", NODES},
    {"SLURM_STEP_NUM_NODES", NODES},
    {"FLUX_JOB_NNODES", NODES},
    {"SLURM_NTASKS_PER_NODE", PER_NODE},
    {"SLURM_TASKS_PER_NODE", PER_NODE},
    {"SLURM_STEP_TASKS_PER_NODE", PER_NODE},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", PER_NODE},
    {"MPI_LOCALNRANKS", PER_NODE},
    {"slotsPerWorker", PER_NODE},
};

/* "SLURM_NTASKS=16", "export SLURM_NTASKS=16", "slotsPerWorker: 8", "SLURM_TASKS_PER_NODE=8(x2)" */
static void take_variables(struct fr_launch *launch, const char *line) {
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = variables[i].name, *at = strstr(line, name);
        size_t n = strlen(name), digits;
        char number[24];
        int64_t value = 0;
        if (!at || (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))) continue;
        at += n;
        at += *at == '"';
        if (*at != '=' && *at != ':') continue;
        at += 1 + strspn(at + 1, " \"'");
        digits = strspn(at, "0123456789");
        bool ends = !at[digits] || strchr(" \t\r,;\"')}", at[digits]) ||
                    (variables[i].means == PER_NODE && strncmp(at + digits, "(x", 2) == 0 &&
                     !strchr(at, ','));
        snprintf(number, sizeof number, "%.*s", (int)digits, at);
        if (!ends || !count_of(number, &value)) continue;
        if (variables[i].means == RANKS) launch->environment.ranks = value;
        if (variables[i].means == NODES) launch->environment.nodes = value;
        if (variables[i].means == PER_NODE) launch->environment.ranks_per_node = value;
    }
}

/* ---- lines -------------------------------------------------------------------------------------- */

static void take_line(struct fr_launch *launch, const char *line) {
    struct command c;
    take_apart(line, &c);
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
    bool slurm = launch->launcher &&
                 (!strcmp(launch->launcher, "srun") || !strcmp(launch->launcher, "ibrun"));
    bool node_each = launch->launcher &&
                     (!strcmp(launch->launcher, "srun") || !strcmp(launch->launcher, "flux"));
    fill(&f);
    if (slurm && !f.ranks && !f.nodes && !f.ranks_per_node) f = reserved;
    if (slurm && !f.ranks_per_node && !(f.ranks && f.nodes))
        f.ranks_per_node = reserved.ranks_per_node;
    if (launch->launcher && !f.nodes) f.nodes = reserved.nodes;
    fill(&f);
    if (launch->launcher && !f.ranks_per_node && !f.nodes)
        f.ranks_per_node = environment.ranks_per_node;
    if (launch->launcher && !f.nodes) f.nodes = environment.nodes;
    fill(&f);
    if (!f.ranks && slurm) f.ranks = environment.ranks;
    if (!f.ranks && node_each && f.nodes) f.ranks = f.nodes; /* a task a node */
    fill(&f);
    if (f.nodes > f.ranks && f.ranks) f.nodes = f.ranks;
    return f;
}
