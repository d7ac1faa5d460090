/* Messages of segmented all-to-alls: counts against brute force, and Eqs. 4 to 7 of Jain et al. 2021
 * against counts, for every n <= 64, g | n and n_node | n. */
#include <stdlib.h>

#include "tests/cmocka.h"
#include "topology/messages.h"

enum { N_MAX = 64 };

static struct fr_levels levels_of(int64_t n_node) {
    struct fr_levels l = {.count = 3};
    const int64_t ranks[] = {n_node, 2 * n_node, 1 << 20};
    for (int i = 0; i < 3; i++)
        l.level[i] =
            (struct fr_level){.ranks = ranks[i], .rate_B_per_s = 1e9 / (i + 1), .shared_by = 1};
    return l;
}

static struct fr_mesh mesh_of(int64_t n, int64_t g) {
    return (struct fr_mesh){{[FR_MESH_TP] = g, [FR_MESH_PP] = 1, [FR_MESH_DP] = n / g},
                            {FR_MESH_DP, FR_MESH_TP, FR_MESH_PP}};
}

/* Every ordered pair of ranks whose places in their sub-grids agree, by the node of each. */
static int64_t brute_intra(int64_t n, int64_t g, int64_t unit, const int64_t *slot) {
    int64_t n_g = n / g, intra = 0;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            if (a % n_g == b % n_g && slot[a] / unit == slot[b] / unit) intra++;
    return intra;
}

static double cost(const void *context, const int64_t *slot) {
    const int64_t *q = context; /* n, g, n_node */
    return (double)-brute_intra(q[0], q[1], q[2], slot);
}

static void place(const struct fr_placement *row, int64_t n, int64_t g, int64_t n_node,
                  int64_t *slot) {
    struct fr_levels levels = levels_of(n_node);
    struct fr_mesh mesh = mesh_of(n, g);
    struct fr_placement_choice choice = fr_placement_default();
    const int64_t context[] = {n, g, n_node};
    struct fr_placement_ask seating = {&levels, &mesh, &choice, cost, context};
    bool taken[N_MAX] = {false};
    choice.row = row;
    assert_int_equal(row->place(&seating, slot, NULL), FR_OK);
    for (int64_t r = 0; r < n; r++) {
        FR_TRUE(slot[r] >= 0 && slot[r] < n && !taken[slot[r]], "%s n %d g %d: rank %d on %d",
                row->name, (int)n, (int)g, (int)r, (int)slot[r]);
        taken[slot[r]] = true;
    }
}

static int64_t counted_intra(const struct fr_placement *row, int64_t n, int64_t g,
                             int64_t n_node, const int64_t *slot) {
    struct fr_levels levels = levels_of(n_node);
    struct fr_mesh mesh = mesh_of(n, g);
    int64_t count[FR_LEVEL_MAX];
    assert_int_equal(fr_messages_count(&levels, &mesh, FR_MESH_TP, slot, count, NULL), FR_OK);
    int64_t brute = brute_intra(n, g, n_node, slot), pair = brute_intra(n, g, 2 * n_node, slot);
    FR_TRUE(count[0] == brute, "%s n %d g %d n_node %d: counted %d, brute force %d", row->name,
            (int)n, (int)g, (int)n_node, (int)count[0], (int)brute);
    FR_TRUE(count[0] + count[1] == pair, "%s n %d g %d n_node %d: rack", row->name, (int)n,
            (int)g, (int)n_node);
    FR_TRUE(count[0] + count[1] + count[2] == n * g, "%s n %d g %d: all %d", row->name, (int)n,
            (int)g, (int)(count[0] + count[1] + count[2]));
    return count[0];
}

static void formula(const struct fr_placement *row, int64_t n, int64_t g, int64_t n_node,
                    int64_t counted, int *applied, int *swapped) {
    struct fr_message_formula f = fr_messages_formula(row, n, g, n_node);
    FR_TRUE(f.general_applies && f.general_intra == counted &&
                f.general_inter == n * g - counted,
            "%s n %d g %d n_node %d: general %d, counted %d", row->name, (int)n, (int)g,
            (int)n_node, (int)f.general_intra, (int)counted);
    if (!f.applies) return;
    ++*applied;
    FR_TRUE(f.intra == counted && f.inter == n * g - counted,
            "%s n %d g %d n_node %d: %d intra, counted %d", row->name, (int)n, (int)g,
            (int)n_node, (int)f.intra, (int)counted);
    *swapped += f.printed_intra != counted;
}

static void counts_and_equations(void **state) {
    (void)state;
    int applied[2] = {0}, wrong[2] = {0};
    for (int64_t n = 1; n <= N_MAX; n++)
        for (int64_t g = 1; g <= n; g++)
            for (int64_t n_node = 1; n % g == 0 && n_node <= n; n_node++) {
                int64_t slot[N_MAX];
                if (n % n_node != 0) continue;
                place(&fr_placement_linear, n, g, n_node, slot);
                int64_t naive = counted_intra(&fr_placement_linear, n, g, n_node, slot);
                formula(&fr_placement_linear, n, g, n_node, naive, &applied[0], &wrong[0]);
                place(&fr_placement_round_robin, n, g, n_node, slot);
                int64_t aware = counted_intra(&fr_placement_round_robin, n, g, n_node, slot);
                formula(&fr_placement_round_robin, n, g, n_node, aware, &applied[1], &wrong[1]);
                /* The paper's claim holds where its own conditions do. */
                if (fr_messages_formula(&fr_placement_round_robin, n, g, n_node).applies)
                    FR_TRUE(aware >= naive, "n %d g %d n_node %d: aware %d < naive %d", (int)n,
                            (int)g, (int)n_node, (int)aware, (int)naive);
                place(&fr_placement_by_axis, n, g, n_node, slot);
                counted_intra(&fr_placement_by_axis, n, g, n_node, slot);
            }
    assert_true(applied[0] > 300 && applied[1] > 300);
    assert_true(wrong[0] > 100); /* as printed, Eqs. 4 and 5 are wrong */
    assert_int_equal(wrong[1], 0);
}

