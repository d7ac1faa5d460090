/* Slurm's topology.conf: "SwitchName=s0 Nodes=node[0-15]", "SwitchName=core Switches=s[0-3]", "BlockName=b0 Nodes=...";
 * and its topology.yaml, "- switch: s0", below it "nodes: node[0-15]" or "children: s[0-3]". */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "topology/layout.h"

enum { NAME_B = 64 };

struct unit {
    char name[NAME_B];
    const char *below; /* names of switches, up to a blank; NULL: of nodes */
    int64_t nodes;
    int height; /* 0: of nodes; -1: being counted */
    bool counted;
};

struct units {
    struct unit *item;
    int n, capacity;
};

/* The line at @p at without blanks and a list's dash before it. */
static const char *behind_dash(const char *at) {
    at += strspn(at, " \t");
    return at[0] == '-' && at[1] == ' ' ? at + 2 + strspn(at + 2, " ") : at;
}

static bool is_yaml(const char *text) {
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const char *key = behind_dash(at);
        if (strncmp(key, "switch:", 7) == 0 || strncmp(key, "block:", 6) == 0) return true;
    }
    return false;
}

static bool applicable(const char *text) {
    for (const char *at = text; *at;) {
        at += strspn(at, " \t");
        if (strncasecmp(at, "SwitchName=", 11) == 0 || strncasecmp(at, "BlockName=", 10) == 0)
            return true;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return is_yaml(text);
}

/* Lines that end in a backslash go on in the next. */
static void join_lines(const char *text, struct fr_text *out) {
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\\");
        fr_text_add(out, at, n);
        at += n;
        if (!*at) return;
        size_t blank = 1 + strspn(at + 1, " \t\r");
        if (at[blank] != '\n') {
            fr_text_add(out, at, 1);
            at++;
            continue;
        }
        bool list = n > 0 && at[-1] == ',';
        at += blank + 1;
        if (list) at += strspn(at, " \t");
    }
}

/* The topology of a YAML file that is the cluster's, or its first, as lines of topology.conf. */
static void from_yaml(const char *text, const char *name, struct fr_layout *layout,
                      struct fr_text *out) {
    static const struct {
        const char *key, *is;
    } keys[] = {{"switch:", "\nSwitchName="},
                {"block:", "\nBlockName="},
                {"nodes:", " Nodes="},
                {"children:", " Switches="}};
    struct fr_text one = {0};
    int topologies = 0;
    bool cluster = false, chosen = false;
    for (const char *at = text;; at += *at == '\n') {
        const char *key = behind_dash(at);
        bool next = strncmp(key, "topology:", 9) == 0;
        if ((next || !*at) && one.length && (cluster || !out->length) && !chosen) {
            fr_text_free(out);
            fr_text_add(out, fr_text_get(&one), one.length);
            chosen = cluster;
        }
        if (!*at) break;
        if (next) {
            fr_text_free(&one);
            topologies++;
            cluster = false;
        }
        cluster |= strncmp(key, "cluster_default: true", 21) == 0;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            size_t n = strlen(keys[i].key);
            if (strncmp(key, keys[i].key, n) != 0) continue;
            key += n + strspn(key + n, " \"'");
            if (!*key || strchr("\r\n#", *key)) break; /* "block:", of which more lines say */
            fr_text_addf(&one, "%s%.*s", keys[i].is, (int)strcspn(key, " \t\r\n\"'#"), key);
            break;
        }
        at += strcspn(at, "\n");
    }
    fr_text_addf(out, "\n");
    if (topologies > 1)
        fr_text_addf(layout->notes, "%s: of its %d topologies the %s is taken\n", name,
                     topologies, chosen ? "cluster's own" : "first");
    fr_text_free(&one);
}

