#include "calibrate/samples/keep.h"

#include "base/file.h"

fr_status fr_keep_measurements(const char *path, bool resume, bool force,
                               struct fr_error *err) {
    if (resume && force)
        return fr_fail(err, FR_ERR_USAGE, "--force",
                       "would replace what --resume goes on with: choose one");
    if (!resume && !force && fr_file_holds(path))
        return fr_fail(err, FR_ERR_USAGE, path,
                       "holds measurements already: --resume goes on with them, --force (-f) "
                       "replaces them; or name another --samples file");
    return fr_file_check_writable(path, err);
}
