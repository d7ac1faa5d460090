#include "plots/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/temporary.h"

enum { COMPLAINT_MAX = 4096, NOT_STARTED = 127 };

/* Files of the temporary folder. */
static const char script_name[] = "figure.gp", data_name[] = "figure.dat",
                  picture_name[] = "figure.out";

/* Sizes are pixels at 100 to the inch for pdf; the fonts look alike in all three. */
static const struct terminal {
    const char *extension, *setup;
    double unit_px;   /* pixels in one unit of `size` */
    double font_size; /* what 12 px are called */
} terminals[] = {
    {"svg", "svg name 'forerun'", 1, 12},
    {"png", "pngcairo", 1, 9},
    {"pdf", "pdfcairo", 100, 9},
};
enum { N_TERMINALS = sizeof terminals / sizeof *terminals };

/* gnuplot writes a text of an SVG as it is into a CDATA section, which "]]>" would end: there it
 * is parted.  Hidden characters and what is no UTF-8 become blanks. */
void fr_gnuplot_quote(struct fr_text *script, const char *string) {
    fr_text_add(script, "'", 1);
    for (const char *c = string; *c;) {
        uint32_t code;
        int length = fr_utf8_character(c, &code);
        if (length == 0 || fr_is_hidden(code))
            fr_text_add(script, " ", 1);
        else if (*c == '\'')
            fr_text_addf(script, "'.\"'\".'");
        else if (strncmp(c, "]]>", 3) == 0)
            fr_text_add(script, "] ", 2);
        else
            fr_text_add(script, c, (size_t)length);
        c += length ? length : 1;
    }
    fr_text_add(script, "'", 1);
}

static fr_status find_terminal(const char *output, const struct terminal **terminal,
                               struct fr_error *err) {
    const char *dot = strrchr(output, '.'), *slash = strrchr(output, '/');
    bool extension = dot && (!slash || dot > slash);
    for (int i = 0; extension && i < N_TERMINALS; i++) {
        if (strcasecmp(dot + 1, terminals[i].extension) != 0) continue;
        *terminal = &terminals[i];
        return FR_OK;
    }
    return fr_fail(err, FR_ERR_USAGE, output,
                   "its ending does not say which picture to draw; use .svg, .png or .pdf");
}

/* What stands before the script: where to, in which form, from which data. */
static void add_prelude(struct fr_text *text, const struct terminal *terminal,
                        const struct fr_gnuplot_job *job, const char *output,
                        const char *data) {
    fr_text_addf(text,
                 "set encoding utf8\nset terminal %s size %g,%g noenhanced "
                 "background '#ffffff' font 'DejaVu Sans,%g'\nFONT = %g\nset output ",
                 terminal->setup, job->width_px / terminal->unit_px,
                 job->height_px / terminal->unit_px, terminal->font_size, terminal->font_size);
    fr_gnuplot_quote(text, output);
    fr_text_addf(text, "\ndata = ");
    fr_gnuplot_quote(text, data);
    fr_text_addf(text, "\n%s\nunset output\n", job->script);
}

static fr_status write_in(const char *folder, const char *name, const char *text,
                          struct fr_error *err) {
    char path[FR_TEMPORARY_PATH_B];
    fr_temporary_in(folder, name, path);
    return fr_temporary_write(path, text, strlen(text), err);
}

/* In the child, between fork and exec: only calls that are safe there, as this program has one
 * thread when it draws.  Text is UTF-8 whatever the caller's locale: under LC_ALL=C gnuplot
 * would complain that it cannot convert its own degree sign. */
static void become_gnuplot(const char *folder, int complaints) {
    static char program[] = "gnuplot", no_startup_file[] = "-d", script[] = "figure.gp";
    char *const arguments[] = {program, no_startup_file, script, NULL};
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(nothing, STDOUT_FILENO) >= 0 &&
        dup2(complaints, STDERR_FILENO) >= 0 && chdir(folder) == 0 &&
        setenv("LC_ALL", "C.UTF-8", 1) == 0)
        execvp(program, arguments);
    _exit(NOT_STARTED);
}

/* Everything the child says, the start of it kept. */
static void listen_to(int fd, char complaint[COMPLAINT_MAX]) {
    char block[512];
    size_t kept = 0;
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size_t room = COMPLAINT_MAX - 1 - kept;
        size_t take = (size_t)got < room ? (size_t)got : room;
        memcpy(complaint + kept, block, take);
        kept += take;
    }
    complaint[kept] = '\0';
}

static fr_status run_gnuplot(const char *folder, char complaint[COMPLAINT_MAX], int *exit_code,
                             struct fr_error *err) {
    int ends[2], how = 0;
    if (pipe(ends) != 0)
        return fr_fail(err, FR_ERR_EXTERNAL, NULL, "gnuplot cannot be started: %s",
                       strerror(errno));
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        become_gnuplot(folder, ends[1]);
    }
    int why = errno;
    if (child > 0) fr_temporary_child(child);
    close(ends[1]);
    if (child > 0) listen_to(ends[0], complaint);
    close(ends[0]);
    if (child < 0)
        return fr_fail(err, FR_ERR_EXTERNAL, NULL, "gnuplot cannot be started: %s",
                       strerror(why));
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
    fr_temporary_child(0);
    *exit_code = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    return FR_OK;
}

