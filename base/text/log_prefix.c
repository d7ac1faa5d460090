#include "base/text/log_prefix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/log_time.h"

static const char digit[] = "0123456789";

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_end(char c) { return c == '\0'; }

/* @p n, and a blank behind it. */
static size_t and_blank(const char *line, size_t n) {
    return n > 0 && is_blank(line[n]) ? n + 1 : n;
}

/* "> ", ">>"; not ">=". */
static size_t quote(const char *line, struct fr_log_tag *tag) {
    (void)tag;
    size_t n = strspn(line, " ");
    if (n > 3 || line[n] != '>' || line[n + 1] == '=') return 0;
    return and_blank(line, n + 1);
}

/* "[1,0]<stdout>:", "[prterun-n0-123@1,0]<stdout>: ", "[job,0][n0:123]<stderr>: " */
size_t fr_log_prefix_stream(const char *line, struct fr_log_tag *tag) {
    const char *close = *line == '[' ? strchr(line, ']') : NULL, *at = close;
    static const char *const streams[] = {"<stdout>",       "<stderr>",       "<stddiag>",
                                          "&lt;stdout&gt;", "&lt;stderr&gt;", NULL};
    if (!close) return 0;
    at++;
    if (*at == '[' && strchr(at, ']')) at = strchr(at, ']') + 1;
    for (int i = 0; streams[i]; i++) {
        size_t n = strlen(streams[i]);
        if (strncmp(at, streams[i], n) != 0) continue;
        at += n;
        if (*at == ':') at++;
        for (const char *p = close; p > line; p--)
            if (p[-1] == ',' || p[-1] == ':') { /* "[1,mpirank:0,algo-1]": SageMaker */
                if (isdigit((unsigned char)*p)) tag->rank = strtoll(p, NULL, 10);
                if (isdigit((unsigned char)*p)) break;
            }
        return and_blank(line, (size_t)(at - line));
    }
    return 0;
}

/* "[pod/launcher-x2x/main] " */
static size_t kubectl(const char *line, struct fr_log_tag *tag) {
    const char *close = strncmp(line, "[pod/", 5) == 0 ? strchr(line, ']') : NULL;
    (void)tag;
    return close ? and_blank(line, (size_t)(close + 1 - line)) : 0;
}

/* "[rank0]:", "[default0]:" */
static size_t torchrun(const char *line, struct fr_log_tag *tag) {
    if (*line != '[') return 0;
    size_t name = 1 + strspn(line + 1, "abcdefghijklmnopqrstuvwxyz_-"),
           number = strspn(line + name, digit);
    if (name == 1 || number == 0 || number > 9 || line[name + number] != ']' ||
        line[name + number + 1] != ':')
        return 0;
    tag->rank = strtoll(line + name, NULL, 10);
    return and_blank(line, name + number + 2);
}

/* "[0] " */
static size_t hydra(const char *line, struct fr_log_tag *tag) {
    size_t number = *line == '[' ? strspn(line + 1, digit) : 0;
    if (number == 0 || number > 9 || line[1 + number] != ']') return 0;
    if (!is_blank(line[2 + number]) && !is_end(line[2 + number])) return 0;
    tag->rank = strtoll(line + 1, NULL, 10);
    return and_blank(line, 2 + number);
}

/* "  0: " */
static size_t numbered(const char *line, struct fr_log_tag *tag) {
    size_t blank = strspn(line, " "), number = strspn(line + blank, digit), n = blank + number;
    if (number == 0 || number > 9 || line[n] != ':') return 0;
    if (!is_blank(line[n + 1]) && !is_end(line[n + 1])) return 0;
    tag->rank = strtoll(line + blank, NULL, 10);
    return and_blank(line, n + 1);
}

static size_t host_letters(const char *line) {
    if (!isalnum((unsigned char)*line)) return 0;
    return strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
}

