#include "tests/golden/walk/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/verb.h"
#include "base/file.h"

/* ---- chance ------------------------------------------------------------------------------------ */

static uint64_t next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int walk_below(struct walk *w, int n) { return (int)(next(&w->state) % (uint64_t)n); }

bool walk_chance(struct walk *w, double share) {
    return (double)(next(&w->state) >> 11) * 0x1p-53 < share;
}

double walk_between(struct walk *w, double low, double high) {
    return low * pow(high / low, (double)(next(&w->state) >> 11) * 0x1p-53);
}

const char *walk_word(struct walk *w, const char *words, char *out, size_t capacity) {
    int n = 1;
    for (const char *c = words; *c; c++) n += *c == '|';
    for (int k = walk_below(w, n); k > 0; k--) words = strchr(words, '|') + 1;
    snprintf(out, capacity, "%.*s", (int)strcspn(words, "|"), words);
    return out;
}

/* ---- a command --------------------------------------------------------------------------------- */

void line_add(struct line *line, const char *word) {
    if (line->n < LINE_WORDS) snprintf(line->word[line->n++], LINE_WORD_B, "%s", word);
}

void line_add_all(struct line *line, const char *words) {
    for (size_t n; *words; words += n + (words[n] == ' ')) {
        char word[LINE_WORD_B];
        n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        line_add(line, word);
    }
}

void line_set(struct line *line, const char *option, const char *key, const char *value) {
    char word[LINE_WORD_B];
    snprintf(word, sizeof word, "%.100s=%.400s", key, value);
    line_add(line, option);
    line_add(line, word);
}

int line_run(const struct line *line) {
    static char copy[LINE_WORDS][LINE_WORD_B];
    char *words[LINE_WORDS + 2] = {"forerun"};
    printf("$");
    for (int i = 0; i < line->n; i++) {
        memcpy(copy[i], line->word[i], LINE_WORD_B);
        words[i + 1] = copy[i];
        printf(" %s", line->word[i]);
    }
    puts("");
    fflush(stdout);
    int code = fr_app_main(line->n + 1, words);
    printf("exit %d\n", code);
    return code;
}

/* ---- files ------------------------------------------------------------------------------------- */

void walk_read(const char *path, struct fr_text *out) {
    struct fr_error err = {0};
    char *data = NULL;
    size_t length = 0;
    if (fr_file_read(path, FR_FILE_MAX_B, &data, &length, &err) != FR_OK) {
        fprintf(stderr, "golden-walk: %s: %s\n", err.where, err.detail);
        exit(2);
    }
    fr_text_add(out, data, length);
    free(data);
}

void walk_show(const char *path) {
    struct fr_text text = {0};
    if (access(path, R_OK) != 0) return;
    walk_read(path, &text);
    fputs(fr_text_get(&text), stdout);
    fr_text_free(&text);
    remove(path);
}

void walk_write(const char *path, const struct fr_text *text) {
    remove(path); /* some file systems wait for the disk where a file is cut short */
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(fr_text_get(text), 1, text->length, file) != text->length) exit(2);
    fclose(file);
}

/* ---- kinds ------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*walk)(struct walk *w);
} kinds[] = {
    {"plans", walk_plans},
    {"simulations", walk_simulations},
    {"searches", walk_searches},
    {"clocks", walk_clocks},
    {"clusters", walk_clusters},
    {"models", walk_models},
    {"plan-files", walk_plan_files},
    {"samples", walk_samples},
    {"runs", walk_runs},
    {"costs", walk_costs},
    {"members", walk_members},
    {"comparisons", walk_comparisons},
    {"software", walk_software},
    {"runtimes", walk_runtimes},
    {"generations", walk_generations},
    {"cards", walk_cards},
    {"architectures", walk_architectures},
};

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    struct walk w = {.state = strtoull(argv[2], NULL, 10),
                     .count = atoi(argv[3]),
                     .files = argv + 4,
                     .n_files = argc - 4};
    dup2(STDOUT_FILENO, STDERR_FILENO);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0) return kinds[i].walk(&w), 0;
    return 2;
}
