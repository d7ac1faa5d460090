#include "models/job/key_meant.h"

#include <stdio.h>
#include <string.h>

#include "base/json/key.h"
#include "base/text.h"
#include "models/plan/key.h"
#include "models/workload/workload.h"

enum { KNOWN = 512 };

/* Keys of models of all kinds and of transformers, without a prefix. */
static int add_model_keys(const char **known, int n) {
    const struct fr_json_key *const lists[] = {fr_workload_keys, fr_kind_transformer.keys};
    for (int l = 0; l < 2; l++)
        for (const struct fr_json_key *row = lists[l]; row && row->name && n < KNOWN; row++)
            known[n++] = row->name;
    return n;
}

/* Keys of models and clusters that the aliases name, with their prefix. */
static int add_alias_keys(const char **known, int n) {
    const char *theirs, *ours, *hint;
    for (int i = 0; fr_alias_row(i, &theirs, &ours, &hint) && n < KNOWN; i++)
        if (strncmp(ours, "model.", 6) == 0 || strncmp(ours, "cluster.", 8) == 0)
            known[n++] = ours;
    return n;
}

static fr_meant_how answer(const struct fr_meant *meant, const char *prefix,
                           char key[FR_KEY_NAME], const char **hint) {
    snprintf(key, FR_KEY_NAME, "%s%s", prefix, meant->known[0]);
    *hint = meant->hint;
    return meant->how;
}

fr_meant_how fr_key_meant(const char *word, char key[FR_KEY_NAME], const char **hint) {
    const char *of_plan[KNOWN + 1] = {NULL}, *of_model[KNOWN + 1] = {NULL}, *all[KNOWN + 1];
    int n = 0;
    if (strncmp(word, "plan.", 5) == 0) word += 5;
    for (; n < FR_PLAN_KEYS; n++) of_plan[n] = fr_plan_keys[n].name;
    memcpy(all, of_plan, sizeof all);
    all[add_alias_keys(all, n)] = NULL;
    add_model_keys(of_model, 0);
    const struct fr_meant plan = fr_meant(word, of_plan), any = fr_meant(word, all),
                          model = fr_meant(word, of_model);
    *key = '\0';
    *hint = "";
    if (plan.how == FR_MEANT_SAME) return answer(&plan, "", key, hint);
    if (any.how == FR_MEANT_ALIAS) return answer(&any, "", key, hint);
    if (model.how == FR_MEANT_SAME) return answer(&model, "model.", key, hint);
    if (plan.count > 0) return answer(&plan, "", key, hint);
    return model.count > 0 && strlen(word) > 4 ? answer(&model, "model.", key, hint)
                                               : FR_MEANT_NOTHING;
}

fr_status fr_key_unknown(const char *word, const char *where, fr_status status,
                         struct fr_error *err) {
    char key[FR_KEY_NAME];
    const char *hint;
    if (fr_key_meant(word, key, &hint) == FR_MEANT_NOTHING)
        return fr_fail(err, status, where,
                       "\"%.60s\" is no key; forerun list keys has those of a plan, and others "
                       "are written model.KEY, cluster.KEY or runtime.KEY",
                       word);
    return fr_fail(err, status, where, "\"%.60s\" is no key; did you mean \"%s\"?%s%s", word,
                   key, *hint ? " That is: " : "", hint);
}
