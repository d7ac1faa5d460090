#include "answer/page/page.h"

#include <string.h>

#include "answer/page/assets.h"

/* RFC 4648. */
static void add_base64(const unsigned char *data, size_t length, struct fr_text *out) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < length; i += 3) {
        size_t n = length - i < 3 ? length - i : 3;
        uint32_t bits = (uint32_t)data[i] << 16;
        if (n > 1) bits |= (uint32_t)data[i + 1] << 8;
        if (n > 2) bits |= data[i + 2];
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
                        digits[bits & 63]};
        if (n < 3) four[3] = '=';
        if (n < 2) four[2] = '=';
        fr_text_add(out, four, 4);
    }
}

/* ---- head and end ------------------------------------------------------------------------------ */

static void add_source(const struct fr_page_asset *script, struct fr_text *html) {
    if (!script->length) return;
    fr_text_addf(html, " 'sha256-");
    add_base64(script->sha256, sizeof script->sha256, html);
    fr_text_addf(html, "'");
}

/* The template's parts between "@": its words name what stands there. */
void fr_page_begin(struct fr_page *page, const char *title) {
    struct fr_text *html = &page->html;
    bool named = false;
    for (const char *at = fr_page_head.text; *at; named = !named) {
        size_t n = strcspn(at, "@");
        if (!named)
            fr_text_add(html, at, n);
        else if (strncmp(at, "style", n) == 0)
            fr_text_add(html, fr_page_style.text, fr_page_style.length);
        else if (strncmp(at, "title", n) == 0)
            fr_html_addf(html, "%s", title);
        else {
            add_source(&fr_page_chart, html);
            add_source(&fr_page_script, html);
        }
        at += n + (at[n] == '@');
    }
}

static void add_script(const struct fr_page_asset *script, struct fr_text *html) {
    fr_html_addf(html, "{script");
    fr_text_add(html, script->text, script->length);
    fr_html_addf(html, "{/script}\n");
}

void fr_page_end(struct fr_page *page) {
    if (page->live) {
        fr_page_fold(page, "Licence of Chart.js, which draws the live figures");
        fr_html_addf(&page->html, "{pre");
        for (const char *at = fr_page_licence.text; *at;) {
            char line[256];
            size_t length = 0;
            for (; at[length] && at[length] != '\n' && length < sizeof line - 1; length++)
                line[length] = at[length];
            line[length] = '\0';
            fr_html_addf(&page->html, "%s\n", line);
            at += length + (at[length] == '\n');
        }
        fr_html_addf(&page->html, "{/pre}\n");
        fr_page_unfold(page);
        add_script(&fr_page_chart, &page->html);
    }
    add_script(&fr_page_script, &page->html);
    fr_html_addf(&page->html, "{/body}{/html}\n");
}

void fr_page_free(struct fr_page *page) {
    fr_text_free(&page->html);
    fr_text_free(&page->lost);
    *page = (struct fr_page){0};
}

/* ---- parts ------------------------------------------------------------------------------------- */

void fr_page_gap(struct fr_page *page, const char *what, const struct fr_error *why) {
    const char *between = why->where[0] ? ": " : "";
    fr_html_addf(&page->html, "{p.FAIL Left out: %s: %s%s%s}\n", what, why->where, between,
                 why->detail);
    fr_text_addf(&page->lost, "%s%s: %s%s%s", page->gaps++ ? "; " : "", what, why->where,
                 between, why->detail);
}

void fr_page_fold(struct fr_page *page, const char *summary) {
    fr_html_addf(&page->html, "{details {summary %s}\n", summary);
}

void fr_page_unfold(struct fr_page *page) { fr_html_addf(&page->html, "{/details}\n"); }

/* As an image: what it holds is a picture there, whatever it says. */
static void add_image(struct fr_page *page, const char *svg, size_t length, const char *about) {
    struct fr_text base64 = {0};
    add_base64((const unsigned char *)svg, length, &base64);
    fr_html_addf(&page->html, "{img[alt=\"%s\" src=\"data:image/svg+xml;base64,%s\"]}", about,
                 fr_text_get(&base64));
    page->html.failed = page->html.failed || base64.failed;
    fr_text_free(&base64);
}

void fr_page_svg(struct fr_page *page, const char *svg, size_t length, const char *about) {
    fr_html_addf(&page->html, "{figure");
    add_image(page, svg, length, about);
    fr_html_addf(&page->html, "{/figure}\n");
}

/* A document has something for some figures only; any other reason that stops a picture is
 * reported. */
static bool nothing_for_it(fr_status status) {
    return status == FR_ERR_INPUT || status == FR_ERR_USAGE;
}

void fr_page_figure(struct fr_page *page, const struct fr_figure *figure,
                    const struct fr_json *root, const char *live) {
    struct fr_text svg = {0};
    const struct fr_figure_options o = {.output = "page.svg", .into = &svg};
    struct fr_error err = {0};
    bool draws_live = *live && fr_page_chart.length;
    fr_status status = figure ? fr_figure_draw(figure, root, 1, &o, &err) : FR_ERR_INPUT;
    if (status == FR_OK && (svg.failed || !svg.length))
        status = fr_fail(&err, FR_ERR_NOMEM, NULL, "out of memory");
    if (draws_live || status == FR_OK) {
        if (draws_live)
            fr_html_addf(&page->html, "{figure[data-chart=\"%s\"]", live);
        else
            fr_html_addf(&page->html, "{figure");
        if (status == FR_OK) add_image(page, svg.data, svg.length, figure->summary);
        fr_html_addf(&page->html, "{/figure}\n");
        page->live = page->live || draws_live;
    }
    if (status != FR_OK && !nothing_for_it(status) && !draws_live)
        fr_page_gap(page, figure->summary, &err);
    fr_text_free(&svg);
}
