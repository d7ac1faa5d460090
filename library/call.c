#include "library/call.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json/memory.h"

/* When the library is loaded, before there are threads that read JSON. */
__attribute__((constructor)) static void begin(void) { fr_json_memory_watch(); }

void fr_call_begin(struct fr_call *call) {
    *call = (struct fr_call){.err = {.status = FR_OK}};
    call->outer = fr_alloc_watch(&call->watch);
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    call->locale = plain ? uselocale(plain) : (locale_t)0;
}

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local int within;

void fr_call_wait(void) {
    if (within++ == 0) pthread_mutex_lock(&one_at_a_time);
}

void fr_call_go_on(void) {
    if (--within == 0) pthread_mutex_unlock(&one_at_a_time);
}

/* glibc's "C" is never freed; elsewhere it is ours. */
static void give_back_locale(const struct fr_call *call) {
    if (!call->locale) return;
    locale_t plain = uselocale(call->locale);
    if (plain && plain != call->locale) freelocale(plain);
}

static forerun_status code_of(fr_status status) {
    return status == FR_ERR_NOMEM ? FORERUN_NO_MEMORY
                                  : (forerun_status)fr_status_exit_code(status);
}

/* A place on the command line is an argument here: "--ranks-per-node" is ranks_per_node. */
static void write_place(const char *where, bool words, char *out, size_t capacity) {
    bool option = !words && strncmp(where, "--", 2) == 0;
    snprintf(out, capacity, "%s%s", option ? where + 2 : where, *where ? ": " : "");
    for (char *c = out; option && *c; c++)
        if (*c == '-') *c = '_';
}

static void put(const struct fr_call *call, fr_status status, forerun_error *error) {
    const struct fr_error *err = &call->err;
    char where[sizeof err->where + 2];
    if (!error) return;
    error->status = code_of(status);
    *error->message = '\0';
    if (status == FR_OK) return;
    write_place(status == FR_ERR_NOMEM ? "" : err->where, call->words, where, sizeof where);
    snprintf(error->message, sizeof error->message, "%s%s", where,
             status == FR_ERR_NOMEM ? "out of memory"
             : *err->detail         ? err->detail
                                    : fr_status_text(status));
}

forerun_status fr_call_end(struct fr_call *call, fr_status status, forerun_error *error) {
    fr_alloc_watch(call->outer);
    if (atomic_load(&call->watch.failed)) status = FR_ERR_NOMEM;
    put(call, status, error);
    give_back_locale(call);
    return code_of(status);
}

forerun_status fr_call_answer(struct fr_call *call, fr_status status, forerun_result *made,
                              forerun_result **result, forerun_error *error) {
    if (!result && status == FR_OK)
        status =
            fr_fail(&call->err, FR_ERR_USAGE, "result", "is NULL: nowhere to leave the answer");
    forerun_status code = fr_call_end(call, status, error);
    bool readable = code == FORERUN_OK || code == FORERUN_INFEASIBLE;
    if (!readable || !result) {
        forerun_result_free(made);
        made = NULL;
    }
    if (result) *result = made;
    return code;
}
