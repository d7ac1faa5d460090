/** @file
 *  Files that Open MPI's mpirun keeps while a job runs, and leaves where it was ended early.
 *
 *  Release 4 keeps sockets and shared pages in $TMPDIR/ompi.HOST.UID/pid.PID, PID being its own.
 *  It leaves them if it is ended while it starts, or killed. */
#ifndef FR_CALIBRATE_MEASURE_SESSION_H
#define FR_CALIBRATE_MEASURE_SESSION_H

#include <sys/types.h>

/** Remove the session of @p launcher, a child of ours that has ended.  Total: where there is none, nothing. */
void fr_session_remove(pid_t launcher);

#endif
