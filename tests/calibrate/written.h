/** @file
 *  What we write must be what we read: a cluster file in a test, through the reader. */
#ifndef FR_TESTS_CALIBRATE_WRITTEN_H
#define FR_TESTS_CALIBRATE_WRITTEN_H

#include "calibrate/fit/fit.h"
#include "models/job/cluster.h"
#include "tests/cmocka.h"

/** The cluster of file @p text, which is freed; a text that is refused fails the test. */
static inline struct fr_cluster fr_test_read(struct fr_text *text) {
    struct fr_json_document *document = NULL;
    struct fr_cluster cluster = {0};
    struct fr_error err = {.status = FR_OK};
    if (fr_json_parse(fr_text_get(text), text->length, "fit", &document, &err) != FR_OK ||
        fr_cluster_read(document, &cluster, &err) != FR_OK)
        fail_msg("%s: %s\n%s", err.where, err.detail, fr_text_get(text));
    fr_json_free(document);
    fr_text_free(text);
    return cluster;
}

/** The cluster that is written of @p result. */
static inline struct fr_cluster fr_test_written(const struct fr_fit_result *result) {
    struct fr_text text = {0};
    fr_fit_write_cluster(result, &text);
    return fr_test_read(&text);
}

#endif
