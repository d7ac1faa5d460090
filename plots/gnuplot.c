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

/* Sizes are pixels at 96 to the inch for pdf; the fonts look alike in all three. */
static const struct terminal {
    const char *extension, *setup;
    double unit_px;   /* pixels in one unit of `size` */
    double font_size; /* what 12 px are called */
    double finer; /* how it is enlarged where a width is asked for, at 300 to the inch or not;
                         0: in the file itself, see resize */
} terminals[] = {
    {"svg", "svg name 'forerun'", 1, 12, 0},
    {"png", "pngcairo", 1, 9, 300 / 96.0},
    {"pdf", "pdfcairo", 96, 9, 1},
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

/* A file's name, the same bytes: hidden characters, which would be blanks above, by their numbers. */
static void quote_path(struct fr_text *script, const char *path) {
    fr_text_add(script, "'", 1);
    for (const char *c = path; *c;) {
        uint32_t code;
        int length = fr_utf8_character(c, &code);
        bool plain = length > 0 && !fr_is_hidden(code) && *c != '\'';
        if (length == 0) length = 1;
        if (plain)
            fr_text_add(script, c, (size_t)length);
        else
            for (int i = 0; i < length; i++)
                fr_text_addf(script, "'.\"\\%03o\".'", (unsigned)(unsigned char)c[i]);
        c += length;
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

static const char *face_of(const struct fr_figure_options *o) {
    return o->face ? o->face : "DejaVu Sans";
}

/* How much larger than it was laid out. */
static double scale_of(const struct fr_gnuplot_job *job, const struct fr_figure_options *o) {
    return o->width_in > 0 ? o->width_in * 96 / job->width_px : 1;
}

/* Lines before the script: where to, in which form, from which data. */
static void add_prelude(struct fr_text *text, const struct terminal *terminal,
                        const struct fr_gnuplot_job *job, const struct fr_figure_options *o,
                        const char *output, const char *data) {
    struct fr_text font = {0};
    double size = terminal->font_size * (o->font_pt > 0 ? o->font_pt / 9 : 1);
    fr_text_addf(&font, "%s,%g", face_of(o), size);
    double scale = scale_of(job, o) * terminal->finer;
    bool scaled = o->width_in > 0 && terminal->finer > 0;
    if (!scaled) scale = 1;
    fr_text_addf(text, "set encoding utf8\nset terminal %s size %g,%g noenhanced ",
                 terminal->setup, scale * job->width_px / terminal->unit_px,
                 scale * job->height_px / terminal->unit_px);
    if (scaled)
        fr_text_addf(text, "fontscale %g linewidth %g pointscale %g ", scale, scale, scale);
    fr_text_addf(text, "background '#ffffff' font ");
    fr_gnuplot_quote(text, fr_text_get(&font));
    fr_text_addf(text, "\nFONT = %g\nFACE = ", size);
    fr_gnuplot_quote(text, face_of(o));
    fr_text_addf(text, "\nSMALL = '\"%s,%g\"'\nset output ", face_of(o), size * 10 / 12);
    fr_text_free(&font);
    quote_path(text, output);
    fr_text_addf(text, "\ndata = ");
    quote_path(text, data);
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
    const char *message = about_script(complaint);
    bool warned = strstr(message, "warning:") && strstr(complaint, "\"figure.gp\"");
    char words[FR_ENDED_B];
    if (ended->code == 0 && !warned) return FR_OK;
    int length = (int)strlen(message);
    while (length > 0 && strchr("\n\r ", message[length - 1])) length--;
    return fr_fail(err, FR_ERR_EXTERNAL, NULL, "gnuplot %s and said: %.*s",
                   fr_ended_words(ended, words), length, message);
}

/* The size that an SVG gives itself, `width="1200" height="520"`, in inches: what is drawn in it stays. */
static void resize(const char *svg, size_t length, const struct fr_gnuplot_job *job,
                   const struct fr_figure_options *o, struct fr_text *out) {
    struct fr_text from = {0};
    fr_text_addf(&from, "width=\"%d\" height=\"%d\"", job->width_px, job->height_px);
    const char *at = strstr(svg, fr_text_get(&from));
    size_t before = at ? (size_t)(at - svg) : length;
    fr_text_add(out, svg, before);
    if (at) {
        double height_in = o->width_in * job->height_px / job->width_px;
        fr_text_addf(out, "width=\"%.4gin\" height=\"%.4gin\"", o->width_in, height_in);
        fr_text_add(out, at + from.length, length - before - from.length);
    }
    fr_text_free(&from);
}

static fr_status take_picture(const char *path, const struct terminal *terminal,
                              const struct fr_gnuplot_job *job,
                              const struct fr_figure_options *o, struct fr_error *err) {
    const char *output = o->output;
    char *picture = NULL;
    size_t length = 0;
    struct fr_error why = {0};
    fr_status status = fr_file_read(path, FR_FILE_MAX_B, &picture, &length, &why);
    if (status == FR_OK && length == 0)
        status = fr_fail(err, FR_ERR_EXTERNAL, NULL, "gnuplot left an empty picture");
    else if (status != FR_OK)
        status = fr_fail(err, status == FR_ERR_INPUT ? FR_ERR_EXTERNAL : status, NULL,
                         "gnuplot's picture %s", why.detail);
    struct fr_text resized = {0};
    if (status == FR_OK && o->width_in > 0 && terminal->finer == 0) {
        resize(picture, length, job, o, &resized);
        if (resized.failed) status = fr_fail(err, FR_ERR_NOMEM, output, "out of memory");
    }
    if (status == FR_OK && o->into)
        fr_text_add(o->into, resized.length ? resized.data : picture,
                    resized.length ? resized.length : length);
    else if (status == FR_OK)
        status = resized.length ? fr_file_write_last(output, resized.data, resized.length, err)
                                : fr_file_write_last(output, picture, length, err);
    fr_text_free(&resized);
    free(picture);
    return status;
}

/* FILE.gp and FILE.dat, to be run by hand in their folder.  "./" keeps gnuplot from reading a
 * name that starts with '<' or '|' as a command. */
static fr_status keep(const struct terminal *terminal, const struct fr_gnuplot_job *job,
                      const struct fr_figure_options *o, struct fr_error *err) {
    const char *output = o->output;
    const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output;
    int stem = (int)(strrchr(output, '.') - output), stem_base = (int)(output + stem - base);
    struct fr_text text = {0}, path = {0}, data = {0}, picture = {0};
    fr_text_addf(&data, "./%.*s.dat", stem_base, base);
    fr_text_addf(&picture, "./%s", base);
    add_prelude(&text, terminal, job, o, fr_text_get(&picture), fr_text_get(&data));
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
    add_prelude(&text, terminal, job, o, picture_name, data_name);
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
    FR_TRY(take_picture(picture, terminal, job, o, err));
    return o->keep_script ? keep(terminal, job, o, err) : FR_OK;
}

fr_status fr_gnuplot_draw(const struct fr_gnuplot_job *job, const struct fr_figure_options *o,
                          struct fr_error *err) {
    const struct terminal *terminal = NULL;
    char folder[FR_TEMPORARY_PATH_B];
    FR_TRY(find_terminal(o->output, &terminal, err));
    if (!o->into) FR_TRY(fr_file_check_writable(o->output, err));
    FR_TRY(fr_temporary_folder("plot", folder, err));
    fr_status status = draw_in(folder, terminal, job, o, err);
    fr_temporary_remove_folder(folder);
    return status;
}

bool fr_gnuplot_installed(void) { return fr_process_find("gnuplot", NULL); }
