/* A JSON text with something changed.  Texts are those of this tree: no escapes but in strings. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/golden/walk/walk.h"

/* A value, and where its member or element begins: at its name, if it has one. */
struct span {
    size_t member, begin, end;
    bool named;
};
enum { SPANS = 6000 };
struct scan {
    const char *text;
    struct span span[SPANS];
    int n;
};

static size_t blanks(const char *text, size_t i) { return i + strspn(text + i, " \t\r\n"); }

static size_t string_end(const char *text, size_t i) {
    for (i++; text[i] && text[i] != '"'; i++) i += text[i] == '\\' && text[i + 1];
    return text[i] ? i + 1 : i;
}

/* @return the first place behind the value at @p i. */
static size_t scan_value(struct scan *s, size_t i, size_t member, bool named) {
    const char *t = s->text;
    int own = s->n < SPANS ? s->n++ : -1;
    size_t begin = i;
    if (t[i] == '"')
        i = string_end(t, i);
    else if (t[i] == '{' || t[i] == '[') {
        char end = t[i] == '{' ? '}' : ']';
        for (i = blanks(t, i + 1); t[i] && t[i] != end; i = blanks(t, i)) {
            size_t from = i;
            if (end == '}') i = blanks(t, string_end(t, i)), i = blanks(t, i + 1);
            i = blanks(t, scan_value(s, i, from, end == '}'));
            if (t[i] == ',') i++;
        }
        i += t[i] != '\0';
    } else
        i += strcspn(t + i, " \t\r\n,]}");
    if (own >= 0) s->span[own] = (struct span){member, begin, i, named};
    return i;
}

static void add(struct fr_text *out, const char *words) {
    fr_text_add(out, words, strlen(words));
}

/* A number that is there a little other, with what stands behind it: "8 us" to "16 us". */
static bool scaled(struct walk *w, const char *value, size_t length, struct fr_text *out) {
    bool quoted = *value == '"';
    char *end = NULL, number[40];
    if (!isdigit((unsigned char)value[quoted])) return false;
    double was = strtod(value + quoted, &end);
    bool whole = !memchr(value, '.', (size_t)(end - value)) && was < 1e15;
    static const double by[] = {2, 0.5, 1.25, 3, 0.01, 100};
    double now = was * by[walk_below(w, 6)];
    if (whole && walk_chance(w, 0.4)) now = was + (walk_chance(w, 0.5) || was < 1 ? 1 : -1);
    snprintf(number, sizeof number, whole ? "%.0f" : "%.12g", now);
    if (quoted) add(out, "\"");
    add(out, number);
    fr_text_add(out, end, length - (size_t)(end - value));
    return true;
}

static const char rough[] = "0|-1|1|2|3|0.5|1e300|1e-300|1e18|-0.25|\"x\"|\"\"|null|true|false|"
                            "[]|{}|[1]|[1,2,3,4]|\"1 s\"|\"1 B\"|"
                            "\"-1 us\"|\"5\"|\"1 GB/s\"|\"1 ns/B\"|\"1 TFLOP/s\"|\"1 "
                            "W\"|3000000000|{\"form\":\"log\"}|\"0 s\"|"
                            "\"1e40 "
                            "GB\"|[[1,2],[3,4]]|[0,1]|\"best\"|0.999|1.001|4096|17|256|"
                            "\"node\"|\"all_reduce\"|\"1 GHz\"";

static void replace(struct walk *w, const struct scan *s, const struct span *at,
                    struct fr_text *out) {
    char word[64];
    const char *t = s->text;
    const struct span *other = &s->span[walk_below(w, s->n)];
    fr_text_add(out, t, at->begin);
    if (walk_chance(w, 0.3) && scaled(w, t + at->begin, at->end - at->begin, out)) {
    } else if (walk_chance(w, 0.35) && t[other->begin] != '{')
        fr_text_add(out, t + other->begin, other->end - other->begin);
    else
        add(out, walk_word(w, rough, word, sizeof word));
    add(out, t + at->end);
}

static void drop(const struct scan *s, const struct span *at, struct fr_text *out) {
    size_t from = at->member, to = blanks(s->text, at->end);
    if (s->text[to] == ',')
        to++;
    else
        while (from > 0 && s->text[from - 1] != '{' && s->text[from - 1] != '[')
            if (s->text[--from] == ',') break;
    fr_text_add(out, s->text, from);
    add(out, s->text + to);
}

static void twice(const struct scan *s, const struct span *at, struct fr_text *out) {
    fr_text_add(out, s->text, at->end);
    add(out, ", ");
    add(out, at->named ? "\"again\": " : "");
    fr_text_add(out, s->text + at->begin, at->end - at->begin);
    add(out, s->text + at->end);
}

