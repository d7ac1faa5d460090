/* JSON of nccl-tests (-J) as the lines that it prints: args, env, config with its devices, results. */
#include <math.h>
#include <string.h>

#include "calibrate/samples/import_text.h"

static const char *text_of(const struct fr_json *node, const char *key) {
    struct fr_json value = fr_json_member(node, key);
    const char *text = "";
    return fr_json_is_string(&value) && fr_json_text(&value, &text, NULL) == FR_OK ? text : "";
}

static double number_of(const struct fr_json *node, const char *key, double unsaid) {
    struct fr_json value = fr_json_member(node, key);
    return fr_json_is_number(&value) ? fr_json_number_at(node, key) : unsaid;
}

/* Texts of a list, each with @p before it. */
static void put_list(const struct fr_json *root, const char *key, const char *before,
                     const char *behind, struct fr_text *out) {
    struct fr_json list = fr_json_member(root, key);
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json item = fr_json_element(&list, i);
        const char *text = "";
        if (fr_json_is_string(&item) && fr_json_text(&item, &text, NULL) == FR_OK &&
            !strpbrk(text, "\n\r"))
            fr_text_addf(out, "%s%s%s", before, text, behind);
    }
}

static void put_devices(const struct fr_json *config, struct fr_text *out) {
    struct fr_json list = fr_json_member(config, "devices");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json d = fr_json_element(&list, i);
        fr_text_addf(out, "# Rank %.0f Group %.0f Pid 1 on %s device %.0f [%s] %s\n",
                     number_of(&d, "rank", 0), number_of(&d, "group", 0),
                     text_of(&d, "hostname"), number_of(&d, "device", 0),
                     text_of(&d, "device_hex"), text_of(&d, "device_info"));
    }
}

/* "time algbw busbw #wrong" of one half of a result; one that was not measured is N/A. */
static void put_half(const struct fr_json *half, struct fr_text *out) {
    double time_us = number_of(half, "time", number_of(half, "cpu_time", NAN)),
           wrong = number_of(half, "nwrong", NAN);
    if (isnan(time_us)) {
        fr_text_addf(out, " N/A N/A N/A N/A");
        return;
    }
    fr_text_addf(out, " %.17g %.6f %.6f", time_us, number_of(half, "alg_bw", 0),
                 number_of(half, "bus_bw", 0));
    fr_text_addf(out, isnan(wrong) ? " N/A" : " %.0f", wrong);
}

static void put_results(const struct fr_json *root, struct fr_text *out) {
    struct fr_json list = fr_json_member(root, "results");
    for (int64_t i = 0; i < fr_json_array_length(&list); i++) {
        struct fr_json r = fr_json_element(&list, i), half = fr_json_member(&r, "out_of_place"),
                       cpu = fr_json_member(&half, "cpu_time");
        const char *type = text_of(&r, "type"),
                   *time = fr_json_is_number(&cpu) ? "cputime" : "time";
        if (i == 0)
            fr_text_addf(
                out,
                "# size count type redop root %s algbw busbw #wrong %s algbw busbw #wrong\n",
                time, time);
        fr_text_addf(out, "%.0f %.0f %s none -1", number_of(&r, "size", 0),
                     number_of(&r, "count", 0), *type && !strchr(type, ' ') ? type : "none");
        put_half(&half, out);
        half = fr_json_member(&r, "in_place");
        put_half(&half, out);
        fr_text_addf(out, "\n");
    }
}

bool fr_import_nccl_json(const struct fr_import *in, struct fr_text *out) {
    struct fr_json_document *document = NULL;
    const char *begin = in->text + strspn(in->text, " \t\r\n");
    if (*begin != '{' || !strstr(begin, "\"results\"") ||
        fr_json_parse(in->text, in->length, in->name, &document, NULL) != FR_OK)
        return false;
    struct fr_json root = fr_json_root(document), config = fr_json_member(&root, "config");
    put_list(&root, "env", "", "\n", out);
    fr_text_addf(out, "# ");
    put_list(&root, "args", "", " ", out);
    fr_text_addf(out, "\n# nThread %.0f nGpus %.0f agg iters: %.0f graph: %.0f\n",
                 number_of(&config, "nthreads", 1), number_of(&config, "ngpus", 1),
                 number_of(&config, "aggregated_iterations", 1),
                 number_of(&config, "graph", 0));
    put_devices(&config, out);
    put_results(&root, out);
    fr_json_free(document);
    return !out->failed;
}
