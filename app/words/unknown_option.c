#include "app/words/unknown_option.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "models/job/key_meant.h"
#include "models/job/preset.h"
#include "models/plan/key.h"

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

/* "--bf16" and "--fp8-format hybrid" are values and no keys.  @return the value, or NULL */
static const char *type_of(const char *name) {
    static const char *const types[] = {"bf16", "fp16", "fp8", "fp4", "fp32"};
    for (int i = 0; i < 5; i++)
        if (strncmp(name, types[i], strlen(types[i])) == 0) return types[i];
    return NULL;
}

/* The value of a switch of other tools that stands alone: "--fsdp" is zero=3, "--no-sequence-parallel" is
 * sequence_parallel=false. */
static const char *value_of_switch(const char *name, const char *key, bool off) {
    static const char *const of[][3] = {
        {"distributed", "1", "0"},   {"distopt", "1", "0"},      {"fsdp", "3", "0"},
        {"shard", "3", "0"},         {"ddp", "0", "0"},          {"checkpoint", "full", "none"},
        {"ckpt", "full", "none"},    {"recomp", "full", "none"}, {"remat", "full", "none"},
        {"flash", "flash", "plain"}, {"sdpa", "flash", "plain"}};
    const char *near = NULL;
    const struct fr_plan_key *known = fr_plan_key_find(key, &near);
    if (type_of(name)) return type_of(name);
    if (known && known->type == &fr_plan_bool) return off ? "false" : "true";
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (strstr(name, of[i][0])) return of[i][off ? 2 : 1];
    return "VALUE";
}

/* "no-" and "disable-" before the name of a switch. */
static size_t off_length(const char *name) {
    static const char *const words[] = {"no-", "no_", "disable-", "disable_"};
    for (int i = 0; i < 4; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0) return strlen(words[i]);
    return 0;
}

/* Where answers go, for who looks for an option. */
static bool names_output(const char *name) {
    static const char *const outputs[] = {"--out", NULL};
    return fr_meant(name, outputs).how == FR_MEANT_ALIAS || strcmp(name, "out") == 0;
}

static fr_status unknown(const char *name, const char *shown, const char *value,
                         const struct fr_option *options, int argc, char **argv,
                         struct fr_error *err) {
    const char *known[OPTIONS + 1], *hint;
    char key[FR_KEY_NAME];
    int64_t of_node = 0, ranks = 0;
    names_of(options, known);
    bool output =
        names_output(name) && fr_place_in(known, "out") < 0 && fr_place_in(known, "output") < 0;
    if (output)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"%s\"; answers go to standard output: add > FILE",
                       shown);
    struct fr_meant meant = fr_meant(name, known);
    bool sure = meant.how == FR_MEANT_SAME || meant.how == FR_MEANT_ALIAS;
    size_t off = sure ? 0 : off_length(name);
    fr_meant_how how = fr_key_meant(name + off, key, &hint);
    if (sure && strcmp(meant.known[0], "ranks") == 0 &&
        nodes_as_ranks(name, value, argc, argv, &of_node, &ranks))
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"%s\"; did you mean \"--ranks\"? %s nodes of %" PRId64
                       " GPUs are --ranks %" PRId64,
                       shown, value, of_node, ranks);
    if (!sure && takes_keys(known) && (how == FR_MEANT_SAME || how == FR_MEANT_ALIAS)) {
        bool alone = off > 0 || strcmp(value, "VALUE") == 0 || type_of(name);
        const char *given = alone ? value_of_switch(name + off, key, off > 0) : value;
        bool open = strcmp(given, "VALUE") == 0 || !alone;
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"%s\"; write --set %s=%.40s%s%s", shown, key, given,
                       *hint && open ? ". That is: " : "", open ? hint : "");
    }
    if (meant.count > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL,
                       "unknown option \"%s\"; did you mean \"--%s\"?%s%s", shown,
                       meant.known[0], *meant.hint ? " That is: " : "", meant.hint);
    return fr_fail(err, FR_ERR_USAGE, NULL, "unknown option \"%s\"", shown);
}

fr_status fr_unknown_option(const struct fr_option *options, int argc, char **argv, int at,
                            struct fr_error *err) {
    const char *word = argv[at], *value = value_of(word, at + 1 < argc ? argv[at + 1] : NULL);
    char name[64], shown[72];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    snprintf(shown, sizeof shown, "--%s", name);
    return unknown(name, shown, value, options, argc, argv, err);
}

/* Letters of other tools, and of ours in other letters. */
static const char *option_of_letter(char letter, const struct fr_option *options) {
    static const struct {
        char letter;
        const char *option;
    } usual[] = {{'n', "ranks"}, {'o', "out"},   {'o', "output"},  {'p', "plan"},
                 {'s', "set"},   {'v', "vary"},  {'c', "cluster"}, {'m', "model"},
                 {'r', "runs"},  {'f', "force"}, {'t', "threads"}, {'j', "threads"},
                 {'k', "top"},   {'g', "ranks"}, {'N', "nodes"}};
    char alone[2] = {letter, '\0'};
    if (fr_option_find(options, alone)) return fr_option_find(options, alone)->name;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i].letter == letter &&
            (letter == 'N' || fr_option_find(options, usual[i].option)))
            return usual[i].option;
    for (const struct fr_option *o = options; o->name; o++)
        if (o->letter && o->letter == tolower((unsigned char)letter)) return o->name;
    return letter == 'n' || letter == 'g' ? "ranks" : NULL;
}

fr_status fr_unknown_letter(const struct fr_option *options, int argc, char **argv, int at,
                            struct fr_error *err) {
    const char *word = argv[at], *value = value_of(word, at + 1 < argc ? argv[at + 1] : NULL);
    char name[64], shown[8];
    const char *option = option_of_letter(word[1], options);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 1, "="), word + 1);
    snprintf(shown, sizeof shown, "-%c", word[1]);
    bool whole = name[1] && !strchr("0123456789", name[1]);
    if (!whole && name[1]) value = word + 2;
    if (whole) return unknown(name, word, value, options, argc, argv, err);
    if (option && fr_option_find(options, option))
        return fr_fail(err, FR_ERR_USAGE, NULL, "unknown option \"%s\"; did you mean \"--%s\"?",
                       shown, option);
    return option ? unknown(option, shown, value, options, argc, argv, err)
                  : fr_fail(err, FR_ERR_USAGE, NULL, "unknown option \"%.32s\"", word);
}
