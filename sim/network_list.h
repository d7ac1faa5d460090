/* Networks, in the order they are listed. */
FR_NETWORK(isolated)
FR_NETWORK(shared)
FR_NETWORK(fair)
FR_NETWORK(simgrid)
