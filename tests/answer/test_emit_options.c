/* Every option of the table stands in the recorded list of its framework's own parser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/emit.h"
#include "base/data.h"
#include "base/file.h"
#include "tests/cmocka.h"

/* The list as "\nNAME\t" to look for; NULL without data. */
static char *list_of(const char *name) {
    char path[4096];
    char *text = NULL;
    size_t length = 0;
    struct fr_error err = {0};
    if (!fr_data_find(name, path, sizeof path)) return NULL;
    if (fr_file_read(path, 1 << 22, &text, &length, &err) != FR_OK) fail_msg("%s", err.detail);
    return text;
}

static bool in_list(const char *list, const char *name) {
    char row[160];
    snprintf(row, sizeof row, "\n%s\t", name);
    return strstr(list, row) != NULL;
}

/* Spellings that a configuration class of Megatron-LM gives its fields: the list has the field, and that
 * it is spelt otherwise. */
static const char *field_of(const char *name) {
    if (strcmp(name, "--fp8-format") == 0) return "--fp8";
    if (strcmp(name, "--fp4-format") == 0) return "--fp4";
    return strcmp(name, "--disable-bias-linear") == 0 ? "--add-bias-linear" : NULL;
}

/* Fields of those classes that Megatron-LM's parser leaves out (arguments.py, exclude), or spells otherwise. */
static const char *const no_options[] = {"--fp4", "--cpu-offloading",
                                         "--activation-func-fp8-input-store"};

static bool of_megatron(const char *name, const char *const *lists) {
    char row[160];
    for (int i = 0; i < (int)(sizeof no_options / sizeof *no_options); i++)
        if (strcmp(name, no_options[i]) == 0) return false;
    const char *field = field_of(name);
    if (!field) return in_list(lists[0], name);
    snprintf(row, sizeof row, "\n%s\t", field);
    const char *at = strstr(lists[0], row);
    return at && strcspn(at + 1, "\n") > strcspn(at + 1, "{") && in_list(lists[0], field) &&
           strstr(at, "arg_names");
}

/* "--option", or "section.field": the section Bridge's, the field its own or Megatron-LM's. */
static bool of_bridge(const char *name, const char *const *lists) {
    char section[64], option[96] = "--";
    const char *dot = strchr(name, '.');
    if (!dot) return in_list(lists[0], name);
    snprintf(section, sizeof section, "%.*s", (int)(dot - name), name);
    snprintf(option + 2, sizeof option - 2, "%s", dot + 1);
    for (char *at = option + 2; *at; at++)
        if (*at == '_') *at = '-';
    return in_list(lists[0], section) &&
           (in_list(lists[0], dot + 1) || in_list(lists[1], option));
}

/* "--section.field"; a switch turned off has "no_" before the field. */
static bool of_titan(const char *name, const char *const *lists) {
    char section[64];
    const char *dot = strchr(name, '.');
    if (!dot) return false;
    snprintf(section, sizeof section, "%.*s", (int)(dot - name) - 2, name + 2);
    const char *field = strncmp(dot + 1, "no_", 3) == 0 ? dot + 4 : dot + 1;
    return in_list(lists[0], section) && in_list(lists[0], field);
}

static bool of_deepspeed(const char *name, const char *const *lists) {
    char object[64];
    const char *dot = strchr(name, '.');
    if (!dot) return in_list(lists[0], name);
    snprintf(object, sizeof object, "%.*s", (int)(dot - name), name);
    return in_list(lists[0], object) && in_list(lists[0], dot + 1);
}

static const struct {
    const struct fr_emitter *to;
    const char *lists[2];
    bool (*has)(const char *name, const char *const *lists);
} frameworks[] = {
    {&fr_emitter_megatron, {"frameworks/megatron-lm.tsv"}, of_megatron},
    {&fr_emitter_megatron_bridge,
     {"frameworks/megatron-bridge.tsv", "frameworks/megatron-lm.tsv"},
     of_bridge},
    {&fr_emitter_torchtitan, {"frameworks/torchtitan.tsv"}, of_titan},
    {&fr_emitter_deepspeed, {"frameworks/deepspeed.tsv"}, of_deepspeed},
};
enum { FRAMEWORKS = sizeof frameworks / sizeof *frameworks };

static void options_exist(void **state) {
    (void)state;
    for (int f = 0; f < FRAMEWORKS; f++) {
        char *lists[2] = {list_of(frameworks[f].lists[0]), NULL};
        if (!lists[0]) skip();
        if (frameworks[f].lists[1]) lists[1] = list_of(frameworks[f].lists[1]);
        const char *const have[2] = {lists[0], lists[1]};
        int seen = 0;
        const struct fr_emit_row *row;
        for (int i = 0; (row = fr_emit_row(frameworks[f].to, i)); i++) {
            if (!*row->option) continue;
            seen++;
            FR_TRUE(frameworks[f].has(row->option, have), "%s has no %s",
                    frameworks[f].to->framework, row->option);
        }
        FR_TRUE(seen > 12, "%s: %d options in all", frameworks[f].to->name, seen);
        FR_TRUE(!frameworks[f].has("--tensor-model-parallel-seize", have) &&
                    !frameworks[f].has("ddp.overlap", have),
                "%s: the check lets anything pass", frameworks[f].to->name);
        free(lists[0]);
        free(lists[1]);
    }
}

/* The first line of a list names the commit; so does our script. */
static void versions_agree(void **state) {
    (void)state;
    for (int f = 0; f < FRAMEWORKS; f++) {
        char *list = list_of(frameworks[f].lists[0]), commit[16];
        if (!list) skip();
        const char *at = strstr(list, " at "), *version = frameworks[f].to->version;
        assert_non_null(at);
        snprintf(commit, sizeof commit, "%.12s", at + 4);
        FR_TRUE(strstr(version, commit) != NULL, "%s is not %s", version, commit);
        free(list);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_exist),
                                       cmocka_unit_test(versions_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
