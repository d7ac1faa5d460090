/* Measured runs that nobody measured: tables of random rows, scored and tuned to. */
#include <string.h>

#include "tests/golden/walk/walk.h"

static void row(struct walk *w, const char *model, double slow, int i, struct fr_text *out) {
    char tp[8], pp[8], micro[8], batch[8], zero[8], recompute[16];
    walk_word(w, "1|2|4|8", tp, sizeof tp);
    walk_word(w, "1|1|2|4", pp, sizeof pp);
    walk_word(w, "1|1|2|", micro, sizeof micro);
    walk_word(w, "32|64|128", batch, sizeof batch);
    walk_word(w, "|1", zero, sizeof zero);
    walk_word(w, "|none|full", recompute, sizeof recompute);
    double base_s = strcmp(model, "gpt-2") == 0 ? 0.8 : 6;
    double time_s = base_s *
                    (batch[0] == '3'   ? 0.5
                     : batch[0] == '6' ? 1
                                       : 2) *
                    walk_between(w, 0.8, 1.25) * slow;
    fr_text_addf(out, "%s,%s,%s,%s,%s,%s,%s,bf16,flash,32,%.4g,", model, tp, pp, micro, batch,
                 zero, recompute, time_s);
    if (walk_chance(w, 0.4)) fr_text_addf(out, "%.5g", time_s * 32 * walk_between(w, 200, 600));
    fr_text_addf(out, ",%s,%c,r%d\n", walk_chance(w, 0.8) ? "" : "0.5", "ab"[i % 2], i);
}

static void table(struct walk *w, struct fr_text *out) {
    char model[32];
    double slow = walk_between(w, 0.7, 1.5);
    int rows = 3 + walk_below(w, 16);
    fr_text_addf(out, "model,plan.tp,plan.pp,plan.micro_batch,plan.global_batch,plan.zero,plan."
                      "recompute,model.dtype,"
                      "plan.attention,ranks,measured_s,measured_J,weight,group,id\n");
    for (int i = 0; i < rows; i++) {
        walk_word(w, "llama-3-8b|llama-3-8b|gpt-2|mixtral-8x7b", model, sizeof model);
        row(w, model, slow, i, out);
    }
}

/* A cell with something else in it. */
static void spoil(struct walk *w, struct fr_text *text) {
    struct fr_text out = {0};
    char word[32];
    const char *t = fr_text_get(text);
    size_t at = (size_t)walk_below(w, (int)text->length - 1);
    while (at > 0 && t[at - 1] != ',' && t[at - 1] != '\n') at--;
    fr_text_add(&out, t, at);
    walk_word(w, "0|-1|x||1e9|3|\"a,b\"|nan|0.5|flash|1 s", word, sizeof word);
    fr_text_addf(&out, "%s%s", word, t + at + strcspn(t + at, ",\n"));
    fr_text_free(text);
    *text = out;
}

void walk_runs(struct walk *w) {
    static const char verbs[] =
        "score --cluster dgx-h100 --runs r.csv --by plan.tp|score --cluster dgx-h100 --runs "
        "r.csv --json|"
        "score --cluster dgx-a100 --runs r.csv --by model,plan.pp --json|score --cluster "
        "dgx-h100 --runs r.csv|"
        "tune --cluster dgx-h100 --runs r.csv|score --cluster in/rich/tuned-cluster.json "
        "--runs r.csv --json|tune --cluster dgx-a100 --runs r.csv --json|"
        "tune --cluster dgx-h100 --runs r.csv --always --json|tune --cluster dgx-b200 --runs "
        "r.csv --always|"
        "tune --cluster dgx-h100 --runs r.csv --hold fixed,node_latency --json|"
        "tune --cluster dgx-h100 --runs r.csv --always --out c.json|tune --cluster "
        "in/rich/cluster.json --runs r.csv "
        "--always --out c.json|score --cluster in/rich/cluster.json --runs r.csv --json";
    static const char uses[] = "predict --cluster c.json --model llama-3-8b --set tp=2 --set "
                               "dp=16 --set model.dtype=bf16 --set "
                               "attention=flash --set global_batch=64|"
                               "search --cluster c.json --model llama-3-8b --ranks 32 --vary "
                               "tp=1,2,4 --vary zero=0,1 --set "
                               "global_batch=64 --explain|"
                               "predict --cluster c.json --model gpt-2 --set tp=2 --set pp=2 "
                               "--set global_batch=64 --json|"
                               "compare-plans {\"tp\":2} {\"tp\":4} {\"tp\":1,\"zero\":1} "
                               "--cluster c.json --model llama-3-8b --ranks 32 --set "
                               "global_batch=64 --json";
    struct line line;
    char word[256];
    for (int i = 0; i < w->count; i++) {
        struct fr_text text = {0};
        table(w, &text);
        while (walk_chance(w, 0.25)) spoil(w, &text);
        walk_write("r.csv", &text);
        line.n = 0;
        line_add_all(&line, walk_word(w, verbs, word, sizeof word));
        if (line_run(&line) == 0 && strstr(word, "--out")) {
            line.n = 0;
            line_add_all(&line, walk_word(w, uses, word, sizeof word));
            line_run(&line);
            walk_show("c.json");
        }
        fr_text_free(&text);
    }
}
