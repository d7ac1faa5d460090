#include "calibrate/measure/power.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"

#define FR_METER(name) extern const struct fr_meter fr_meter_##name;
#include "calibrate/measure/power_list.h"
#undef FR_METER

#define FR_METER(name) &fr_meter_##name,
const struct fr_meter *const fr_meters[] = {
#include "calibrate/measure/power_list.h"
    NULL};
#undef FR_METER

struct fr_power_session {
    const struct fr_meter *meter;
    void *state;
    struct fr_power_log log;
    pthread_mutex_t lock;
    pthread_t thread;
    atomic_int quitting;
};

fr_status fr_power_read_number(const char *path, double *value, struct fr_error *err) {
    char text[64] = "", *end = NULL;
    FILE *file = fopen(path, "r");
    if (!file) return fr_fail(err, FR_ERR_IO, path, "cannot be read: %s", strerror(errno));
    errno = 0;
    size_t n = fread(text, 1, sizeof text - 1, file);
    int why = errno;
    fclose(file);
    text[n] = '\0';
    double found = strtod(text, &end);
    if (n == 0 || end == text)
        return fr_fail(err, FR_ERR_IO, path, "holds no number%s%s", why ? ": " : "",
                       why ? strerror(why) : "");
    *value = found;
    return FR_OK;
}

/* A failed reading is a gap; there will be another. */
static void take_reading(struct fr_power_session *s) {
    struct fr_error err;
    double value = 0, now_s = fr_now_s();
    int quality = s->meter->quality;
    pthread_mutex_lock(&s->lock);
    if (s->meter->read(s->state, now_s, &value, &quality, &err) == FR_OK)
        fr_power_log_add(&s->log, now_s, value, quality);
    pthread_mutex_unlock(&s->lock);
}

static void *keep_reading(void *context) {
    struct fr_power_session *s = context;
    while (!atomic_load(&s->quitting)) {
        double left_s = s->meter->period_s;
        take_reading(s);
        while (left_s > 0 && !atomic_load(&s->quitting)) {
            struct timespec nap = {.tv_nsec = left_s > 0.05 ? 50000000 : (long)(left_s * 1e9)};
            nanosleep(&nap, NULL);
            left_s -= 0.05;
        }
    }
    return NULL;
}

static fr_status start(const struct fr_meter *meter, void *state,
                       struct fr_power_session **session, struct fr_error *err) {
    struct fr_power_session *s = fr_calloc(1, sizeof *s);
    if (s) {
        s->meter = meter;
        s->state = state;
        s->log.counter = meter->counter;
        pthread_mutex_init(&s->lock, NULL);
        if (pthread_create(&s->thread, NULL, keep_reading, s) == 0) {
            *session = s;
            return FR_OK;
        }
        pthread_mutex_destroy(&s->lock);
    }
    free(s);
    meter->close(state);
    return fr_fail(err, FR_ERR_NOMEM, meter->name, "no memory or thread for the meter");
}

static const struct fr_meter *find(const char *which, const char **argument,
                                   struct fr_error *err) {
    const char *names[32] = {NULL};
    char word[32];
    for (int i = 0; fr_meters[i]; i++) names[i] = fr_meters[i]->name;
    int row = fr_named_with_argument(which, names, word, argument);
    if (row >= 0) return fr_meters[row];
    const char *near = fr_suggest(word, names);
    fr_fail(err, FR_ERR_USAGE, "--meter", "\"%s\" is no power meter%s%s%s", word,
            near ? "; did you mean " : "; forerun doctor lists them", near ? near : "",
            near ? "?" : "");
    return NULL;
}

fr_status fr_power_open(const char *which, struct fr_power_session **session,
                        struct fr_error *err) {
    void *state = NULL;
    const char *argument = NULL;
    *session = NULL;
    if (which) {
        const struct fr_meter *meter = find(which, &argument, err);
        if (!meter) return FR_ERR_USAGE;
        FR_TRY(meter->open(argument, &state, err));
        return start(meter, state, session, err);
    }
    char reasons[512] = "";
    size_t used = 0;
    for (int i = 0; fr_meters[i]; i++) {
        struct fr_error why = {.status = FR_OK};
        if (fr_meters[i]->by_request) continue;
        if (fr_meters[i]->open(NULL, &state, &why) == FR_OK)
            return start(fr_meters[i], state, session, err);
        fr_line_addf(reasons, sizeof reasons, &used, "%s%s: %s", used ? "; " : "",
                     fr_meters[i]->name, why.detail);
    }
    return fr_fail(err, FR_ERR_UNSUPPORTED, NULL, "no power meter works here: %s", reasons);
}

const struct fr_meter *fr_power_meter(const struct fr_power_session *session) {
    return session->meter;
}

double fr_power_energy_J(struct fr_power_session *s, double from_s, double to_s, int *quality) {
    take_reading(s);
    pthread_mutex_lock(&s->lock);
    double energy_J = fr_power_log_energy_J(&s->log, from_s, to_s, quality);
    pthread_mutex_unlock(&s->lock);
    return energy_J;
}

void fr_power_close(struct fr_power_session *s) {
    if (!s) return;
    atomic_store(&s->quitting, 1);
    pthread_join(s->thread, NULL);
    pthread_mutex_destroy(&s->lock);
    s->meter->close(s->state);
    fr_power_log_free(&s->log);
    free(s);
}
