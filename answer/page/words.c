#include "answer/page/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/outcome/outcome_fact.h"
#include "answer/page/table.h"
#include "base/alloc.h"
#include "base/json/interval.h"
#include "base/sort.h"
#include "models/plan/key.h"

static const struct {
    const char *key, *meaning;
} own[] = {
#define FR_WORD(key, meaning) {#key, meaning},
#include "answer/page/word_list.h"
#undef FR_WORD
};

/* Keys that are no words. */
static const char *const names[][2] = {{"mfu", "MFU"},
                                       {"hfu", "HFU"},
                                       {"mape", "MAPE"},
                                       {"tp_comm", "tensor-parallel exchange"},
                                       {"cp_comm", "context-parallel exchange"},
                                       {"ep_comm", "expert-parallel exchange"},
                                       {"pp_comm", "pipeline exchange"},
                                       {"dp_comm", "data-parallel exchange"},
                                       {"embedding_comm", "embedding exchange"},
                                       {"optimizer", "optimizer state"},
                                       {"switches", "crossovers"}};

/* Without the unit, which values carry themselves. */
void fr_page_words(const char *key, struct fr_text *out) {
    if (strncmp(key, "outcome.", 8) == 0) key += 8;
    if (strncmp(key, "plan.", 5) == 0) key += 5;
    while (*key) {
        size_t length = strcspn(key, "."), shown = fr_unit_begins(key, length);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strlen(names[i][0]) == length && strncmp(key, names[i][0], length) == 0) {
                fr_text_addf(out, "%s", names[i][1]);
                shown = 0;
            }
        for (size_t i = 0; i < shown; i++) fr_text_add(out, key[i] == '_' ? " " : key + i, 1);
        key += length;
        if (*key) fr_text_add(out, ", ", 2), key++;
    }
}

/* ---- meanings ---------------------------------------------------------------------------------- */

/* A sentence of docs/ without its mark-up. */
static void add_plain(const char *markdown, struct fr_text *out) {
    for (; *markdown; markdown++)
        if (*markdown != '`' && *markdown != '*') fr_text_add(out, markdown, 1);
}

/* "memory_B.*" has every member of that object. */
static bool names_fact(const struct fr_outcome_fact *fact, const char *path) {
    size_t length = strlen(fact->name);
    if (length > 1 && fact->name[length - 1] == '*')
        return strncmp(fact->name, path, length - 1) == 0 && !strchr(path + length - 1, '.');
    return strcmp(fact->name, path) == 0;
}

static const char *of_fact(const char *path) {
    for (int i = 0; i < FR_OUTCOME_FACTS; i++)
        if (names_fact(&fr_outcome_facts[i], path)) return fr_outcome_facts[i].sentence;
    return NULL;
}

static const char *of_plan(const char *path) {
    const char *near = NULL;
    if (strncmp(path, "plan.", 5) != 0 && strncmp(path, "compression.", 12) != 0) return NULL;
    const struct fr_plan_key *key = fr_plan_key_find(path, &near);
    return key ? key->help : NULL;
}

static const char *of_own(const char *key) {
    size_t length = fr_unit_begins(key, strlen(key));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].key, key) == 0 ||
            (strlen(own[i].key) == length && strncmp(own[i].key, key, length) == 0))
            return own[i].meaning;
    return NULL;
}

/* "time_low_s", "low_s" */
static const char *of_interval(const char *key) {
    if (strncmp(key, "low_", 4) == 0 || strstr(key, "_low"))
        return "lower end of the 90 % interval";
    if (strncmp(key, "high_", 5) == 0 || strstr(key, "_high"))
        return "upper end of the 90 % interval";
    return NULL;
}

