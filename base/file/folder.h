/** @file
 *  Many files of one folder, all of them or none.
 *
 *  They are written into a folder of their own inside it, and take their names once the last is on the disk: where one
 *  cannot be written, what was there before stays as it was, and nothing new is left, not the folder either where it
 *  was made for them.
 */
#ifndef FR_BASE_FILE_FOLDER_H
#define FR_BASE_FILE_FOLDER_H

#include <stddef.h>

#include "base/status.h"

enum { FR_FILE_NAME_B = 64 };

/** File @p i: its @p name of FR_FILE_NAME_B and what is in it, which belongs to the caller. */
typedef void fr_file_of(void *context, int i, char *name, const char **data, size_t *length);

/** Write files 0 to @p n - 1 of @p file into @p folder, which is made where it is not there.
 *  @return FR_OK, FR_ERR_IO or FR_ERR_NOMEM */
fr_status fr_file_write_folder(const char *folder, int n, fr_file_of *file, void *context,
                               struct fr_error *err);

#endif
