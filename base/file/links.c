#include "base/file/links.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file/put.h"
#include "base/text.h"

enum { LINKS_MAX = 40 }; /* what Linux follows */

static fr_status no_memory(const char *path, struct fr_error *err) {
    return fr_fail(err, FR_ERR_NOMEM, path, "out of memory");
}

/* Asked once the link was read: whoever owns it then could not have been given its name meanwhile, as nobody removes
 * another user's link from such a folder. */
static fr_status may_follow(const char *path, const char *link, struct fr_error *err) {
    struct stat folder, own;
    struct fr_text name = {0};
    fr_text_addf(&name, "%.*s.", (int)fr_folder_length(link), link);
    if (name.failed) return no_memory(path, err);
    bool known = stat(name.data, &folder) == 0 && lstat(link, &own) == 0;
    int why = errno;
    fr_text_free(&name);
    if (!known) return fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
    bool shared = (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH);
    if (!shared || own.st_uid == geteuid() || own.st_uid == folder.st_uid) return FR_OK;
    return fr_fail(err, FR_ERR_IO, path,
                   "cannot be written: \"%.200s\" is a link that another user (%ld) made in a "
                   "folder that all may write "
                   "to; name the file itself, or remove the link",
                   link, (long)own.st_uid);
}

/* The name that the link @p at holds, from where @p at is read. */
static char *next_of(const char *at, const char *link, size_t length) {
    struct fr_text next = {0};
    if (link[0] != '/') fr_text_add(&next, at, fr_folder_length(at));
    fr_text_add(&next, link, length);
    if (next.failed) fr_text_free(&next);
    return next.data;
}

fr_status fr_file_target(const char *path, char **target, struct fr_error *err) {
    char *at = fr_strdup(path), link[4096];
    fr_status status = at ? FR_OK : no_memory(path, err);
    for (int i = 0; status == FR_OK; i++) {
        ssize_t length = readlink(at, link, sizeof link - 1);
        if (length < 0) break;
        if (i == LINKS_MAX)
            status = fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(ELOOP));
        if (status == FR_OK) status = may_follow(path, at, err);
        char *next = status == FR_OK ? next_of(at, link, (size_t)length) : NULL;
        if (status == FR_OK && !next) status = no_memory(path, err);
        free(at);
        at = next;
    }
    if (status == FR_OK)
        *target = at;
    else
        free(at);
    return status;
}

/* /dev/stdout and /proc/self/fd/N lead to what may have no name; the kernel knows it, and nobody makes names there. */
static bool has_no_name(const char *target) {
    static const long PROC = 0x9fa0; /* PROC_SUPER_MAGIC of linux/magic.h */
    struct statfs folder;
    struct stat named;
    struct fr_text name = {0};
    fr_text_addf(&name, "%.*s.", (int)fr_folder_length(target), target);
    bool magic = !name.failed && lstat(target, &named) != 0 &&
                 statfs(name.data, &folder) == 0 && folder.f_type == PROC;
    fr_text_free(&name);
    return magic;
}

fr_status fr_file_open_checked(const char *path, int flags, mode_t mode, int *fd,
                               struct fr_error *err) {
    char *target = NULL;
    *fd = -1;
    FR_TRY(fr_file_target(path, &target, err));
    *fd = has_no_name(target) ? open(path, (flags & ~O_CREAT) | O_CLOEXEC)
                              : open(target, flags | O_CLOEXEC | O_NOFOLLOW, mode);
    int why = errno;
    free(target);
    return *fd >= 0 ? FR_OK
                    : fr_fail(err, FR_ERR_IO, path, "cannot be written: %s", strerror(why));
}