/* "(NAME pid=1234, ip=10.0.0.1) ", "(worker1, rank=1, pid=1234) ": Ray, SkyPilot */
static size_t actor(const char *line, struct fr_log_tag *tag) {
    const char *close = *line == '(' ? strchr(line, ')') : NULL, *rank;
    const char *process = close ? strstr(line, "pid=") : NULL;
    if (!process || process > close || !isdigit((unsigned char)process[4])) return 0;
    if ((rank = strstr(line, "rank=")) && rank < close) tag->rank = strtoll(rank + 5, NULL, 10);
    return and_blank(line, (size_t)(close + 1 - line));
}

/* "<13>": the priority of syslog's messages */
static size_t priority(const char *line, struct fr_log_tag *tag) {
    size_t number = *line == '<' ? strspn(line + 1, digit) : 0;
    (void)tag;
    return number > 0 && number < 4 && line[1 + number] == '>' ? number + 2 : 0;
}

/* "stdout F " of a container's runtime, "01O " of GitLab: behind a time */
static size_t stream(const char *line) {
    if ((strncmp(line, "stdout ", 7) == 0 || strncmp(line, "stderr ", 7) == 0) &&
        (line[7] == 'F' || line[7] == 'P') && (is_blank(line[8]) || is_end(line[8])))
        return and_blank(line, 8);
    return strspn(line, digit) == 2 && (line[2] == 'O' || line[2] == 'E') &&
                   (is_blank(line[3]) || line[3] == '+' || is_end(line[3]))
               ? (size_t)3 + !is_end(line[3])
               : 0;
}

/* "[   12.345678] ": seconds since a machine started */
static size_t uptime(const char *line, struct fr_log_tag *tag) {
    size_t blank = *line == '[' ? strspn(line + 1, " ") : 0, n = 1 + blank;
    size_t whole = *line == '[' ? strspn(line + n, digit) : 0;
    size_t part = whole && line[n + whole] == '.' ? strspn(line + n + whole + 1, digit) : 0;
    if (part < 3 || line[n + whole + 1 + part] != ']') return 0;
    tag->time_s = strtod(line + n, NULL);
    return and_blank(line, n + whole + part + 2);
}

/* "[node-0:12345] " */
static size_t host_and_process(const char *line, struct fr_log_tag *tag) {
    size_t host = *line == '[' && isalpha((unsigned char)line[1]) ? host_letters(line + 1) : 0;
    size_t number = host && line[1 + host] == ':' ? strspn(line + host + 2, digit) : 0;
    (void)tag;
    if (number == 0 || line[host + 2 + number] != ']') return 0;
    return and_blank(line, host + 3 + number);
}

/* The prefix that syslog and journald put behind a time: "host unit[12]: "; without the number
 * only behind a month's name. */
static size_t unit(const char *line, bool plain) {
    size_t host = host_letters(line), n = host + 1;
    if (host == 0 || line[host] != ' ') return 0;
    if (!isalpha((unsigned char)*line) && !memchr(line, '.', host))
        return 0; /* "4096x4096 bf16:" */
    size_t name = strcspn(line + n, " [:\t");
    if (name == 0) return 0;
    n += name;
    if (line[n] == '[') {
        size_t number = strspn(line + n + 1, digit);
        if (number == 0 || line[n + 1 + number] != ']') return 0;
        n += number + 2;
    } else if (!plain) {
        return 0;
    }
    return line[n] == ':' && (is_blank(line[n + 1]) || is_end(line[n + 1]))
               ? and_blank(line, n + 1)
               : 0;
}

