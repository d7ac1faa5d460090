/* Read more than once, so without guard.  One row per file in traces/format/. */
FR_FORMAT(chrome)
FR_FORMAT(paje)
FR_FORMAT(csv)
