/** @file
 *  Names that mean harm, and independent looks at what became of them: no function of ours that
 *  escapes is used here. */
#ifndef FR_TESTS_HOSTILE_H
#define FR_TESTS_HOSTILE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Each as it stands in JSON, between quotes. */
static const char *const hostile[] = {
    "<script>document.title='pwned'</script>",
    "\\\"><img src=x onerror=\\\"document.title='pwned'\\\">",
    "'><svg onload=alert(1)>",
    "]]><script>x</script><![CDATA[",
    "--><!-- &amp; &lt; &#60;b&#62; & && <",
    "a\\\" b' c` d\\\\ e\\\\\\\" %s %n %d {} ${x}",
    "`touch pwned` $(touch pwned) |touch pwned ;touch pwned",
    "'; system \\\"touch pwned\\\"; '",
    "line\\nline\\r\\nline\\ttab\\n\\nEOD\\n\\n\\n",
    "\\u001b[2J\\u001b]0;pwned\\u0007\\u009b31m\\u007f\\u0008\\u0001",
    "\\u202eexe.txt\\u2066\\u2069\\u200f\\u2028\\u2029\\ufeff",
    "=cmd|'/C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\\t=1+1",
    "\\r=1+1",
    "a,b;\\\"c\\\",=1+1",
    "{/Symbol a}_b^c ~d&{e} @f",
    "\\u00e9\\u4e2d\\ud83d\\ude00 plain",
    NULL};
enum { N_HOSTILE = sizeof hostile / sizeof *hostile - 1 };

/* A name that is longer than any buffer for one. */
static inline char *very_long_name(void) {
    enum { TIMES = 400 };
    static const char part[] = "<b>very long</b>";
    char *name = calloc(TIMES, sizeof part);
    for (int i = 0; name && i < TIMES; i++) strcat(name, part);
    return name;
}

/** @p text with @p name for the value of string member @p which (counted from 0; -1: of every
 *  one), but for members whose key is in @p saved (",a,b,").  NULL when there is no such member. */
static inline char *with_names(const char *text, const char *name, int which,
                               const char *saved) {
    struct fr_text out = {0};
    int n = 0;
    bool done = false;
    for (const char *at = text, *from = text;;) {
        const char *colon = strchr(at, ':');
        while (colon && colon[-1] != '"') colon = strchr(colon + 1, ':');
        const char *value = colon ? colon + 1 + strspn(colon + 1, " \n") : NULL;
        if (!value) {
            fr_text_add(&out, from, strlen(from));
            break;
        }
        at = value + 1;
        if (*value != '"') continue;
        const char *end = value + 1, *key = colon - 1;
        while (*end && *end != '"') end += *end == '\\' ? 2 : 1;
        while (key[-1] != '"') key--;
        char member[64];
        snprintf(member, sizeof member, ",%.*s,", (int)(colon - 1 - key), key);
        at = end + 1;
        if (strstr(saved, member) || (which >= 0 && n++ != which)) continue;
        fr_text_add(&out, from, (size_t)(value + 1 - from));
        fr_text_add(&out, name, strlen(name));
        from = end;
        done = true;
    }
    if (done) return out.data;
    fr_text_free(&out);
    return NULL;
}

/** A byte or character in @p text that a terminal or reader would obey, or that is no UTF-8;
 *  NULL when there is none.  Written apart from base/escape.c. */
static inline const char *first_hidden(const char *text) {
    static const char *const signs[] = {
        "\xd8\x9c",     "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xa8", "\xe2\x80\xa9",
        "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae",
        "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9", "\xef\xbb\xbf"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(text, signs[i])) return strstr(text, signs[i]);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool line_end = *c == '\n' || *c == '\t' || (*c == '\r' && c[1] == '\n');
        bool control = (*c < 0x20 && !line_end) || *c == 0x7f;
        bool c1 = *c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        bool alone =
            *c >= 0x80 && *c < 0xc0 && (c == (const unsigned char *)text || c[-1] < 0x80);
        bool open = *c >= 0xc0 && (c[1] < 0x80 || c[1] > 0xbf);
        if (control || c1 || alone || open) return (const char *)c;
    }
    return NULL;
}

/** The mark-up of a page or picture: its tags with their attributes' names, without texts and
 *  values.  Freed by the caller. */
static inline char *skeleton(const char *page) {
    struct fr_text out = {0};
    bool tag = false;
    char quote = 0;
    for (; *page; page++) {
        if (quote) {
            if (*page == quote) quote = 0;
        } else if (!tag && strncmp(page, "<![CDATA[", 9) == 0) {
            const char *end = strstr(page, "]]>");
            fr_text_addf(&out, "cdata ");
            if (!end) break;
            page = end + 2;
        } else if (*page == '<') {
            tag = true;
            fr_text_add(&out, "<", 1);
        } else if (tag && *page == '>') {
            tag = false;
            fr_text_add(&out, ">", 1);
        } else if (tag && (*page == '"' || *page == '\''))
            quote = *page;
        else if (tag)
            fr_text_add(&out, page, 1);
    }
    if (tag || quote) fr_text_addf(&out, "OPEN");
    return out.data;
}

#endif