/* A time, in brackets or not.  One before a comma is a field of a table. */
static size_t time_before(const char *line, struct fr_log_tag *tag) {
    double time_s = 0;
    size_t blank = strspn(line, " "), open = line[blank] == '[', n = blank + open;
    size_t length = fr_log_time(line + n, &time_s);
    if (length == 0) length = fr_log_time_epoch(line + n, &time_s);
    if (length == 0 && (length = uptime(line, tag))) return length + unit(line + length, false);
    bool epoch = length && isdigit((unsigned char)line[n]) && line[n + 2] != ':' &&
                 !memchr(line + n, ':', length);
    if (length == 0 || (epoch && !open && !memchr(line + n, '.', length))) return 0;
    n += length;
    if (open && line[n++] != ']') return 0;
    if (!open && line[n] == ':' && is_blank(line[n + 1])) n++;
    if (!is_blank(line[n]) && !is_end(line[n]) && line[n] != '[') return 0;
    tag->time_s = time_s;
    n = and_blank(line, n);
    n += stream(line + n);
    return n + unit(line + n, isalpha((unsigned char)line[blank + open]));
}

const struct fr_log_prefix fr_log_prefixes[] = {
    {quote, 0},
    {fr_log_prefix_stream, 0},
    {kubectl, 0},
    {torchrun, 0},
    {hydra, 0},
    {numbered, 0},
    {host_and_process, 0},
    {time_before, FR_LOG_KEEP_TIMES},
    {actor, 0},
    {priority, 0},
    {NULL, 0},
};

/* ---- where nearly all lines have it ------------------------------------------------------------ */

/* A host's name has a digit, a dash or a dot in it, and a letter; a label ("loss:", "options:") has none. */
static bool is_host(const char *name, size_t n) {
    bool letter = false, mark = false;
    for (size_t i = 0; i < n; i++) {
        letter |= isalpha((unsigned char)name[i]) != 0;
        mark |= !isalpha((unsigned char)name[i]);
    }
    return letter && mark;
}

/* "node-0: " */
static size_t host_colon(const char *line, struct fr_log_tag *tag, size_t *name_B) {
    size_t host = host_letters(line);
    (void)tag;
    if (!is_host(line, host) || line[host] != ':') return 0;
    if (!is_blank(line[host + 1]) && !is_end(line[host + 1])) return 0;
    *name_B = host;
    return and_blank(line, host + 1);
}

/* "x1000c0s0b0n0 0: " */
static size_t host_rank(const char *line, struct fr_log_tag *tag, size_t *name_B) {
    size_t host = host_letters(line);
    if (!is_host(line, host) || line[host] != ' ') return 0;
    size_t n = numbered(line + host + 1, tag);
    *name_B = host;
    return n ? host + 1 + n : 0;
}

/* "launcher-1  | ", "stack_launcher.1.x2x4@node-0    | " */
static size_t name_bar(const char *line, struct fr_log_tag *tag, size_t *name_B) {
    size_t name = host_letters(line);
    if (name && line[name] == '@') name += 1 + host_letters(line + name + 1);
    size_t blank = strspn(line + name, " ");
    (void)tag;
    if (name == 0 || line[name + blank] != '|') return 0;
    if (!is_blank(line[name + blank + 1]) && !is_end(line[name + blank + 1])) return 0;
    *name_B = name;
    return and_blank(line, name + blank + 1);
}

static size_t pod_letters(const char *line) {
    return strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789-.");
}

/* Names of pods are of small letters, and end in what makes them one: "-0" of a set's, or five signs. */
static bool is_pod(const char *name, size_t n) {
    size_t last = n;
    while (last > 0 && name[last - 1] != '-') last--;
    size_t sign = n - last;
    return last > 1 &&
           (sign == 5 || (sign > 0 && sign < 5 && strspn(name + last, digit) >= sign));
}

/* "launcher-x2x4f main " */
static size_t pod_container(const char *line, struct fr_log_tag *tag, size_t *name_B) {
    size_t pod = pod_letters(line);
    (void)tag;
    if (!is_host(line, pod) || !is_pod(line, pod) || line[pod] != ' ') return 0;
    size_t container = pod_letters(line + pod + 1), n = pod + 1 + container;
    if (container == 0 || (!is_blank(line[n]) && !is_end(line[n]))) return 0;
    *name_B = n;
    return and_blank(line, n);
}

const struct fr_log_vote fr_log_votes[] = {
    {host_colon}, {host_rank}, {name_bar}, {pod_container}};
