#include "answer/simulate/conflicts_words.h"

#include <math.h>

#include "base/text/readable.h"

/* Differences below count as none. */
#define SHOWS 5e-4

static const char *const words[FR_PRICE_PARTS] = {
    [FR_PRICE_TP] = "tensor-parallel exchanges",
    [FR_PRICE_MESSAGES] = "messages between stages",
    [FR_PRICE_GRADIENTS] = "exchanges of replicas",
    [FR_PRICE_EMBEDDING] = "exchanges of the embedding",
    [FR_PRICE_CP] = "context-parallel exchanges",
    [FR_PRICE_EP] = "expert exchanges"};

static void add_longer(const struct fr_conflicts *c, double time_s, struct fr_text *text) {
    char alone[FR_READABLE], share[FR_READABLE], lost[FR_READABLE];
    int most = fr_conflicts_most(c);
    fr_text_addf(text,
                 "messages that meet on links make the step %s longer; with each alone it "
                 "takes %s",
                 fr_readable_percent(time_s / c->alone_s - 1, share),
                 fr_readable(c->alone_s, FR_QUANTITY_TIME, alone));
    if (most)
        fr_text_addf(text, ". The %s lose most, %s a rank", words[most],
                     fr_readable(c->lost_s[most], FR_QUANTITY_TIME, lost));
}

static void add_shorter(const struct fr_conflicts *c, double time_s, struct fr_text *text) {
    char alone[FR_READABLE], share[FR_READABLE];
    fr_text_addf(text,
                 "the step is %s shorter than the closed form's %s, which takes all groups to "
                 "use their links at once: here they seldom do",
                 fr_readable_percent(1 - time_s / c->alone_s, share),
                 fr_readable(c->alone_s, FR_QUANTITY_TIME, alone));
}

void fr_conflicts_words(const struct fr_simulation *s, struct fr_text *text) {
    const struct fr_conflicts *c = &s->conflicts;
    char merged[FR_READABLE];
    if (!c->played || !(s->outcome.time_s > 0)) return;
    double ratio = c->alone_s > 0 ? s->outcome.time_s / c->alone_s : 1;
    if (!(c->alone_s > 0))
        fr_text_addf(text, "each message goes alone; --network shared lets them meet on links");
    else if (ratio > 1 + SHOWS)
        add_longer(c, s->outcome.time_s, text);
    else if (ratio < 1 - SHOWS)
        add_shorter(c, s->outcome.time_s, text);
    else
        fr_text_addf(text,
                     "no messages meet on links for long: the step is as with each alone");
    if (c->merged > 1)
        fr_text_addf(text,
                     ". Up to %s equal collectives of a pass go as one, with the bytes of all: "
                     "each for itself would be too many",
                     fr_readable_count((int64_t)ceil(c->merged), merged));
}
