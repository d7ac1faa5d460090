/* Any text is a journal whose lines verify, or loses lines, or is refused with its place. */
#include <string.h>

#include "base/journal/journal.h"
#include "tests/fuzz/fuzz.h"

static fr_status see(const struct fr_journal_line *line, void *context, struct fr_error *err) {
    (void)err;
    FR_FUZZ_REQUIRE(line->length > 0 && !memchr(line->text, '\n', line->length));
    ++*(int *)context;
    return FR_OK;
}

FR_FUZZ_TEXT(text, size) {
    struct fr_journal journal;
    struct fr_error err = {0};
    int n = 0;
    const char *path = fr_fuzz_file(text, size);
    if (fr_journal_read(path, (size_t)1 << 30, &journal, &err) != FR_OK) {
        FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
        fr_journal_free(&journal);
        return;
    }
    FR_FUZZ_REQUIRE(journal.length <= size);
    fr_status status = fr_journal_each(journal.text, journal.length, "f", see, &n, &err);
    if (status != FR_OK) FR_FUZZ_REQUIRE(err.where[0] && err.detail[0]);
    fr_journal_free(&journal);
}
