#include "base/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/json/memory.h"

/* Together, with "#" and an origin, they fit into fr_error.where. */
enum { PATH_MAX_B = 200, NAME_SHOWN = 100, ORIGIN_SHOWN = 60 };

struct
    origin { /* a value that came from the command line, or from a file or row that it names */
    struct origin *next;
    char path[160], from[ORIGIN_SHOWN + 1];
};

struct fr_json_document {
    json_t *root;
    char *name;
    struct origin *origins;
};

/* A long file name loses its beginning: its end is what tells files apart. */
static const char *short_name(const char *name, size_t shown) {
    size_t length = strlen(name);
    return length > shown ? name + length - shown : name;
}

/* jansson recurses into nested values; so the depth is checked before it is called. */
static fr_status check_depth(const char *text, size_t length, const char *name,
                             struct fr_error *err) {
    int depth = 0;
    long line = 1;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '\n') line++;
        if (quoted) {
            if (c == '\\')
                i++;
            else if (c == '"')
                quoted = false;
        } else if (c == '"')
            quoted = true;
        else if (c == '{' || c == '[') {
            if (++depth > FR_JSON_MAX_DEPTH)
                return fr_fail(err, FR_ERR_INPUT, name,
                               "line %ld: nested deeper than %d levels", line,
                               FR_JSON_MAX_DEPTH);
        } else if (c == '}' || c == ']')
            depth--;
    }
    return FR_OK;
}

/* @p short_of_memory: it ran out on the way, whatever jansson says of it. */
static json_t *load(const char *text, size_t length, size_t flags, json_error_t *why,
                    bool *short_of_memory) {
    struct fr_json_reserve reserve;
    *short_of_memory = true;
    if (!fr_json_reserve_begin(&reserve, length)) return NULL;
    json_t *root = json_loadb(text, length, flags, why);
    *short_of_memory =
        reserve.used > 0 || (!root && json_error_code(why) == json_error_out_of_memory);
    if (root && *short_of_memory) {
        json_decref(root);
        root = NULL;
    }
    fr_json_reserve_end(&reserve);
    return root;
}

/* Letters of the word at @p at, of which Python's json module writes numbers that JSON has not; 0: none. */
static size_t python_number(const char *at, size_t left) {
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if (left >= n && memcmp(at, words[i], n) == 0) return n;
    }
    return 0;
}

/* A copy of @p text with null for each such number outside strings, or NULL where there is none or no memory. */
static char *without_python_numbers(const char *text, size_t length, size_t *shorter) {
    char *copy = NULL;
    size_t used = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        size_t n = quoted ? 0 : python_number(text + i, length - i);
        if (n > 0 && !copy) { /* at most one letter more for each three */
            copy = fr_calloc(length + length / 3 + 1, 1);
            if (!copy) return NULL;
            memcpy(copy, text, used = i);
        }
        if (n > 0) {
            memcpy(copy + used, "null", 4);
            used += 4;
            i += n - 1;
            continue;
        }
        if (text[i] == '"') quoted = !quoted;
        if (copy) copy[used++] = text[i];
        if (quoted && text[i] == '\\' && i + 1 < length) {
            i++;
            if (copy) copy[used++] = text[i];
        }
    }
    *shorter = used;
    return copy;
}

/* Text that JSON refuses is read as Python's json module writes it. */
static json_t *load_any(const char *text, size_t length, json_error_t *why,
                        bool *short_of_memory) {
    json_t *root = load(text, length, JSON_REJECT_DUPLICATES, why, short_of_memory);
    if (root || *short_of_memory) return root;
    size_t used = 0;
    char *copy = without_python_numbers(text, length, &used);
    if (copy) root = load(copy, used, JSON_REJECT_DUPLICATES, why, short_of_memory);
    free(copy);
    return root;
}