/* A member that the object may or may not know. */
static void insert(struct walk *w, const struct scan *s, const struct span *at,
                   struct fr_text *out) {
    static const char members[] =
        "bias: false|biases: false|gated: true|tied_embedding: "
        "false|norm: \"rms\"|positions: \"rotary\"|dropout: "
        "false|experts: 4|experts: 1|experts_per_token: 1|experts_per_token: 2|expert_ffn: "
        "512|capacity: 1.25|imbalance: 1.5|kv_heads: 4|head_dim: "
        "96|ffn: 3072|micro_batch: 2|micro_batch: \"all\"|samples: "
        "60000|optimizer: \"sgd\"|optimizer_state: \"4 "
        "B\"|gradient_dtype: \"fp32\"|iterations: 1000|defaults: "
        "\"modern\"|repeat: 3|positions: 16|groups: "
        "2|padding: 1|stride: 2|pool: {\"kernel\": 2, \"stride\": "
        "2}|vocabulary_multiple: 64|cross_layers: "
        "2|head_kernels: 3|window: 8|window_layers: 2|lora_rank: 4|lora_on: "
        "\"mlp\"|lora_exchange: \"all_to_all\"|document: 32|predicted_tokens: 1|dense_layers: "
        "1|shared_ffn: 512|kv_latent: "
        "64|q_latent: "
        "96|rope_dim: "
        "16|value_dim: 32|weight: "
        "\"0.5 ms\"|gradient: \"30 "
        "MB\"|message: \"2 MB\"|shared_by: 2|launch: \"7 "
        "us\"|host_launch: \"9 us\"|host_skew: 0.2|host_pass: \"50 "
        "us\"|host_experts: \"3 ms\"|fixed: \"4 "
        "ms\"|interference: 0.3|jitter: \"0.2 ms\"|noise: 0.05|undisturbed: true|usual: "
        "{\"products\": 1.1, \"memory\": "
        "1.2}|interruptions: {\"every\": \"0.1 s\", \"length\": \"3 "
        "ms\"}|memory_margin: 0.1|memory: \"24 GB\"|pue: "
        "1.4|efficiency: 0.9|tail: 0.2|tile: 64|align: "
        "32|misaligned: 1.3|odd: 3|writes: true|half_k: 32|half_dim: 99|c3: \"9 "
        "us\"|latency: \"6 us\"|per_byte: \"0.09 ns/B\"|residuals: "
        "{\"median\": 0.05, \"p90\": 0.2, \"points\": "
        "9}|domain: {\"min_ranks\": 2, \"max_ranks\": 8, \"min\": "
        "\"8 B\", \"max\": \"1 MiB\"}|topology: \"fat-tree "
        "down=8,4 up=4\"|topology: {\"shape\": \"flat\", "
        "\"bandwidth\": \"9 GB/s\"}|communicating: \"140 "
        "W\"|uncertainty: 0.2|quality: \"estimated\"|switches: \"300 "
        "W\"|busy: \"600 W\"|idle: \"80 W\"|tp: 2|dp: 2|pp: "
        "2|ep: 2|cp: 2|zero: 1|zero: 3|overlap: "
        "\"gradient\"|recompute: \"full\"|sequence_parallel: "
        "true|global_batch: 24|iterations: 77|clock: \"1.2 "
        "GHz\"|power_cap: \"350 W\"|attention: "
        "\"flash\"|rank_order: \"tp-dp-pp\"|p2p: "
        "\"duplex\"|stage_layers: \"best\"|layer_tp: \"best\"|name: "
        "\"other\"|source: \"nobody\"";
    char member[128], *value;
    walk_word(w, members, member, sizeof member);
    value = strchr(member, ':');
    fr_text_add(out, s->text, at->begin + 1);
    fr_text_addf(out, "\"%.*s\"%s%s ", (int)(value - member), member, value,
                 s->text[blanks(s->text, at->begin + 1)] == '}' ? "" : ",");
    add(out, s->text + at->begin + 1);
}

/* Two words of a text change places, or one of them is said again. */
static bool shuffle(struct walk *w, const struct scan *s, const struct span *at,
                    struct fr_text *out) {
    const char *t = s->text + at->begin;
    size_t length = at->end - at->begin, first = 1, second;
    if (*t != '"' || !memchr(t, ' ', length)) return false;
    first += (size_t)walk_below(w, (int)length - 2);
    while (first > 1 && t[first - 1] != ' ') first--;
    size_t n = strcspn(t + first, " \"");
    second = first + n + (t[first + n] == ' ');
    size_t m = strcspn(t + second, " \"");
    if (m == 0 || t[first + n] != ' ') return false;
    fr_text_add(out, s->text, at->begin + first);
    fr_text_add(out, t + second, m);
    if (walk_chance(w, 0.8)) {
        add(out, " ");
        fr_text_add(out, t + first, n);
    }
    add(out, t + second + m);
    return true;
}

