#include "plots/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

enum { ONE_MAX = 16 };

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

void fr_html_addf(struct fr_text *html, const char *fmt, ...) {
    va_list arguments;
    va_start(arguments, fmt);
    while (*fmt) {
        char one[ONE_MAX];
        size_t plain = strcspn(fmt, "%");
        fr_text_add(html, fmt, plain);
        fmt += plain;
        size_t length = fmt[0] && fmt[1] != '%' ? strcspn(fmt, "sdfg") + 1 : 0;
        if (length) {
            snprintf(one, sizeof one, "%.*s", (int)length, fmt);
            add_one(html, one, &arguments);
        } else if (*fmt)
            fr_text_add(html, "%", 1);
        fmt += length ? length : *fmt ? 2 : 0;
    }
    va_end(arguments);
}
