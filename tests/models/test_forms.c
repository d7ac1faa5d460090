/* Forms that are tables: read in any order, no place twice, and the segments' answers at all levels, ranks
 * and sizes against the definition, found by looking through all of them. */
#include "models/network/comm.h"
#include "tests/cmocka.h"

static const struct fr_levels levels = {
    .count = 3,
    .level = {
        {.name = "node", .ranks = 8, .latency_s = 1e-6, .rate_B_per_s = 1e11, .shared_by = 1},
        {.name = "rack", .ranks = 64, .latency_s = 4e-6, .rate_B_per_s = 4e10, .shared_by = 2},
        {.name = "hall",
         .ranks = 1024,
         .latency_s = 9e-6,
         .rate_B_per_s = 1e10,
         .shared_by = 4}}};

static fr_status read(const char *text, struct fr_price *price, struct fr_error *err) {
    struct fr_json_document *document = NULL;
    memset(price, 0, FR_OP_COUNT * sizeof *price);
    fr_status status = fr_json_parse(text, strlen(text), "c", &document, err);
    if (status != FR_OK) fail_msg("%s: %s", text, err->detail);
    struct fr_json root = fr_json_root(document);
    status = fr_comm_read(&root, &levels, price, err);
    fr_json_free(document);
    return status;
}

/* ---- order ------------------------------------------------------------------------------------- */

struct place {
    int level;
    int64_t n_ranks, n_nodes;
};
enum { PLACES = 4 };
/* Alike in all but one, and out of order in the others. */
static const struct place places[2][PLACES] = {
    {{0, 4, 1}, {0, 8, 1}, {1, 2, 1}, {1, 4, 1}},
    {{0, 8, 1}, {1, 4, 2}, {1, 4, 4}, {1, 16, 2}},
};

static void write_segments(const struct place *p, char *text, size_t size) {
    snprintf(text, size,
             "{\"level\": \"%s\", \"ranks\": %d, \"min\": \"1 B\", \"max\": \"8 B\", "
             "\"segments\": [{\"up_to\": \"8 B\", \"latency\": \"1 us\", \"per_byte\": \"0 "
             "s/B\"}]}",
             levels.level[p->level].name, (int)p->n_ranks);
}
static void write_table(const struct place *p, char *text, size_t size) {
    snprintf(text, size,
             "{\"level\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"unit\": \"us\", "
             "\"size\": [8], \"time\": [1]}",
             levels.level[p->level].name, (int)p->n_ranks, (int)p->n_nodes);
}

static const char *const heads[] = {
    "{\"all_reduce\": {\"form\": \"segments\", \"message\": \"total\", \"fits\": [",
    "{\"all_reduce\": {\"form\": \"similarity\", \"message\": \"total\", \"laws\": "
    "[{\"level\": "
    "\"node\", \"steps\": \"1\", \"bytes\": \"1\", \"slow\": 0, \"fast\": 0}, {\"level\": "
    "\"rack\", \"steps\": \"1\", \"bytes\": \"1\", \"slow\": 0, \"fast\": 0}], \"tables\": ["};

static fr_status read_places(int form, const struct place *const *list, int n,
                             struct fr_price *price) {
    static void (*const write[])(const struct place *, char *, size_t) = {write_segments,
                                                                          write_table};
    struct fr_error err = {0};
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", heads[form]);
    for (int i = 0; i < n; i++) {
        if (i > 0) text[used++] = ',';
        write[form](list[i], text + used, sizeof text - used);
        used += strlen(text + used);
    }
    snprintf(text + used, sizeof text - used, "]}}");
    return read(text, price, &err);
}

static struct place read_place(const struct fr_price *price, int form, int i) {
    const struct fr_segment_fit *fit = &price->fits[i];
    const struct fr_similarity_table *table = &price->similarity.tables[i];
    if (form == 0) return (struct place){fit->level, fit->n_ranks, 1};
    return (struct place){table->level, table->n_ranks, table->n_nodes};
}

/* The k-th of 24 orders of four. */
static void permute(int k, const struct place *from, const struct place *to[PLACES]) {
    int left[PLACES] = {0, 1, 2, 3};
    for (int i = 0, ways = 6; i < PLACES; i++) {
        int at = k / ways;
        k %= ways;
        to[i] = &from[left[at]];
        for (int j = at; j + 1 < PLACES; j++) left[j] = left[j + 1];
        if (i + 2 < PLACES) ways /= PLACES - 1 - i;
    }
}

