/* A launch script, or a command line: "--micro-batch-size 2", "model.cp_comm_type=p2p", as it runs (answer/trainer/shell.h).
 *
 *      TP=8                    a variable;  $TP, ${TP}, ${TP:-4}, $((TP * PP)) are its value where it has one
 *      ARGS=(--swiglu ...)     options inside arrays and strings are read where they stand
 *      #SBATCH --nodes=4       options of the job, called sbatch_nodes
 *      # anything else         a comment
 *
 *  An option's values stand on its line. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/here.h"
#include "answer/trainer/settings.h"
#include "answer/trainer/shell.h"

enum { WORD = FR_SHELL_WORD, VALUE = 1024, LINE = 2048 };

static bool is_quote(char c) { return c == '"' || c == '\''; }

/* Is line[at] between words?  A comma and the brackets of a list of Python's words are, too. */
static bool is_between(const char *line, size_t n, size_t at) {
    const char c = line[at];
    if (c == '[') return at + 1 < n && is_quote(line[at + 1]);
    if (c == ']') return at > 0 && is_quote(line[at - 1]);
    return isspace((unsigned char)c) || (c && strchr("\"'()\\;`,", c));
}

/* The next word of a line: blanks, quote marks, brackets and backslashes are between words, but inside $(( )), ${ } and a
 * value's own brackets. */
static size_t next_word(const char *line, size_t n, size_t *at, char out[WORD]) {
    size_t used = 0;
    int depth = 0;
    while (*at < n && is_between(line, n, *at)) ++*at;
    for (; *at < n && used + 1 < WORD; ++*at) {
        char c = line[*at];
        bool opens = strchr("({[", c) != NULL && c, closes = strchr(")}]", c) != NULL && c;
        if (closes && depth == 0 && c == ')') break;
        if (depth == 0 && (isspace((unsigned char)c) || c == '"' || c == '\'' || c == ';'))
            break;
        if (opens) depth++;
        if (closes && depth) depth--;
        out[used++] = c;
    }
    while (used && out[used - 1] == '\\') used--;
    out[used] = '\0';
    return used;
}

/* "NAME=value" of the shell. */
static bool is_variable(const char *word, size_t *name) {
    size_t n = 0;
    while (isalnum((unsigned char)word[n]) || word[n] == '_') n++;
    *name = n;
    return n && n < 60 && word[n] == '=' && !isdigit((unsigned char)*word);
}

/* A word "NAME=" whose value stands in quote marks behind it. */
static void quoted_value(const char *line, size_t n, size_t *at, char word[WORD]) {
    size_t used = strlen(word);
    if (!used || word[used - 1] != '=' || *at >= n || !strchr("\"'", line[*at])) return;
    char quote = line[*at];
    size_t from = *at + 1, end = from;
    while (end < n && line[end] != quote) end++;
    bool options = end - from >= 2 && line[from] == '-' && line[from + 1] == '-';
    if (options || memchr(line + from, ' ', end - from) || end == n) return;
    snprintf(word + used, WORD - used, "%.*s", (int)(end - from), line + from);
    *at = end + 1;
}

struct option {
    char name[WORD], value[VALUE];
    size_t used;
    int line;
    bool open, letter; /**< "-m": of a single value */
};

static void end_option(struct option *o, struct fr_settings *s) {
    if (o->open)
        fr_settings_add(s, o->name, strlen(o->name), o->used ? o->value : "True",
                        o->used ? o->used : 4, o->line);
    *o = (struct option){.open = false};
}

static void add_value(struct option *o, const char *word) {
    size_t n = strlen(word);
    if (o->used + n + 2 > sizeof o->value) return;
    o->used += (size_t)snprintf(o->value + o->used, sizeof o->value - o->used, "%s%s",
                                o->used ? " " : "", word);
}

static bool is_option(const char *word) {
    return word[0] == '-' && (isalpha((unsigned char)word[1]) ||
                              (word[1] == '-' && isalpha((unsigned char)word[2])));
}

/* Kinds of words: the command's own, a sign behind which the next command begins, and where its output goes. */
typedef enum { WORD_OWN, WORD_NEXT, WORD_INTO, WORD_INTO_NEXT } word_kind;

/* "2>&1", "&>log", ">": a file stands behind the sign, or in the next word. */
static word_kind kind_of(const char *word) {
    static const char *const nexts[] = {"|", "|&", "||", "&&", "&", NULL};
    for (int i = 0; nexts[i]; i++)
        if (strcmp(word, nexts[i]) == 0) return WORD_NEXT;
    const char *at = word + strspn(word, "0123456789");
    at += *at == '&';
    if (*at != '>' && *at != '<') return WORD_OWN;
    at += strspn(at, "<>|");
    return *at ? WORD_INTO : WORD_INTO_NEXT;
}

/* "$@", "${@}": arguments of the script, of which there are none. */
static bool is_no_argument(const char *raw) {
    return strncmp(raw, "$@", 2) == 0 || strncmp(raw, "$*", 2) == 0 ||
           strncmp(raw, "${@", 3) == 0 || strncmp(raw, "${*", 3) == 0;
}

