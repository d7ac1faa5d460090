#include "app/ranks/complete.h"

#include <string.h>

#include "app/complete.h"
#include "calibrate/measure/harness/bench.h"
#include "calibrate/measure/harness/program.h"
#include "real/apps/program.h"

static const char *const verbs[][2] = {
    {"calibrate", "measure this machine"},
    {"run", "run methods of the papers, beside their predictions"},
    {"train", "train to a target loss"},
    {"learn", "measure what compression does to learning"},
    {"search", "find the best of many plans, on many ranks"}};
enum { VERBS = sizeof verbs / sizeof *verbs };

static void offer(struct fr_text *text, const char *begun, const char *word, size_t length,
                  const char *what, size_t what_length) {
    if (length < strlen(begun) || strncmp(word, begun, strlen(begun)) != 0) return;
    fr_text_addf(text, "%.*s\t%.*s\n", (int)length, word, (int)what_length, what);
}

/* Lines of a help text that begin with an option: "  --resume          go on with that file". */
static void offer_options(struct fr_text *text, const char *begun, const char *usage) {
    for (const char *line = usage; *line; line += strcspn(line, "\n") + 1) {
        const char *word = line + strspn(line, " "), *what = NULL;
        const size_t rest = strcspn(word, "\n");
        if (strncmp(word, "--", 2) != 0) continue;
        for (size_t i = 0; i + 1 < rest && !what; i++)
            if (strncmp(word + i, "  ", 2) == 0) what = word + i + strspn(word + i, " ");
        if (!what) what = word + rest;
        offer(text, begun, word, strcspn(word, " \n"), what, strcspn(what, "\n"));
    }
}

void fr_ranks_help(struct fr_text *text) {
    fr_text_addf(text, "usage: mpirun -np N forerun-mpi COMMAND [OPTIONS]\n");
    for (int i = 0; i < VERBS; i++)
        fr_text_addf(text, "  %-9s  %s\n", verbs[i][0], verbs[i][1]);
    fr_text_addf(text, "Options of a command: forerun-mpi COMMAND --help\n");
}

void fr_ranks_complete(struct fr_text *text, const char *const *words, int n_words) {
    const char *begun = n_words > 0 ? words[n_words - 1] : "";
    const char *before = n_words > 1 ? words[n_words - 2] : "";
    for (int i = 0; i < VERBS && n_words < 2; i++)
        offer(text, begun, verbs[i][0], strlen(verbs[i][0]), verbs[i][1], strlen(verbs[i][1]));
    if (n_words < 2) return;
    if (strcmp(words[0], "search") == 0) {
        fr_complete(text, words, n_words);
        return;
    }
    const bool harness = strcmp(words[0], "calibrate") == 0;
    if (harness && strcmp(before, "--only") == 0)
        for (int i = 0; fr_bench_rows[i]; i++)
            offer(text, begun, fr_bench_rows[i]->name, strlen(fr_bench_rows[i]->name),
                  fr_bench_rows[i]->measures, strlen(fr_bench_rows[i]->measures));
    else if (*begun == '-')
        offer_options(text, begun, harness ? fr_harness_usage() : fr_apps_usage());
}