/* The counter-example of the reference: n = 6, n_node = 3, g = 2 is (6, 6), the paper's (12, 0). */
static void guarded(void **state) {
    (void)state;
    struct fr_message_formula f = fr_messages_formula(&fr_placement_round_robin, 6, 2, 3);
    assert_false(f.applies);
    assert_int_equal(f.printed_intra, 12);
    assert_int_equal(f.general_intra, 6);
    assert_null(fr_messages_formula(&fr_placement_by_axis, 6, 2, 3).equations);
}

static void optimised_is_never_worse(void **state) {
    (void)state;
    for (int64_t n = 2; n <= 24; n += 2)
        for (int64_t g = 1; g <= n; g++)
            for (int64_t n_node = 2; n % g == 0 && n_node <= n; n_node++) {
                int64_t slot[N_MAX], again[N_MAX], best = 0;
                if (n % n_node != 0) continue;
                for (const struct fr_placement *const *row = fr_placements; *row; row++) {
                    if (*row == &fr_placement_file || *row == &fr_placement_optimised) continue;
                    place(*row, n, g, n_node, slot);
                    int64_t intra = brute_intra(n, g, n_node, slot);
                    if (intra > best) best = intra;
                }
                place(&fr_placement_optimised, n, g, n_node, slot);
                FR_TRUE(brute_intra(n, g, n_node, slot) >= best,
                        "n %d g %d n_node %d: optimised %d, named %d", (int)n, (int)g,
                        (int)n_node, (int)brute_intra(n, g, n_node, slot), (int)best);
                place(&fr_placement_optimised, n, g, n_node, again);
                assert_memory_equal(slot, again, (size_t)n * sizeof *slot);
            }
}

/* n = 6 in sub-grids of 3, three ranks a node, against counting by hand. */
static void optimised_finds_the_best_of_few(void **state) {
    (void)state;
    int64_t slot[6];
    place(&fr_placement_optimised, 6, 2, 3, slot);
    /* Nodes of three cannot hold whole pairs: two pairs inside, one across; 4 + 2 x 2 + 2 = 10. */
    assert_int_equal(brute_intra(6, 2, 3, slot), 10);
}

static void names(void **state) {
    (void)state;
    static const char *const good[] = {"linear", "round-robin", "by-axis:dp-tp-pp",
                                       "optimised:7"};
    static const char *const bad[] = {
        "lineal", "linear:3", "by-axis:xp", "by-axis:tp-tp", "optimised:x", "file", ""};
    struct fr_placement_choice choice;
    struct fr_error err = {0};
    int64_t *owned = NULL;
    char text[64];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(fr_placement_parse(good[i], "here", &choice, &owned, &err), FR_OK);
        assert_string_equal(fr_placement_write(&choice, text, sizeof text), good[i]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FR_TRUE(fr_placement_parse(bad[i], "here", &choice, &owned, &err) == FR_ERR_INPUT, "%s",
                bad[i]);
        assert_string_equal(err.where, "here");
    }
}

static void lists(void **state) {
    (void)state;
    static const struct {
        const char *text;
        fr_status status;
    } cases[] = {{"[2, 0, 1]", FR_OK},
                 {"[0, 0, 1]", FR_ERR_INPUT},
                 {"[0, 3, 1]", FR_ERR_INPUT},
                 {"[0, 1.5]", FR_ERR_INPUT},
                 {"[]", FR_ERR_INPUT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fr_json_document *document = NULL;
        struct fr_placement_choice choice;
        struct fr_error err = {0};
        int64_t *owned = NULL, slot[3];
        assert_int_equal(
            fr_json_parse(cases[i].text, strlen(cases[i].text), "list", &document, &err),
            FR_OK);
        struct fr_json root = fr_json_root(document);
        FR_TRUE(fr_placement_read_list(&root, &choice, &owned, &err) == cases[i].status,
                "%s: %s", cases[i].text, err.detail);
        if (cases[i].status == FR_OK) {
            struct fr_mesh mesh = mesh_of(3, 1), other = mesh_of(4, 1);
            struct fr_levels levels = levels_of(1);
            struct fr_placement_ask seating = {&levels, &mesh, &choice, NULL, NULL};
            assert_null(choice.row->refuses(&choice, &mesh));
            assert_non_null(choice.row->refuses(&choice, &other));
            assert_int_equal(choice.row->place(&seating, slot, NULL), FR_OK);
            assert_true(slot[2] == 0 && slot[0] == 1 && slot[1] == 2);
        }
        free(owned);
        fr_json_free(document);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_equations),
        cmocka_unit_test(guarded),
        cmocka_unit_test(optimised_is_never_worse),
        cmocka_unit_test(optimised_finds_the_best_of_few),
        cmocka_unit_test(names),
        cmocka_unit_test(lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
