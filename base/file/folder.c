#include "base/file/folder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/file/links.h"
#include "base/temporary.h"
#include "base/text.h"

static fr_status write_all(const char *child, int n, fr_file_of *file, void *context,
                           struct fr_error *err) {
    char path[FR_TEMPORARY_PATH_B + 16], name[FR_FILE_NAME_B];
    for (int i = 0; i < n; i++) {
        const char *data = NULL;
        size_t length = 0;
        file(context, i, name, &data, &length);
        snprintf(path, sizeof path, "%s/%d", child, i);
        FR_TRY(fr_file_write(path, data, length, err));
    }
    return FR_OK;
}

static fr_status name_all(const char *folder, const char *child, int n, fr_file_of *file,
                          void *context, struct fr_error *err) {
    char path[FR_TEMPORARY_PATH_B + 16], name[FR_FILE_NAME_B];
    fr_status status = FR_OK;
    struct fr_text target = {0};
    for (int i = 0; i < n && status == FR_OK; i++) {
        const char *data = NULL;
        size_t length = 0;
        file(context, i, name, &data, &length);
        snprintf(path, sizeof path, "%s/%d", child, i);
        fr_text_free(&target);
        fr_text_addf(&target, "%s/%s", folder, name);
        if (target.failed)
            status = fr_fail(err, FR_ERR_NOMEM, folder, "out of memory");
        else if (rename(path, target.data) != 0)
            status =
                fr_fail(err, FR_ERR_IO, target.data, "cannot be written: %s", strerror(errno));
    }
    fr_text_free(&target);
    return status;
}

fr_status fr_file_write_folder(const char *folder, int n, fr_file_of *file, void *context,
                               struct fr_error *err) {
    char child[FR_TEMPORARY_PATH_B], *target = NULL;
    FR_TRY(fr_file_target(folder, &target, err)); /* no link of another user */
    free(target);
    bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST)
        return fr_fail(err, FR_ERR_IO, folder, "cannot be made: %s", strerror(errno));
    fr_status status = fr_temporary_series(folder, n, child, err);
    if (status == FR_OK) {
        struct fr_error why = {0};
        status = write_all(child, n, file, context, &why);
        if (status == FR_OK)
            status = name_all(folder, child, n, file, context, err);
        else /* its place is a name that is gone */
            fr_fail(err, status, folder, "%s; nothing of it is left there", why.detail);
        fr_temporary_remove_series();
    }
    if (status != FR_OK && made) rmdir(folder);
    return status;
}
