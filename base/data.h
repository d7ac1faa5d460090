/** @file
 *  Where measurements published by others lie: outside the project, which holds no copy.
 *
 *  $FORERUN_DATA, or else the first folder shared/data found from the working folder upwards.
 *  Who needs such a file and does not find it says "skipped". */
#ifndef FR_BASE_DATA_H
#define FR_BASE_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/** Write the path of @p name ("gemm/deepbench_gemm.csv") below that folder to @p out.
 *  @return false when there is no such file or folder. */
bool fr_data_find(const char *name, char *out, size_t capacity);

/** Paths of the files of folder @p path whose names end in @p suffix, in order of their bytes.
 *  @param[out] files  *count of them; free with fr_folder_free
 *  @return FR_OK, FR_ERR_IO or FR_ERR_NOMEM. */
fr_status fr_folder_list(const char *path, const char *suffix, char ***files, size_t *count,
                         struct fr_error *err);
void fr_folder_free(char **files, size_t count);

#endif