/* The value of "KEY=value" in the line at @p line; NULL: it has none. */
static const char *value_of(const char *line, const char *key) {
    size_t n = strlen(key), length = strcspn(line, "\n#");
    for (const char *at = line; at + n < line + length; at++)
        if ((at == line || isspace((unsigned char)at[-1])) && strncasecmp(at, key, n) == 0 &&
            at[n] == '=')
            return at + n + 1;
    return NULL;
}

struct names {
    void (*each)(void *context, const char *name); /* NULL: they are counted only */
    void *context;
    int64_t n;
};

/* Every name of "rack[0-1]node[00-15]-ib", from @p at on behind what @p name holds.  @return false: it is no such name */
static bool expand(struct names *names, const char *at, const char *stop, const char *name) {
    const char *open = memchr(at, '[', (size_t)(stop - at));
    char longer[NAME_B];
    if (!open) {
        snprintf(longer, sizeof longer, "%s%.*s", name,
                 (int)(stop - at < NAME_B ? stop - at : NAME_B), at);
        if (names->each) names->each(names->context, longer);
        return ++names->n <= FR_LAYOUT_COUNT_MAX;
    }
    const char *close = memchr(open, ']', (size_t)(stop - open));
    if (!close) return false;
    int before = (int)(open - at < NAME_B / 2 ? open - at : NAME_B / 2);
    for (const char *p = open + 1; p < close;) {
        char *end = NULL;
        int digits = (int)strspn(p, "0123456789");
        long long from = strtoll(p, &end, 10), to = from;
        if (end == p || digits > 9 || digits == 0) return false;
        if (*end == '-') {
            p = end + 1;
            if (!isdigit((unsigned char)*p)) return false;
            to = strtoll(p, &end, 10);
        }
        if (to < from || to - from >= FR_LAYOUT_COUNT_MAX) return false;
        for (long long i = from; i <= to; i++) {
            int n =
                snprintf(longer, sizeof longer, "%.24s%.*s%0*lld", name, before, at, digits, i);
            if (n >= (int)sizeof longer || !expand(names, close + 1, stop, longer))
                return false;
        }
        if (*end != ',' && *end != ']') return false;
        p = end + 1;
    }
    return true;
}

/* Calls @p each with every name of "node[0-3,07-09],login" up to a blank; @return their number, -1: it is no list. */
static int64_t for_names(const char *list, void (*each)(void *context, const char *name),
                         void *context) {
    struct names names = {each, context, 0};
    const char *stop = list + strcspn(list, " \t\r\n#");
    for (const char *at = list, *end; at < stop; at = end + (end < stop)) {
        bool inside = false;
        for (end = at; end < stop && (inside || *end != ','); end++)
            inside = *end == '[' || (inside && *end != ']');
        if (!expand(&names, at, end, "")) return -1;
    }
    return names.n;
}

static bool add(struct units *units, const struct unit *u) {
    if (units->n == units->capacity) {
        int capacity = units->capacity ? 2 * units->capacity : 64;
        struct unit *more = fr_realloc(units->item, (size_t)capacity, sizeof *more);
        if (!more) return false;
        units->item = more;
        units->capacity = capacity;
    }
    units->item[units->n++] = *u;
    return true;
}

