#include "base/text/launch_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/launch_count.h"

void fr_launch_leave_open(struct fr_launch_stated *s, const char *name, const char *value) {
    if (!*s->unread)
        snprintf(s->unread, sizeof s->unread, "%.30s %.45s", name, value ? value : "");
}

/* "node[1-2]:8" and "a:*" are of no number that is known here. */
static void take_hosts(struct fr_launch_stated *s, const char *more) {
    if (strpbrk(more, "[*$")) {
        fr_launch_leave_open(s, "hosts", more);
        return;
    }
    size_t used = strlen(s->host_list);
    snprintf(s->host_list + used, sizeof s->host_list - used, "%s%s", used ? "," : "", more);
    fr_launch_hosts(s->host_list, &s->hosts, &s->slots);
}

static void take_map(struct fr_launch_stated *s, const char *name, const char *value) {
    if (strncmp(value, "ppr:", 4) == 0) {
        char *end = NULL;
        long long n = strtoll(value + 4, &end, 10);
        bool node =
            *end == ':' && strncmp(end + 1, "node", 4) == 0 && !isalpha((unsigned char)end[5]);
        if (n >= 1 && n <= FR_LAUNCH_COUNT_MAX && node)
            s->facts.ranks_per_node = n;
        else
            fr_launch_leave_open(s, name, value);
    } else if (strncmp(value, "node", 4) == 0 && !isalpha((unsigned char)value[4])) {
        s->by_node = true;
    }
}

/* "8", "h100:8", "gpu:h100:8(S:0-3)" */
static int64_t gpus_of(const char *value) {
    const char *colon = strrchr(value, ':'), *open = strchr(value, '(');
    int64_t n = 0;
    if (open)
        for (colon = open; colon > value && *colon != ':';) colon--;
    const char *from = colon && *colon == ':' ? colon + 1 : value;
    return fr_launch_count(from, strcspn(from, "(,"), &n) ? n : 0;
}

/* "16", "2-2"; "2-4" leaves it open. */
static void take_count(struct fr_launch_stated *s, const char *name, const char *value,
                       int64_t *out) {
    int64_t n = 0;
    size_t length = strcspn(value, "]-");
    bool one =
        !value[length] || value[length] == ']' ||
        (strncmp(value, value + length + 1, length) == 0 && strlen(value) == 2 * length + 1);
    if (!one || !fr_launch_count(value, length, &n)) fr_launch_leave_open(s, name, value);
    if (!*out) *out = n; /* the first: what a program is given may look the same */
}

/* "localhost:0,1,2,3", "a:0,1@b:0,1": GPUs of each host; all of a host without a list */
static void take_include(struct fr_launch_stated *s, const char *name, const char *value) {
    int64_t hosts = 0, ranks = 0;
    for (const char *at = value; *at; hosts++) {
        const char *colon = at + strcspn(at, ":@");
        size_t length = strcspn(at, "@");
        if (*colon != ':') {
            fr_launch_leave_open(s, name, value);
            return;
        }
        ranks++;
        for (const char *p = colon; p < at + length; p++) ranks += *p == ',';
        at += length + (at[length] == '@');
    }
    s->facts.ranks = ranks;
    s->facts.nodes = hosts;
}

