/* Three passes over a copy: signs that are no text go, forms of prefixes are counted, lines are cut. */
#include "base/text/log_lines.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/log_prefix.h"
#include "base/text/log_wrapped.h"

static const struct fr_log_tag no_tag = {.rank = -1, .host = -1, .time_s = NAN};

/* ---- signs that are no text --------------------------------------------------------------------- */

/* UTF-16 as UTF-8, of a text that begins with its mark; halves of pairs become '?'.  @return bytes written */
static size_t from_utf16(const unsigned char *text, size_t length, char *out) {
    bool little = text[0] == 0xFF;
    size_t n = 0;
    for (size_t i = 2; i + 1 < length; i += 2) {
        unsigned unit = 256u * text[little ? i + 1 : i] + text[little ? i : i + 1];
        if (unit >= 0xD800 && unit < 0xE000) unit = '?';
        if (unit < 0x80) {
            out[n++] = (char)unit;
        } else if (unit < 0x800) {
            out[n++] = (char)(0xC0 | unit >> 6);
            out[n++] = (char)(0x80 | (unit & 0x3F));
        } else {
            out[n++] = (char)(0xE0 | unit >> 12);
            out[n++] = (char)(0x80 | (unit >> 6 & 0x3F));
            out[n++] = (char)(0x80 | (unit & 0x3F));
        }
    }
    return n;
}

/* Bytes of a control sequence behind its "[" (ECMA-48, 5.4): parameters, intermediates, a final byte. */
static size_t sequence(const char *at, const char *stop, char *final) {
    const char *p = at;
    while (p < stop && *p >= 0x30 && *p <= 0x3F) p++;
    while (p < stop && *p >= 0x20 && *p <= 0x2F) p++;
    if (p >= stop || *p < 0x40 || *p > 0x7E) return 0;
    *final = *p;
    return (size_t)(p + 1 - at);
}

/* An escape sequence, whole.  @return its bytes; @p blank: it moves the cursor to the right */
static size_t escape(const char *at, const char *stop, bool *blank) {
    char final = 0;
    if (stop - at < 2 || *at != 0x1B) return 0;
    if (at[1] == '[') {
        size_t n = sequence(at + 2, stop, &final);
        *blank = final == 'C';
        return n ? n + 2 : 2;
    }
    if (at[1] == ']') { /* a title, up to BEL or ESC \ */
        for (const char *p = at + 2; p < stop && *p != '\n'; p++) {
            if (*p == 0x07) return (size_t)(p + 1 - at);
            if (*p == 0x1B && p + 1 < stop && p[1] == '\\') return (size_t)(p + 2 - at);
        }
        return 2;
    }
    if (strchr("()*+", at[1]) && stop - at > 2 && at[2] != '\n') return 3;
    return at[1] == '\n' ? 1 : 2;
}

/* The escape of a colour as rsyslog, cat -v or a string spells it, or with ESC lost: "#033[0m", "^[[1;34m", "[0m". */
static size_t spelt_escape(const char *at, const char *stop) {
    static const char *const spellings[] = {"#033[",  "^[[",  "\\033[",   "\\x1b[",
                                            "\\x1B[", "\\e[", "\\u001b[", NULL};
    char final = 0;
    for (int i = 0; spellings[i]; i++) {
        size_t n = strlen(spellings[i]), more;
        if ((size_t)(stop - at) <= n || strncmp(at, spellings[i], n) != 0) continue;
        more = sequence(at + n, stop, &final);
        return more ? n + more : 0;
    }
    if (*at != '[') return 0;
    int value = 0, count = 0;
    for (const char *p = at + 1; p < stop; p++) {
        if (isdigit((unsigned char)*p) && value < 1000) {
            value = 10 * value + (*p - '0');
            count++;
            continue;
        }
        bool colour = count && (value < 10 || (value >= 21 && value <= 49) ||
                                (value >= 90 && value <= 107));
        if (*p == 'm') return colour ? (size_t)(p + 1 - at) : 0;
        if (*p != ';' || !count || value > 255) return 0;
        value = count = 0;
    }
    return 0;
}

