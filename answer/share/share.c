#include "answer/share/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/share/hosts.h"
#include "base/alloc.h"
#include "base/json/file_schema.h"
#include "base/units.h"
#include "models/job/cluster.h"

struct sharing {
    const struct fr_share *share;
    struct fr_hosts hosts;
    bool dropped; /* more names of hosts than are looked for */
    struct fr_json_writer w;
};

/* ---- names to take out --------------------------------------------------------------------------- */

static bool names_hosts(const char *key) {
    static const char *const keys[] = {"host", "hosts", "host_set", "user", NULL};
    return fr_place_in(keys, key) >= 0;
}

/* Every member of that name, however deep. */
static void collect(const struct fr_json *node, struct sharing *s) {
    for (int64_t i = 0; fr_json_is_array(node) && i < fr_json_array_length(node); i++) {
        struct fr_json element = fr_json_element(node, i);
        collect(&element, s);
    }
    if (!fr_json_is_object(node)) return;
    for (const char *key = NULL; (key = fr_json_key_after(node, key)) != NULL;) {
        struct fr_json member = fr_json_member(node, key);
        const char *names = NULL;
        if (names_hosts(key) && fr_json_is_string(&member) &&
            fr_json_text(&member, &names, NULL) == FR_OK)
            s->dropped = !fr_hosts_add(&s->hosts, names) || s->dropped;
        collect(&member, s);
    }
}

/* ---- what stays ---------------------------------------------------------------------------------- */

/* Words of the format, which a host may be called too. */
static bool is_of_format(const char *text) {
    static const char *const words[] = {
        "node", "system",   "log",      "algorithm", "segments",    "similarity",
        "auto", "measured", "sampled",  "estimated", "unavailable", "PASS",
        "WARN", "FAIL",     "per_rank", "total",     NULL};
    if (fr_place_in(words, text) >= 0 || fr_place_in(fr_op_names, text) >= 0) return true;
    for (const struct fr_collective *const *c = fr_collectives; *c; c++)
        if (strcmp((*c)->name, text) == 0) return true;
    return false;
}

static bool is_quantity(const char *text) {
    double value = 0;
    for (int q = FR_QUANTITY_TIME; q <= FR_QUANTITY_FREQUENCY; q++)
        if (fr_quantity_parse(text, (fr_quantity)q, "", &value, NULL) == FR_OK) return true;
    return false;
}

/* ---- the document anew --------------------------------------------------------------------------- */

static void put_node(struct sharing *s, const struct fr_json *node);

static void put_text(struct sharing *s, const char *text) {
    struct fr_text out = {0};
    if (is_of_format(text) || is_quantity(text)) {
        fr_json_put_string(&s->w, text);
        return;
    }
    fr_hosts_leave_out(&s->hosts, text, s->share->name, &out);
    fr_json_put_string(&s->w, fr_text_get(&out));
    s->w.text->failed = s->w.text->failed || out.failed;
    fr_text_free(&out);
}

/* A key stays unless a host's name is part of it, as of a series that is called after one. */
static void put_key(struct sharing *s, const char *key, bool free) {
    struct fr_text out = {0};
    if (free)
        fr_hosts_leave_out(&s->hosts, key, s->share->name, &out);
    else
        fr_text_addf(&out, "%s", key);
    fr_json_key(&s->w, fr_text_get(&out));
    s->w.text->failed = s->w.text->failed || out.failed;
    fr_text_free(&out);
}

static void put_object(struct sharing *s, const struct fr_json *node) {
    const bool series = node->key && strcmp(node->key, "series") == 0;
    fr_json_begin_object(&s->w);
    for (const char *key = NULL; (key = fr_json_key_after(node, key)) != NULL;) {
        struct fr_json member = fr_json_member(node, key);
        if (names_hosts(key)) continue;
        put_key(s, key, series);
        put_node(s, &member);
    }
    fr_json_end_object(&s->w);
}

