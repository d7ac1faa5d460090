/* Read more than once, so without guard.  One row per file in calibrate/runs/; the first whose
 * columns a file has reads it. */
FR_RUN_READER(own)
FR_RUN_READER(vtrain)
FR_RUN_READER(sc21)
FR_RUN_READER(seqsel)
FR_RUN_READER(bloom)
FR_RUN_READER(dgxc)
FR_RUN_READER(bridge)
FR_RUN_READER(mpt)