/* Marks of UTF-8 that show as a blank, or as nothing.  @return bytes, 0: none */
static size_t odd_blank(const char *at, const char *stop, bool *blank) {
    static const struct {
        const char *bytes;
        bool blank;
    } known[] = {{"\xC2\xA0", true},      {"\xE2\x80\x87", true},  {"\xE2\x80\xAF", true},
                 {"\xE2\x80\x8B", false}, {"\xEF\xBB\xBF", false}, {"\xE2\x80\x8E", false}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t n = strlen(known[i].bytes);
        if ((size_t)(stop - at) < n || memcmp(at, known[i].bytes, n) != 0) continue;
        *blank = known[i].blank;
        return n;
    }
    return 0;
}

/* In place; never longer.  A carriage return stays where it parts a progress bar. */
static size_t plain(char *text, size_t length) {
    char *out = text, *line = text;
    const char *stop = text + length;
    bool old_mac = !memchr(text, '\n', length);
    for (const char *at = text; at < stop;) {
        bool blank = false;
        size_t n = *at == 0x1B                   ? escape(at, stop, &blank)
                   : strchr("#^\\[", *at) && *at ? spelt_escape(at, stop)
                   : (unsigned char)*at >= 0x80  ? odd_blank(at, stop, &blank)
                                                 : 0;
        if (n > 0) {
            if (blank && out > line) *out++ = ' ';
            at += n;
            continue;
        }
        /* "\#", "\_": signs as a page of Markdown has them. */
        if (*at == '\\' && at + 1 < stop && strchr("#_*", at[1])) at++;
        unsigned char c = (unsigned char)*at++;
        if (c == '\r' && old_mac) c = '\n';
        if (c == '\r') {
            const char *after = at;
            while (after < stop && *after == '\r') after++;
            if (after < stop && *after != '\n') *out++ = '\r';
            at = after;
        } else if (c == '\n') {
            *out++ = '\n';
            line = out;
        } else if (c == 0x08) {
            if (out > line) out--;
        } else if (c == 0) {
            *out++ = ' ';
        } else if (c >= 0x20 || c == '\t') {
            *out++ = (char)c;
        }
    }
    *out = '\0';
    return (size_t)(out - text);
}

/* Length of a line's own number @p n before it, as cat -n and grep -n print it. */
static size_t own_number(const char *line, size_t n) {
    size_t blank = strspn(line, " "), digits = strspn(line + blank, "0123456789"),
           length = blank + digits;
    if (digits == 0 || digits > 9 || strtoull(line + blank, NULL, 10) != n) return 0;
    return line[length] == ':' || line[length] == '\t' ? length + 1 : 0;
}

/* Lines that are all numbered, without their numbers, in place. */
static size_t from_numbered(char *text, size_t length) {
    char *out = text;
    size_t lines = 0;
    for (char *at = text, *end; at < text + length; at = end ? end + 1 : text + length) {
        end = memchr(at, '\n', (size_t)(text + length - at));
        if (!own_number(at, ++lines)) return length;
    }
    if (lines < 3) return length;
    lines = 0;
    for (const char *at = text, *next; at < text + length; at = next) {
        const char *end = memchr(at, '\n', (size_t)(text + length - at));
        next = end ? end + 1 : text + length;
        at += own_number(at, ++lines);
        memmove(out, at, (size_t)(next - at));
        out += next - at;
    }
    *out = '\0';
    return (size_t)(out - text);
}

/* ---- prefixes ----------------------------------------------------------------------------------- */

enum { NAMES_MAX = 256, NAME_B = 128 };

/* Names that stand before lines, as they came. */
struct names {
    char name[NAMES_MAX][NAME_B];
    int n;
    size_t lines; /* that have one */
    bool too_many;
};

static int place_of(struct names *names, const char *name, size_t n, bool add) {
    if (n >= NAME_B) n = NAME_B - 1;
    for (int i = 0; i < names->n; i++)
        if (strncmp(names->name[i], name, n) == 0 && names->name[i][n] == '\0') return i;
    if (!add || names->n == NAMES_MAX) {
        names->too_many |= add;
        return -1;
    }
    memcpy(names->name[names->n], name, n);
    names->name[names->n][n] = '\0';
    return names->n++;
}

struct cleaner {
    unsigned keep;
    struct names votes[FR_LOG_VOTES];
    struct names nodes; /* that NCCL's messages name */
    int voted;          /* -1: none */
};