static void any_order_is_read_and_no_place_twice(void **state) {
    (void)state;
    for (int form = 0; form < 2; form++)
        for (int k = 0; k < 24; k++) {
            struct fr_price price[FR_OP_COUNT];
            const struct place *list[PLACES + 1];
            permute(k, places[form], list);
            assert_int_equal(read_places(form, list, PLACES, price), FR_OK);
            for (int i = 0; i < PLACES; i++) {
                struct place got = read_place(&price[FR_OP_ALL_REDUCE], form, i);
                const struct place *wanted = &places[form][i];
                FR_TRUE(got.level == wanted->level && got.n_ranks == wanted->n_ranks &&
                            got.n_nodes == wanted->n_nodes,
                        "form %d, order %d, place %d", form, k, i);
            }
            fr_comm_free(price);
            for (int twice = 0; twice < PLACES; twice++) {
                list[PLACES] = list[twice];
                FR_TRUE(read_places(form, list, PLACES + 1, price) == FR_ERR_INPUT,
                        "form %d, order %d, place %d twice", form, k, twice);
                fr_comm_free(price);
            }
        }
}

static void one_place_is_enough_and_none_is_not(void **state) {
    (void)state;
    for (int form = 0; form < 2; form++) {
        struct fr_price price[FR_OP_COUNT];
        const struct place *list[] = {&places[form][0]};
        assert_int_equal(read_places(form, list, 1, price), FR_OK);
        fr_comm_free(price);
        assert_int_equal(read_places(form, list, 0, price), FR_ERR_INPUT);
        fr_comm_free(price);
    }
}

/* ---- segments ---------------------------------------------------------------------------------- */

/* Two segments up to 1000 B and 1 MB, from 100 B; times in us, slopes in ns/B.  In the rack times grow with the
 * ranks, in the hall they fall, from which nothing is taken beyond; one costs nothing at all. */
struct fit {
    int level, ranks;
    double latency[2], slope[2];
};
static const struct fit fits[] = {{0, 2, {0, 5}, {0, 1}},    {0, 4, {6, 9}, {1, 2}},
                                  {0, 8, {7, 13}, {2, 3}},   {1, 4, {8, 12}, {2, 3}},
                                  {1, 16, {11, 40}, {4, 5}}, {2, 16, {20, 30}, {4, 6}},
                                  {2, 128, {16, 24}, {3, 5}}};
enum { FITS = sizeof fits / sizeof *fits };

struct wanted {
    int first, n; /* of fits */
    bool per_rank;
};

static double size_s(const struct fit *fit, double size_B) {
    double m = fmax(size_B, 100);
    int segment = m > 1000;
    return fit->latency[segment] * 1e-6 + fit->slope[segment] * 1e-9 * m;
}

/* The level asked for; else the first above it; else the last below; the node by itself. */
static int level_of(const struct wanted *w, int wanted) {
    int best = -1;
    for (int i = w->first + w->n - 1; i >= w->first; i--)
        if ((fits[i].level == 0) == (wanted == 0) && (fits[i].level >= wanted || best < 0))
            best = fits[i].level;
    return best;
}

/* The fits of level @p level on both sides of p, or the two nearest to it; both the same: one alone. */
static void neighbours(const struct wanted *w, int level, int64_t p, const struct fit **below,
                       const struct fit **above, bool *beyond) {
    const struct fit *first = NULL, *last = NULL;
    *below = *above = NULL;
    for (int i = w->first; i < w->first + w->n; i++) {
        if (fits[i].level != level) continue;
        if (!first) first = &fits[i];
        if (fits[i].ranks <= p) *below = &fits[i];
        if (fits[i].ranks >= p && !*above) *above = &fits[i];
        last = &fits[i];
    }
    *beyond = !*below || !*above;
    if (first == last)
        *below = *above = first;
    else if (!*below)
        *below = first, *above = first + 1;
    else if (!*above)
        *below = last - 1, *above = last;
}

static double between_s(const struct fit *below, const struct fit *above, bool beyond,
                        int64_t p, double size_B) {
    double t1 = fmax(size_s(below, size_B), 1e-12), t2 = fmax(size_s(above, size_B), 1e-12);
    double exponent = log(t2 / t1) / log((double)above->ranks / below->ranks);
    if (beyond && exponent < 0) exponent = 0;
    if (p > above->ranks) return t2 * pow((double)p / above->ranks, exponent);
    return t1 * pow((double)p / below->ranks, exponent);
}