/* A script is read into this. */
struct script {
    struct fr_shell *shell;
    struct fr_settings *settings;
    const char *text, *prefix; /**< all of it; what names of options begin with */
    size_t length;
    int line;
    bool unused; /**< inside an array that no command takes */
};

static bool is_program(const char *word) {
    const size_t n = strlen(word);
    return n > 3 && strcmp(word + n - 3, ".py") == 0;
}

static bool file_of_settings(const char *word) {
    const char *dot = strrchr(word, '.');
    return dot &&
           (strcmp(dot, ".yml") == 0 || strcmp(dot, ".yaml") == 0 || strcmp(dot, ".toml") == 0);
}

/* Before a command's own words "name=value" sets a variable; behind one it is a setting of Hydra's kind. */
static void take_word(const char *raw, bool first, struct script *in, struct option *o) {
    char word[WORD];
    size_t name;
    const bool lower = islower((unsigned char)*raw);
    if (is_variable(raw, &name) && (first || !lower)) {
        end_option(o, in->settings);
        fr_shell_set(in->shell, raw, name, raw + name + 1);
        if (!lower) return;
    }
    fr_shell_expand(in->shell, raw, word);
    char *equals = strchr(word, '=');
    if (is_option(word)) {
        end_option(o, in->settings);
        if (equals) *equals = '\0';
        snprintf(o->name, sizeof o->name, "%s%.*s", in->prefix, 400, word + strspn(word, "-"));
        o->line = in->line;
        o->open = true;
        o->letter = word[1] != '-';
        o->used = 0;
        if (equals) {
            add_value(o, equals + 1);
            end_option(o, in->settings);
        }
    } else if (is_program(word) || strstr(word, "[@]}") || strstr(word, "[*]}"))
        end_option(
            o, in->settings); /* what is started, or an array that was read where it stands */
    else if (o->open) {
        add_value(o, word);
        if (o->letter) end_option(o, in->settings);
    } else if (equals && equals > word && islower((unsigned char)*word))
        fr_settings_add(in->settings, word, (size_t)(equals - word), equals + 1,
                        strlen(equals + 1), in->line);
    else if (file_of_settings(word))
        fr_settings_add(in->settings, "config_file", 11, word, strlen(word), in->line);
}

/* "NAME=(" or "NAME+=("; @return its length, 0: it is none. */
static size_t array_at(const char *line, size_t n, size_t *name) {
    *name = 0;
    while (*name < n && (isalnum((unsigned char)line[*name]) || line[*name] == '_')) ++*name;
    const size_t sign = *name + (*name < n && line[*name] == '+');
    return *name && sign + 1 < n && strncmp(line + sign, "=(", 2) == 0 ? sign + 2 : 0;
}

static void take_statement(void *to, const char *line, size_t n) {
    static const char *const declare[] = {"export", "declare", "local", "readonly", "set"};
    struct script *in = to;
    struct option option = {.open = false};
    char word[WORD];
    bool first = true, into = false;
    size_t of_array;
    for (size_t at = array_at(line, n, &of_array); at < n;) {
        const size_t before = at;
        if (!next_word(line, n, &at, word) && at >= n) break;
        quoted_value(line, n, &at, word);
        if (first && (strcmp(word, "echo") == 0 || strcmp(word, "printf") == 0)) return;
        const word_kind kind = kind_of(word);
        const bool split = strncmp(word, ".split(", 7) == 0; /* of Python's strings */
        if (into || kind != WORD_OWN || is_no_argument(word) || split) {
            if (kind == WORD_NEXT) {
                end_option(&option, in->settings);
                first = true;
            }
            into = kind == WORD_INTO_NEXT;
            if (at == before) at++;
            continue;
        }
        if (*word) take_word(word, first, in, &option);
        size_t name;
        bool declares = is_variable(word, &name);
        for (size_t i = 0; i < sizeof declare / sizeof *declare; i++)
            declares = declares || strcmp(word, declare[i]) == 0;
        if (*word && !declares) first = false;
        if (at == before) at++;
    }
    end_option(&option, in->settings);
}

/* Is "$NAME" anywhere in the script? */
static bool is_used(const struct script *in, const char *name, size_t n) {
    for (size_t i = 0; i + n + 1 < in->length; i++) {
        if (in->text[i] != '$') continue;
        const char *at = in->text + i + 1 + (in->text[i + 1] == '{');
        const size_t left = in->length - (size_t)(at - in->text);
        if (left > n && strncmp(at, name, n) == 0 && !isalnum((unsigned char)at[n]) &&
            at[n] != '_')
            return true;
    }
    return false;
}

static bool starts_program(const struct script *in) {
    for (size_t i = 0; i + 4 < in->length; i++)
        if (strncmp(in->text + i, ".py", 3) == 0 && !isalnum((unsigned char)in->text[i + 3]))
            return true;
    return false;
}

/* Options of an array count where a command takes it. */
static void enter_array(struct script *in, const char *line, size_t n) {
    size_t name;
    if (array_at(line, n, &name)) in->unused = starts_program(in) && !is_used(in, line, name);
}