static bool insert_one(struct walk *w, const struct scan *s, struct fr_text *out) {
    for (int tries = 0; tries < 40; tries++) {
        const struct span *at = &s->span[walk_below(w, s->n)];
        if (s->text[at->begin] == '{') return insert(w, s, at, out), true;
        if (walk_chance(w, 0.3) && shuffle(w, s, at, out)) return true;
    }
    return false;
}

/* The name of another member for this one's. */
static void rename_member(struct walk *w, const struct scan *s, const struct span *at,
                          struct fr_text *out) {
    const struct span *other = &s->span[walk_below(w, s->n)];
    const char *t = s->text;
    fr_text_add(out, t, at->member);
    if (other->named && other != at)
        fr_text_add(out, t + other->member, string_end(t, other->member) - other->member);
    else
        add(out, "\"other\"");
    add(out, t + string_end(t, at->member));
}

/* A number of the text, if one is soon found. */
static bool scale_one(struct walk *w, const struct scan *s, struct fr_text *out) {
    for (int tries = 0; tries < 20; tries++) {
        const struct span *at = &s->span[walk_below(w, s->n)];
        const char *value = s->text + at->begin;
        if (!isdigit((unsigned char)value[*value == '"'])) continue;
        fr_text_add(out, s->text, at->begin);
        scaled(w, value, at->end - at->begin, out);
        add(out, s->text + at->end);
        return true;
    }
    return false;
}

static void change_once(struct walk *w, const char *text, struct fr_text *out) {
    static struct scan s;
    s = (struct scan){.text = text};
    scan_value(&s, blanks(text, 0), 0, false);
    const struct span *at = &s.span[walk_below(w, s.n)];
    int way = walk_below(w, 100);
    if (walk_chance(w, 0.15) && insert_one(w, &s, out)) return;
    if (walk_chance(w, 0.65) && scale_one(w, &s, out)) return;
    if (at->begin == 0 || way < 72)
        replace(w, &s, at, out);
    else if (way < 86)
        drop(&s, at, out);
    else if (way < 92)
        twice(&s, at, out);
    else if (at->named)
        rename_member(w, &s, at, out);
    else
        replace(w, &s, at, out);
}

void walk_change(struct walk *w, const struct fr_text *document, struct fr_text *out) {
    struct fr_text once = {0};
    if (walk_chance(w, 0.75)) {
        change_once(w, fr_text_get(document), out);
        return;
    }
    change_once(w, fr_text_get(document), &once);
    change_once(w, fr_text_get(&once), out);
    fr_text_free(&once);
}

int walk_places(const struct fr_text *document) {
    static struct scan s;
    s = (struct scan){.text = fr_text_get(document)};
    scan_value(&s, blanks(s.text, 0), 0, false);
    return s.n;
}

/* Every word that is one of several somewhere. */
static const char choices[] = "s|ms|us|ns|s|ms|ns|total|per_rank|fp64|fp32|tf32|bf16|fp16|fp8|"
                              "adam|sgd|momentum|layer|rms|learned|rotary|none|copy|"
                              "slice|sum|concatenation|conv|full|log|segments|similarity|"
                              "algorithm|auto|ring|bruck|1|log2 p|1 + log2 N|1/4 + log2 "
                              "N|p^0.6|p - 1|N - 1|(p - 1)/p|(p - p/N)/p|(p - 1)/(p "
                              "r)|measured|estimated|sampled|node|rack|system|2019|modern";

bool walk_change_at(struct walk *w, const struct fr_text *document, int place, int way,
                    struct fr_text *out) {
    static struct scan s;
    s = (struct scan){.text = fr_text_get(document)};
    scan_value(&s, blanks(s.text, 0), 0, false);
    const struct span *at = &s.span[place];
    const char *value = s.text + at->begin;
    bool quoted = *value == '"', number = isdigit((unsigned char)value[quoted]);
    if (at->begin == 0 || (way == 0 && !at->named) || (way != 0 && way != 2 && !number))
        return false;
    if (way == 0) return drop(&s, at, out), true;
    fr_text_add(out, s.text, at->begin);
    if (way == 1)
        scaled(w, value, at->end - at->begin, out);
    else if (way == 2)
        add(out, walk_chance(w, 0.5) ? "\"x\"" : "0");
    else if (way > 4) {
        char word[32];
        add(out, "\"");
        add(out, walk_word(w, choices, word, sizeof word));
        add(out, "\"");
    } else { /* its range is told */
        add(out, quoted ? "\"" : "");
        add(out, way == 3 ? "1e290" : "-1");
        size_t skip = strspn(value + quoted, "0123456789.eE+-") + quoted;
        fr_text_add(out, value + skip, at->end - at->begin - skip);
    }
    add(out, s.text + at->end);
    return true;
}
