#include "models/job/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data.h"
#include "base/file.h"
#include "base/json.h"

static const char settings_file[] = "config.json";

/* The folder of the settings, "" where nobody has a home. */
static const char *home(char *path, size_t capacity) {
    const char *config = getenv("XDG_CONFIG_HOME"), *user = getenv("HOME");
    int length = 0;
    *path = '\0';
    if (config && *config == '/') /* a relative one is to be ignored, says its specification */
        length = snprintf(path, capacity, "%s/forerun", config);
    else if (user && *user)
        length = snprintf(path, capacity, "%s/.config/forerun", user);
    if (length < 0 || (size_t)length >= capacity) *path = '\0';
    return path;
}

/* The settings; no document where there are none.  On error nothing is left to free. */
static fr_status read_settings(struct fr_json_document **document, struct fr_error *err) {
    static const char *const keys[] = {"cluster", "path", "site", NULL};
    char folder[FR_OWN_PATH_B], path[FR_OWN_PATH_B + sizeof settings_file + 1];
    *document = NULL;
    if (!*home(folder, sizeof folder)) return FR_OK;
    snprintf(path, sizeof path, "%s/%s", folder, settings_file);
    if (!fr_file_exists(path)) return FR_OK;
    FR_TRY(fr_json_read(path, document, err));
    struct fr_json root = fr_json_root(*document);
    fr_status status = fr_json_object(&root, keys, err);
    if (status == FR_OK) return FR_OK;
    fr_json_free(*document);
    return status;
}

/* Folders that the settings name: the site's, then those of "path". */
static fr_status add_settings_folders(const struct fr_json_document *document,
                                      struct fr_text *text, struct fr_error *err) {
    struct fr_json root = fr_json_root(document), list = fr_json_member(&root, "path"),
                   site = fr_json_member(&root, "site");
    const char *folder = NULL;
    if (fr_json_present(&site)) {
        FR_TRY(fr_json_text(&site, &folder, err));
        fr_text_addf(text, "%s\n", folder);
    }
    if (!fr_json_present(&list)) return FR_OK;
    FR_TRY(fr_json_array(&list, 0, 64, err));
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json element = fr_json_element(&list, i);
        FR_TRY(fr_json_text(&element, &folder, err));
        fr_text_addf(text, "%s\n", folder);
    }
    return FR_OK;
}

static fr_status add_site_folders(struct fr_text *text, struct fr_error *err) {
    const char *path = getenv("FORERUN_PATH");
    struct fr_json_document *document = NULL;
    for (; path && *path; path += strcspn(path, ":") + (path[strcspn(path, ":")] == ':'))
        if (*path != ':') fr_text_addf(text, "%.*s\n", (int)strcspn(path, ":"), path);
    FR_TRY(read_settings(&document, err));
    fr_status status = document ? add_settings_folders(document, text, err) : FR_OK;
    fr_json_free(document);
    return status;
}

fr_status fr_own_folders(struct fr_text *text, struct fr_error *err) {
    char folder[FR_OWN_PATH_B];
    fr_status status = add_site_folders(text, err);
    if (*home(folder, sizeof folder)) fr_text_addf(text, "%s\n", folder);
    return status;
}

/* Line @p at into @p line. @return where the next one begins. */
static const char *next(const char *at, char *line, size_t capacity) {
    size_t length = strcspn(at, "\n");
    snprintf(line, capacity, "%.*s", (int)length, at);
    return at + length + (at[length] == '\n');
}

fr_status fr_own_file(const char *kind, const char *name, char *path, struct fr_error *err) {
    struct fr_text folders = {0};
    char folder[FR_OWN_PATH_B];
    static const char site[] = FR_OWN_SITE;
    const bool shared = strncmp(name, site, sizeof site - 1) == 0;
    *path = '\0';
    if (shared) name += sizeof site - 1;
    if (!*name || strchr(name, '/')) return FR_OK; /* a path, no name */
    fr_status status = shared ? add_site_folders(&folders, err) : fr_own_folders(&folders, err);
    const char *at = fr_text_get(&folders);
    while (status == FR_OK && *at && !*path) {
        at = next(at, folder, sizeof folder);
        int length = snprintf(path, FR_OWN_PATH_B, "%s/%s/%s.json", folder, kind, name);
        if (length >= FR_OWN_PATH_B || !fr_file_exists(path)) *path = '\0';
    }
    fr_text_free(&folders);
    return status;
}

static void add_names(struct fr_text *text, const char *folder) {
    char **files = NULL;
    size_t n = 0;
    if (!fr_file_exists(folder) || fr_folder_list(folder, ".json", &files, &n, NULL) != FR_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        const char *name = strrchr(files[i], '/') + 1;
        fr_text_addf(text, "%.*s\t%s\n", (int)(strlen(name) - strlen(".json")), name, files[i]);
    }
    fr_folder_free(files, n);
}

static void add_all_names(const char *kind, const char *folders, struct fr_text *text) {
    char folder[FR_OWN_PATH_B], inner[FR_OWN_PATH_B + 16];
    while (*folders) {
        folders = next(folders, folder, sizeof folder);
        snprintf(inner, sizeof inner, "%s/%s", folder, kind);
        add_names(text, inner);
    }
}

fr_status fr_own_names(const char *kind, struct fr_text *text, struct fr_error *err) {
    struct fr_text folders = {0};
    fr_status status = fr_own_folders(&folders, err);
    if (status == FR_OK) add_all_names(kind, fr_text_get(&folders), text);
    fr_text_free(&folders);
    return status;
}

fr_status fr_own_site_names(const char *kind, struct fr_text *text, struct fr_error *err) {
    struct fr_text folders = {0};
    fr_status status = add_site_folders(&folders, err);
    if (status == FR_OK) add_all_names(kind, fr_text_get(&folders), text);
    fr_text_free(&folders);
    return status;
}

fr_status fr_own_cluster(char *name, const char **origin, struct fr_error *err) {
    const char *given = getenv("FORERUN_CLUSTER");
    struct fr_json_document *document = NULL;
    *name = '\0';
    if (origin) *origin = given && *given ? "FORERUN_CLUSTER" : settings_file;
    if (given && *given) {
        snprintf(name, FR_OWN_PATH_B, "%s", given);
        return FR_OK;
    }
    FR_TRY(read_settings(&document, err));
    if (!document) return FR_OK;
    struct fr_json root = fr_json_root(document);
    fr_status status = fr_json_get_string(&root, "cluster", false, name, FR_OWN_PATH_B, err);
    fr_json_free(document);
    return status;
}
