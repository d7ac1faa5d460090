#include "calibrate/measure/device/cuda/remedy.h"

#include <stddef.h>

#define FREE "; free memory of the GPU: end other processes on it"
#define BROKEN "; the GPU or its driver failed: dmesg says more"
#define NEWER "; update the driver: it is older than the kernels need"
#define VERSION                                                                                \
    "; the library is of a version that is not known here: use another, or report it"
#define NCCL_SAYS "; NCCL_DEBUG=WARN says which call"

static const struct {
    fr_remedy_of library;
    unsigned first, last; /* codes */
    const char *remedy;
} remedies[] = {
    {FR_REMEDY_DRIVER, 2, 2, FREE},
    {FR_REMEDY_DRIVER, 3, 4, "; the driver is not running: reload it, or restart the machine"},
    {FR_REMEDY_DRIVER, 35, 35, NEWER},
    {FR_REMEDY_DRIVER, 46, 46,
     "; another process has the GPU alone: end it, or set compute mode DEFAULT"},
    {FR_REMEDY_DRIVER, 101, 101, "; CUDA_VISIBLE_DEVICES names a GPU that is not there"},
    {FR_REMEDY_DRIVER, 201, 201, BROKEN},
    {FR_REMEDY_DRIVER, 209, 209, NEWER},
    {FR_REMEDY_DRIVER, 214, 214,
     "; memory of the GPU has an error that cannot be corrected: reset the GPU"},
    {FR_REMEDY_DRIVER, 218, 222, NEWER},
    {FR_REMEDY_DRIVER, 500, 500, VERSION},
    {FR_REMEDY_DRIVER, 700, 701, BROKEN},
    {FR_REMEDY_DRIVER, 702, 702, "; it took too long for a GPU with a display: use another"},
    {FR_REMEDY_DRIVER, 714, 719, BROKEN},
    {FR_REMEDY_DRIVER, 802, 802,
     "; start nvidia-fabricmanager: links of the node are not ready"},
    {FR_REMEDY_DRIVER, 803, 804,
     "; the driver and its library are of two versions: restart the machine"},
    {FR_REMEDY_DRIVER, 999, 999, BROKEN},
    {FR_REMEDY_BLAS, 3, 3, FREE},
    {FR_REMEDY_BLAS, 7, 7, VERSION},
    {FR_REMEDY_BLAS, 13, 14, BROKEN},
    {FR_REMEDY_HIPBLAS, 2, 2, FREE},
    {FR_REMEDY_HIPBLAS, 3, 3, VERSION},
    {FR_REMEDY_HIPBLAS, 5, 6, BROKEN},
    {FR_REMEDY_DNN, 2000, 2999, VERSION},
    {FR_REMEDY_DNN, 4000, 4999, "; free memory of the host and of the GPU"},
    {FR_REMEDY_DNN, 5000, 5999, BROKEN},
    {FR_REMEDY_NCCL, 1, 3, NCCL_SAYS},
    {FR_REMEDY_NCCL, 4, 5, VERSION},
    {FR_REMEDY_NCCL, 6, 6, "; another rank ended: its own message says why"},
};

const char *fr_remedy(fr_remedy_of library, unsigned code) {
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (remedies[i].library == library && code >= remedies[i].first &&
            code <= remedies[i].last)
            return remedies[i].remedy;
    return "; it refused a call of forerun: update driver and libraries, or report this line";
}
