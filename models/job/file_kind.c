#include "models/job/file_kind.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "models/plan/key.h"
#include "models/workload/workload.h"

/* ---- the outermost keys of a JSON object, whole or cut ---------------------------------------- */

enum { KEYS = 64, WORD = 48 };

struct outline {
    int n;
    char key[KEYS][WORD];
    char schema[WORD], kind[WORD], dialect[WORD]; /* texts of these keys */
};

/* The string whose opening quote stands at @p at; @return behind its closing one. */
static const char *string_at(const char *at, const char *stop, char word[WORD]) {
    size_t n = 0;
    for (at++; at < stop && *at != '"'; at++) {
        if (*at == '\\') at++;
        if (n + 1 < WORD && at < stop) word[n++] = *at;
    }
    word[n] = '\0';
    return at < stop ? at + 1 : stop;
}

static const char *blank_end(const char *at, const char *stop) {
    while (at < stop && isspace((unsigned char)*at)) at++;
    return at;
}

static void take_text(struct outline *o, const char *at, const char *stop, const char *key) {
    char *into = strcmp(key, "schema") == 0    ? o->schema
                 : strcmp(key, "kind") == 0    ? o->kind
                 : strcmp(key, "$schema") == 0 ? o->dialect
                                               : NULL;
    if (into && at < stop && *at == '"') string_at(at, stop, into);
}

