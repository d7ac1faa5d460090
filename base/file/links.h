/** @file
 *  To which file does a name lead, and may it be written through the links on the way?
 *
 *  The rule is Linux's own of fs.protected_symlinks, which calls that rename do not ask: a link in a folder that is
 *  sticky and that everybody may write to (/tmp) is followed only where its owner is whoever follows it, or the
 *  folder's owner.  So no other user turns `-o /tmp/out` into a file of ours.  It is asked of each link of a chain.
 */
#ifndef FR_BASE_FILE_LINKS_H
#define FR_BASE_FILE_LINKS_H

#include <sys/types.h>

#include "base/status.h"

/** The file that @p path is a link to, through at most 40 links, whether it exists or not: *@p target, freed by
 *  the caller.  @return FR_OK; FR_ERR_IO for a link that the rule forbids, or too many; FR_ERR_NOMEM */
fr_status fr_file_target(const char *path, char **target, struct fr_error *err);

/** open(2) of a file that is written or appended to, close-on-exec, by the same rule; nobody can put a link there between the
 *  question and the opening.  What is new gets @p mode less umask.
 *  @param flags  O_WRONLY or O_RDWR, with O_CREAT, O_APPEND, O_TRUNC, ... as wanted
 *  @return FR_OK, FR_ERR_IO or FR_ERR_NOMEM */
fr_status fr_file_open_checked(const char *path, int flags, mode_t mode, int *fd,
                               struct fr_error *err);

#endif
