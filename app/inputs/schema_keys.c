#include "app/inputs/schema_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "models/job/preset.h"

struct walk {
    const struct fr_json *root;
    void (*key)(void *context, const char *path, const char *what);
    void *context;
    int rows, depth;
};

static void walk_node(const struct walk *w, const struct fr_json *node, const char *path,
                      const char *what);

static void walk_properties(const struct walk *w, const struct fr_json *properties,
                            const char *path) {
    char name[256];
    for (const char *key = NULL; (key = fr_json_key_after(properties, key)) != NULL;) {
        struct fr_json member = fr_json_member(properties, key);
        if (strstr(key, "schema")) continue;
        snprintf(name, sizeof name, "%.180s.%.60s", path, key);
        walk_node(w, &member, name, fr_json_text_at(&member, "description"));
    }
}

/* "#/$defs/device" leads to a member of "$defs". */
static void walk_reference(const struct walk *w, const char *reference, const char *path,
                           const char *what) {
    static const char defs[] = "#/$defs/";
    struct fr_json all = fr_json_member(w->root, "$defs");
    if (strncmp(reference, defs, sizeof defs - 1) != 0) return;
    struct fr_json node = fr_json_member(&all, reference + sizeof defs - 1);
    if (fr_json_present(&node)) walk_node(w, &node, path, what);
}

static void walk_items(const struct walk *w, const struct fr_json *items, const char *path,
                       const char *what) {
    char name[256];
    for (int i = 0; i < w->rows && *fr_json_text_at(items, "$ref"); i++) {
        snprintf(name, sizeof name, "%.240s.%d", path, i);
        walk_node(w, items, name, what);
    }
}

static void walk_node(const struct walk *w, const struct fr_json *node, const char *path,
                      const char *what) {
    enum { DEEPEST = 12 };
    struct walk below = *w;
    const char *reference = fr_json_text_at(node, "$ref");
    struct fr_json properties = fr_json_member(node, "properties"),
                   items = fr_json_member(node, "items"), any = fr_json_member(node, "anyOf"),
                   first = fr_json_element(&any, 0);
    if (++below.depth > DEEPEST) return;
    if (*reference)
        walk_reference(&below, reference, path, what);
    else if (fr_json_is_object(&properties))
        walk_properties(&below, &properties, path);
    else if (fr_json_present(&first))
        walk_node(&below, &first, path, what);
    else if (fr_json_is_object(&items))
        walk_items(&below, &items, path, what);
    else
        w->key(w->context, path, what);
}

void fr_schema_keys(const char *kind, int rows,
                    void (*key)(void *context, const char *path, const char *what),
                    void *context) {
    const struct fr_preset *schema = fr_preset_find("schema", kind);
    struct fr_json_document *document = NULL;
    if (!schema ||
        fr_json_parse(schema->text, schema->length, schema->name, &document, NULL) != FR_OK)
        return;
    struct fr_json root = fr_json_root(document),
                   properties = fr_json_member(&root, "properties");
    const struct walk walk = {.root = &root, .key = key, .context = context, .rows = rows};
    walk_properties(&walk, &properties, kind);
    fr_json_free(document);
}