/* No smaller message takes longer: the largest at the ends of segments and where t1^(1-x) t2^x is
 * flat, (1-x) b1 / (a1 + b1 m) + x b2 / (a2 + b2 m) = 0. */
static double largest_s(const struct fit *below, const struct fit *above, bool beyond,
                        int64_t p, double size_B) {
    double x = log((double)p / below->ranks) / log((double)above->ranks / below->ranks);
    double at[] = {100, 1000, nextafter(1000, 2000), 0, 0, size_B}, most = 0;
    for (int k = 0; k < 2; k++) {
        double a1 = below->latency[k] * 1e-6, b1 = below->slope[k] * 1e-9,
               a2 = above->latency[k] * 1e-6, b2 = above->slope[k] * 1e-9;
        at[3 + k] = -((1 - x) * b1 * a2 + x * b2 * a1) / (b1 * b2);
        if (!(at[3 + k] > 100) || (at[3 + k] > 1000) != (k == 1)) at[3 + k] = 100;
    }
    for (int i = 0; i < 6; i++)
        if (at[i] <= fmax(size_B, 100))
            most = fmax(most, between_s(below, above, beyond, p, at[i]));
    return most;
}

static double wanted_s(const struct wanted *w, const struct fr_group *group, int64_t p,
                       double size_B, bool *outside) {
    const struct fit *below, *above;
    int wanted_level = group->level, level = level_of(w, wanted_level);
    bool beyond;
    if (level < 0) { /* of one node alone, or of several alone: the levels price the other */
        struct fr_collective_args args = fr_group_args(group, size_B);
        *outside = true;
        return fr_collective_fastest_s(FR_OP_ALL_GATHER, &args);
    }
    if (w->per_rank) size_B /= (double)p;
    neighbours(w, level, p, &below, &above, &beyond);
    *outside = level != wanted_level || size_B < 100 * (1 - 1e-9) ||
               size_B > 1e6 * (1 + 1e-9) || beyond;
    return below == above ? size_s(below, size_B) : largest_s(below, above, beyond, p, size_B);
}

static void write_fits(const struct wanted *w, char *text, size_t size) {
    size_t used = (size_t)snprintf(
        text, size,
        "{\"all_gather\": {\"form\": \"segments\", \"message\": \"%s\", \"fits\": [",
        w->per_rank ? "per_rank" : "total");
    for (int i = w->first; i < w->first + w->n; i++)
        used += (size_t)snprintf(
            text + used, size - used,
            "%s{\"level\": \"%s\", \"ranks\": %d, \"min\": \"100 B\", \"max\": \"1 MB\", "
            "\"segments\": [{\"up_to\": \"1 KB\", \"latency\": \"%g us\", \"per_byte\": \"%g "
            "ns/B\"}, {\"up_to\": \"1 MB\", \"latency\": \"%g us\", \"per_byte\": \"%g "
            "ns/B\"}]}",
            i > w->first ? ", " : "", levels.level[fits[i].level].name, fits[i].ranks,
            fits[i].latency[0], fits[i].slope[0], fits[i].latency[1], fits[i].slope[1]);
    snprintf(text + used, size - used, "]}}");
}

static void hold(const struct wanted *w, const struct fr_price *price, int64_t p,
                 int64_t stride) {
    static const double sizes_B[] = {
        0,   99,  100 * (1 - 1.5e-9), 100 * (1 - 5e-10),  100, 1000, 1000.5,
        5e4, 1e6, 1e6 * (1 + 5e-10),  1e6 * (1 + 1.5e-9), 3e6};
    for (size_t k = 0; k < sizeof sizes_B / sizeof *sizes_B; k++) {
        struct fr_group group = fr_group_make(&levels, p, stride);
        bool outside = false, wanted;
        double time_s = wanted_s(w, &group, p, sizes_B[k], &wanted);
        FR_NEAR(fr_comm_time_s(price, &group, sizes_B[k], &outside), time_s, 1e-9);
        FR_TRUE(outside == wanted, "fits %d + %d: %d ranks, stride %d, %.10g B", w->first, w->n,
                (int)p, (int)stride, sizes_B[k]);
    }
}

