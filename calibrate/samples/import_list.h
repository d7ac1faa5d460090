/* Read more than once, so without guard.  One row per file in calibrate/samples/import/. */
FR_IMPORTER(nccl_tests)
FR_IMPORTER(osu)
FR_IMPORTER(imb)
FR_IMPORTER(collectives)
FR_IMPORTER(products)
FR_IMPORTER(gpu)
