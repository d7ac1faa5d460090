#include "studies/training/markdown.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"

/* Length of the table's name in an id: all before the last slash. */
static size_t table_length(const char *id) {
    const char *slash = strrchr(id, '/');
    return slash ? (size_t)(slash - id) : 0;
}

static const struct fr_reproduce_row *find(const struct fr_reproduction *r, const char *id,
                                           size_t length, const char *what) {
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->rows[i].id, id, length) == 0 && table_length(r->rows[i].id) == length &&
            strcmp(r->rows[i].id + length + 1, what) == 0)
            return &r->rows[i];
    return NULL;
}

static void add_percent(struct fr_text *text, const struct fr_reproduce_row *row) {
    if (row)
        fr_text_addf(text, " %.2f %% |", 100 * row->ours);
    else
        fr_text_addf(text, " – |");
}

static void add_tau(struct fr_text *text, const struct fr_reproduce_row *row) {
    if (row)
        fr_text_addf(text, " %.3f |", row->ours);
    else
        fr_text_addf(text, " – |");
}

/* "| `name` | " */
static void add_name(struct fr_text *text, const char *name, size_t length) {
    char cell[200];
    snprintf(cell, sizeof cell, "%.*s", (int)length, name);
    fr_text_addf(text, "| `");
    fr_escape_markdown(text, cell);
    fr_text_addf(text, "` | ");
}

static void add_table(struct fr_text *text, const struct fr_reproduction *r,
                      const struct fr_reproduce_row *first) {
    static const char *const errors[] = {"mean_error", "median_error", "p90_error", "bias",
                                         NULL};
    size_t length = table_length(first->id);
    const struct fr_reproduce_row *mean = find(r, first->id, length, "mean_error");
    add_name(text, first->id, length);
    fr_escape_markdown(text, first->note);
    const struct fr_reproduce_row *plans = find(r, first->id, length, "plans"),
                                  *seen = find(r, first->id, length, "calibration");
    fr_text_addf(text, " | ");
    fr_escape_markdown(text, seen ? "calibration: " : "held out");
    fr_escape_markdown(text, seen ? seen->note : "");
    fr_text_addf(text, " | %.0f |", first->ours);
    if (plans)
        fr_text_addf(text, " %.0f |", plans->ours);
    else
        fr_text_addf(text, " – |");
    add_percent(text, find(r, first->id, length, "preset_alone"));
    for (int k = 0; errors[k]; k++) add_percent(text, find(r, first->id, length, errors[k]));
    add_tau(text, find(r, first->id, length, "kendall_tau"));
    add_tau(text, find(r, first->id, length, "kendall_tau_within_groups"));
    add_percent(text, find(r, first->id, length, "regret_mean"));
    add_percent(text, find(r, first->id, length, "regret_worst"));
    add_percent(text, find(r, first->id, length, "coverage"));
    fr_text_addf(text, " ");
    fr_escape_markdown(text, mean && *mean->note ? mean->note : "–");
    fr_text_addf(text, " |\n");
}

static bool has_any(const struct fr_reproduction *r, const char *end) {
    for (size_t i = 0; i < r->count; i++) {
        const char *id = r->rows[i].id;
        if (strcmp(id + table_length(id), end) == 0) return true;
    }
    return false;
}

static bool has(const struct fr_reproduction *r, const char *prefix) {
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->rows[i].id, prefix, strlen(prefix)) == 0) return true;
    return false;
}

/* Add the commands that print a table's column "preset alone".  The words are the program's own. */
static void add_commands(struct fr_text *text, const struct fr_reproduction *r) {
    if (!has_any(r, "/command")) return;
    fr_text_addf(text,
                 "\nThe column *preset alone* is the `mape` that these commands print:\n\n"
                 "```sh\n");
    for (size_t i = 0; i < r->count; i++) {
        const char *id = r->rows[i].id;
        int length = (int)table_length(id);
        if (length && strcmp(id + length, "/command") == 0)
            fr_text_addf(text, "%s  # %.*s\n", r->rows[i].note, length, id);
    }
    fr_text_addf(text, "```\n");
}

