#include "models/job/preset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json/file_schema.h"
#include "models/job/file_kind.h"
#include "models/job/own.h"

enum { FR_PRESETS_MAX = 127 };

const struct fr_preset *fr_preset_find(const char *kind, const char *name) {
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        if (strcmp(p->kind, kind) == 0 && strcmp(p->name, name) == 0) return p;
    return NULL;
}

struct fr_meant fr_preset_meant(const char *kind, const char *name) {
    const char *known[FR_PRESETS_MAX + 1] = {NULL};
    int n = 0;
    for (const struct fr_preset *p = fr_presets; p->name && n < FR_PRESETS_MAX; p++)
        if (strcmp(p->kind, kind) == 0) known[n++] = p->name;
    return fr_meant(name, known);
}

/* A model where a cluster is asked for, or the like: two words were exchanged. */
static const char *exchanged(const char *kind, const char *name) {
    static const char *const kinds[] = {"cluster", "model", "runtime"};
    for (int i = 0; i < 3; i++)
        if (strcmp(kind, kinds[i]) != 0 && fr_preset_find(kinds[i], name)) return kinds[i];
    return NULL;
}

/* How to name one that has no preset: the end of a sentence. */
static const char *otherwise(const char *kind) {
    if (strcmp(kind, "model") == 0) return "f any other model give the path of its config.json";
    if (strcmp(kind, "cluster") == 0)
        return "f any other machine give a file: change what forerun show dgx-h100 prints";
    return "";
}

static fr_status not_of_site(const char *kind, const char *name, struct fr_error *err) {
    enum { KNOWN = 64, NAME = 80 };
    char names[KNOWN][NAME], tail[200];
    const char *known[KNOWN + 1] = {NULL};
    struct fr_text text = {0};
    int n = 0;
    FR_TRY(fr_own_site_names(kind, &text, err));
    for (const char *at = fr_text_get(&text); *at && n < KNOWN; at += strcspn(at, "\n") + 1) {
        snprintf(names[n], NAME, FR_OWN_SITE "%.*s", (int)strcspn(at, "\t"), at);
        known[n] = names[n];
        n++;
    }
    fr_text_free(&text);
    fr_meant_tail(name, known, tail, sizeof tail);
    return fr_fail(
        err, FR_ERR_INPUT, name,
        "is no file %s/NAME.json in a folder of the site (\"site\" of config.json, or "
        "FORERUN_PATH)%s",
        kind, n ? tail : "; there is none");
}

static fr_status unknown(const char *kind, const char *name, struct fr_error *err) {
    static const char site[] = FR_OWN_SITE;
    if (strncmp(name, site, sizeof site - 1) == 0) return not_of_site(kind, name, err);
    const char *other = exchanged(kind, name);
    struct fr_meant meant = fr_preset_meant(kind, name);
    char list[256];
    const char *own = otherwise(kind), *begins = *own ? "; o" : "";
    fr_meant_list(&meant, list, sizeof list);
    if (strcmp(kind, "plan") == 0)
        return fr_fail(err, FR_ERR_INPUT, name, "is no file, and plans have no presets%s%.64s",
                       strchr(name, '=') ? "; write --set " : "",
                       strchr(name, '=') ? name : "");
    const char *dot = strrchr(name, '.');
    if (dot && strcmp(dot, ".json") == 0)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "is neither a file nor a %s preset: no such file is there", kind);
    if (other)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "is a %s, and stands where a %s is asked for: give it as --%s", other,
                       kind, other);
    if (strchr(name, ','))
        return fr_fail(err, FR_ERR_INPUT, name,
                       "names several %ss where one is asked for; forerun compare takes each "
                       "with a --%s of its own",
                       kind, kind);
    if (meant.count > 1)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "is neither a file nor a %s preset, and part of several: %s%s%s", kind,
                       list, begins, own);
    if (meant.count == 1)
        return fr_fail(err, FR_ERR_INPUT, name,
                       "is neither a file nor a %s preset; did you mean %s?%s%s%s%s", kind,
                       list, *meant.hint ? " That is: " : "", meant.hint,
                       *meant.hint ? begins
                       : *own      ? " O"
                                   : "",
                       own);
    return fr_fail(err, FR_ERR_INPUT, name,
                   "is neither a file nor a %s preset; forerun list %ss has them%s%s", kind,
                   kind, begins, own);
}

/* JSON itself begins with a brace, which no preset does; a file that does is "./{...". */
static bool is_text(const char *name) { return name[strspn(name, " \t\r\n")] == '{'; }

const char *fr_preset_or_file_shown(const char *kind, const char *name) {
    return is_text(name) ? kind : name;
}

static fr_samples_fit *fit_samples;

void fr_preset_fit_samples(fr_samples_fit *fit) { fit_samples = fit; }

/* The kind of standard input is known once it is read, and samples are then read again. */
static fr_status read_standard(struct fr_json_document **document, struct fr_error *err) {
    char *data = NULL;
    size_t length = 0;
    FR_TRY(fr_file_read("-", FR_FILE_MAX_B, &data, &length, err));
    fr_status status = fr_file_kind_of_text(data, length) == FR_FILE_SAMPLES
                           ? fit_samples("-", document, err)
                           : fr_json_parse(data, length, "<stdin>", document, err);
    free(data);
    return status;
}

static fr_status read_file(const char *kind, const char *path,
                           struct fr_json_document **document, struct fr_error *err) {
    if (!fit_samples || strcmp(kind, "cluster") != 0) return fr_json_read(path, document, err);
    if (strcmp(path, "-") == 0) return read_standard(document, err);
    return fr_file_kind_of(path) == FR_FILE_SAMPLES ? fit_samples(path, document, err)
                                                    : fr_json_read(path, document, err);
}

static fr_status read(const char *kind, const char *name, struct fr_json_document **document,
                      struct fr_error *err) {
    const struct fr_preset *preset = fr_preset_find(kind, name);
    char shown[96], own[FR_OWN_PATH_B];
    if (is_text(name)) return fr_json_parse(name, strlen(name), kind, document, err);
    if (!preset && strcmp(name, "-") != 0 && !fr_file_exists(name)) {
        FR_TRY(fr_own_file(kind, name, own, err));
        return *own ? read_file(kind, own, document, err) : unknown(kind, name, err);
    }
    if (!preset) return read_file(kind, name, document, err);
    snprintf(shown, sizeof shown, "preset %s", name);
    return fr_json_parse(preset->text, preset->length, shown, document, err);
}

fr_status fr_preset_or_file_read(const char *kind, const char *name,
                                 struct fr_json_document **document, struct fr_error *err) {
    FR_TRY(read(kind, name, document, err));
    fr_status status = fr_file_schema_take(kind, *document, err);
    if (status == FR_OK) return FR_OK;
    fr_json_free(*document);
    *document = NULL;
    return status;
}
