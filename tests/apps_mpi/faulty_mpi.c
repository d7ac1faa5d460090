/* Linked into forerun-mpi-faulty alone: MPI calls that fail on demand, through MPI's own profiling
 * interface, so that the product needs no hook.  FORERUN_FAULT="MPI_Allgather:1:300" makes the
 * 300th MPI_Allgather of rank 1 return MPI_ERR_OTHER without doing anything, as a network that
 * went away would under MPI_ERRORS_RETURN.  "MPI_Allgather:1:4:3" counts from the third
 * MPI_Comm_dup on, of which a program makes one a configuration: however fast the machine is, and
 * so however many steps fit in a visit, two configurations were measured then. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long duplicated;

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    duplicated++;
    return PMPI_Comm_dup(comm, made);
}

static bool fails(const char *call) {
    static long made;
    const char *fault = getenv("FORERUN_FAULT");
    char name[64] = "";
    int at_rank = -1, rank = -1;
    long at_call = -1, after = 0;
    if (!fault || sscanf(fault, "%63[^:]:%d:%ld:%ld", name, &at_rank, &at_call, &after) < 3)
        return false;
    if (strcmp(name, call) != 0 || duplicated < after) return false;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank == at_rank && ++made == at_call;
}

#define FAULTY(name, declared, passed)                                                         \
    int MPI_##name declared { return fails("MPI_" #name) ? MPI_ERR_OTHER : PMPI_##name passed; }

FAULTY(Allgather,
       (const void *send, int n, MPI_Datatype type, void *recv, int m, MPI_Datatype to,
        MPI_Comm comm),
       (send, n, type, recv, m, to, comm))
FAULTY(Alltoall,
       (const void *send, int n, MPI_Datatype type, void *recv, int m, MPI_Datatype to,
        MPI_Comm comm),
       (send, n, type, recv, m, to, comm))
FAULTY(Allreduce,
       (const void *send, void *recv, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (send, recv, n, type, op, comm))
FAULTY(Reduce_scatter_block,
       (const void *send, void *recv, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (send, recv, n, type, op, comm))
FAULTY(Recv,
       (void *recv, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
        MPI_Status *status),
       (recv, n, type, from, tag, comm, status))
