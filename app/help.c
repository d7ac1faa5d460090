#include "app/help.h"

#include <string.h>

#include "base/text/wrap.h"

enum { OPTION_COLUMN = 29 };

static void new_line(struct fr_text *text, int indent) {
    fr_text_addf(text, "\n%*s", indent, "");
}

/* Where a command may be broken next: before an option, or its end. */
static size_t piece(const char *command) {
    const char *option = strstr(command + 1, " --");
    return option ? (size_t)(option - command) : strlen(command);
}

static void add_command(struct fr_text *text, const char *command) {
    const int width = FR_COLUMNS - 2; /* the backslash and the space before it */
    int column = 0;
    while (*command) {
        size_t length = piece(command);
        int wide = fr_letters(command, length);
        bool last = command[length] == '\0';
        if (column > 0 && column + wide > (last ? FR_COLUMNS : width)) {
            fr_text_addf(text, " \\");
            new_line(text, 6);
            column = 6 - 1; /* the space before the option is not written */
            fr_text_addf(text, "%.*s", (int)length - 1, command + 1);
        } else
            fr_text_addf(text, "%.*s", (int)length, command);
        column += wide;
        command += length;
    }
}

/* A line of @p details into @p line. @return where the next one begins. */
static const char *next_line(const char *details, struct fr_text *line) {
    size_t length = strcspn(details, "\n");
    line->length = 0;
    fr_text_add(line, details, length);
    return details + length + (details[length] == '\n');
}

/* Prose goes on in the next line where that is prose, too, and this one was full. */
static bool goes_on(const struct fr_text *line, const char *next) {
    const int full = 60;
    return fr_letters(line->data, line->length) > full && *next && *next != '\n' &&
           *next != ' ';
}

void fr_help_details(struct fr_text *text, const char *details) {
    struct fr_text line = {0}, prose = {0};
    while (*details) {
        details = next_line(details, &line);
        if (strncmp(fr_text_get(&line), "  ", 2) == 0)
            add_command(text, line.data);
        else {
            fr_text_addf(&prose, "%s%s", prose.length ? " " : "", fr_text_get(&line));
            if (goes_on(&line, details)) continue;
            fr_wrap(text, fr_text_get(&prose), 0, 0, FR_COLUMNS);
            prose.length = 0;
        }
        fr_text_addf(text, "\n");
    }
    fr_text_free(&line);
    fr_text_free(&prose);
}

static void add_option(struct fr_text *text, const struct fr_option *option) {
    char head[96], letter[8] = "   ";
    if (option->letter) snprintf(letter, sizeof letter, "-%c,", option->letter);
    snprintf(head, sizeof head, "  %s --%s%s%s", letter, option->name,
             option->argument ? " " : "", option->argument ? option->argument : "");
    fr_text_addf(text, "%-*s", OPTION_COLUMN, head);
    if (strlen(head) + 2 > OPTION_COLUMN) new_line(text, OPTION_COLUMN);
    fr_text_addf(text, "  ");
    fr_wrap(text, option->help, OPTION_COLUMN + 2, OPTION_COLUMN + 2, FR_COLUMNS);
    fr_text_addf(text, "\n");
}

/* One line of usage each, after the first those of another way to call it. */
static void add_usage(struct fr_text *text, const struct fr_verb *verb) {
    struct fr_text line = {0};
    const char *usage = verb->usage;
    fr_text_addf(text, "usage: forerun %s ", verb->name);
    int column = (int)(strlen("usage: forerun  ") + strlen(verb->name));
    for (; *usage; column = 0) {
        usage = next_line(usage, &line);
        fr_text_addf(text, "%.*s", (int)strspn(line.data, " "), line.data);
        fr_wrap(text, line.data + strspn(line.data, " "), column + (int)strspn(line.data, " "),
                9, FR_COLUMNS);
        fr_text_addf(text, "\n");
    }
    fr_text_free(&line);
}

/* Words that may stand first. */
static void add_words(struct fr_text *text, const struct fr_verb *verb) {
    struct fr_text words = {0};
    for (int i = 0; verb->word(i); i++)
        fr_text_addf(&words, "%s%s", i ? ", " : "First word: ", verb->word(i));
    fr_text_addf(text, "\n");
    fr_wrap(text, fr_text_get(&words), 0, 4, FR_COLUMNS);
    fr_text_addf(text, "\n");
    fr_text_free(&words);
}

void fr_help_verb(struct fr_text *text, const struct fr_verb *verb) {
    fr_text_addf(text, "forerun %s - ", verb->name);
    fr_wrap(text, verb->summary, (int)(strlen("forerun  - ") + strlen(verb->name)), 4,
            FR_COLUMNS);
    fr_text_addf(text, "\n\n");
    add_usage(text, verb);
    fr_text_addf(text, "\n");
    for (const struct fr_option *o = verb->options; o->name; o++) add_option(text, o);
    if (verb->details) {
        fr_text_addf(text, "\n");
        fr_help_details(text, verb->details);
    }
    if (verb->word) add_words(text, verb);
}

void fr_help_program(struct fr_text *text) {
    fr_text_addf(text, "forerun - what will this training run cost, and which configuration is "
                       "best?\n\n");
    fr_help_details(text,
                    "  forerun predict --cluster frontier --model ffn-16384 "
                    "--set method=phantom --set tp=8 --set ghost=16\n"
                    "  forerun search --cluster dgx-h100 --model llama-3-70b --ranks 512\n"
                    "\n");
    for (const struct fr_verb *const *v = fr_verbs; *v; v++) {
        fr_text_addf(text, "  %-12s ", (*v)->name);
        fr_wrap(text, (*v)->summary, 15, 15, FR_COLUMNS);
        fr_text_addf(text, "\n");
    }
    fr_help_details(
        text,
        "\nforerun VERB --help tells more; forerun --version. --color auto|always|never is for "
        "every VERB. Exit codes: 0 ok, "
        "1 failure at run time, 2 usage, 3 bad input, 4 nothing feasible, "
        "5 partial result saved, 6 a run outside its interval.\n");
}