static void take_value(struct fr_launch_stated *s, fr_launch_meaning means, const char *name,
                       const char *value) {
    struct fr_launch_facts *f = &s->facts;
    int64_t n = 0;
    switch (means) {
    case FR_LAUNCH_RANKS:
        take_count(s, name, value, &f->ranks);
        break;
    case FR_LAUNCH_NODES:
        take_count(s, name, value, &f->nodes);
        break;
    case FR_LAUNCH_PER_NODE:
        take_count(s, name, value, &f->ranks_per_node);
        break;
    case FR_LAUNCH_SETS:
        take_count(s, name, value, &s->sets);
        break;
    case FR_LAUNCH_SETS_PER_NODE:
        take_count(s, name, value, &s->sets_per_node);
        break;
    case FR_LAUNCH_RANKS_PER_SET:
        take_count(s, name, value, &s->ranks_per_set);
        break;
    case FR_LAUNCH_RANKS_PER_GPU:
        take_count(s, name, value, &s->ranks_per_gpu);
        break;
    case FR_LAUNCH_HOSTS:
        take_hosts(s, value);
        break;
    case FR_LAUNCH_HOSTS_ROUND:
    case FR_LAUNCH_HOST_FILE:
        if (!f->nodes) fr_launch_leave_open(s, name, value);
        break;
    case FR_LAUNCH_MAP:
        take_map(s, name, value);
        break;
    case FR_LAUNCH_LIST:
        if ((n = fr_launch_names(value))) s->hosts = n;
        break;
    case FR_LAUNCH_GPUS:
        s->gpus = gpus_of(value);
        break;
    case FR_LAUNCH_GPUS_PER_NODE:
        s->gpus_per_node = gpus_of(value);
        break;
    case FR_LAUNCH_OPEN:
        fr_launch_leave_open(s, name, value);
        break;
    case FR_LAUNCH_INCLUDE:
        take_include(s, name, value);
        break;
    case FR_LAUNCH_SPAN:
        if (strstr(value, "ptile="))
            take_count(s, name, strstr(value, "ptile=") + 6, &f->ranks_per_node);
        break;
    case FR_LAUNCH_ONE_A_NODE:
        s->one_a_node = true;
        break;
    case FR_LAUNCH_BY_NODE:
        s->by_node = true;
        break;
    case FR_LAUNCH_FLAG:
    case FR_LAUNCH_SKIP:
    case FR_LAUNCH_SKIP_2:
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

static const struct fr_launch_option *option_of(const struct fr_launcher *l, const char *word,
                                                const char **value) {
    size_t dashes = strspn(word, "-"), n = strcspn(word + dashes, "=");
    const char *name = word + dashes;
    *value = name[n] == '=' ? name + n + 1 : NULL;
    for (const struct fr_launch_option *o = l->options; o->name; o++)
        if (same_name(name, n, o->name) && (o->name[1] || dashes == 1 || l->long_names))
            return o;
    /* "-N4": not where names of several letters begin with one dash. */
    for (const struct fr_launch_option *o = l->options;
         o->name && dashes == 1 && !l->long_names; o++)
        if (!o->name[1] && *name == *o->name && isdigit((unsigned char)name[1])) {
            *value = name + 1;
            return o;
        }
    return NULL;
}

static bool is_option(const char *word) { return *word == '-' && word[1]; }

/* Where the next part of the run begins, ":"; -1: nowhere. */
static int next_part(const struct fr_launch_command *c, int i) {
    for (; i < c->n; i++)
        if (strcmp(c->word[i], ":") == 0) return i;
    return -1;
}

/* Is word @p i the value of an option that says nothing?  Options and programs are none, and a path is none of an
 * option that is unknown (NULL). */
static bool is_skipped(const struct fr_launch_option *o, const struct fr_launch_command *c,
                       int i) {
    return i < c->n && *c->word[i] != '-' && (o || !strchr(c->word[i], '/')) &&
           !fr_launcher_at(c, i) && !fr_launch_benchmark(c->word[i]);
}

int fr_launch_options(const struct fr_launcher *l, const struct fr_launch_command *c, int i,
                      struct fr_launch_stated *s) {
    while (i < c->n && !fr_launch_benchmark(c->word[i])) {
        const char *word = c->word[i], *value = NULL;
        if (strcmp(word, ":") == 0) {
            s->before += s->facts.ranks;
            s->nodes_before += s->facts.nodes;
            s->facts.ranks = s->facts.nodes = 0;
            s->parts = true;
            i++;
            continue;
        }
        if (!is_option(word)) {
            bool host = l->lists_hosts && s->slots < s->facts.ranks && !strpbrk(word, "/=:");
            if (host) take_hosts(s, word);
            if (host || (l->lists_hosts && strchr(word, '='))) {
                i++;
                continue;
            }
            bool program = !s->parts && strcmp(word, "-") != 0 && strcmp(word, "\\") != 0;
            int next = program ? next_part(c, i) : i + 1;
            if (next < 0) return i;
            i = next;
            continue;
        }
        const struct fr_launch_option *o = option_of(l, word, &value);
        i++;
        if (!o || o->means == FR_LAUNCH_SKIP) {
            i += !value && !strchr(word, '=') && is_skipped(o, c, i);
            continue;
        }
        if (o->means == FR_LAUNCH_FLAG || o->means == FR_LAUNCH_ONE_A_NODE ||
            o->means == FR_LAUNCH_BY_NODE) {
            take_value(s, o->means, word, "");
            continue;
        }
        if (!value) {
            if (i >= c->n) break;
            value = c->word[i++];
        }
        if (o->means == FR_LAUNCH_SKIP_2 && !strchr(value, '=')) i++;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        take_value(s, o->means, name, value);
    }
    return i;
}

void fr_launch_complete(const struct fr_launcher *l, struct fr_launch_stated *s) {
    struct fr_launch_facts *f = &s->facts;
    int64_t a_set = s->ranks_per_set ? s->ranks_per_set : 1;
    if (s->parts) {
        f->ranks += s->before;
        f->nodes = s->nodes_before && f->nodes ? f->nodes + s->nodes_before : 0;
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
            f->nodes = fr_launch_hosts_filled(s->host_list, f->ranks);
        if (!f->ranks_per_node && !f->nodes) f->nodes = s->hosts;
    }
    if (s->ranks_per_gpu && !s->gpus && !s->gpus_per_node)
        fr_launch_leave_open(s, "--ntasks-per-gpu", "without the GPUs of a node");
    if (s->by_node && !f->nodes && !f->ranks_per_node)
        fr_launch_leave_open(s, "--map-by", "node");
    if (l->unsaid >= FR_LAUNCH_ONE_NODE && !*s->unread) {
        if (!f->nodes) f->nodes = 1;
        if (!f->ranks_per_node && !f->ranks && l->unsaid == FR_LAUNCH_ONE_RANK)
            f->ranks_per_node = 1;
    }
    if (f->ranks && f->nodes && f->ranks_per_node && f->ranks > f->nodes * f->ranks_per_node) {
        char what[80];
        snprintf(what, sizeof what, "%lld ranks on %lld nodes of %lld", (long long)f->ranks,
                 (long long)f->nodes, (long long)f->ranks_per_node);
        fr_launch_leave_open(s, "", what);
        *f = (struct fr_launch_facts){0};
    }
    if (f->ranks > FR_LAUNCH_COUNT_MAX || f->ranks_per_node > FR_LAUNCH_COUNT_MAX)
        *f = (struct fr_launch_facts){0};
}
