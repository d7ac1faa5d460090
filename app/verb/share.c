/* A cluster file to hand on. */
#include "answer/share/share.h"

#include <string.h>

#include "app/load.h"
#include "app/verb.h"
#include "base/file.h"
#include "models/job/preset.h"

static const struct fr_option options[] = {
    FR_OPTION_CLUSTER,
    {"name", "TEXT", "name of the cluster, as others know it", 0},
    {"by", "TEXT", "who measured it: a person, a group, a site", 0},
    {"host", "NAME", "of a host, to take out too; may be repeated", 0},
    {"out", "FILE", "cluster file to write (default: standard output)", 'o'},
    {"force", NULL, "replace a file that is there", 'f'},
    FR_OPTION_HELP,
    FR_OPTION_END};

static fr_status write_file(const struct fr_args *args, struct fr_text *text,
                            struct fr_error *err) {
    const char *out = fr_args_get(args, "out");
    if (!out || strcmp(out, "-") == 0) return fr_app_print(text, err);
    fr_status status = fr_file_write_last(out, fr_text_get(text), text->length, err);
    fr_text_free(text);
    return status;
}

static fr_status run(const struct fr_args *args, struct fr_error *err) {
    const char *hosts[FR_ARGS_MAX + 1] = {NULL}, *cluster = NULL;
    struct fr_share share = {.by = fr_args_get(args, "by"), .hosts = hosts};
    struct fr_json_document *document = NULL;
    struct fr_text text = {0};
    char own[FR_OWN_PATH_B];
    if (args->n_words > 0)
        return fr_fail(err, FR_ERR_USAGE, NULL, "unexpected word \"%.64s\"", args->word[0]);
    FR_TRY(fr_app_cluster(args, own, &cluster, err));
    FR_TRY(fr_args_required(args, "name", &share.name, err));
    if (!*share.name)
        return fr_fail(err, FR_ERR_USAGE, "--name",
                       "is empty: give the name that others know the cluster by");
    hosts[fr_args_all(args, "host", hosts)] = NULL;
    FR_TRY(fr_preset_or_file_read("cluster", cluster, &document, err));
    fr_status status = fr_share_make(document, &share, &text, err);
    fr_json_free(document);
    if (status == FR_OK) return write_file(args, &text, err);
    fr_text_free(&text);
    return status;
}

static const struct fr_output outputs[] = {{"out", NULL, NULL}, {NULL, NULL, NULL}};

const struct fr_verb fr_verb_share = {
    .name = "share",
    .summary = "a cluster file to hand on: named, without hosts' names, with its provenance",
    .usage = "--cluster C --name NAME [--by WHO] [-o FILE]",
    .details = "Takes the names of hosts that the calibration states out of every text, with "
               "those that\n"
               "differ in their number alone, and the folders of file names. The file goes "
               "into a folder\n"
               "that a site shares, where -c site:NAME finds it:\n"
               "  forerun share -c cluster.json --name jureca -o "
               "/shared/forerun/cluster/jureca.json\n",
    .options = options,
    .words = FR_WORDS_OPTIONS,
    .outputs = outputs,
    .asks = true,
    .run = run,
};
