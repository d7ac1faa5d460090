#include "plots/gnuplot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "base/file.h"
#include "base/process.h"
#include "base/temporary.h"

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

/* Text is UTF-8 whatever the caller's locale: under LC_ALL=C gnuplot would complain that it cannot
 * convert its own degree sign. */
static fr_status run_gnuplot(const char *folder, struct fr_text *complaint,
                             struct fr_ended *ended, struct fr_error *err) {
    static const char *const words[] = {"gnuplot", "-d" /* no start-up file */, script_name,
                                        NULL};
    static const char *const variables[] = {"LC_ALL=C.UTF-8", NULL};
    const struct fr_process gnuplot = {.words = words,
                                       .package = "gnuplot-nox",
                                       .variables = variables,
                                       .folder = folder,
                                       .err.text = complaint};
    return fr_process_run(&gnuplot, ended, err);
}

/* gnuplot prefixes a complaint about the script with its name; the sentence starts there, past
 * the line it echoes and past what font libraries may say on their own. */
static const char *about_script(const char *complaint) {
    const char *found = strstr(complaint, "\"figure.gp\"");
    return found ? found : complaint;
}

static fr_status judge(const struct fr_ended *ended, const char *complaint,
                       struct fr_error *err) {
    const char *said = about_script(complaint);
    bool warned = strstr(said, "warning:") && strstr(complaint, "\"figure.gp\"");
    char words[FR_ENDED_B];
    if (ended->code == 0 && !warned) return FR_OK;
    int length = (int)strlen(said);
    while (length > 0 && strchr("\n\r ", said[length - 1])) length--;
    return fr_fail(err, FR_ERR_EXTERNAL, NULL, "gnuplot %s and said: %.*s",
                   fr_ended_words(ended, words), length, said);
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
    char picture[FR_TEMPORARY_PATH_B];
    struct fr_ended ended;
    struct fr_text text = {0}, complaint = {0};
    add_prelude(&text, terminal, job, picture_name, data_name);
    fr_status status = text.failed ? fr_fail(err, FR_ERR_NOMEM, o->output, "out of memory")
                                   : write_in(folder, script_name, text.data, err);
    fr_text_free(&text);
    FR_TRY(status);
    FR_TRY(write_in(folder, data_name, job->data, err));
    fr_temporary_in(folder, picture_name, picture);
    status = run_gnuplot(folder, &complaint, &ended, err);
    if (status == FR_OK) status = judge(&ended, fr_text_get(&complaint), err);
    fr_text_free(&complaint);
    FR_TRY(status);
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

bool fr_gnuplot_installed(void) { return fr_process_find("gnuplot", NULL); }
