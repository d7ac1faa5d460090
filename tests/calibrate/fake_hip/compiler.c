/* Stands in for libhiprtc.so.6: its code is a text that the fake driver takes for kernels. */
#include <string.h>

#include "calibrate/measure/device/cuda/hip_api.h"
#include "tests/calibrate/fake_cuda/fake.h"

#define DECLARE(name, arguments) unsigned name arguments;
FR_HIPRTC_FUNCTIONS(DECLARE)
#undef DECLARE

enum { INVALID = 3 };
static const char code[] = ".version of the fake";

struct _hiprtcProgram {
    int compiled;
};

#define MAY_FAIL()                                                                             \
    do {                                                                                       \
        unsigned code_ = fake_fault(__func__);                                                 \
        if (code_) return code_;                                                               \
    } while (0)

unsigned hiprtcCreateProgram(hiprtcProgram *program, const char *source, const char *name,
                             int n, const char **headers, const char **names) {
    static struct _hiprtcProgram some;
    MAY_FAIL();
    if (!name || n != 1 || *headers[0] || strcmp(names[0], "cuda_bf16.h") != 0 ||
        !strstr(source, "fr_update"))
        return INVALID;
    some.compiled = 0;
    *program = &some;
    return 0;
}

unsigned hiprtcCompileProgram(hiprtcProgram program, int n, const char **options) {
    int masks = 0;
    MAY_FAIL();
    for (int i = 0; i < n; i++) masks += strstr(options[i], "__shfl_xor_sync") != NULL;
    program->compiled = masks;
    return masks ? 0 : INVALID;
}

unsigned hiprtcGetCodeSize(hiprtcProgram program, size_t *size_B) {
    MAY_FAIL();
    *size_B = sizeof code;
    return program->compiled ? 0 : INVALID;
}

unsigned hiprtcGetCode(hiprtcProgram program, char *to) {
    MAY_FAIL();
    memcpy(to, code, sizeof code);
    return program->compiled ? 0 : INVALID;
}

unsigned hiprtcDestroyProgram(hiprtcProgram *program) {
    MAY_FAIL();
    *program = NULL;
    return 0;
}
