/* Any bytes parse or are refused with a place; what parses can be walked with every reader,
 * changed by --set, and never loses its place. */
#include <string.h>

#include "base/json.h"
#include "tests/fuzz/fuzz.h"

static void read_as_everything(const struct fr_json *node) {
    static const char *const keys[] = {"name", "levels", "bandwidth", NULL};
    char text[16], where[384];
    double number;
    int64_t whole;
    bool flag;
    int choice;
    const char *string;
    struct fr_error err;
    (void)fr_json_number(node, -1e300, 1e300, &number, &err);
    (void)fr_json_integer(node, INT64_MIN, INT64_MAX, &whole, &err);
    (void)fr_json_integer(node, 1, 2, &whole, &err);
    (void)fr_json_quantity(node, FR_QUANTITY_RATE, 0, 1e15, &number, &err);
    (void)fr_json_text(node, &string, &err);
    (void)fr_json_array(node, 1, 3, &err);
    if (fr_json_object(node, keys, &err) != FR_OK)
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    (void)fr_json_get_string(node, "name", true, text, sizeof text, &err);
    (void)fr_json_get_bool(node, "name", false, &flag, &err);
    (void)fr_json_get_choice(node, "name", true, keys, &choice, &err);
    FR_FUZZ_REQUIRE(strchr(fr_json_where(node, where, sizeof where), '#'));
}

static void traverse(const struct fr_json *node) {
    read_as_everything(node);
    for (int64_t i = 0; i < fr_json_array_length(node) && i < 32; i++) {
        struct fr_json element = fr_json_element(node, i);
        traverse(&element);
    }
    const char *key;
    for (int64_t i = 0; i < 32 && (key = fr_json_key_at(node, i)) != NULL; i++) {
        struct fr_json member = fr_json_member(node, key);
        FR_FUZZ_REQUIRE(fr_json_present(&member));
        traverse(&member);
    }
}

/* The input also serves as path and value of a --set, cut at its first '='. */
static void set(struct fr_json_document *document, const char *text) {
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    char *equals = strchr(copy, '=');
    if (equals) *equals = '\0';
    (void)fr_json_set(document, copy, equals ? equals + 1 : copy, "--set", NULL);
    (void)fr_json_set(document, "levels.0.bandwidth", equals ? equals + 1 : copy, "--set",
                      NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct fr_json_document *document = NULL;
    struct fr_error err = {0};
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    if (fr_json_parse(text, size, "fuzz", &document, &err) == FR_OK) {
        struct fr_json root = fr_json_root(document);
        traverse(&root);
        set(document, text);
        root = fr_json_root(document);
        traverse(&root);
    } else {
        FR_FUZZ_REQUIRE(err.status == FR_ERR_INPUT && strcmp(err.where, "fuzz") == 0);
        FR_FUZZ_REQUIRE(err.detail[0]);
        FR_FUZZ_REQUIRE(fr_json_parse("{\"levels\": [{}]}", 16, "fuzz", &document, &err) ==
                        FR_OK);
        set(document, text);
        struct fr_json root = fr_json_root(document);
        traverse(&root);
    }
    fr_json_free(document);
    free(text);
    return 0;
}
