/** @file
 *  What a document says of the program must be what the program does. */
#ifndef FR_TESTS_DOCUMENT_H
#define FR_TESTS_DOCUMENT_H

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "tests/cmocka.h"

/** docs/@p name must hold the line @p row, which is freed. */
static inline void fr_test_documented(const char *name, struct fr_text *row) {
    char *document = NULL, path[512];
    size_t length = 0;
    snprintf(path, sizeof path, FR_SOURCE_DIR "/docs/%s", name);
    assert_int_equal(fr_file_read(path, FR_FILE_MAX_B, &document, &length, NULL), FR_OK);
    FR_TRUE(strstr(document, fr_text_get(row)) != NULL, "docs/%s does not have the line\n%s",
            name, fr_text_get(row));
    free(document);
    fr_text_free(row);
}

#endif
