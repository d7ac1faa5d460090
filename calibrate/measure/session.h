/** @file
 *  What Open MPI's mpirun keeps while a job runs, where it was ended before it could remove it.
 *
 *  Release 4 keeps sockets and shared pages in $TMPDIR/ompi.HOST.UID/pid.PID, PID being its own.  Told to
 *  end while it starts, or killed, it leaves them. */
#ifndef FR_CALIBRATE_MEASURE_SESSION_H
#define FR_CALIBRATE_MEASURE_SESSION_H

#include <sys/types.h>

/** Remove the session of @p launcher, a child of ours that has ended.  Total: where there is none, nothing. */
void fr_session_remove(pid_t launcher);

#endif
