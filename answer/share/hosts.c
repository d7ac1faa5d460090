#include "answer/share/hosts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool put(struct fr_hosts *hosts, const char *name, size_t length, bool stem) {
    if (length == 0 || length >= FR_HOST_B) return length == 0;
    for (int i = 0; i < hosts->n; i++)
        if (strncasecmp(hosts->of[i].name, name, length) == 0 && !hosts->of[i].name[length] &&
            hosts->of[i].stem == stem)
            return true;
    if (hosts->n == FR_HOSTS_MAX) return false;
    snprintf(hosts->of[hosts->n].name, FR_HOST_B, "%.*s", (int)length, name);
    hosts->of[hosts->n++].stem = stem;
    return true;
}

/* A stem of one or two letters, as of "n7", is too short to say anything of a host: "n8" stays. */
static bool add_one(struct fr_hosts *hosts, const char *name, size_t length) {
    enum { SHORTEST = 3 };
    const char *dot = memchr(name, '.', length);
    const size_t label = dot ? (size_t)(dot - name) : length;
    size_t stem = label;
    bool all = put(hosts, name, length, false) && put(hosts, name, label, false);
    while (stem > 0 && isdigit((unsigned char)name[stem - 1])) stem--;
    if (stem < label && stem >= SHORTEST) all = put(hosts, name, stem, true) && all;
    if (dot && memchr(dot + 1, '.', length - label - 1))
        all = put(hosts, dot + 1, length - label - 1, false) && all;
    return all;
}

bool fr_hosts_add(struct fr_hosts *hosts, const char *names) {
    bool all = true;
    while (*names) {
        size_t length = strcspn(names, " ,\t\n");
        if (length > 0) all = add_one(hosts, names, length) && all;
        names += length + (names[length] != '\0');
    }
    return all;
}

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '-' || c == '_'; }

/* Bytes at @p at that name a host, with the domain that follows its label; 0: none. */
static size_t named_at(const struct fr_hosts *hosts, const char *at) {
    size_t longest = 0;
    for (int i = 0; i < hosts->n; i++) {
        size_t length = strlen(hosts->of[i].name);
        if (strncasecmp(at, hosts->of[i].name, length) != 0) continue;
        if (hosts->of[i].stem) {
            size_t digits = strspn(at + length, "0123456789");
            if (digits == 0) continue;
            length += digits;
        }
        if (is_of_word(at[length])) continue;
        if (length > longest) longest = length;
    }
    return longest;
}

/* "/home/jane/x.json": bytes up to the last name; 0: no path with folders. */
static size_t folders_at(const char *at) {
    size_t length = strcspn(at, " \t\n,;:\"'()"), last = 0;
    if (*at != '/' && strncmp(at, "~/", 2) != 0) return 0;
    for (size_t i = 1; i < length; i++)
        if (at[i] == '/' && i + 1 < length) last = i + 1;
    return last;
}

void fr_hosts_leave_out(const struct fr_hosts *hosts, const char *text, const char *instead,
                        struct fr_text *out) {
    char before = ' ';
    while (*text) {
        const bool begins = !is_of_word(before);
        size_t folders = begins ? folders_at(text) : 0,
               named = begins ? named_at(hosts, text + folders) : 0;
        text += folders;
        if (named)
            fr_text_addf(out, "%s", instead);
        else
            fr_text_add(out, text, 1), named = 1;
        text += named;
        before = text[-1];
    }
}

bool fr_hosts_named(const struct fr_hosts *hosts, const char *text) {
    for (const char *at = text; *at; at++)
        if ((at == text || !is_of_word(at[-1])) && named_at(hosts, at) > 0) return true;
    return false;
}