fr_status fr_json_parse(const char *text, size_t length, const char *name,
                        struct fr_json_document **document, struct fr_error *err) {
    FR_TRY(check_depth(text, length, name, err));
    json_error_t why;
    bool short_of_memory;
    json_t *root = load_any(text, length, &why, &short_of_memory);
    if (short_of_memory) return fr_fail(err, FR_ERR_NOMEM, name, "does not fit in memory");
    if (!root && strstr(name, ": line ")) /* one line of a file, whose number the name has */
        return fr_fail(err, FR_ERR_INPUT, name, "column %d: %s", why.column, why.text);
    if (!root)
        return fr_fail(err, FR_ERR_INPUT, name, "line %d, column %d: %s", why.line, why.column,
                       why.text);
    struct fr_json_document *made = fr_calloc(1, sizeof *made);
    char *copy = fr_strdup(name);
    if (!made || !copy) {
        json_decref(root);
        free(made);
        free(copy);
        return fr_fail(err, FR_ERR_NOMEM, name, "out of memory");
    }
    made->root = root;
    made->name = copy;
    *document = made;
    return FR_OK;
}

fr_status fr_json_read(const char *path, struct fr_json_document **document,
                       struct fr_error *err) {
    char *data = NULL;
    size_t length = 0;
    FR_TRY(fr_file_read(path, FR_FILE_MAX_B, &data, &length, err));
    fr_status status =
        fr_json_parse(data, length, strcmp(path, "-") ? path : "<stdin>", document, err);
    free(data);
    return status;
}

void fr_json_free(struct fr_json_document *document) {
    if (!document) return;
    while (document->origins) {
        struct origin *next = document->origins->next;
        free(document->origins);
        document->origins = next;
    }
    json_decref(document->root);
    free(document->name);
    free(document);
}

/* NULL where memory ran out, and of what is no UTF-8. */
static json_t *value_of_text(const char *text) {
    json_error_t why;
    bool short_of_memory;
    json_t *value = load(text, strlen(text), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why,
                         &short_of_memory);
    return value || short_of_memory ? value : json_string(text);
}

/* Descend from *node into part of a dotted path, making objects on the way. */
static json_t *descend(json_t *node, const char *part, bool make) {
    if (json_is_array(node)) {
        char *end = NULL;
        long index = strtol(part, &end, 10);
        return *part && !*end && index >= 0 ? json_array_get(node, (size_t)index) : NULL;
    }
    if (!json_is_object(node)) return NULL;
    json_t *next = json_object_get(node, part);
    if (!next && make && json_object_set_new(node, part, json_object()) == 0)
        next = json_object_get(node, part);
    return next;
}

fr_status fr_json_set(struct fr_json_document *document, const char *path, const char *text,
                      const char *origin, struct fr_error *err) {
    char copy[160], *part = copy, *dot;
    if (strlen(path) >= sizeof copy || !*path)
        return fr_fail(err, FR_ERR_USAGE, origin, "\"%.64s\" is no path to a value", path);
    FR_TRY(check_depth(text, strlen(text), origin, err));
    snprintf(copy, sizeof copy, "%s", path);
    json_t *node = document->root;
    while ((dot = strchr(part, '.')) != NULL) {
        *dot = '\0';
        const json_t *above = node;
        node = descend(node, part, true);
        if (!node && json_is_array(above) && json_array_size(above) > 0)
            return fr_fail(err, FR_ERR_USAGE, origin,
                           "%s: \"%s\" is none of the %zu in %s, which are counted 0 to %zu",
                           path, part, json_array_size(above), document->name,
                           json_array_size(above) - 1);
        if (!node || !(json_is_object(node) || json_is_array(node)))
            return fr_fail(err, FR_ERR_USAGE, origin,
                           "%s: \"%s\" leads to no object or array in %s", path, part,
                           document->name);
        part = dot + 1;
    }
    int failed = -1;
    if (json_is_object(node))
        failed = json_object_set_new(node, part, value_of_text(text));
    else if (descend(node, part, false))
        failed = json_array_set_new(node, (size_t)strtol(part, NULL, 10), value_of_text(text));
    if (failed != 0)
        return fr_fail(err, FR_ERR_USAGE, origin, "%s: \"%s\" leads to no value in %s", path,
                       part, document->name);
    struct origin *mark = fr_calloc(1, sizeof *mark);
    if (!mark) return fr_fail(err, FR_ERR_NOMEM, origin, "out of memory");
    snprintf(mark->path, sizeof mark->path, "/%s", path);
    for (char *c = mark->path; *c; c++)
        if (*c == '.') *c = '/';
    snprintf(mark->from, sizeof mark->from, "%s", short_name(origin, ORIGIN_SHOWN));
    mark->next = document->origins;
    document->origins = mark;
    return FR_OK;
}

