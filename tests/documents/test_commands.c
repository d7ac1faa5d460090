/* Pages of docs/reference/ about commands and their documents, as the verbs' tables and the schemas have them. */
#include "app/help.h"
#include "app/verb.h"
#include "base/text/marked.h"
#include "models/job/preset.h"
#include "tests/documents/schema.h"

/* ---- commands.md -------------------------------------------------------------------------------------------- */

/* Words in a cell: no bar ends it, and what stands behind "; of the plan: " is another page. */
static void words(struct fr_text *page, const char *text) {
    const char *keys = strstr(text, "; of the plan: ");
    for (const char *at = text; *at && at != keys; at++)
        fr_text_addf(page, "%s%c", strchr("|*_<[", *at) ? "\\" : "", *at);
    if (keys) fr_text_addf(page, "; [keys of a plan](plan-keys.md)");
}

static void put_options(struct fr_text *page, const struct fr_option *o) {
    fr_text_addf(page, "| option | meaning |\n|---|---|\n");
    for (; o->name; o++) {
        fr_text_addf(page, "| ");
        if (o->letter) fr_text_addf(page, "`-%c`, ", o->letter);
        fr_text_addf(page, "`--%s", o->name);
        for (const char *at = o->argument ? o->argument : ""; *at; at++)
            fr_text_addf(page, "%s%s%c", at == o->argument ? " " : "", *at == '|' ? "\\" : "",
                         *at);
        fr_text_addf(page, "` | ");
        words(page, o->help);
        fr_text_addf(page, " |\n");
    }
    fr_text_addf(page, "\n");
}

/* As --help prints it, which breaks long commands. */
static void put_details(struct fr_text *page, const char *details) {
    struct fr_text lines = {0};
    bool code = false;
    fr_help_details(&lines, details);
    for (const char *at = fr_text_get(&lines); *at;) {
        size_t length = strcspn(at, "\n");
        bool command = strncmp(at, "  ", 2) == 0;
        if (command != code) fr_text_addf(page, command ? "\n```sh\n" : "```\n\n");
        code = command;
        if (command)
            fr_text_addf(page, "%.*s\n", (int)length - 2, at + 2);
        else {
            for (size_t i = 0; i < length; i++)
                fr_text_addf(page, "%s%c", strchr("|*_<[", at[i]) ? "\\" : "", at[i]);
            fr_text_addf(page, "\n");
        }
        at += length + (at[length] == '\n');
    }
    fr_text_addf(page, code ? "```\n\n" : "\n");
    fr_text_free(&lines);
}

static void put_verb(struct fr_text *page, const struct fr_verb *verb) {
    fr_text_addf(page, "## %s\n\n", verb->name);
    for (const char *at = verb->summary; *at; at++)
        fr_text_addf(page, "%c", at == verb->summary && *at >= 'a' ? *at - 'a' + 'A' : *at);
    fr_text_addf(page, ".\n\n```\n");
    for (const char *line = verb->usage; *line;) {
        line += strspn(line, " ");
        size_t length = strcspn(line, "\n");
        fr_text_addf(page, "%s%s%s%.*s\n", strncmp(line, "forerun ", 8) == 0 ? "" : "forerun ",
                     strncmp(line, "forerun ", 8) == 0 ? "" : verb->name,
                     strncmp(line, "forerun ", 8) == 0 ? "" : " ", (int)length, line);
        line += length + (line[length] == '\n');
    }
    fr_text_addf(page, "```\n\n");
    put_options(page, verb->options);
    if (verb->details) put_details(page, verb->details);
}

