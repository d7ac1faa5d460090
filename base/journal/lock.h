/** @file
 *  The one lock of files that are written over minutes: fcntl, F_OFD_SETLK, of the open file.  It
 *  ends with the process, however that ends, and reaches as far as the file system carries it.
 *
 *  Such a lock does not say who holds it.  So the holder also locks single bytes far behind the
 *  file's end, whose places encode its process number and host.  F_OFD_GETLK returns these places.
 *  Nothing is written, so nothing is left behind.
 *
 *      byte 0, 1, 2                      the locks themselves, by purpose
 *      region r of lock b                [2^50 (1 + 16 b + r), + 2^48): r = 0 the process, r > 0 six bytes of the host */
#ifndef FR_BASE_JOURNAL_LOCK_H
#define FR_BASE_JOURNAL_LOCK_H

#include <stddef.h>

/** Purposes of a lock: each has its own byte. */
enum { FR_LOCK_COMMAND, FR_LOCK_APPENDER, FR_LOCK_SIDE_FILE };

typedef enum { FR_LOCK_TAKEN, FR_LOCK_HELD, FR_LOCK_NONE } fr_lock;

/** Take the lock of the file open for writing as @p fd, until it is closed; nobody waits.
 *  @return FR_LOCK_HELD by another one; FR_LOCK_NONE where the file system knows no locks */
fr_lock fr_lock_take(int fd, int purpose);

enum { FR_LOCK_HOLDER_B = 128 };
/** "process 4711 on host node3", as far as it can be found out.  @return @p out */
const char *fr_lock_holder(int fd, int purpose, char out[FR_LOCK_HOLDER_B]);

#endif