/* gnuplot prefixes a complaint about the script with its name; the sentence starts there, past
 * the line it echoes and past what font libraries may say on their own. */
static const char *about_script(const char *complaint) {
    const char *found = strstr(complaint, "\"figure.gp\"");
    return found ? found : complaint;
}

static fr_status judge(int exit_code, char *complaint, struct fr_error *err) {
    bool warned =
        strstr(about_script(complaint), "warning:") && strstr(complaint, "\"figure.gp\"");
    if (exit_code == NOT_STARTED)
        return fr_fail(err, FR_ERR_EXTERNAL, NULL,
                       "gnuplot cannot be started; install gnuplot-nox");
    if (exit_code == 0 && !warned) return FR_OK;
    const char *said = about_script(complaint);
    int length = (int)strlen(said);
    while (length > 0 && strchr("\n\r ", said[length - 1])) length--;
    return fr_fail(err, FR_ERR_EXTERNAL, NULL, "gnuplot ended with %d and said: %.*s",
                   exit_code, length, length ? said : "");
}

static fr_status take_picture(const char *path, const char *output, struct fr_error *err) {
    char *picture = NULL;
    size_t length = 0;
    fr_status status = fr_file_read(path, FR_FILE_MAX_B, &picture, &length, err);
    if (status == FR_OK && length == 0) status = FR_ERR_INPUT;
    if (status == FR_ERR_INPUT)
        status = fr_fail(err, FR_ERR_EXTERNAL, NULL, "gnuplot left no picture");
    if (status == FR_OK) status = fr_file_write_last(output, picture, length, err);
    free(picture);
    return status;
}

/* FILE.gp and FILE.dat, to be run by hand in their folder.  "./" keeps gnuplot from reading a
 * name that starts with '<' or '|' as a command. */
static fr_status keep(const struct terminal *terminal, const struct fr_gnuplot_job *job,
                      const char *output, struct fr_error *err) {
    const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output;
    int stem = (int)(strrchr(output, '.') - output), stem_base = (int)(output + stem - base);
    struct fr_text text = {0}, path = {0}, data = {0}, picture = {0};
    fr_text_addf(&data, "./%.*s.dat", stem_base, base);
    fr_text_addf(&picture, "./%s", base);
    add_prelude(&text, terminal, job, fr_text_get(&picture), fr_text_get(&data));
    fr_text_addf(&path, "%.*s.gp", stem, output);
    fr_status status = text.failed || path.failed || data.failed || picture.failed
                           ? fr_fail(err, FR_ERR_NOMEM, output, "out of memory")
                           : fr_file_write_last(path.data, text.data, text.length, err);
    fr_text_free(&path);
    fr_text_addf(&path, "%.*s.dat", stem, output);
    if (status == FR_OK && path.failed) status = FR_ERR_NOMEM;
    if (status == FR_OK)
        status = fr_file_write_last(path.data, job->data, strlen(job->data), err);
    fr_text_free(&text), fr_text_free(&path), fr_text_free(&data), fr_text_free(&picture);
    return status;
}

static fr_status draw_in(const char *folder, const struct terminal *terminal,
                         const struct fr_gnuplot_job *job, const struct fr_figure_options *o,
                         struct fr_error *err) {
    char complaint[COMPLAINT_MAX] = "", picture[FR_TEMPORARY_PATH_B];
    int exit_code = 0;
    struct fr_text text = {0};
    add_prelude(&text, terminal, job, picture_name, data_name);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, o->output, "out of memory")
                                   : write_in(folder, script_name, text.data, err);
    fr_text_free(&text);
    FR_TRY(status);
    FR_TRY(write_in(folder, data_name, job->data, err));
    fr_temporary_in(folder, picture_name, picture);
    FR_TRY(run_gnuplot(folder, complaint, &exit_code, err));
    FR_TRY(judge(exit_code, complaint, err));
    FR_TRY(take_picture(picture, o->output, err));
    return o->keep_script ? keep(terminal, job, o->output, err) : FR_OK;
}

fr_status fr_gnuplot_draw(const struct fr_gnuplot_job *job, const struct fr_figure_options *o,
                          struct fr_error *err) {
    const struct terminal *terminal = NULL;
    char folder[FR_TEMPORARY_PATH_B];
    FR_TRY(find_terminal(o->output, &terminal, err));
    FR_TRY(fr_file_check_writable(o->output, err));
    FR_TRY(fr_temporary_folder("plot", folder, err));
    fr_status status = draw_in(folder, terminal, job, o, err);
    fr_temporary_remove_folder(folder);
    return status;
}

bool fr_gnuplot_installed(void) {
    char path[512];
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/gnuplot", (int)length, at);
        if (access(path, X_OK) == 0) return true;
        at += length + (at[length] == ':');
    }
    return false;
}
