#include "app/words/unknown_option.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "models/job/key_meant.h"
#include "models/job/preset.h"

enum { OPTIONS = 64 };

static void names_of(const struct fr_option *options, const char *known[OPTIONS + 1]) {
    int n = 0;
    for (; options->name && n < OPTIONS; options++) known[n++] = options->name;
    known[n] = NULL;
}

/* Does the verb take keys, with --set or in a search with --fix? */
static bool takes_keys(const char *const *known) { return fr_place_in(known, "set") >= 0; }

/* The value behind an unknown option: what stands behind "=", or the next word, unless that is an option. */
static const char *value_of(const char *word, const char *next) {
    const char *equals = strchr(word, '=');
    if (equals) return equals + 1;
    return next && *next && *next != '-' ? next : "VALUE";
}

/* GPUs of a node of the cluster that the line names; 0: it names none that can be read. */
static int64_t ranks_of_node(int argc, char **argv) {
    const char *cluster = NULL;
    struct fr_json_document *document = NULL;
    int64_t ranks = 0;
    for (int i = 0; i < argc; i++) {
        bool next = strcmp(argv[i], "-c") == 0 || strcmp(argv[i], "--cluster") == 0;
        if (next && i + 1 < argc) cluster = argv[i + 1];
        if (strncmp(argv[i], "--cluster=", 10) == 0) cluster = argv[i] + 10;
    }
    if (!cluster || strcmp(cluster, "-") == 0) return 0;
    struct fr_meant meant = fr_preset_meant("cluster", cluster);
    if (!fr_file_exists(cluster) && meant.count == 1) cluster = meant.known[0];
    if (fr_preset_or_file_read("cluster", cluster, &document, NULL) != FR_OK) return 0;
    struct fr_json root = fr_json_root(document), levels = fr_json_member(&root, "levels");
    struct fr_json node = fr_json_element(&levels, 0);
    if (fr_json_array_length(&levels) == 0 ||
        fr_json_get_integer(&node, "ranks", true, 1, 1 << 20, &ranks, NULL) != FR_OK)
        ranks = 0;
    fr_json_free(document);
    return ranks;
}

static bool counts_nodes(const char *name) {
    return strstr(name, "nodes") || strstr(name, "hosts") || strstr(name, "machines");
}

/* "--nodes 8" of eight GPUs each: 64 ranks. @return whether that is known */
static bool nodes_as_ranks(const char *name, const char *value, int argc, char **argv,
                           int64_t *of_node, int64_t *ranks) {
    char *end = NULL;
    long long nodes = strtoll(value, &end, 10);
    if (!counts_nodes(name) || end == value || *end || nodes < 1 || nodes > 1 << 20)
        return false;
    *of_node = ranks_of_node(argc, argv);
    *ranks = nodes * *of_node;
    return *of_node > 0;
}

/* "--bf16" is a value and no key. */
static bool is_type(const char *name) {
    static const char *const types[] = {"bf16", "fp16", "fp8", "fp4", "fp32", NULL};
    return fr_place_in(types, name) >= 0;
}

/* Where answers go, for who looks for an option. */
static bool names_output(const char *name) {
    static const char *const outputs[] = {"--out", NULL};
    return fr_meant(name, outputs).how == FR_MEANT_ALIAS || strcmp(name, "out") == 0;
}

fr_status fr_unknown_option(const struct fr_option *options, int argc, char **argv, int at,
                            struct fr_error *err) {
    const char *known[OPTIONS + 1], *hint,
        *word = argv[at], *value = value_of(word, at + 1 < argc ? argv[at + 1] : NULL);
    char name[64], key[FR_KEY_NAME];
    int64_t of_node = 0, ranks = 0;
    names_of(options, known);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    struct fr_meant meant = fr_meant(name, known);
    fr_meant_how how = fr_key_meant(name, key, &hint);
    bool sure = meant.how == FR_MEANT_SAME || meant.how == FR_MEANT_ALIAS;
    if (sure && strcmp(meant.known[0], "ranks") == 0 &&
        nodes_as_ranks(name, value, argc, argv, &of_node, &ranks))
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"--%s\"; did you mean \"--ranks\"? %s nodes of %" PRId64
                       " GPUs are --ranks %" PRId64,
                       name, value, of_node, ranks);
    if (!sure && takes_keys(known) && (how == FR_MEANT_SAME || how == FR_MEANT_ALIAS))
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"--%s\"; write --set %s=%.40s%s%s", name, key,
                       is_type(name) ? name : value, *hint ? ". That is: " : "", hint);
    if (meant.count > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"--%s\"; did you mean \"--%s\"?%s%s", name,
                       meant.known[0], *meant.hint ? " That is: " : "", meant.hint);
    return fr_fail(err, FR_ERR_USAGE, NULL, "unknown option \"--%s\"%s", name,
                   names_output(name) ? "; answers go to standard output: add > FILE" : "");
}

fr_status fr_unknown_letter(const struct fr_option *options, const char *word,
                            struct fr_error *err) {
    static const struct {
        char letter;
        const char *option;
    } usual[] = {{'n', "ranks"}, {'o', "out"},   {'o', "output"},  {'p', "plan"},
                 {'s', "set"},   {'v', "vary"},  {'c', "cluster"}, {'m', "model"},
                 {'r', "runs"},  {'f', "force"}, {'t', "threads"}, {'j', "threads"},
                 {'k', "top"},   {'g', "ranks"}};
    const char *known[OPTIONS + 1];
    char name[64];
    names_of(options, known);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i].letter == word[1] && fr_place_in(known, usual[i].option) >= 0)
            return fr_fail(err, FR_ERR_USAGE, NULL,
                           "unknown option \"-%c\"; did you mean \"--%s\"?", word[1],
                           usual[i].option);
    snprintf(name, sizeof name, "%.40s", word + 1); /* "-tp" was to be "--tp" */
    struct fr_meant meant = strlen(name) > 1 ? fr_meant(name, known) : (struct fr_meant){0};
    if (meant.count > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"-%s\"; did you mean \"--%s\"?", name, meant.known[0]);
    return fr_fail(err, FR_ERR_USAGE, NULL, "unknown option \"%.32s\"", word);
}
