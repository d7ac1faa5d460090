#include "calibrate/measure/device/library.h"

#include <dlfcn.h>
#include <string.h>

void fr_library_close(void *handle) {
    if (handle) dlclose(handle);
}

/* POSIX lets an object pointer be read as a function pointer; ISO C has no way to write it. */
static fr_status find(const struct fr_library *library, void *handle, char *table,
                      struct fr_error *err) {
    for (size_t i = 0; i < library->n_symbols; i++) {
        void *symbol = dlsym(handle, library->symbols[i].name);
        if (!symbol)
            return fr_fail(
                err, FR_ERR_EXTERNAL, library->name,
                "has no function %s: it is of another version than those that are known here",
                library->symbols[i].name);
        if (table) memcpy(table + library->symbols[i].at, &symbol, sizeof symbol);
    }
    return FR_OK;
}

fr_status fr_library_open(const struct fr_library *library, void **handle, void *table,
                          struct fr_error *err) {
    *handle = NULL;
    for (int i = 0; library->files[i] && !*handle; i++)
        *handle = dlopen(library->files[i], RTLD_NOW | RTLD_LOCAL);
    if (!*handle)
        return fr_fail(err, FR_ERR_EXTERNAL, library->name, "%s is not here: it comes with %s",
                       library->files[0], library->brings);
    fr_status status = find(library, *handle, table, err);
    if (status != FR_OK) {
        fr_library_close(*handle);
        *handle = NULL;
    }
    return status;
}

fr_status fr_library_is_there(const struct fr_library *library, struct fr_error *err) {
    void *handle = NULL;
    fr_status status = fr_library_open(library, &handle, NULL, err);
    fr_library_close(handle);
    return status;
}