/* Any run of the fits: levels that have none, one, two or three. */
static void segments_answer_as_defined(void **state) {
    (void)state;
    for (int first = 0; first < FITS; first++)
        for (int n = 1; n <= FITS - first; n++) {
            struct fr_price price[FR_OP_COUNT];
            struct fr_error err = {0};
            struct wanted w = {first, n, (first + n) % 2};
            char text[4096];
            write_fits(&w, text, sizeof text);
            if (read(text, price, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
            for (int64_t p = 2; p <= 1024; p += 1 + p / 5)
                for (int64_t stride = 1; stride * p <= 1024; stride *= 2)
                    hold(&w, &price[FR_OP_ALL_GATHER], p, stride);
            fr_comm_free(price);
        }
}

/* Nine in ten of what was left out, between its ends, which have no neighbours on both sides. */
static void nine_in_ten_of_what_was_left_out(void **state) {
    static const double left_out[] = {50, 0.3, 0.1, 0.7, 0.2, 0.9, 0.4, 0.6, 0.5, 0.8, 1.0, 60},
                        wanted[] = {0,    0,   0.3,  0.28, 0.62, 0.58,
                                    0.82, 0.8, 0.78, 0.76, 0.82, 0.91};
    (void)state;
    for (int n = 1; n <= 12; n++) {
        struct fr_price prices[FR_OP_COUNT];
        struct fr_error err = {0};
        char text[1024], sizes[128] = "", times[128] = "", errors[128] = "";
        for (int i = 0; i < n; i++) {
            double error = i + 1 < n ? left_out[i] : 60; /* the last, whichever it is */
            sprintf(sizes + strlen(sizes), "%s%d", i ? ", " : "", 8 << i);
            sprintf(times + strlen(times), "%s%d", i ? ", " : "", i + 1);
            sprintf(errors + strlen(errors), "%s%g", i ? ", " : "", error);
        }
        snprintf(text, sizeof text,
                 "%s{\"level\": \"node\", \"ranks\": 4, \"nodes\": 1, \"unit\": \"us\", "
                 "\"size\": [%s], \"time\": [%s], \"left_out\": [%s]}]}}",
                 heads[1], sizes, times, errors);
        if (read(text, prices, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
        double got = prices[FR_OP_ALL_REDUCE].similarity.tables[0].left_out_90;
        FR_TRUE(fabs(got - (n < 3 ? 0 : wanted[n - 1])) < 1e-12, "%d sizes: %g", n, got);
        fr_comm_free(prices);
    }
}

/* ---- intervals --------------------------------------------------------------------------------- */

/* Nine in ten misses below a quarter; per octave of ranks outside 4 to 16, 0.6 octaves slower and 0.4 faster. */
static void intervals_widen_outside_the_domain(void **state) {
    static const struct {
        int64_t p;
        double octaves;
    } cases[] = {{2, 1}, {4, 0}, {8, 0}, {16, 0}, {32, 1}, {128, 3}};
    struct fr_price prices[FR_OP_COUNT];
    const struct fr_price *price = &prices[FR_OP_ALL_REDUCE];
    struct fr_error err = {0};
    (void)state;
    if (read("{\"all_reduce\": {\"form\": \"log\", \"c1\": \"10 us\", \"c2\": \"1 ns/B\", "
             "\"message\": \"total\", \"residuals\": {\"median\": 0.1, \"p90\": 0.25, "
             "\"points\": 9}, \"domain\": {\"min_ranks\": 4, \"max_ranks\": 16, \"min\": \"8 "
             "B\", \"max\": \"1 MB\", \"one_node\": true, \"several_nodes\": true}}}",
             prices, &err) != FR_OK)
        fail_msg("%s: %s", err.where, err.detail);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_group group = fr_group_make(&levels, cases[i].p, 1);
        double low_s, high_s, fit = log2(1.25), octaves = cases[i].octaves;
        fr_price_interval(price, &group, 1000, 2, &low_s, &high_s);
        FR_NEAR(low_s, 2 * exp2(-sqrt(fit * fit + 0.16 * octaves * octaves)), 1e-12);
        FR_NEAR(high_s, 2 * exp2(sqrt(fit * fit + 0.36 * octaves * octaves)), 1e-12);
        struct fr_price moved = *price;
        moved.shift = -1.645; /* to the fast end of as wide an interval around it */
        FR_NEAR(fr_price_shifted_s(&moved, &group, 1000, 2), 2 / sqrt(high_s / low_s), 1e-12);
    }
    fr_comm_free(prices);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order_is_read_and_no_place_twice),
                                       cmocka_unit_test(one_place_is_enough_and_none_is_not),
                                       cmocka_unit_test(segments_answer_as_defined),
                                       cmocka_unit_test(intervals_widen_outside_the_domain),
                                       cmocka_unit_test(nine_in_ten_of_what_was_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
