/** @file
 *  Many files of one folder, all of them or none.
 *
 *  They are first written into a folder of their own inside it, and take their names once the last
 *  is on the disk.  If one cannot be written, earlier files stay as they were and no new file is
 *  left.  A folder that was made for them is not left either.
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
