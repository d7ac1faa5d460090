/** @file
 *  Files and folders that must not outlive the program, also when a signal ends it.
 *
 *  A list of fixed size has all files and folders made here until they are removed or have
 *  become permanent.  A handler of SIGINT, SIGTERM and SIGHUP walks the list with calls that
 *  are safe there (unlink, rmdir, kill, waitpid) and then lets the signal end the program.
 *  Names are mkstemp's and mkdtemp's: nobody can plant them.
 *
 *  The list is the process's, as its signal handlers are; one thread makes temporaries. */
#ifndef FR_BASE_TEMPORARY_H
#define FR_BASE_TEMPORARY_H

#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"

enum { FR_TEMPORARY_PATH_B = 4096 };

/** A private folder under $TMPDIR or /tmp, called forerun-@p purpose-XXXXXX, into @p path of
 *  FR_TEMPORARY_PATH_B.  @return FR_OK or FR_ERR_IO. */
fr_status fr_temporary_folder(const char *purpose, char *path, struct fr_error *err);

/** A new file from mkstemp's @p pattern, in place.  @return its descriptor, or -1 with errno. */
int fr_temporary_file(char *pattern);

/** The name of a file inside a temporary @p folder, which goes with it whoever writes it, into
 *  @p path of FR_TEMPORARY_PATH_B.  @p name has at most 32 bytes. */
void fr_temporary_in(const char *folder, const char *name, char *path);

/** Write a new file under such a name.  @return FR_OK or FR_ERR_IO. */
fr_status fr_temporary_write(const char *path, const char *data, size_t length,
                             struct fr_error *err);

/** Remove @p path, a file or an empty folder, and forget it. */
void fr_temporary_remove(const char *path);
/** Remove @p folder and every file in it that was made or expected here. */
void fr_temporary_remove_folder(const char *folder);

/** A private folder inside @p folder, into @p path of FR_TEMPORARY_PATH_B, for files called 0 to @p n - 1, however
 *  many.  One such at a time.  @return FR_OK or FR_ERR_IO */
fr_status fr_temporary_series(const char *folder, int n, char *path, struct fr_error *err);
/** Remove it, and those of its files that are there. */
void fr_temporary_remove_series(void);

/** Rename @p path to @p target: it is no longer temporary.  @return 0, or -1 with errno. */
int fr_temporary_become(const char *path, const char *target);

/** @p child writes into temporaries: a signal that ends us ends it first.  0: no child. */
void fr_temporary_child(pid_t child);

/** Remove all that is listed, after the child: for a program that ends itself.  Safe in a signal
 *  handler and where memory has run out. */
void fr_temporary_clear(void);

/** Handle the three signals from now on, but for those that the caller's parent ignores. */
void fr_temporary_listen(void);

#endif