/* The software of each table's rows; what an IDENTITY row says of it is its note. */
static void add_software(struct fr_text *text, const struct fr_reproduction *r) {
    if (!has_any(r, "/software")) return;
    fr_text_addf(text, "\nThe software that the rows ran, as their readers name it:\n\n");
    for (size_t i = 0; i < r->count; i++) {
        const char *id = r->rows[i].id;
        int length = (int)table_length(id);
        if (length && strcmp(id + length, "/software") == 0)
            fr_text_addf(text, "- `%.*s`: %s\n", length, id, r->rows[i].note);
    }
}

static void add_ablations(struct fr_text *text, const struct fr_reproduction *r) {
    if (!has(r, "ablation/")) return;
    fr_text_addf(text,
                 "\nWhat each ingredient is worth: mean error without it minus with it, all "
                 "coefficients refitted, cross-validated.\n\n"
                 "| ingredient | worth | |\n|---|---|---|\n");
    for (size_t i = 0; i < r->count; i++)
        if (strncmp(r->rows[i].id, "ablation/", 9) == 0) {
            add_name(text, r->rows[i].id + 9, strlen(r->rows[i].id + 9));
            fr_text_addf(text, "%+.2f %% | ", 100 * r->rows[i].ours);
            fr_escape_markdown(text, r->rows[i].note);
            fr_text_addf(text, " |\n");
        }
}

static void add_left_out(struct fr_text *text, const struct fr_reproduction *r) {
    if (!has(r, "left_out/")) return;
    fr_text_addf(text, "\nRows left out, by file and reason:\n\n");
    for (size_t i = 0; i < r->count; i++) {
        const struct fr_reproduce_row *row = &r->rows[i];
        if (strncmp(row->id, "left_out/", 9) != 0) continue;
        fr_text_addf(text, "- `%.*s`: %.0f row%s: %s\n", (int)table_length(row->id) - 9,
                     row->id + 9, row->ours, row->ours == 1 ? "" : "s", row->note);
    }
}

/* Does a row belong to neither a table nor a list? */
static bool stands_alone(const struct fr_reproduction *r, const struct fr_reproduce_row *row) {
    return !row->detail && strncmp(row->id, "ablation/", 9) != 0 &&
           strncmp(row->id, "left_out/", 9) != 0 &&
           !find(r, row->id, table_length(row->id), "n");
}

static void add_single(struct fr_text *text, const struct fr_reproduction *r) {
    for (size_t i = 0, n = 0; i < r->count; i++) {
        const struct fr_reproduce_row *row = &r->rows[i];
        if (!stands_alone(r, row)) continue;
        fr_text_addf(text, "%s- `%s`: %.2f %%: ", n++ ? "" : "\n", row->id, 100 * row->ours);
        fr_escape_markdown(text, row->note);
        fr_text_addf(text, "\n");
    }
}

static void add_brief_row(struct fr_text *text, const struct fr_reproduction *r,
                          const struct fr_reproduce_row *first) {
    static const char *const columns[] = {"mean_error", "p90_error", "coverage", NULL};
    size_t length = table_length(first->id);
    add_name(text, first->id, length);
    fr_escape_markdown(text, first->note);
    fr_text_addf(text, " | %s | %.0f |",
                 find(r, first->id, length, "calibration") ? "tuned" : "test", first->ours);
    for (int k = 0; columns[k]; k++) add_percent(text, find(r, first->id, length, columns[k]));
    fr_text_addf(text, "\n");
}

void fr_training_brief(const struct fr_reproduction *r, struct fr_text *text) {
    fr_text_addf(text, "| data | how it was predicted | test or tuned | runs | mean error | "
                       "nine in ten errors below | inside the 90 %% interval |\n"
                       "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < r->count; i++) {
        size_t length = table_length(r->rows[i].id);
        if (length && strcmp(r->rows[i].id + length + 1, "n") == 0)
            add_brief_row(text, r, &r->rows[i]);
    }
}

void fr_training_markdown(const struct fr_reproduction *r, struct fr_text *text) {
    fr_text_addf(
        text,
        "| table | procedure | kind | runs | plans | preset alone | mean error | median | 90 "
        "%% below | bias | tau | "
        "in groups | regret, mean | worst | in 90 %% interval | mean error asked |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < r->count; i++) {
        size_t length = table_length(r->rows[i].id);
        if (length && strcmp(r->rows[i].id + length + 1, "n") == 0)
            add_table(text, r, &r->rows[i]);
    }
    add_commands(text, r);
    add_software(text, r);
    add_ablations(text, r);
    add_left_out(text, r);
    add_single(text, r);
}