static const char *cut_fixed(const struct cleaner *c, const char *line,
                             struct fr_log_tag *tag) {
    for (const struct fr_log_prefix *p = fr_log_prefixes; p->match;) {
        size_t n = p->match(line, tag);
        if (p->unless & c->keep) n = 0;
        line += n;
        p = n ? fr_log_prefixes : p + 1;
    }
    return line;
}

static const char *cut(struct cleaner *c, const char *line, struct fr_log_tag *tag) {
    size_t name_B = 0;
    line = cut_fixed(c, line, tag);
    if (c->voted < 0) return line;
    size_t n = fr_log_votes[c->voted].match(line, tag, &name_B);
    if (n == 0) return line;
    tag->host = place_of(&c->votes[c->voted], line, name_B, false);
    return cut_fixed(c, line + n, tag);
}

/* ---- messages of NCCL --------------------------------------------------------------------------- */

/* Where "HOST:PID:TID [" ends before " NCCL INFO", at its first colon; NULL: there is none. */
static char *message_colon(char *line) {
    static const char *const kinds[] = {" NCCL INFO ", " NCCL WARN ", " NCCL TRACE ",
                                        " NCCL ABORT ", NULL};
    char *found = NULL;
    for (int i = 0; kinds[i] && !found; i++) found = strstr(line, kinds[i]);
    if (!found) return NULL;
    while (found > line && *found != '[') found--;
    if (*found != '[' || found == line || found[-1] != ' ') return NULL;
    char *at = found - 1;
    for (int part = 0; part < 2; part++) {
        char *end = at;
        while (at > line && isdigit((unsigned char)at[-1])) at--;
        if (at == end || at == line || at[-1] != ':') return NULL;
        at--;
    }
    return at;
}