static bool leaves_array(const char *line, size_t n) {
    int depth = 0;
    bool closes = false;
    for (size_t i = 0; i < n && line[i] != '#'; i++) {
        depth += (line[i] == '(') - (line[i] == ')');
        closes = closes || depth < 0 || (line[i] == ')' && depth == 0);
    }
    return closes && depth <= 0;
}

/* The job's own variables say what its options do. */
static void set_job_variables(struct script *in) {
    static const char *const names[][2] = {{"sbatch_nodes", "SLURM_NNODES"},
                                           {"sbatch_N", "SLURM_NNODES"},
                                           {"sbatch_nodes", "SLURM_JOB_NUM_NODES"},
                                           {"sbatch_N", "SLURM_JOB_NUM_NODES"},
                                           {"sbatch_ntasks", "SLURM_NTASKS"},
                                           {"sbatch_n", "SLURM_NTASKS"},
                                           {"sbatch_ntasks_per_node", "SLURM_NTASKS_PER_NODE"},
                                           {"sbatch_gpus_per_node", "SLURM_GPUS_ON_NODE"},
                                           {"sbatch_gpus_per_node", "SLURM_GPUS_PER_NODE"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct fr_setting *s = fr_settings_find(in->settings, names[i][0]);
        if (s) fr_shell_set(in->shell, names[i][1], strlen(names[i][1]), s->value);
    }
}

/* "`expr 1 + 1`" as "$(expr 1 + 1)", which says where it ends.  @return the length, 0: the line has none */
static size_t with_brackets(const char *line, size_t n, char out[LINE]) {
    static const char mark[] = "`expr ";
    size_t used = 0;
    bool inside = false, any = false;
    for (size_t i = 0; i < n && used + 3 < LINE; i++) {
        const bool opens =
            !inside && i + sizeof mark - 1 < n && strncmp(line + i, mark, sizeof mark - 1) == 0;
        const bool closes = inside && line[i] == '`';
        any = any || opens;
        if (opens) out[used++] = '$';
        out[used++] = opens ? '(' : closes ? ')' : line[i];
        inside = (inside || opens) && !closes;
    }
    return any && !inside ? used : 0;
}

static void read_line(const char *line, size_t n, struct script *in) {
    char brackets[LINE];
    const size_t changed = memchr(line, '`', n) ? with_brackets(line, n, brackets) : 0;
    if (changed) line = brackets, n = changed;
    size_t at = 0;
    while (at < n && isspace((unsigned char)line[at])) at++;
    in->prefix = "";
    if (n - at > 8 && strncmp(line + at, "#SBATCH ", 8) == 0) {
        in->prefix = "sbatch_";
        take_statement(in, line + at + 8, n - at - 8);
        set_job_variables(in);
        return;
    }
    enter_array(in, line + at, n - at);
    if (!in->unused) fr_shell_line(in->shell, line + at, n - at, take_statement, in);
    if (in->unused && leaves_array(line + at, n - at)) in->unused = false;
}

static void read(const char *text, size_t length, struct fr_settings *s) {
    struct script in = {.shell = fr_shell_new(), .settings = s, .text = text, .length = length};
    const char *line;
    size_t n;
    if (!in.shell) {
        s->failed = true;
        return;
    }
    struct fr_here here = {.syntax = NULL};
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);) {
        in.line++;
        if (*here.end && fr_here_add(&here, in.shell, line, n))
            fr_here_end(&here, s);
        else if (!*here.end || here.lines)
            read_line(line, n, &in);
        else
            continue;
        if (!*here.end && at < length)
            fr_here_begin(line, n, in.line, text + at, length - at, &here);
    }
    fr_here_end(&here, s);
    fr_shell_free(in.shell);
}

/* "--name" at line[i..n), but not the "--name:" of a YAML key. */
static bool is_option_at(const char *line, size_t n, size_t i) {
    size_t end = i + 2;
    if (i + 4 >= n || line[i] != '-' || line[i + 1] != '-' ||
        !isalpha((unsigned char)line[i + 2]) || !isalpha((unsigned char)line[i + 3]))
        return false;
    while (end < n && (isalnum((unsigned char)line[end]) || strchr("-_.", line[end]))) end++;
    return (i == 0 || strchr(" \t\"'(", line[i - 1])) && (end == n || line[end] != ':');
}

/* A line that starts a program, whose settings may be "name=value" alone. */
static bool starts(const char *line, size_t n) {
    static const char *const words[] = {"#!/", "python", "torchrun ", "srun "};
    while (n && isspace((unsigned char)*line)) line++, n--;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (n > strlen(words[i]) && strncmp(line, words[i], strlen(words[i])) == 0)
            return i == 0 || memchr(line, ' ', n);
    return false;
}

static bool knows(const char *text, size_t length) {
    const char *line;
    size_t n;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);)
        if (starts(line, n)) return true;
    for (size_t at = 0; fr_settings_line(text, length, &at, &line, &n);)
        for (size_t i = 0; i + 4 < n; i++)
            if (is_option_at(line, n, i)) return true;
    return false;
}

const struct fr_syntax fr_syntax_flags = {
    .name = "a script", .knows = knows, .read = read, .whole = true};
