/* Names that users gave their own files, and the cluster that is meant where none is named: which
 * folder goes before which, against folders made here. */
#include "models/job/own.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/temporary.h"
#include "models/job/preset.h"
#include "tests/cmocka.h"

static char root[FR_TEMPORARY_PATH_B];

static const char *in(const char *name) {
    static char path[4][FR_OWN_PATH_B + 64];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof *path, "%s/%s", root, name);
    return path[turn];
}

static void put(const char *name, const char *text) {
    assert_int_equal(fr_file_write(in(name), text, strlen(text), NULL), FR_OK);
}

static int set_up(void **state) {
    (void)state;
    static const char *const folders[] = {"a",
                                          "a/cluster",
                                          "b",
                                          "b/cluster",
                                          "c",
                                          "c/cluster",
                                          "config",
                                          "config/forerun",
                                          "config/forerun/cluster",
                                          "config/forerun/model",
                                          "home",
                                          "home/.config"};
    assert_int_equal(fr_temporary_folder("own", root, NULL), FR_OK);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(in(folders[i]), 0700), 0);
    put("a/cluster/mine.json", "{\"name\": \"a\"}");
    put("b/cluster/mine.json", "{\"name\": \"b\"}");
    put("b/cluster/frontier.json", "{\"name\": \"not the preset\"}");
    put("c/cluster/third.json", "{\"name\": \"c\"}");
    put("config/forerun/model/net.json", "{\"name\": \"net\"}");
    setenv("XDG_CONFIG_HOME", in("config"), 1);
    setenv("HOME", in("home"), 1);
    unsetenv("FORERUN_CLUSTER");
    unsetenv("FORERUN_PATH");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[FR_TEMPORARY_PATH_B + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void settings(const char *text) { put("config/forerun/config.json", text); }

static void expect_file(const char *kind, const char *name, const char *file) {
    char path[FR_OWN_PATH_B];
    assert_int_equal(fr_own_file(kind, name, path, NULL), FR_OK);
    assert_string_equal(path, *file ? in(file) : "");
}

static void the_first_folder_that_has_it(void **state) {
    (void)state;
    char path[2 * FR_OWN_PATH_B];
    settings("{}");
    expect_file("cluster", "mine", "");
    expect_file("model", "net", "config/forerun/model/net.json");
    expect_file("cluster", "net", ""); /* another kind */
    snprintf(path, sizeof path, "::%s:%s:", in("b"), in("a"));
    setenv("FORERUN_PATH", path, 1);
    expect_file("cluster", "mine", "b/cluster/mine.json");
    expect_file("cluster", "third", "");
    snprintf(path, sizeof path, "{\"path\": [\"%s\", \"%s\"]}", in("a"), in("c"));
    settings(path);
    expect_file("cluster", "mine", "b/cluster/mine.json"); /* the environment goes before */
    expect_file("cluster", "third", "c/cluster/third.json");
    unsetenv("FORERUN_PATH");
    expect_file("cluster", "mine", "a/cluster/mine.json");
    expect_file("cluster", "a/../mine", ""); /* a path is no name */
    expect_file("cluster", "", "");
}

/* A path is found whole or not at all, whatever the cut name would be. */
static void a_path_of_any_length(void **state) {
    (void)state;
    assert_int_equal(mkdir(in("far"), 0700) | mkdir(in("far/cluster"), 0700), 0);
    put("far/cluster/long.json", "{}");
    put("far/cluster/long.jso", "{}");
    for (size_t length = FR_OWN_PATH_B - 4; length < FR_OWN_PATH_B + 4; length++) {
        char folder[FR_OWN_PATH_B + 8], path[FR_OWN_PATH_B];
        size_t n = length - strlen("/cluster/long.json");
        snprintf(folder, sizeof folder, "%s", in("far"));
        for (size_t at = strlen(folder); at < n; at++) folder[at] = '/';
        folder[n] = '\0';
        setenv("FORERUN_PATH", folder, 1);
        assert_int_equal(fr_own_file("cluster", "long", path, NULL), FR_OK);
        FR_TRUE(strlen(path) == (length < FR_OWN_PATH_B ? length : 0), "%zu: %zu %.60s", length,
                strlen(path), path);
    }
    unsetenv("FORERUN_PATH");
}

static void a_preset_keeps_its_name(void **state) {
    (void)state;
    struct fr_json_document *document = NULL;
    setenv("FORERUN_PATH", in("b"), 1);
    assert_int_equal(fr_preset_or_file_read("cluster", "frontier", &document, NULL), FR_OK);
    struct fr_json name = fr_json_root(document);
    assert_string_not_equal(fr_json_text_at(&name, "name"), "not the preset");
    fr_json_free(document);
    assert_int_equal(fr_preset_or_file_read("cluster", "mine", &document, NULL), FR_OK);
    name = fr_json_root(document);
    assert_string_equal(fr_json_text_at(&name, "name"), "b");
    fr_json_free(document);
    unsetenv("FORERUN_PATH");
}

static void the_cluster_that_is_meant(void **state) {
    (void)state;
    char name[FR_OWN_PATH_B];
    const char *origin = NULL;
    settings("{}");
    assert_int_equal(fr_own_cluster(name, &origin, NULL), FR_OK);
    assert_string_equal(name, "");
    settings("{\"cluster\": \"mine\"}");
    assert_int_equal(fr_own_cluster(name, &origin, NULL), FR_OK);
    assert_string_equal(name, "mine");
    setenv("FORERUN_CLUSTER", "frontier", 1);
    assert_int_equal(fr_own_cluster(name, &origin, NULL), FR_OK);
    assert_string_equal(name, "frontier");
    assert_string_equal(origin, "FORERUN_CLUSTER");
    unsetenv("FORERUN_CLUSTER");
}

/* A mistake in the settings is reported with its place, not passed over. */
static void settings_that_cannot_be_read(void **state) {
    (void)state;
    static const char *const texts[] = {"{\"clusters\": \"mine\"}", "{\"cluster\": 3}",
                                        "{\"path\": \"x\"}",        "{\"path\": [1]}",
                                        "{\"site\": [1]}",          "{"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct fr_error err = {.status = FR_OK};
        struct fr_text folders = {0};
        char name[FR_OWN_PATH_B];
        settings(texts[i]);
        fr_status status = fr_own_cluster(name, NULL, &err);
        if (status == FR_OK) status = fr_own_folders(&folders, &err);
        assert_int_equal(status, FR_ERR_INPUT);
        assert_non_null(strstr(err.where, "config.json"));
        fr_text_free(&folders);
    }
    settings("{}");
}

/* Without a home, or with one that the specification says to ignore, there is nothing, and no error. */
static void no_home(void **state) {
    (void)state;
    struct fr_text folders = {0};
    setenv("XDG_CONFIG_HOME", "relative", 1);
    unsetenv("HOME");
    assert_int_equal(fr_own_folders(&folders, NULL), FR_OK);
    assert_string_equal(fr_text_get(&folders), "");
    setenv("HOME", in("home"), 1);
    assert_int_equal(fr_own_folders(&folders, NULL), FR_OK);
    assert_non_null(strstr(fr_text_get(&folders), "/.config/forerun\n"));
    fr_text_free(&folders);
    setenv("XDG_CONFIG_HOME", in("config"), 1);
}

static void names_of_a_kind(void **state) {
    (void)state;
    struct fr_text names = {0}, expected = {0};
    char path[2 * FR_OWN_PATH_B];
    snprintf(path, sizeof path, "%s:%s:/no-such-folder", in("b"), in("c"));
    setenv("FORERUN_PATH", path, 1);
    fr_text_addf(&expected, "frontier\t%s\nmine\t%s\n", in("b/cluster/frontier.json"),
                 in("b/cluster/mine.json"));
    fr_text_addf(&expected, "third\t%s\n", in("c/cluster/third.json"));
    assert_int_equal(fr_own_names("cluster", &names, NULL), FR_OK);
    assert_string_equal(fr_text_get(&names), fr_text_get(&expected));
    fr_text_free(&names), fr_text_free(&expected);
    unsetenv("FORERUN_PATH");
}

/* "site:frontier" is a shared folder's, also where a preset or the user's own has the name. */
static void of_the_site(void **state) {
    (void)state;
    char path[FR_OWN_PATH_B], text[2 * FR_OWN_PATH_B];
    struct fr_text names = {0};
    struct fr_error err = {.status = FR_OK};
    struct fr_json_document *document = NULL;
    assert_int_equal(fr_own_file("cluster", "site:frontier", path, NULL), FR_OK);
    assert_string_equal(path, ""); /* nothing is shared yet */
    put("config/forerun/cluster/private.json", "{}");
    snprintf(text, sizeof text, "{\"site\": \"%s\"}", in("b"));
    settings(text);
    assert_int_equal(fr_own_file("cluster", "site:frontier", path, NULL), FR_OK);
    assert_string_equal(path, in("b/cluster/frontier.json"));
    assert_int_equal(fr_own_file("cluster", "frontier", path, NULL), FR_OK);
    assert_string_equal(path, in("b/cluster/frontier.json"));
    assert_int_equal(fr_own_file("cluster", "site:private", path, NULL), FR_OK);
    assert_string_equal(path, "");
    assert_int_equal(fr_own_file("cluster", "private", path, NULL), FR_OK);
    assert_string_equal(path, in("config/forerun/cluster/private.json"));
    assert_int_equal(fr_own_site_names("cluster", &names, NULL), FR_OK);
    assert_null(strstr(fr_text_get(&names), "private"));
    assert_non_null(strstr(fr_text_get(&names), "mine\t"));
    assert_int_equal(fr_preset_or_file_read("cluster", "site:frontiers", &document, &err),
                     FR_ERR_INPUT);
    FR_TRUE(strstr(err.detail, "did you mean \"site:frontier\"?"), "%s", err.detail);
    fr_text_free(&names);
    settings("{}");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_folder_that_has_it),
                                       cmocka_unit_test(a_path_of_any_length),
                                       cmocka_unit_test(a_preset_keeps_its_name),
                                       cmocka_unit_test(the_cluster_that_is_meant),
                                       cmocka_unit_test(settings_that_cannot_be_read),
                                       cmocka_unit_test(no_home),
                                       cmocka_unit_test(names_of_a_kind),
                                       cmocka_unit_test(of_the_site)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
