/* Any bytes are cleaned to text with as many lines; any words are launch lines, of counts that can be. */
#include <string.h>

#include "base/text/launch.h"
#include "base/text/log_lines.h"
#include "tests/fuzz/fuzz.h"

static void launch(const struct fr_log_text *cleaned) {
    struct fr_launch found = {0};
    char line[1024];
    for (const char *at = cleaned->text; *at;) {
        size_t n = strcspn(at, "\n"), kept = n < sizeof line ? n : sizeof line - 1;
        memcpy(line, at, kept);
        line[kept] = '\0';
        fr_launch_add(&found, line);
        at += n + (at[n] == '\n');
    }
    struct fr_launch_facts f = fr_launch_resolve(&found);
    FR_FUZZ_REQUIRE(f.ranks >= 0 && f.nodes >= 0 && f.ranks_per_node >= 0);
    FR_FUZZ_REQUIRE(f.ranks <= (int64_t)1 << 31 && (f.ranks == 0 || f.nodes <= f.ranks));
}

FR_FUZZ_TEXT(text, size) {
    for (unsigned keep = 0; keep <= FR_LOG_KEEP_TIMES; keep++) {
        struct fr_log_text cleaned;
        size_t lines = 1;
        if (fr_log_text_clean(text, size, keep, &cleaned) != FR_OK) continue;
        for (size_t i = 0; i < cleaned.length; i++) lines += cleaned.text[i] == '\n';
        FR_FUZZ_REQUIRE(strlen(cleaned.text) == cleaned.length && cleaned.n_lines == lines);
        launch(&cleaned);
        fr_log_text_free(&cleaned);
    }
}
