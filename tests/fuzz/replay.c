/* replay FOLDER -- every file of the folder goes through the target once, without libFuzzer,
 * so that a find stays found on every compiler. */
#include <dirent.h>
#include <string.h>

#include "base/file.h"
#include "tests/fuzz/fuzz.h"

static bool replay(const char *folder, const char *name) {
    char path[4096], *data = NULL;
    size_t length = 0;
    struct fr_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (fr_file_read(path, FR_FILE_MAX_B, &data, &length, &err) != FR_OK) {
        fprintf(stderr, "%s: %s\n", err.where, err.detail);
        return false;
    }
    printf("%s\n", name);
    fflush(stdout); /* names the culprit when the next line crashes */
    LLVMFuzzerTestOneInput((const uint8_t *)data, length);
    free(data);
    return true;
}

int main(int argc, char **argv) {
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    int count = 0;
    bool ok = true;
    if (!dir) {
        fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (entry->d_name[0] == '.') continue;
        ok = replay(argv[1], entry->d_name) && ok;
        count++;
    }
    closedir(dir);
    if (count == 0) fprintf(stderr, "%s holds no inputs\n", argv[1]);
    return ok && count > 0 ? 0 : 1;
}
