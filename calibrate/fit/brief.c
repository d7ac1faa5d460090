#include "calibrate/fit/brief.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/script/command.h"
#include "base/text/brief.h"
#include "base/text/readable.h"
#include "base/text/wrap.h"

/* Products and attention of an accelerator are points too. */
static int count_points(const struct fr_fit_result *r) {
    int n = r->n_points + r->attention.n;
    for (int d = 0; d < FR_DTYPE_COUNT && r->card.present; d++) n += r->singles[d].n;
    return n;
}

static void question(struct fr_brief *brief, const struct fr_fit_result *r) {
    char line[200], points[FR_READABLE], ranks[FR_READABLE];
    snprintf(line, sizeof line, "%s: %s points measured on %s rank%s%s%s",
             *r->name && !r->unnamed ? r->name : "this machine",
             fr_readable_count(count_points(r), points),
             fr_readable_count(r->provenance.ranks, ranks), r->provenance.ranks == 1 ? "" : "s",
             *r->provenance.device ? ", " : "", r->provenance.device);
    fr_brief_head(brief, line);
}

static void answer(struct fr_brief *brief, const struct fr_fit_result *r) {
    static const struct {
        const char *verdict, *words;
    } means[] = {{"PASS", "predictions may rest on it"},
                 {"WARN", "predictions rest on it with wider intervals"},
                 {"FAIL", "do not rely on it: the true time may be more than 2x off"}};
    const struct fr_fit_verdict *judged = &r->judged;
    const char *words = "";
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        if (judged->verdict && strcmp(judged->verdict, means[i].verdict) == 0)
            words = means[i].words;
    fr_brief_row(brief, FR_BRIEF_MUST, "verdict", "%s%s%s",
                 judged->verdict ? judged->verdict : "not judged", *words ? ": " : "", words);
    for (int i = 0; i < judged->n_reasons && i < 3; i++)
        fr_brief_row(brief, i ? FR_BRIEF_MAY : FR_BRIEF_SHOULD, i ? "" : "because", "%s",
                     judged->reason[i]);
}

static void sure(struct fr_brief *brief, const struct fr_fit_result *r) {
    const double held_out = fr_fit_held_out(r), variation = fr_fit_variation(r);
    char error[FR_READABLE], varies[FR_READABLE];
    struct fr_text words = {0};
    if (isfinite(held_out))
        fr_text_addf(&words, "what was left out of the fit is met to %s in the median",
                     fr_readable_percent(held_out, error));
    if (isfinite(variation) && variation > 0)
        fr_text_addf(&words, "%sthe machine's own speed varies by %s", words.length ? "; " : "",
                     fr_readable_percent(variation, varies));
    fr_brief_words(brief, FR_BRIEF_SHOULD, "sure", &words);
    for (int i = 0; i < r->n_missing; i++)
        fr_brief_row(brief, FR_BRIEF_SHOULD, i ? "" : "missing", "%s", r->missing[i]);
}

/* A rank: products, memory, calls, power. */
static void device(struct fr_brief *brief, const struct fr_fit_result *r) {
    char a[FR_READABLE], b[FR_READABLE];
    for (int i = 0; i < FR_DTYPE_COUNT; i++) {
        const struct fr_fit_gemm *gemm = &r->gemm[i];
        const struct fr_fit_singles *s = &r->singles[i];
        if (gemm->n_m > 0)
            fr_brief_row(brief, FR_BRIEF_SHOULD, "products",
                         "%s: %d x %d x %d shapes, one from its neighbours to %s in the median",
                         fr_dtype_names[i], gemm->n_m, gemm->n_n, gemm->n_k,
                         fr_readable_percent(gemm->quality.median, a));
        if (s->n > 0)
            fr_brief_row(brief, FR_BRIEF_SHOULD, "products",
                         "%s: %d of them, met to %s in the median", fr_dtype_names[i], s->n,
                         fr_readable_percent(s->quality.median, a));
    }
    if (r->has_device)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "memory", "%s a rank, %s a call",
                     fr_readable(r->memory_rate_B_per_s, FR_QUANTITY_RATE, a),
                     fr_readable(r->launch_s, FR_QUANTITY_TIME, b));
    if (r->work_W[FR_POWER_BUSY] > 0)
        fr_brief_row(brief, FR_BRIEF_SHOULD, "power", "%s at work, %s idle",
                     fr_readable(r->work_W[FR_POWER_BUSY], FR_QUANTITY_POWER, a),
                     fr_readable(r->work_W[FR_POWER_IDLE], FR_QUANTITY_POWER, b));
    else
        fr_brief_row(brief, FR_BRIEF_MAY, "power", "no meter was read: energy is not known");
}

