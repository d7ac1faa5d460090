#include "answer/page/page.h"

#include "plots/html.h"

/* Its SHA-256 stands in the policy: tests/app/browser.sh holds the two together. */
static const char script[] =
    "document.querySelectorAll('table.s').forEach(t=>{\n"
    "const body=t.tBodies[0],rows=[...body.rows],heads=[...t.tHead.rows[0].cells];\n"
    "const find=document.createElement('input');\n"
    "find.type='search';find.placeholder='filter '+rows.length+' rows';\n"
    "find.oninput=()=>{const words=find.value.toLowerCase().split(' ');\n"
    "rows.forEach(r=>{const text=r.textContent.toLowerCase();\n"
    "r.hidden=!words.every(w=>text.includes(w))})};\n"
    "t.parentNode.before(find);\n"
    "if(t.querySelector('.m')){const all=document.createElement('button');\n"
    "all.textContent='all columns';all.onclick=()=>t.classList.toggle('a');"
    "t.parentNode.before(all)}\n"
    "const value=(r,i)=>r.cells[i].dataset.v===undefined?r.cells[i].textContent:"
    "+r.cells[i].dataset.v;\n"
    "heads.forEach((h,i)=>h.onclick=()=>{const way=h.dataset.way==='up'?-1:1;\n"
    "heads.forEach(o=>delete o.dataset.way);h.dataset.way=way===1?'up':'down';\n"
    "rows.sort((p,q)=>{const a=value(p,i),b=value(q,i);\n"
    "return way*(typeof a==='number'&&typeof b==='number'?a-b:String(a).localeCompare(String("
    "b)))});\n"
    "body.append(...rows)})});\n";
#define SCRIPT_SHA256 "Yy66CcI89+1kQUGMWfOQPiQIrFxO3LnWtJsAAa1VcEk="

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'; img-src data:; script-src 'sha256-" SCRIPT_SHA256
    "'; base-uri 'none'; form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 "
    "1em;color:#222}\n"
    "h1{margin-bottom:.2em}h2{margin-top:1.8em;border-bottom:1px solid #ccc}h3{margin:1.2em 0 "
    ".3em}\n"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:2px 9px;text-align:right;"
    "border-bottom:1px solid #eee}th{background:#f4f4f4}td.l,th.l{text-align:left}\n"
    ".t{overflow-x:auto}table.s th{cursor:pointer;position:sticky;top:0}"
    "th[data-way=up]:after{content:' \\2191'}th[data-way=down]:after{content:' \\2193'}\n"
    "table.s .m{display:none}table.a .m{display:table-cell}input,button{font-size:13px;"
    "margin:.3em .6em .3em 0}\n"
    ".b{display:inline-block;height:.7em;background:#0072B2}\n"
    "td{overflow-wrap:anywhere}td.l{min-width:3em}td.l:first-child{min-width:7em}td[data-v]{"
    "white-space:nowrap}.PASS{color:#00664a;font-weight:"
    "600}.WARN{color:#a65300;"
    "font-weight:600}.FAIL{color:#b00020;font-weight:600}\n"
    "figure{margin:1em 0}img{max-width:100%;height:auto}p.note{color:#555}\n"
    "details{margin:.4em 0}summary{cursor:pointer}\n</style>\n";

void fr_page_begin(const char *title, struct fr_text *html) {
    fr_text_add(html, head, sizeof head - 1);
    fr_html_addf(html, "<title>%s</title></head><body>\n<h1>%s</h1>\n", title, title);
}

void fr_page_end(struct fr_text *html) {
    fr_text_addf(html, "<script>");
    fr_text_add(html, script, sizeof script - 1);
    fr_text_addf(html, "</script>\n</body></html>\n");
}

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

/* As an image: what it holds is a picture there, whatever it says. */
void fr_page_svg(const char *svg, size_t length, const char *about, struct fr_text *html) {
    fr_html_addf(html, "<figure><img alt=\"%s\" src=\"data:image/svg+xml;base64,", about);
    add_base64((const unsigned char *)svg, length, html);
    fr_text_addf(html, "\"></figure>\n");
}

void fr_page_gaps_free(struct fr_page_gaps *gaps) {
    fr_text_free(&gaps->said);
    *gaps = (struct fr_page_gaps){0};
}

void fr_page_gap(const char *what, const struct fr_error *why, struct fr_text *html,
                 struct fr_page_gaps *gaps) {
    const char *between = why->where[0] ? ": " : "";
    fr_html_addf(html, "<p class=FAIL>Left out: %s: %s%s%s</p>\n", what, why->where, between,
                 why->detail);
    fr_text_addf(&gaps->said, "%s%s: %s%s%s", gaps->count++ ? "; " : "", what, why->where,
                 between, why->detail);
}

/* A document has something for some figures only; what else stops a picture is told. */
static bool nothing_for_it(fr_status status) {
    return status == FR_ERR_INPUT || status == FR_ERR_USAGE;
}

void fr_page_figure(const struct fr_figure *figure, const struct fr_json *root,
                    struct fr_text *html, struct fr_page_gaps *gaps) {
    struct fr_text svg = {0};
    const struct fr_figure_options o = {.output = "page.svg", .into = &svg};
    struct fr_error err = {0};
    fr_status status = fr_figure_draw(figure, root, 1, &o, &err);
    if (status == FR_OK && (svg.failed || !svg.length))
        status = fr_fail(&err, FR_ERR_NOMEM, NULL, "out of memory");
    if (status == FR_OK)
        fr_page_svg(svg.data, svg.length, figure->summary, html);
    else if (!nothing_for_it(status))
        fr_page_gap(figure->summary, &err, html, gaps);
    fr_text_free(&svg);
}
