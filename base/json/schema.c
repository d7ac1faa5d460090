#include "base/json/schema.h"

#include <string.h>

void fr_schema_describe(struct fr_json_writer *w, const char *sentence) {
    struct fr_text plain = {0};
    for (const char *at = sentence; *at; at++) {
        const char *end = *at == '[' ? strchr(at, ']') : NULL;
        if (end && end[1] == '(' && strchr(end, ')')) {
            fr_text_add(&plain, at + 1, (size_t)(end - at - 1));
            at = strchr(end, ')');
        } else if (*at != '`')
            fr_text_add(&plain, at, 1);
    }
    if (*sentence) fr_json_add_string(w, "description", fr_text_get(&plain));
    fr_text_free(&plain);
}

static void copy(struct fr_json_writer *w, const struct fr_json *object, const char *key) {
    struct fr_json value = fr_json_member(object, key);
    fr_json_key(w, key);
    fr_json_put_copy(w, &value);
}

void fr_schema_as_it_was(struct fr_json_writer *w, const struct fr_json *old) {
    for (const char *key = fr_json_is_object(old) ? fr_json_key_after(old, NULL) : NULL; key;
         key = fr_json_key_after(old, key))
        if (strcmp(key, "description") != 0 && strcmp(key, "$comment") != 0) copy(w, old, key);
}

void fr_schema_keep(struct fr_json_writer *w, const struct fr_json *old,
                    const char *const *names) {
    for (; *names; names++) {
        struct fr_json value = fr_json_member(old, *names);
        if (fr_json_present(&value)) copy(w, old, *names);
    }
}