static void put_node(struct sharing *s, const struct fr_json *node) {
    const char *text = NULL;
    if (fr_json_is_object(node))
        put_object(s, node);
    else if (fr_json_is_array(node)) {
        fr_json_begin_array(&s->w);
        for (int64_t i = 0; i < fr_json_array_length(node); i++) {
            struct fr_json element = fr_json_element(node, i);
            put_node(s, &element);
        }
        fr_json_end_array(&s->w);
    } else if (fr_json_is_string(node) && fr_json_text(node, &text, NULL) == FR_OK)
        put_text(s, text);
    else
        fr_json_put_copy(&s->w, node);
}

/* The day of the calibration where the file states none of its own. */
static void put_date(struct sharing *s, const struct fr_json *root) {
    struct fr_json calibration = fr_json_member(root, "calibration");
    const char *own = fr_json_text_at(root, "date"),
               *measured = fr_json_text_at(&calibration, "date");
    char day[11];
    if (!*own && strlen(measured) < 10) return;
    snprintf(day, sizeof day, "%.10s", *own ? own : measured);
    fr_json_add_string(&s->w, "date", day);
}

static void put_file(struct sharing *s, const struct fr_json *root) {
    static const char *const first[] = {"schema", "name", "date", "measured_by", NULL};
    const char *by = s->share->by ? s->share->by : fr_json_text_at(root, "measured_by");
    fr_json_begin_object(&s->w);
    fr_file_schema_put(&s->w, "cluster");
    fr_json_add_string(&s->w, "name", s->share->name);
    put_date(s, root);
    if (*by) fr_json_add_string(&s->w, "measured_by", by);
    for (const char *key = NULL; (key = fr_json_key_after(root, key)) != NULL;) {
        struct fr_json member = fr_json_member(root, key);
        if (fr_place_in(first, key) >= 0) continue;
        put_key(s, key, false);
        put_node(s, &member);
    }
    fr_json_end_object(&s->w);
}

/* A file that its own reader refuses is not handed on. */
static fr_status check(const struct fr_text *text, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    struct fr_cluster *cluster = fr_calloc(1, sizeof *cluster);
    if (!cluster || text->failed) {
        free(cluster);
        return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    }
    fr_status status = fr_json_parse(text->data, text->length, "shared file", &document, err);
    if (status == FR_OK) status = fr_file_schema_take("cluster", document, err);
    if (status == FR_OK) {
        status = fr_cluster_read_bare(document, cluster, err);
        fr_cluster_free(cluster);
    }
    fr_json_free(document);
    free(cluster);
    return status;
}

static fr_status names_no_host(const struct sharing *s, const char *option, const char *text,
                               struct fr_error *err) {
    if (!fr_hosts_named(&s->hosts, text)) return FR_OK;
    return fr_fail(err, FR_ERR_USAGE, option, "\"%.60s\" names a host; give a %s", text,
                   text == s->share->name ? "name that others know the cluster by"
                                          : "person, a group or a site");
}

fr_status fr_share_make(const struct fr_json_document *document, const struct fr_share *share,
                        struct fr_text *text, struct fr_error *err) {
    struct sharing *s = fr_calloc(1, sizeof *s);
    struct fr_json root = fr_json_root(document);
    if (!s) return fr_fail(err, FR_ERR_NOMEM, NULL, "out of memory");
    *s = (struct sharing){.share = share, .w = {.text = text, .indent = 1}};
    for (int i = 0; share->hosts && share->hosts[i]; i++)
        s->dropped = !fr_hosts_add(&s->hosts, share->hosts[i]) || s->dropped;
    collect(&root, s);
    fr_status status = FR_OK;
    if (s->dropped)
        status = fr_fail(err, FR_ERR_INPUT, NULL,
                         "names more hosts than %d, or one of over %d letters",
                         FR_HOSTS_MAX / 4, FR_HOST_B - 1);
    if (status == FR_OK) status = names_no_host(s, "--name", share->name, err);
    if (status == FR_OK && share->by) status = names_no_host(s, "--by", share->by, err);
    if (status == FR_OK) {
        put_file(s, &root);
        fr_text_addf(text, "\n");
        status = check(text, err);
    }
    free(s);
    return status;
}
