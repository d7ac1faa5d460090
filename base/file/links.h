/** @file
 *  To which file does a name lead, and may it be written through the links on the way?
 *
 *  The rule is that of Linux's fs.protected_symlinks, which rename does not apply.  It concerns
 *  links in a sticky folder that everybody may write to (/tmp).  Such a link is followed only if
 *  its owner is the user who follows it, or the folder's owner.  So no other user turns `-o
 *  /tmp/out` into a file of ours.  Each link of a chain is checked.
 */
#ifndef FR_BASE_FILE_LINKS_H
#define FR_BASE_FILE_LINKS_H

#include <sys/types.h>

#include "base/status.h"

/** The file that @p path is a link to, through at most 40 links, whether it exists or not: *@p target, freed by
 *  the caller.  @return FR_OK; FR_ERR_IO for a link that the rule forbids, or too many; FR_ERR_NOMEM */
fr_status fr_file_target(const char *path, char **target, struct fr_error *err);

/** open(2) of a file that is written or appended to, close-on-exec, by the same rule; nobody can
 *  put a link there between the question and the opening.  A new file gets @p mode less umask.
 *  @param flags  O_WRONLY or O_RDWR, with O_CREAT, O_APPEND, O_TRUNC, ... as wanted
 *  @return FR_OK, FR_ERR_IO or FR_ERR_NOMEM */
fr_status fr_file_open_checked(const char *path, int flags, mode_t mode, int *fd,
                               struct fr_error *err);

#endif
