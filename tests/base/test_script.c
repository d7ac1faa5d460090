/* Comments and words of scripts: whatever the text, one line; and each language's own reader reads the text again. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/process.h"
#include "base/script/script.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

/* Texts are made of these: all that some reader obeys, characters of every length, bytes that are none. */
static const char *const parts[] = {"a",
                                    "Z",
                                    "7",
                                    " ",
                                    "  ",
                                    "-",
                                    "--x=1",
                                    "/",
                                    "~",
                                    "!",
                                    "!!",
                                    "#",
                                    "#SBATCH",
                                    "\n#SBATCH --exclusive",
                                    "\n",
                                    "\r",
                                    "\t",
                                    "\r\n",
                                    "\\",
                                    "\\\n",
                                    "'",
                                    "''",
                                    "\"",
                                    "`",
                                    "$",
                                    "$(touch x)",
                                    "`touch x`",
                                    "${x}",
                                    "%s",
                                    "%n",
                                    "|",
                                    ";",
                                    "&",
                                    "(",
                                    ")",
                                    "{",
                                    "}",
                                    "[",
                                    "*",
                                    "?",
                                    "<",
                                    ">",
                                    ": ",
                                    " #",
                                    "END",
                                    "\nEND\n",
                                    "\x01",
                                    "\x1b[2J",
                                    "\x7f",
                                    "\xc2\x85",
                                    "\xe2\x80\xa8",
                                    "\xe2\x80\xa9",
                                    "\xe2\x80\xae",
                                    "\xef\xbb\xbf",
                                    "\xc3\xa9",
                                    "\xe4\xb8\xad",
                                    "\xf0\x9f\x98\x80",
                                    "\xf3\xa0\x80\x81",
                                    "\xf0\x9f\xbf\xbe",
                                    "\xff",
                                    "\xc3",
                                    "\xed\xa0\x80",
                                    "\x83\x5c"};
enum { PARTS = sizeof parts / sizeof *parts, TEXTS = 500 };

static uint64_t next(uint64_t *random) {
    *random = *random * 6364136223846793005U + 1442695040888963407U;
    return *random >> 33;
}

/* Text @p i: the parts themselves, then parts at random; the last has 10 kB. */
static void make(int i, struct fr_text *text) {
    uint64_t random = 7919 + (uint64_t)i, n = i == TEXTS - 1 ? 4000 : 1 + next(&random) % 12;
    fr_text_add(text, "", 0);
    if (i < PARTS)
        fr_text_addf(text, "%s", parts[i]);
    else
        for (uint64_t k = 0; k < n; k++) fr_text_addf(text, "%s", parts[next(&random) % PARTS]);
}

/* ---- comments -------------------------------------------------------------------------------- */

static void a_comment_stays_one(void **state) {
    (void)state;
    for (int i = 0; i < TEXTS; i++) {
        struct fr_text text = {0}, script = {0};
        make(i, &text);
        fr_script_comment(&script, "%s", text.data);
        FR_TRUE(strncmp(script.data, "# ", 2) == 0, "text %d: %.60s", i, script.data);
        FR_TRUE(strchr(script.data, '\n') == script.data + script.length - 1,
                "text %d has other line ends", i);
        FR_TRUE(fr_is_plain(script.data, script.length) && !strpbrk(script.data, "\r\t"),
                "text %d hides something", i);
        FR_TRUE(script.length <= FR_SCRIPT_COMMENT_B + 8, "text %d: %zu B", i, script.length);
        fr_text_free(&script);
        fr_text_free(&text);
    }
}

