/* Where the keys of a config.json, and what stands in for them, are looked up. */
#include <stdlib.h>
#include <string.h>

#include "models/workload/config/config.h"

enum { MOST = FR_FAMILY_SIZE_MAX };

static bool has_value(const struct fr_json *node) {
    return fr_json_present(node) && !fr_json_is_null(node);
}

struct fr_json fr_config_find(const struct fr_config *c, const char *const *keys) {
    bool silenced = false;
    for (int i = 0; keys[i]; i++) {
        struct fr_json node = fr_json_member(c->file, keys[i]);
        silenced = silenced || fr_json_is_null(&node);
        for (int k = 0; k < FR_CONFIG_INNER && !has_value(&node); k++)
            node = fr_json_member(&c->inner[k], keys[i]);
        if (has_value(&node)) return node;
    }
    for (int i = 0; keys[i] && !silenced; i++) {
        struct fr_json node = fr_json_member(&c->defaults, keys[i]);
        if (has_value(&node)) return node;
    }
    return (struct fr_json){.parent = c->file, .document = c->file->document, .key = keys[0]};
}

struct fr_json fr_config_at(const struct fr_config *c, const char *key) {
    return fr_config_find(c, FR_KEYS(key));
}

bool fr_config_given(const struct fr_config *c, const char *key) {
    struct fr_json node = fr_config_at(c, key);
    return fr_json_present(&node);
}

fr_status fr_config_integer(const struct fr_config *c, const char *const *keys, bool required,
                            int64_t least, int64_t *out, struct fr_error *err) {
    struct fr_json node = fr_config_find(c, keys);
    if (fr_json_present(&node)) return fr_json_integer(&node, least, MOST, out, err);
    return required ? fr_json_get_integer(c->file, keys[0], true, least, MOST, out, err)
                    : FR_OK;
}

fr_status fr_config_bool(const struct fr_config *c, const char *key, bool *out,
                         struct fr_error *err) {
    struct fr_json node = fr_config_at(c, key);
    if (!fr_json_present(&node)) return FR_OK;
    return fr_json_get_bool(node.parent, node.key, true, out, err);
}

static bool text_lists(const char *text, int64_t layer) {
    for (const char *at = text; *at;) {
        char *end = NULL;
        if (strtoll(at, &end, 10) == layer && end > at) return true;
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return false;
}

bool fr_config_lists(const struct fr_json *list, int64_t layer) {
    int64_t n = fr_json_array_length(list), value = 0;
    const char *text = NULL;
    if (fr_json_is_string(list) && fr_json_text(list, &text, NULL) == FR_OK)
        return text_lists(text, layer);
    for (int64_t i = 0; i < n; i++) {
        struct fr_json one = fr_json_element(list, i);
        if (fr_json_is_number(&one) && fr_json_integer(&one, 0, MOST, &value, NULL) == FR_OK &&
            value == layer)
            return true;
    }
    return false;
}
