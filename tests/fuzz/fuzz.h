/** @file
 *  What a fuzz target supplies, to libFuzzer or to replay.c. */
#ifndef FR_TESTS_FUZZ_H
#define FR_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** One input; must come back whatever it holds.  @return 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A broken promise ends the program: what libFuzzer and ctest both take for a find. */
#define FR_FUZZ_REQUIRE(condition)                                                             \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);            \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

/** A target on text: FR_FUZZ_TEXT(text, size) { ... } is one file's LLVMFuzzerTestOneInput, with the
 *  input copied and ended by a zero. */
#define FR_FUZZ_TEXT(text, size)                                                               \
    static void fr_fuzz_one(char *text, size_t size);                                          \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length) {                           \
        char *copy = malloc(length + 1);                                                       \
        if (!copy) return 0;                                                                   \
        if (length) memcpy(copy, data, length);                                                \
        copy[length] = '\0';                                                                   \
        fr_fuzz_one(copy, length);                                                             \
        free(copy);                                                                            \
        return 0;                                                                              \
    }                                                                                          \
    static void fr_fuzz_one(char *text, size_t size)

/** The name of a file that holds @p text, for readers that take a path: one file without a name,
 *  written anew by every call. */
static inline const char *fr_fuzz_file(const char *text, size_t size) {
    static char path[64];
    static int fd = -1;
    if (fd < 0) {
        char name[] = "/tmp/forerun-fuzz-XXXXXX";
        fd = mkstemp(name);
        FR_FUZZ_REQUIRE(fd >= 0);
        unlink(name);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FR_FUZZ_REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, text, size, 0) == (ssize_t)size);
    return path;
}

static char fr_fuzz_folder_path[64];

static inline void fr_fuzz_folder_remove(void) {
    char line[96];
    snprintf(line, sizeof line, "rm -rf %s", fr_fuzz_folder_path);
    if (system(line) != 0) fprintf(stderr, "%s is left\n", fr_fuzz_folder_path);
}

/** A folder for readers that look for files by their names; it goes with the program. */
static inline const char *fr_fuzz_folder(void) {
    if (!*fr_fuzz_folder_path) {
        snprintf(fr_fuzz_folder_path, sizeof fr_fuzz_folder_path, "/tmp/forerun-fuzz-XXXXXX");
        FR_FUZZ_REQUIRE(mkdtemp(fr_fuzz_folder_path));
        atexit(fr_fuzz_folder_remove);
    }
    return fr_fuzz_folder_path;
}

#endif