static fr_status read_lines(const char *text, const char *name, struct units *units,
                            struct fr_error *err) {
    long number = 1;
    for (const char *at = text; *at; number++) {
        const char *unit = value_of(at, "SwitchName"), *nodes = value_of(at, "Nodes"),
                   *below = value_of(at, "Switches");
        struct unit u = {.below = below};
        if (!unit) unit = value_of(at, "BlockName");
        if (unit) {
            snprintf(u.name, sizeof u.name, "%.*s", (int)strcspn(unit, " \t\r\n#"), unit);
            int64_t n = nodes   ? for_names(nodes, NULL, NULL)
                        : below ? for_names(below, NULL, NULL)
                                : -1;
            if (n < 1) {
                char where[300];
                snprintf(where, sizeof where, "%.255s:%ld", name, number);
                return fr_fail(
                    err, FR_ERR_INPUT, where,
                    "switch \"%.40s\" has no list of nodes or switches that can be read "
                    "(Nodes=node[0-15])",
                    u.name);
            }
            if (nodes) u.nodes = n;
            if (!add(units, &u))
                return fr_fail(err, FR_ERR_NOMEM, name, "does not fit in memory");
        }
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return FR_OK;
}

struct below {
    struct units *units;
    struct unit *of;
    bool bad;
};

static bool count(struct units *units, struct unit *u);

static void count_below(void *context, const char *name) {
    struct below *b = context;
    for (int i = 0; i < b->units->n; i++) {
        struct unit *u = &b->units->item[i];
        if (strcmp(u->name, name) != 0) continue;
        if (!count(b->units, u)) {
            b->bad = true;
            return;
        }
        b->of->nodes += u->nodes;
        if (u->height >= b->of->height) b->of->height = u->height + 1;
        return;
    }
    b->bad = true;
}

/* Nodes below a switch, and its height over them.  @return false: in a circle, or of a switch that is not there */
static bool count(struct units *units, struct unit *u) {
    struct below b = {units, u, false};
    if (u->height < 0) return false;
    if (u->counted || !u->below) {
        u->counted = true;
        return true;
    }
    int64_t own = u->nodes;
    u->height = -1;
    const char *names = u->below;
    struct unit sum = {.nodes = own};
    b.of = &sum;
    for_names(names, count_below, &b);
    u->nodes = sum.nodes;
    u->height = sum.height;
    u->counted = true;
    return !b.bad;
}

static fr_status sum_up(struct units *units, const char *name, struct fr_layout *layout,
                        struct fr_error *err) {
    static const char *const kinds[] = {"leaf", "spine", "core", "top"};
    int64_t leaves = 0;
    for (int i = 0; i < units->n; i++) {
        if (!count(units, &units->item[i]))
            return fr_fail(
                err, FR_ERR_INPUT, name,
                "switch \"%.40s\" has one below it that the file does not describe, or itself",
                units->item[i].name);
        if (!units->item[i].below) leaves += units->item[i].nodes;
    }
    if (leaves < 1 || leaves > FR_LAYOUT_COUNT_MAX)
        return fr_fail(err, FR_ERR_INPUT, name, "names no nodes");
    layout->nodes = leaves;
    for (int h = 0; h < FR_LAYOUT_SWITCHES; h++) {
        int64_t most = 0, fewest = INT64_MAX;
        int n = 0;
        for (int i = 0; i < units->n; i++) {
            if (units->item[i].height != h) continue;
            n++;
            if (units->item[i].nodes > most) most = units->item[i].nodes;
            if (units->item[i].nodes < fewest) fewest = units->item[i].nodes;
        }
        if (n == 0) break;
        layout->nodes_of_switch[h] = most;
        layout->n_switches = h + 1;
        if (n > 1 && fewest < most)
            fr_text_addf(layout->notes,
                         "%s: %s switches have %" PRId64 " to %" PRId64 " nodes; written "
                         "as %" PRId64 "\n",
                         name, kinds[h], fewest, most, most);
    }
    return FR_OK;
}

static fr_status read(const char *text, const char *name, struct fr_layout *layout,
                      struct fr_error *err) {
    struct units units = {.item = NULL};
    struct fr_text lines = {0};
    if (is_yaml(text))
        from_yaml(text, name, layout, &lines);
    else
        join_lines(text, &lines);
    fr_status status = lines.failed ? fr_fail(err, FR_ERR_NOMEM, name, "does not fit in memory")
                                    : read_lines(fr_text_get(&lines), name, &units, err);
    if (status == FR_OK) status = sum_up(&units, name, layout, err);
    fr_text_free(&lines);
    free(units.item);
    return status;
}

const struct fr_layout_form fr_layout_slurm = {
    .name = "Slurm's topology.conf",
    .source = "/etc/slurm/topology.conf or topology.yaml",
    .applicable = applicable,
    .read = read,
};