static void outline(const char *text, size_t length, struct outline *o) {
    const char *stop = text + length;
    int depth = 0;
    *o = (struct outline){0};
    for (const char *at = text; at < stop;) {
        char word[WORD];
        if (*at == '"') {
            at = blank_end(string_at(at, stop, word), stop);
            if (depth != 1 || at == stop || *at != ':') continue;
            if (o->n < KEYS) memcpy(o->key[o->n++], word, WORD);
            take_text(o, blank_end(at + 1, stop), stop, word);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
        if (depth == 0) return; /* of JSON lines the first */
    }
}

static bool has(const struct outline *o, const char *key) {
    for (int i = 0; i < o->n; i++)
        if (strcmp(o->key[i], key) == 0) return true;
    return false;
}

static bool has_any(const struct outline *o, const char *const *keys) {
    for (; *keys; keys++)
        if (has(o, *keys)) return true;
    return false;
}

/* Are most of its keys those of a plan? */
static bool is_plan(const struct outline *o) {
    int known = 0;
    for (int i = 0; i < o->n; i++) {
        size_t length = strlen(o->key[i]);
        bool of_plan = false;
        for (int k = 0; k < FR_PLAN_KEYS && !of_plan; k++) {
            const char *name = fr_plan_keys[k].name;
            of_plan = strncmp(name, o->key[i], length) == 0 &&
                      (name[length] == '\0' || name[length] == '.');
        }
        known += of_plan;
    }
    return known > 0 && 2 * known >= o->n;
}

static bool is_model_kind(const char *word) {
    for (int i = 0; fr_kinds[i]; i++)
        if (strcmp(fr_kinds[i]->name, word) == 0) return true;
    return false;
}

static fr_file_kind kind_of_schema(const char *schema) {
    static const struct {
        const char *begin;
        fr_file_kind kind;
    } rows[] = {{"outcome/", FR_FILE_OUTCOME}, {"search/", FR_FILE_SEARCH},
                {"fit/", FR_FILE_FIT},         {"samples/", FR_FILE_SAMPLES},
                {"cluster/", FR_FILE_CLUSTER}, {"model/", FR_FILE_MODEL},
                {"plan/", FR_FILE_PLAN},       {"runtime/", FR_FILE_RUNTIME}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(schema, rows[i].begin, strlen(rows[i].begin)) == 0) return rows[i].kind;
    return FR_FILE_ANSWER;
}

static fr_file_kind kind_of_object(const struct outline *o) {
    static const char ours[] = "forerun/";
    static const char *const of_config[] = {"model_type",        "architectures", "hidden_size",
                                            "num_hidden_layers", "n_embd",        NULL},
                             *const of_cluster[] = {"levels", "device", "collectives",
                                                    "topology", NULL},
                             *const of_model[] = {"layers",  "hidden", "blocks",
                                                  "forward", "input",  NULL},
                             *const of_runtime[] = {"facts", "from", "costs_from", "suits",
                                                    NULL};
    if (strncmp(o->schema, ours, sizeof ours - 1) == 0)
        return kind_of_schema(o->schema + sizeof ours - 1);
    if (has(o, "traceEvents")) return FR_FILE_TRACE;
    if (strstr(o->dialect, "json-schema.org")) return FR_FILE_JSON; /* a schema itself */
    if (*o->kind) return is_model_kind(o->kind) ? FR_FILE_MODEL : FR_FILE_SAMPLES;
    if (has_any(o, of_config)) return FR_FILE_CONFIG;
    if (has_any(o, of_model) && !has_any(o, of_cluster)) return FR_FILE_MODEL;
    if (has_any(o, of_runtime)) return FR_FILE_RUNTIME;
    if (has_any(o, of_cluster)) return FR_FILE_CLUSTER;
    return is_plan(o) ? FR_FILE_PLAN : FR_FILE_JSON;
}

/* ---- text --------------------------------------------------------------------------------------- */

static bool begins(const char *text, size_t length, const char *with) {
    return length >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

static bool holds(const char *text, size_t length, const char *word) {
    size_t n = strlen(word);
    const char *stop = text + length;
    for (const char *at = text; (at = memchr(at, *word, (size_t)(stop - at))); at++) {
        if ((size_t)(stop - at) < n) return false;
        if (memcmp(at, word, n) == 0) return true;
    }
    return false;
}

static bool is_binary(const char *text, size_t length) {
    size_t odd = 0;
    if (begins(text, length, "%PDF") || begins(text, length, "\x89PNG")) return true;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\0') return true;
        odd += c < 32 && !isspace(c) && c != 27;
    }
    return odd * 20 > length;
}

/* Words by which a text is known, in this order. */
static const struct {
    const char *word;
    fr_file_kind kind;
} marks[] = {{"<!DOCTYPE html", FR_FILE_PAGE},
             {"<html", FR_FILE_PAGE},
             {"<svg", FR_FILE_PAGE},
             {"# nThread", FR_FILE_BENCHMARK},
             {"out-of-place", FR_FILE_BENCHMARK},
             {"# OSU", FR_FILE_BENCHMARK},
             {"Intel(R) MPI Benchmarks", FR_FILE_BENCHMARK},
             {"#bytes #repetitions", FR_FILE_BENCHMARK},
             {"elapsed time per iteration", FR_FILE_LOG},
             {"throughput per GPU", FR_FILE_LOG},
             {"global_step", FR_FILE_LOG},
             {"samples/sec", FR_FILE_LOG},
             {"tokens/sec", FR_FILE_LOG},
             {"step: ", FR_FILE_LOG},
             {"iteration ", FR_FILE_LOG},
             {":::MLLOG", FR_FILE_LOG},
             {"lm loss", FR_FILE_LOG},
             {"#!/", FR_FILE_SCRIPT},
             {"#SBATCH", FR_FILE_SCRIPT},
             {"torchrun ", FR_FILE_SCRIPT},
             {"deepspeed ", FR_FILE_SCRIPT}};

static size_t count(const char *line, size_t length, char c) {
    size_t n = 0;
    for (size_t i = 0; i < length; i++) n += line[i] == c;
    return n;
}

/* A header with commas and a second line with as many. */
static bool is_table(const char *text, size_t length, char separator) {
    const char *newline = memchr(text, '\n', length);
    size_t first = newline ? (size_t)(newline - text) : length, after = first + 1;
    size_t columns = count(text, first, separator);
    const char *second_end = after < length ? memchr(text + after, '\n', length - after) : NULL;
    size_t second =
        after < length ? (second_end ? (size_t)(second_end - text) : length) - after : 0;
    return columns > 0 && (second == 0 || count(text + after, second, separator) == columns);
}

static fr_file_kind kind_of_plain(const char *text, size_t length) {
    const char *newline = memchr(text, '\n', length);
    size_t head = newline ? (size_t)(newline - text) : length;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (holds(text, length, marks[i].word)) return marks[i].kind;
    if (holds(text, head, "measured_s") || holds(text, head, "measured_J")) return FR_FILE_RUNS;
    return is_table(text, length, ',') || is_table(text, length, '\t') ? FR_FILE_TABLE
                                                                       : FR_FILE_TEXT;
}

fr_file_kind fr_file_kind_of_text(const char *text, size_t length) {
    struct outline o;
    if (length > FR_FILE_KIND_B) length = FR_FILE_KIND_B;
    const char *stop = text + length, *at = blank_end(text, stop);
    if (begins(at, (size_t)(stop - at), "\xef\xbb\xbf")) at = blank_end(at + 3, stop);
    if (at == stop) return FR_FILE_EMPTY;
    if (is_binary(text, length)) return FR_FILE_BINARY;
    if (*at == '[') return FR_FILE_JSON;
    if (*at != '{') return kind_of_plain(at, (size_t)(stop - at));
    outline(at, (size_t)(stop - at), &o);
    return kind_of_object(&o);
}

fr_file_kind fr_file_kind_of(const char *path) {
    struct stat info;
    if (strcmp(path, "-") == 0) {
        size_t length = 0;
        const char *head = fr_file_standard_head(&length);
        return head ? fr_file_kind_of_text(head, length) : FR_FILE_MISSING;
    }
    if (stat(path, &info) != 0) return FR_FILE_MISSING;
    if (S_ISDIR(info.st_mode)) return FR_FILE_DIRECTORY;
    FILE *file = S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL; /* a pipe was read already */
    char *head = file ? fr_malloc(FR_FILE_KIND_B, 1) : NULL;
    size_t length = head ? fread(head, 1, FR_FILE_KIND_B, file) : 0;
    fr_file_kind kind = head ? fr_file_kind_of_text(head, length) : FR_FILE_MISSING;
    if (file) fclose(file);
    free(head);
    return kind;
}

const char *fr_file_kind_name(fr_file_kind kind) {
    static const char *const names[FR_FILE_KINDS] = {
        [FR_FILE_MISSING] = "a file that cannot be read",
        [FR_FILE_DIRECTORY] = "a directory",
        [FR_FILE_EMPTY] = "an empty file",
        [FR_FILE_BINARY] = "a binary file",
        [FR_FILE_CLUSTER] = "a cluster file",
        [FR_FILE_MODEL] = "a model file",
        [FR_FILE_CONFIG] = "a Hugging Face config.json (a model)",
        [FR_FILE_PLAN] = "a plan file",
        [FR_FILE_RUNTIME] = "a runtime file",
        [FR_FILE_OUTCOME] = "an outcome of forerun predict",
        [FR_FILE_SEARCH] = "a result of forerun search",
        [FR_FILE_FIT] = "a result of forerun fit",
        [FR_FILE_ANSWER] = "a JSON answer of forerun",
        [FR_FILE_SAMPLES] = "a samples file",
        [FR_FILE_TRACE] = "a trace",
        [FR_FILE_RUNS] = "a runs.csv of measured runs",
        [FR_FILE_TABLE] = "a table without measured_s",
        [FR_FILE_LOG] = "a training log",
        [FR_FILE_BENCHMARK] = "output of a benchmark",
        [FR_FILE_SCRIPT] = "a script",
        [FR_FILE_PAGE] = "a web page or picture",
        [FR_FILE_JSON] = "a JSON file that is no input of forerun",
        [FR_FILE_TEXT] = "a text file",
    };
    return names[kind];
}