bool fr_page_meaning(const char *path, struct fr_text *out) {
    const char *meaning, *dot = strrchr(path, '.'), *key = dot ? dot + 1 : path;
    while (*path == '.') path++;
    for (const char *inner; (inner = strstr(path, "outcome.")) != NULL;) path = inner + 8;
    if (strncmp(path, "best.", 5) == 0) path += 5;
    meaning = of_plan(path);
    if (!meaning) meaning = of_fact(path);
    if (!meaning) meaning = of_own(key);
    if (!meaning) meaning = of_interval(key);
    if (!meaning || !*meaning) return false;
    add_plain(meaning, out);
    return true;
}

void fr_page_put_words(const char *path, struct fr_text *html) {
    fr_page_put_words_of(path, path, html);
}

void fr_page_put_words_of(const char *key, const char *path, struct fr_text *html) {
    struct fr_text words = {0}, meaning = {0};
    fr_page_words(key, &words);
    if (fr_page_meaning(path, &meaning))
        fr_html_addf(html, "{abbr[title=\"%s\"] %s}", fr_text_get(&meaning),
                     fr_text_get(&words));
    else
        fr_html_addf(html, "%s", fr_text_get(&words));
    html->failed = html->failed || words.failed || meaning.failed;
    fr_text_free(&words), fr_text_free(&meaning);
}

/* ---- appendix ---------------------------------------------------------------------------------- */

enum { KEYS_MAX = 600, DEPTH_MAX = 6 };

struct keys {
    char path[KEYS_MAX][FR_PAGE_PATH];
    int n;
};

static void note(struct keys *keys, const char *path) {
    for (int i = 0; i < keys->n; i++)
        if (strcmp(keys->path[i], path) == 0) return;
    if (keys->n < KEYS_MAX) snprintf(keys->path[keys->n++], FR_PAGE_PATH, "%s", path);
}

/* A list's rows are alike, so its first one stands for them. */
static void collect(struct keys *keys, const struct fr_json *value, const char *path,
                    int depth) {
    if (fr_json_is_array(value)) {
        struct fr_json first = fr_json_element(value, 0);
        if (fr_json_is_object(&first)) collect(keys, &first, path, depth);
        return;
    }
    for (const char *key = fr_json_key_after(value, NULL); key && depth < DEPTH_MAX;
         key = fr_json_key_after(value, key)) {
        struct fr_json member = fr_json_member(value, key);
        char inner[FR_PAGE_PATH];
        bool is_outcome = strcmp(key, "outcome") == 0 || strcmp(key, "best") == 0 ||
                          strcmp(key, "top") == 0 || strcmp(key, "pareto") == 0;
        size_t used = 0;
        *inner = '\0';
        fr_line_addf(inner, sizeof inner, &used, "%s%s%s", path, *path ? "." : "", key);
        note(keys, inner);
        if (fr_json_is_object(&member) || fr_json_is_array(&member))
            collect(keys, &member, is_outcome ? "" : inner, depth + 1);
    }
}

static int by_path(const void *a, const void *b) { return strcmp(a, b); }

void fr_page_appendix(struct fr_page *page, const struct fr_json *root) {
    struct keys *keys = fr_calloc(1, sizeof *keys);
    struct fr_text rows = {0};
    if (!keys) {
        page->html.failed = true;
        return;
    }
    collect(keys, root, "", 0);
    fr_sort_items(keys->path, (size_t)keys->n, sizeof *keys->path, by_path);
    for (int i = 0; i < keys->n; i++) {
        struct fr_text meaning = {0};
        if (fr_page_meaning(keys->path[i], &meaning))
            fr_html_addf(&rows, "{tr {td.l {code %s}}{td.l %s}}\n", keys->path[i],
                         fr_text_get(&meaning));
        fr_text_free(&meaning);
    }
    if (rows.length) {
        fr_page_fold(page, "Appendix: keys of the JSON and what they mean");
        fr_page_rows_begin((const char *const[]){"key", "meaning", NULL}, 2, &page->html);
        fr_text_add(&page->html, rows.data, rows.length);
        fr_page_rows_end(&page->html);
        fr_page_unfold(page);
    }
    page->html.failed = page->html.failed || rows.failed;
    fr_text_free(&rows);
    free(keys);
}