static void a_comment_of_ours_is_as_it_was(void **state) {
    struct fr_text script = {0}, dots = {0};
    (void)state;
    fr_script_comment(&script, "  of %s: %d \xc3\xa9", "x \"y\" $z", 3);
    assert_string_equal(script.data, "#   of x \"y\" $z: 3 \xc3\xa9\n");
    fr_text_free(&script);
    for (int i = 0; i < 5000; i++) fr_text_addf(&dots, "\xc3\xa9");
    fr_script_comment(&script, "%s", dots.data);
    FR_TRUE(strstr(script.data, "\xc3\xa9...\n") != NULL, "%s", "cut without a word");
    fr_text_free(&script);
    fr_text_free(&dots);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void put(const char *name, const struct fr_text *text) {
    assert_int_equal(fr_file_write(name, text->data, text->length, NULL), FR_OK);
}

/* Every text as a word on a line of its own. */
static void words_of(fr_script_language language, struct fr_text *lines) {
    for (int i = 0; i < TEXTS; i++) {
        struct fr_text text = {0}, word = {0};
        make(i, &text);
        fr_script_word(&word, language, text.data);
        FR_TRUE(!strpbrk(word.data, "\n\r"), "text %d in language %d: more lines", i, language);
        FR_TRUE(fr_is_plain(word.data, word.length), "text %d in language %d: %.60s", i,
                language, word.data);
        fr_text_addf(lines, "%s\n", word.data);
        fr_text_free(&word);
        fr_text_free(&text);
    }
}

static void run(const char *const *words) {
    struct fr_error err = {.status = FR_OK};
    const struct fr_process p = {.words = words};
    if (fr_process_run(&p, NULL, &err) != FR_OK) fail_msg("%s %s", err.where, err.detail);
}

static void put_texts(void) {
    struct fr_text texts = {0};
    for (int i = 0; i < TEXTS; i++) {
        make(i, &texts);
        fr_text_add(&texts, "", 1);
    }
    put("texts", &texts);
    fr_text_free(&texts);
}

static void bash_reads_words_again(void **state) {
    struct fr_text lines = {0}, script = {0};
    (void)state;
    put_texts();
    words_of(FR_SCRIPT_BASH, &lines);
    fr_text_addf(&script, "words=(\n%s)\nprintf '%%s\\0' \"${words[@]}\" >read\n", lines.data);
    put("words.sh", &script);
    run((const char *const[]){"bash", "words.sh", NULL});
    run((const char *const[]){"cmp", "texts", "read", NULL});
    FR_TRUE(!fr_file_exists("x"), "%s", "a word ran a command");
    fr_text_free(&script);
    fr_text_free(&lines);
}

static void words_that_need_no_quotes_have_none(void **state) {
    static const struct {
        const char *text, *word;
    } cases[] = {{"llama-3-8b", "llama-3-8b"},
                 {"a/b_c.d:e=f,g+1@2%", "a/b_c.d:e=f,g+1@2%"},
                 {"", "''"},
                 {"E|t", "'E|t'"},
                 {"a b", "'a b'"},
                 {"it's", "$'it\\'s'"},
                 {"a\nb", "$'a\\x0ab'"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_text word = {0};
        fr_script_word(&word, FR_SCRIPT_BASH, cases[i].text);
        assert_string_equal(word.data, cases[i].word);
        fr_text_free(&word);
    }
}

/* Python's own readers; of YAML and TOML where they are installed. */
static const char reader[] =
    "import ast, json, re\n"
    "def texts():\n"
    "    for text in open('texts', 'rb').read().split(b'\\0')[:-1]:\n"
    "        yield re.sub('[\\udc80-\\udcff]', '\\ufffd', text.decode('utf-8', "
    "'surrogateescape'))\n"
    "readers = {'python': ast.literal_eval, 'json': json.loads}\n"
    "try:\n"
    "    import yaml\n"
    "    readers['yaml'] = lambda word: yaml.safe_load('x: ' + word)['x']\n"
    "except ImportError: pass\n"
    "try:\n"
    "    import tomllib\n"
    "    readers['toml'] = lambda word: tomllib.loads('x = ' + word)['x']\n"
    "except ImportError: pass\n"
    "for language, read in readers.items():\n"
    "    words = open(language, encoding='utf-8', newline='\\n').read().split('\\n')[:-1]\n"
    "    want = list(texts())\n"
    "    assert len(words) == len(want)\n"
    "    for word, text in zip(words, want):\n"
    "        assert read(word) == text, (language, word, text)\n";

static void other_languages_read_words_again(void **state) {
    static const struct {
        fr_script_language language;
        const char *file;
    } languages[] = {{FR_SCRIPT_PYTHON, "python"},
                     {FR_SCRIPT_YAML, "yaml"},
                     {FR_SCRIPT_TOML, "toml"},
                     {FR_SCRIPT_JSON, "json"}};
    (void)state;
    if (!fr_process_find("python3", (char[FR_PROCESS_PATH_B]){0})) skip();
    put_texts();
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        struct fr_text lines = {0};
        words_of(languages[i].language, &lines);
        put(languages[i].file, &lines);
        fr_text_free(&lines);
    }
    run((const char *const[]){"python3", "-c", reader, NULL});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_comment_stays_one),
        cmocka_unit_test(a_comment_of_ours_is_as_it_was),
        cmocka_unit_test(bash_reads_words_again),
        cmocka_unit_test(words_that_need_no_quotes_have_none),
        cmocka_unit_test(other_languages_read_words_again),
    };
    return cmocka_run_group_tests_name("base.script", tests, fr_scratch_enter,
                                       fr_scratch_leave);
}
