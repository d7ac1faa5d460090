#include "plots/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

enum { ONE_MAX = 16, NAME_MAX_B = 16, DEPTH_MAX = 12 };

/* One format on its way into HTML.  An element that stays open when the format ends is closed by its name in a later
 * one, so nothing is remembered between two calls. */
struct writing {
    struct fr_text *html;
    const char *at; /* in the format */
    char open[DEPTH_MAX][NAME_MAX_B];
    int n_open;
};

/* One conversion, "%+.1f", taken from @p arguments. */
static void add_one(struct fr_text *html, const char *one, va_list *arguments) {
    double number;
    switch (one[strlen(one) - 1]) {
    case 's':
        fr_escape_xml(html, va_arg(*arguments, const char *));
        break;
    case 'd':
        if (strchr(one, 'l'))
            fr_text_addf(html, one, va_arg(*arguments, int64_t));
        else
            fr_text_addf(html, one, va_arg(*arguments, int));
        break;
    default:
        number = va_arg(*arguments, double);
        fr_text_addf(html, isfinite(number) ? one : "-", number);
    }
}

/* Plain text and conversions of the format up to one of @p ends, or to its end. */
static void add_until(struct writing *w, const char *ends, struct fr_text *out,
                      va_list *arguments) {
    while (*w->at && !strchr(ends, *w->at)) {
        char one[ONE_MAX];
        size_t plain = 0;
        while (w->at[plain] && w->at[plain] != '%' && !strchr(ends, w->at[plain])) plain++;
        fr_text_add(out, w->at, plain);
        w->at += plain;
        if (*w->at != '%') continue;
        size_t length = w->at[1] != '%' ? strcspn(w->at, "sdfg") + 1 : 0;
        if (length) {
            snprintf(one, sizeof one, "%.*s", (int)length, w->at);
            add_one(out, one, arguments);
        } else
            fr_text_add(out, "%", 1);
        w->at += length ? length : 2;
    }
}

/* ".l.m" as class="l m", ".l" as class=l. */
static void add_classes(struct writing *w, va_list *arguments) {
    struct fr_text classes = {0};
    while (*w->at == '.') {
        struct fr_text one = {0};
        w->at++;
        add_until(w, ".[ }\n", &one, arguments);
        if (one.length) fr_text_addf(&classes, "%s%s", classes.length ? " " : "", one.data);
        w->html->failed = w->html->failed || one.failed;
        fr_text_free(&one);
    }
    const char *words = fr_text_get(&classes), *quote = strchr(words, ' ') ? "\"" : "";
    if (*words) fr_text_addf(w->html, " class=%s%s%s", quote, words, quote);
    w->html->failed = w->html->failed || classes.failed;
    fr_text_free(&classes);
}

static bool is_void(const char *name) {
    return strcmp(name, "input") == 0 || strcmp(name, "img") == 0 || strcmp(name, "meta") == 0;
}

/* From behind the "{": the element's head.  A blank after it only sets it apart from its text. */
static void open_element(struct writing *w, va_list *arguments) {
    char name[NAME_MAX_B];
    size_t n = strcspn(w->at, ".[ }\n");
    snprintf(name, sizeof name, "%.*s", (int)n, w->at);
    w->at += n;
    if (*name == '/') {
        fr_text_addf(w->html, "<%s>", name);
        w->at += *w->at == '}';
        return;
    }
    fr_text_addf(w->html, "<%s", name);
    add_classes(w, arguments);
    if (*w->at == '[') {
        w->at++;
        fr_text_add(w->html, " ", 1);
        add_until(w, "]", w->html, arguments);
        w->at += *w->at == ']';
    }
    fr_text_add(w->html, ">", 1);
    w->at += *w->at == ' ';
    if (is_void(name))
        w->at += *w->at == '}';
    else if (w->n_open < DEPTH_MAX)
        snprintf(w->open[w->n_open++], sizeof *w->open, "%s", name);
}

void fr_html_addf(struct fr_text *html, const char *fmt, ...) {
    struct writing w = {.html = html, .at = fmt};
    va_list arguments;
    va_start(arguments, fmt);
    for (add_until(&w, "{}", html, &arguments); *w.at; add_until(&w, "{}", html, &arguments)) {
        bool opens = *w.at++ == '{';
        if (opens)
            open_element(&w, &arguments);
        else if (w.n_open > 0)
            fr_text_addf(html, "</%s>", w.open[--w.n_open]);
    }
    va_end(arguments);
}