static void links(struct fr_brief *brief, const struct fr_fit_result *r) {
    char a[FR_READABLE], b[FR_READABLE];
    for (int i = 0; i < r->levels.count; i++) {
        const struct fr_level *level = &r->levels.level[i];
        fr_brief_row(brief, FR_BRIEF_SHOULD, i ? "" : "links",
                     "%s of %" PRId64 " ranks: %s, %s", level->name, level->ranks,
                     fr_readable(level->latency_s, FR_QUANTITY_TIME, a),
                     fr_readable(level->rate_B_per_s, FR_QUANTITY_RATE, b));
    }
    struct fr_text words = {0};
    for (int i = 0; i < FR_OP_COUNT; i++) {
        const struct fr_fit_op *op = &r->ops[i];
        if (op->n_points == 0) continue;
        fr_text_addf(&words, "%s%s %s (%s)", words.length ? ", " : "", fr_op_names[i],
                     fr_readable_percent(op->candidate[op->chosen].quality.median, a),
                     fr_fit_form_names[op->chosen]);
    }
    fr_brief_words(brief, FR_BRIEF_SHOULD, "errors", &words);
}

/* Trainings that run here for real are of processors; of an accelerator its page says more. */
static void next_of_card(struct fr_brief *brief, const char *file, const char *samples) {
    struct fr_text command = {0};
    if (file) {
        fr_command_begin(&command, "forerun predict");
        fr_command_option(&command, "cluster", file);
        fr_command_option(&command, "model", "llama-3-8b");
        fr_brief_command(brief, "next", fr_text_get(&command), "");
        fr_text_free(&command);
    }
    fr_command_begin(&command, "forerun report");
    fr_command_word(&command, samples);
    fr_command_word(&command, "-o");
    fr_command_word(&command, "report.html");
    fr_brief_command(brief, file ? "" : "next", fr_text_get(&command), "");
    fr_text_free(&command);
    fr_brief_row(brief, FR_BRIEF_MUST, "", "shows the roofline and the rates by shape");
}

static void next(struct fr_brief *brief, const struct fr_fit_result *result, const char *file,
                 const char *samples) {
    struct fr_text command = {0};
    if (file) {
        fr_brief_row(brief, FR_BRIEF_MUST, "written", "%s", file);
        if (result->unnamed)
            fr_brief_row(brief, FR_BRIEF_MUST, "",
                         "without a name: how is this cluster called?  forerun fit --name NAME "
                         "writes it");
    }
    if (result->card.present) {
        next_of_card(brief, file, samples);
        return;
    }
    if (file) {
        fr_command_begin(&command, "forerun validate");
        fr_command_option(&command, "cluster", file);
        fr_brief_command(brief, "next", fr_text_get(&command), "");
        fr_text_free(&command);
    }
    fr_command_begin(&command, "forerun fit");
    fr_command_word(&command, samples);
    fr_brief_command(brief, file ? "" : "next", fr_text_get(&command), "");
    fr_text_free(&command);
    fr_brief_row(brief, FR_BRIEF_MUST, "",
                 "prints every residual, as calibrate does with --all");
}

void fr_fit_brief(const struct fr_fit_result *result, const char *file, const char *samples,
                  struct fr_text *text) {
    struct fr_brief brief = {0};
    question(&brief, result);
    answer(&brief, result);
    sure(&brief, result);
    fr_brief_row(&brief, FR_BRIEF_SHOULD, "changes",
                 "with more time: forerun calibrate --resume --budget 30m narrows it");
    fr_brief_blank(&brief);
    device(&brief, result);
    links(&brief, result);
    fr_brief_blank(&brief);
    next(&brief, result, file, samples);
    fr_brief_print(&brief, FR_COLUMNS, text);
}