void fr_json_drop(struct fr_json_document *document, const char *key) {
    json_object_del(document->root, key);
}

struct fr_json fr_json_root(const struct fr_json_document *document) {
    return (struct fr_json){.value = document->root, .document = document};
}

struct fr_json fr_json_member(const struct fr_json *node, const char *key) {
    return (struct fr_json){.value = json_object_get(node->value, key),
                            .parent = node,
                            .document = node->document,
                            .key = key};
}

struct fr_json fr_json_element(const struct fr_json *node, int64_t index) {
    return (struct fr_json){.value =
                                index < 0 ? NULL : json_array_get(node->value, (size_t)index),
                            .parent = node,
                            .document = node->document,
                            .index = index};
}

bool fr_json_present(const struct fr_json *node) { return node->value != NULL; }
bool fr_json_is_object(const struct fr_json *node) {
    return json_is_object((const json_t *)node->value);
}
bool fr_json_is_array(const struct fr_json *node) {
    return json_is_array((const json_t *)node->value);
}
bool fr_json_is_string(const struct fr_json *node) {
    return json_is_string((const json_t *)node->value);
}
bool fr_json_is_null(const struct fr_json *node) {
    return json_is_null((const json_t *)node->value);
}
bool fr_json_is_number(const struct fr_json *node) {
    return json_is_number((const json_t *)node->value);
}
int64_t fr_json_array_length(const struct fr_json *node) {
    return (int64_t)json_array_size(node->value);
}

static size_t write_path(const struct fr_json *node, char *out, size_t capacity) {
    if (!node->parent) return 0;
    size_t used = write_path(node->parent, out, capacity);
    if (used >= capacity) return used;
    int added = node->key ? snprintf(out + used, capacity - used, "/%.80s", node->key)
                          : snprintf(out + used, capacity - used, "/%" PRId64, node->index);
    return used + (added > 0 ? (size_t)added : 0);
}

/* Does "/levels/1" name @p path itself or something above it?  Not "/levels/10". */
static bool leads_to(const char *above, const char *path) {
    size_t length = strlen(above);
    return strncmp(path, above, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

const char *fr_json_where(const struct fr_json *node, char *out, size_t capacity) {
    char path[PATH_MAX_B] = "";
    const char *from = NULL;
    write_path(node, path, sizeof path);
    for (const struct origin *o = node->document->origins; o && !from; o = o->next)
        if (leads_to(o->path, path)) from = o->from;
    if (from && strcmp(from, short_name(node->document->name, ORIGIN_SHOWN)) == 0) from = NULL;
    snprintf(out, capacity, "%s#%s%s%s%s", short_name(node->document->name, NAME_SHOWN),
             *path ? path : "/", from ? " (" : "", from ? from : "", from ? ")" : "");
    return out;
}

fr_status fr_json_fail(const struct fr_json *node, struct fr_error *err, const char *fmt, ...) {
    char where[sizeof err->where], detail[sizeof err->detail];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(detail, sizeof detail, fmt, ap);
    va_end(ap);
    return fr_fail(err, FR_ERR_INPUT, fr_json_where(node, where, sizeof where), "%s", detail);
}

static void put_value(struct fr_json_writer *w, const json_t *value) {
    const char *key;
    json_t *member;
    size_t i;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        fr_json_begin_object(w);
        json_object_foreach((json_t *)value, key, member) {
            fr_json_key(w, key);
            put_value(w, member);
        }
        fr_json_end_object(w);
        break;
    case JSON_ARRAY:
        fr_json_begin_array(w);
        json_array_foreach(value, i, member) put_value(w, member);
        fr_json_end_array(w);
        break;
    case JSON_STRING:
        fr_json_put_string(w, json_string_value(value));
        break;
    case JSON_INTEGER:
        fr_json_put_integer(w, json_integer_value(value));
        break;
    case JSON_REAL:
        fr_json_put_number(w, json_real_value(value));
        break;
    case JSON_TRUE:
        fr_json_put_bool(w, true);
        break;
    case JSON_FALSE:
        fr_json_put_bool(w, false);
        break;
    case JSON_NULL:
        fr_json_put_null(w);
        break;
    }
}

void fr_json_put_copy(struct fr_json_writer *w, const struct fr_json *node) {
    if (node->value)
        put_value(w, node->value);
    else
        fr_json_put_null(w);
}
