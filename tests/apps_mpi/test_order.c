/* The order of a pass, by its laws: every case once; a group stays together; a pass that may be cut begins with one
 * of every group and then makes small groups whole before large ones.  The deadline: a visit's share is what is left
 * over what is to do, all ranks get the same, the first visit is never refused. */
#include "base/clock.h"
#include "calibrate/measure/harness/bench.h"
#include "real/apps/passes/deadline.h"
#include "real/apps/passes/order.h"
#include "tests/apps_mpi/mpi_case.h"

/* Groups of 5, 1, 3, 2 and 1 cases, mixed. */
enum { N = 12, GROUPS = 5, SEEDS = 200 };
static const int group_of[N] = {0, 1, 0, 2, 3, 2, 0, 4, 2, 3, 0, 0};
static const int size_of[GROUPS] = {5, 1, 3, 2, 1};

static struct fr_real_cases make(struct fr_real_item items[N]) {
    memset(items, 0, N * sizeof *items);
    for (int i = 0; i < N; i++)
        while (group_of[items[i].block] != group_of[i]) items[i].block++;
    return (struct fr_real_cases){.items = items, .n = N};
}

/* In how many runs of equal groups do order[from .. N) come, and are their sizes ascending? */
static int runs(const int *order, int from, bool *ascending) {
    int n = 0;
    *ascending = true;
    for (int i = from; i < N; i++) {
        if (i > from && group_of[order[i]] == group_of[order[i - 1]]) continue;
        n++;
        if (i > from && size_of[group_of[order[i]]] < size_of[group_of[order[i - 1]]])
            *ascending = false;
    }
    return n;
}

static void an_order_keeps_its_laws(void) {
    struct fr_real_item items[N];
    const struct fr_real_cases cases = make(items);
    struct fr_error err = {.status = FR_OK};
    uint64_t random = 1;
    int heads[N] = {0};
    for (int seed = 0; seed < SEEDS; seed++)
        for (int cut = 0; cut < 2; cut++) {
            int order[N], seen[N] = {0}, first[GROUPS] = {0};
            bool ascending = true;
            for (int i = 0; i < N; i++) order[i] = i;
            fr_bench_shuffle(&random, order, N);
            if (fr_real_order(&cases, cut, order, &err) != FR_OK) FAIL("%s", err.detail);
            for (int i = 0; i < N; i++) seen[order[i]]++;
            for (int i = 0; i < N; i++)
                if (seen[i] != 1) FAIL("case %d comes %d times", i, seen[i]);
            for (int i = 0; i < GROUPS; i++) first[group_of[order[i]]]++;
            for (int g = 0; cut && g < GROUPS; g++)
                if (first[g] != 1) FAIL("group %d: %d of the first %d", g, first[g], GROUPS);
            int n = runs(order, cut ? GROUPS : 0, &ascending);
            if (n != (cut ? 3 : GROUPS)) FAIL("cut %d: groups come in %d runs", cut, n);
            if (cut && !ascending) FAIL("a large group comes before a small one");
            if (cut) heads[order[0]]++;
        }
    for (int i = 0; i < N; i++)
        if (heads[i] == 0) FAIL("case %d is never the first: the order is not random", i);
}

static void a_share_is_what_is_left_over_what_is_to_do(void) {
    enum { VISITS = 8 };
    struct fr_error err = {.status = FR_OK};
    struct fr_deadline d = fr_deadline_begin(1e6, 0, VISITS);
    bool over = true;
    for (int left = VISITS; left > 0; left--) {
        double before_s = d.end_s - fr_now_s(), all[2], own[2];
        if (fr_deadline_visit(&d, left, &over, &err) != FR_OK || over) FAIL("%s", err.detail);
        own[0] = d.share_s, own[1] = -d.share_s;
        MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (all[0] != -all[1]) FAIL("ranks have shares from %g to %g s", -all[1], all[0]);
        if (fabs(d.share_s - before_s / left) > 1e-3 * before_s)
            FAIL("share %g s of %g s for %d", d.share_s, before_s, left);
    }
    if (fr_deadline_visit(&d, 0, &over, &err) != FR_OK || over || d.share_s < HUGE_VAL)
        FAIL("a later pass has a share of %g s", d.share_s);
    if (d.n_begun != VISITS + 1) FAIL("%d visits are counted", d.n_begun);
}

/* A run that started long ago has no time left, and yet one visit; without a budget there is no end. */
static void the_first_visit_is_never_refused(void) {
    struct fr_error err = {.status = FR_OK};
    bool over = true;
    struct fr_deadline d = fr_deadline_begin(1e-9, 1, 2);
    if (fr_deadline_visit(&d, 2, &over, &err) != FR_OK || over) FAIL("the first is refused");
    if (fr_deadline_is_over(&d, &over, &err) != FR_OK || !over) FAIL("it is not cut short");
    if (fr_deadline_visit(&d, 1, &over, &err) != FR_OK || !over) FAIL("a second is begun");
    d = fr_deadline_begin(0, 1, 2);
    for (int i = 0; i < 3; i++)
        if (fr_deadline_visit(&d, 1, &over, &err) != FR_OK || over || d.share_s < HUGE_VAL)
            FAIL("no budget, and yet an end");
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    an_order_keeps_its_laws();
    a_share_is_what_is_left_over_what_is_to_do();
    the_first_visit_is_never_refused();
    MPI_Finalize();
    return n_failed ? 1 : 0;
}
