/** @file
 *  Levels and a topology from text, for tests. */
#ifndef FR_TESTS_TOPOLOGY_READ_LEVELS_H
#define FR_TESTS_TOPOLOGY_READ_LEVELS_H

#include "tests/cmocka.h"
#include "topology/levels.h"

/** Nodes of two adapters: ranks 0 and 1 of four share the first. */
#define FR_TEST_NODES                                                                          \
    "{\"levels\": [{\"name\": \"node\", \"ranks\": 4, \"latency\": \"1 us\", \"bandwidth\": "  \
    "\"100 GB/s\"}, {\"name\": \"system\", \"ranks\": 32, \"latency\": \"4 us\", "             \
    "\"bandwidth\": \"10 GB/s\", \"shared_by\": 2}]"

static inline fr_status fr_test_levels(const char *text, struct fr_levels *levels,
                                       struct fr_error *err) {
    struct fr_json_document *document = NULL;
    *levels = (struct fr_levels){0};
    fr_status status = fr_json_parse(text, strlen(text), "cluster", &document, err);
    if (status != FR_OK) fail_msg("%s: %s", err->where, err->detail);
    struct fr_json root = fr_json_root(document);
    struct fr_json array = fr_json_member(&root, "levels");
    struct fr_json topology = fr_json_member(&root, "topology");
    status = fr_levels_read(&array, levels, err);
    if (status == FR_OK) status = fr_topology_read(&topology, levels, err);
    fr_json_free(document);
    return status;
}

/** The nodes above with @p topology in a line; the test fails where it is refused. */
static inline void fr_test_topology(const char *topology, struct fr_levels *levels) {
    char text[1024];
    struct fr_error err = {0};
    snprintf(text, sizeof text, "%s%s%s%s}", FR_TEST_NODES,
             topology ? ", \"topology\": \"" : "", topology ? topology : "",
             topology ? "\"" : "");
    if (fr_test_levels(text, levels, &err) != FR_OK)
        fail_msg("%s: %s: %s", topology, err.where, err.detail);
}

#endif
