/** @file
 *  Commands at random: what cannot be written down one by one.
 *
 *      golden-walk KIND SEED COUNT [FILE...]
 *
 *  runs COUNT commands of a KIND one after the other in this process, as `forerun` would run them, and
 *  prints each with its outputs and exit code.  The same seed makes the same commands on every machine.
 *  To add a kind: a function here, a row in walk.c and a line in commands.sh. */
#ifndef FR_TESTS_GOLDEN_WALK_H
#define FR_TESTS_GOLDEN_WALK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

struct walk {
    uint64_t state; /**< of the random numbers */
    int count;
    char **files; /**< n_files that the command line named */
    int n_files;
};

/** 0 .. n - 1 */
int walk_below(struct walk *w, int n);
bool walk_chance(struct walk *w, double share);
/** Between low and high, evenly in logarithms. */
double walk_between(struct walk *w, double low, double high);
/** One of `words`, which a bar parts. */
const char *walk_word(struct walk *w, const char *words, char *out, size_t capacity);

enum { LINE_WORDS = 64, LINE_WORD_B = 512 };

/** A command line as it grows. */
struct line {
    int n;
    char word[LINE_WORDS][LINE_WORD_B];
};
void line_add(struct line *line, const char *word);
/** Each of the blank-separated words. */
void line_add_all(struct line *line, const char *words);
/** "--set KEY=VALUE" or another option before it. */
void line_set(struct line *line, const char *option, const char *key, const char *value);
/** Run it, print it and its exit code.  @return the code. */
int line_run(const struct line *line);

/** Change one thing or two of a JSON text: a number, a quantity, a word, a name, a member dropped or said
 *  twice. */
void walk_change(struct walk *w, const struct fr_text *document, struct fr_text *out);

/** How many values a JSON text holds, itself among them; and the text with one of them dropped (way 0), scaled
 *  (1), another (2), far too large (3) or below zero (4), or another word (from 5).  @return false where that cannot be */
enum { WALK_WAYS = 9 };
int walk_places(const struct fr_text *document);
bool walk_change_at(struct walk *w, const struct fr_text *document, int place, int way,
                    struct fr_text *out);

/** The whole of a file, which must be there; to stdout; from text. */
void walk_read(const char *path, struct fr_text *out);
void walk_show(const char *path);
void walk_write(const char *path, const struct fr_text *text);

void walk_plans(struct walk *w);
void walk_simulations(struct walk *w);
void walk_searches(struct walk *w);
void walk_clocks(struct walk *w);
void walk_clusters(struct walk *w);
void walk_models(struct walk *w);
void walk_plan_files(struct walk *w);
void walk_members(struct walk *w);
void walk_comparisons(struct walk *w);
void walk_software(struct walk *w);
void walk_runtimes(struct walk *w);
void walk_generations(struct walk *w);
void walk_cards(struct walk *w);
void walk_architectures(struct walk *w);
void walk_samples(struct walk *w);
void walk_runs(struct walk *w);
void walk_costs(struct walk *w);

#endif
