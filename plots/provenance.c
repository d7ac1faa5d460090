#include "plots/provenance.h"

#include <string.h>

bool fr_provenance_measured(const char *source) {
    return strncmp(source, "measured on ", 12) == 0 || strncmp(source, "fitted to ", 10) == 0;
}

static void add(struct fr_picture *p, const char *key, const char *value) {
    if (*value)
        fr_text_addf(&p->footer, "%s%s%s%s", p->footer.length ? "   " : "", key,
                     *key ? " " : "", value);
}

void fr_provenance_line(struct fr_picture *p, const char *verb, const struct fr_json *from) {
    const char *source = fr_json_text_at(from, "cluster_source"),
               *cluster = fr_json_text_at(from, "cluster");
    add(p, "", verb);
    add(p, "cluster", cluster);
    if (*cluster && fr_provenance_measured(source)) fr_text_addf(&p->footer, ", %s", source);
    add(p, "software", fr_json_text_at(from, "runtime"));
    add(p, "model", fr_json_text_at(from, "model"));
    add(p, "forerun", fr_json_text_at(from, "version"));
}
