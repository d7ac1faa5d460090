#include "base/data.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sort.h"

enum { UPWARDS = 8 };

bool fr_data_find(const char *name, char *out, size_t capacity) {
    const char *given = getenv("FORERUN_DATA");
    char up[3 * UPWARDS + 1] = "";
    if (given && *given) {
        int length = snprintf(out, capacity, "%s/%s", given, name);
        return length > 0 && (size_t)length < capacity && fr_file_exists(out);
    }
    for (int i = 0; i < UPWARDS; i++) {
        int length = snprintf(out, capacity, "%sshared/data/%s", up, name);
        if (length > 0 && (size_t)length < capacity && fr_file_exists(out)) return true;
        strcat(up, "../");
    }
    return false;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool ends(const char *name, const char *suffix) {
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static bool append(char ***files, size_t *count, const char *folder, const char *name) {
    size_t length = strlen(folder) + strlen(name) + 2;
    char **grown = fr_realloc(*files, *count + 1, sizeof *grown), *path = fr_malloc(length, 1);
    if (grown) *files = grown;
    if (!grown || !path) {
        free(path);
        return false;
    }
    snprintf(path, length, "%s/%s", folder, name);
    (*files)[(*count)++] = path;
    return true;
}

fr_status fr_folder_list(const char *path, const char *suffix, char ***files, size_t *count,
                         struct fr_error *err) {
    DIR *folder = opendir(path);
    fr_status status = FR_OK;
    *files = NULL;
    *count = 0;
    if (!folder && errno == ENOMEM) fr_alloc_failed(0); /* opendir has a buffer of its own */
    if (!folder) return fr_fail(err, FR_ERR_IO, path, "cannot be opened: %s", strerror(errno));
    for (struct dirent *entry; status == FR_OK && (entry = readdir(folder));)
        if (ends(entry->d_name, suffix) && !append(files, count, path, entry->d_name))
            status = fr_fail(err, FR_ERR_NOMEM, path, "out of memory");
    closedir(folder);
    if (*files) fr_sort_items(*files, *count, sizeof **files, by_bytes);
    if (status != FR_OK) {
        fr_folder_free(*files, *count);
        *files = NULL;
        *count = 0;
    }
    return status;
}

void fr_folder_free(char **files, size_t count) {
    for (size_t i = 0; i < count; i++) free(files[i]);
    free(files);
}