static void commands(void **state) {
    static const char mark[] = "commands", file[] = "docs/reference/commands.md";
    struct fr_text page = {0}, written = {0};
    char path[512];
    (void)state;
    fr_text_addf(&page, "\n| command | what it does |\n|---|---|\n");
    for (const struct fr_verb *const *v = fr_verbs; *v; v++)
        fr_text_addf(&page, "| [`%s`](#%s) | %s |\n", (*v)->name, (*v)->name, (*v)->summary);
    fr_text_addf(&page, "\n");
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) put_verb(&page, *v);
    snprintf(path, sizeof path, "%s/%s", FR_SOURCE_DIR, file);
    if (documents_are_written) {
        assert_int_equal(fr_marked_write(path, mark, fr_text_get(&page), NULL), FR_OK);
    } else {
        assert_int_equal(fr_marked_read(path, mark, &written, NULL), FR_OK);
        const char *a = fr_text_get(&page), *b = fr_text_get(&written);
        while (*a && *a == *b) a++, b++;
        FR_TRUE(*a == *b, "%s has \"%.60s\", the program \"%.60s\": run `ninja documents`",
                file, b, a);
    }
    fr_text_free(&page);
    fr_text_free(&written);
}

/* ---- outputs.md --------------------------------------------------------------------------------------------- */

/* Documents that answers are; of files the pages of their formats. */
static const char *const of_files[] = {"cluster",
                                       "model",
                                       "plan",
                                       "runtime",
                                       "config",
                                       "runs",
                                       "samples",
                                       "search-checkpoint",
                                       "trainings",
                                       "trainings-of-plans",
                                       "measured-iterations",
                                       NULL};

static bool is_of_a_file(const char *name) {
    for (int i = 0; of_files[i]; i++)
        if (strcmp(of_files[i], name) == 0) return true;
    return false;
}

/* Returns the text below the heading @p name of @p page, up to the next one. */
static void section(const char *page, const char *name, struct fr_text *out) {
    char head[96];
    snprintf(head, sizeof head, "\n## %s\n", name);
    const char *at = strstr(page, head);
    FR_TRUE(at != NULL, "docs/reference/outputs.md has no section \"%s\"", name);
    at += strlen(head);
    const char *end = strstr(at, "\n## ");
    fr_text_add(out, at, end ? (size_t)(end - at) : strlen(at));
}

static bool explains(const char *text, const char *key) {
    char whole[96], object[96];
    snprintf(whole, sizeof whole, "`%s`", key);
    snprintf(object, sizeof object, "`%s.", key);
    return strstr(text, whole) || strstr(text, object);
}

/* Every key of @p schema stands in its section, or among those of many documents. */
static void keys_are_explained(const char *page, const struct fr_preset *schema) {
    struct fr_json_document *document = NULL;
    struct fr_text common = {0}, own = {0};
    section(page, "Keys of many documents", &common);
    section(page, schema->name, &own);
    assert_int_equal(fr_json_parse(schema->text, schema->length, schema->name, &document, NULL),
                     FR_OK);
    struct fr_json root = fr_json_root(document),
                   properties = fr_json_member(&root, "properties");
    for (const char *key = fr_json_key_after(&properties, NULL); key;
         key = fr_json_key_after(&properties, key))
        FR_TRUE(strcmp(key, "schema") == 0 || explains(fr_text_get(&own), key) ||
                    explains(fr_text_get(&common), key),
                "docs/reference/outputs.md, %s: nothing of key `%s`", schema->name, key);
    fr_json_free(document);
    fr_text_free(&common);
    fr_text_free(&own);
}

static void every_key_is_explained(void **state) {
    char *page = NULL;
    size_t length = 0;
    (void)state;
    if (documents_are_written) return; /* by the tests beside this one, perhaps later */
    assert_int_equal(fr_file_read(FR_SOURCE_DIR "/docs/reference/outputs.md", FR_FILE_MAX_B,
                                  &page, &length, NULL),
                     FR_OK);
    for (const struct fr_preset *p = fr_presets; p->name; p++)
        if (strcmp(p->kind, "schema") == 0 && !is_of_a_file(p->name))
            keys_are_explained(page, p);
    free(page);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands),
                                       cmocka_unit_test(every_key_is_explained)};
    return DOCUMENTS_MAIN(argc, argv, tests);
}