static bool is_host_letter(char c) {
    return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

static void learn_node(struct cleaner *c, char *line) {
    char *colon = message_colon(line), *from = colon;
    if (!colon) return;
    while (from > line && is_host_letter(from[-1])) from--;
    if (from == line && from < colon) place_of(&c->nodes, from, (size_t)(colon - from), true);
}

/* "#  Rank  0 Group  0 Pid 1000 on   node-0 device  0": the names of nodes, too. */
static void learn_listed(struct cleaner *c, const char *line) {
    const char *on = strstr(line, " on "), *rank = strstr(line, "Rank ");
    if (!on || !rank || rank > on || !strstr(on, " device ")) return;
    on += 4;
    on += strspn(on, " \t");
    place_of(&c->nodes, on, strcspn(on, " \t"), true);
}

/* Before a rank or a time in brackets that ends at @p from: "-1[0] node-0:49:50 [0] NCCL INFO ...". */
static char *before_tag(char *line, char *from) {
    char *end = from;
    while (end > line && end[-1] == ' ') end--;
    if (end == line || end[-1] != ']') return from;
    char *open = end - 1;
    while (open > line && strchr("0123456789-:. T", open[-1])) open--;
    return open > line && open[-1] == '[' ? open - 1 : from;
}

/* Tags of Open MPI within a line, where parts of it were printed one after the other. */
static void cut_inner_tags(char *line) {
    struct fr_log_tag tag;
    for (char *at = line; (at = strchr(at, '[')); at++) {
        size_t n = at > line ? fr_log_prefix_stream(at, &tag) : 0;
        if (n) memmove(at, at + n, strlen(at + n) + 1);
    }
}

/* A message behind the beginning of another line goes; one on its own stays. */
static void cut_message(struct cleaner *c, char *line) {
    char *colon = message_colon(line), *from = colon;
    if (!colon) return;
    size_t known = 0;
    for (int i = 0; i < c->nodes.n; i++) {
        size_t n = strlen(c->nodes.name[i]);
        if (n > known && (size_t)(colon - line) >= n &&
            memcmp(colon - n, c->nodes.name[i], n) == 0)
            known = n;
    }
    if (known) from -= known;
    while (!known && from > line && is_host_letter(from[-1])) from--;
    from = before_tag(line, from);
    for (const char *p = line; p < from; p++)
        if (!isspace((unsigned char)*p)) {
            *from = '\0';
            return;
        }
}

/* ---- the text ----------------------------------------------------------------------------------- */

/* Ends the line at @p at with a zero byte; @return the line behind, NULL past the last. */
static char *end_line(char *at, char *stop) {
    char *end = memchr(at, '\n', (size_t)(stop - at));
    if (!end) return NULL;
    *end = '\0';
    return end + 1;
}

/* "```text", "~~~": the fence of a page of Markdown. */
static bool is_fence(const char *line) {
    size_t blank = strspn(line, " "), n = strspn(line + blank, "`"),
           tilde = strspn(line + blank, "~");
    size_t mark = n > tilde ? n : tilde;
    return blank < 4 && mark >= 3 && !strpbrk(line + blank + mark, " \t`~") &&
           strlen(line + blank + mark) < 16;
}

static bool is_empty(const char *line) { return line[strspn(line, " \t\r")] == '\0'; }

static void count_votes(struct cleaner *c, const char *line) {
    for (int v = 0; v < FR_LOG_VOTES; v++) {
        struct fr_log_tag tag;
        size_t name_B = 0;
        if (c->votes[v].too_many || !fr_log_votes[v].match(line, &tag, &name_B)) continue;
        place_of(&c->votes[v], line, name_B, true);
        c->votes[v].lines++;
    }
}

/* Survey the whole text; lines end with a zero byte from then on. */
static void survey(struct cleaner *c, char *text, size_t length) {
    size_t lines = 0;
    struct fr_log_tag tag;
    for (char *at = text, *next; at && at < text + length; at = next) {
        next = end_line(at, text + length);
        const char *line = cut_fixed(c, at, &tag);
        if (is_empty(line) || is_fence(line)) continue;
        lines++;
        learn_node(c, at + (line - at));
        learn_listed(c, line);
        count_votes(c, line);
    }
    for (int v = FR_LOG_VOTES - 1; v >= 0; v--) {
        const struct names *names = &c->votes[v];
        bool few = !names->too_many && (size_t)names->n * 3 <= names->lines;
        if (few && names->lines >= 3 && names->lines * 10 >= lines * 8) c->voted = v;
    }
}

/* Cuts the lines and puts them together again, in place. */
static size_t join(struct cleaner *c, char *text, size_t length, struct fr_log_tag *tags) {
    char *out = text, *stop = text + length;
    size_t i = 0;
    for (char *at = text, *next; at < stop; at = next, i++) {
        size_t whole = strlen(at);
        next = at + whole + 1;
        const char *line = cut(c, at, &tags[i]);
        if (is_fence(line)) line = at + whole;
        cut_inner_tags(at + (line - at));
        cut_message(c, at + (line - at));
        size_t n = strlen(line);
        memmove(out, line, n);
        out += n;
        if (next <= stop) *out++ = '\n';
    }
    *out = '\0';
    return (size_t)(out - text);
}

void fr_log_text_free(struct fr_log_text *cleaned) {
    free(cleaned->text);
    free(cleaned->tag);
    *cleaned = (struct fr_log_text){.text = NULL};
}

static bool is_utf16(const char *text, size_t length) {
    return length >= 2 && length % 2 == 0 &&
           (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0);
}

fr_status fr_log_text_clean(const char *text, size_t length, unsigned keep,
                            struct fr_log_text *out) {
    struct cleaner *c = fr_calloc(1, sizeof *c);
    bool wide = is_utf16(text, length);
    *out = (struct fr_log_text){.text = fr_malloc(2 * (wide ? length : 1) + length + 2, 1)};
    if (c && out->text) {
        if (wide)
            length = from_utf16((const unsigned char *)text, length, out->text);
        else
            memcpy(out->text, text, length);
        out->text[length] = '\0';
        length = fr_log_unwrap(out->text, length);
        out->length = plain(out->text, length);
        out->length = from_numbered(out->text, out->length);
        out->n_lines = 1;
        for (size_t i = 0; i < out->length; i++) out->n_lines += out->text[i] == '\n';
        out->tag = fr_calloc(out->n_lines, sizeof *out->tag);
    }
    if (!c || !out->text || !out->tag) {
        free(c);
        fr_log_text_free(out);
        return FR_ERR_NOMEM;
    }
    c->keep = keep;
    c->voted = -1;
    for (size_t i = 0; i < out->n_lines; i++) out->tag[i] = no_tag;
    survey(c, out->text, out->length);
    out->length = join(c, out->text, out->length, out->tag);
    free(c);
    return FR_OK;
}

struct fr_log_tag fr_log_text_tag(const struct fr_log_text *cleaned, long number) {
    bool inside = number >= 1 && (size_t)number <= cleaned->n_lines;
    return inside ? cleaned->tag[number - 1] : no_tag;
}
