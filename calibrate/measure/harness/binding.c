/* Where the ranks may run, as hwloc sees it: reported in words, and compared on --resume. */
#include <hwloc.h>
#include <stdio.h>

#include "calibrate/measure/harness/binding.h"
#include "calibrate/measure/quota.h"

enum { WORDS = 64 }; /* 4096 processing units a node */

struct set {
    unsigned long word[WORDS];
};

static int count(const struct set *set) {
    int n = 0;
    for (int i = 0; i < WORDS; i++) n += __builtin_popcountl(set->word[i]);
    return n;
}

static void to_words(hwloc_const_bitmap_t bitmap, struct set *set) {
    for (unsigned i = 0; i < WORDS; i++) set->word[i] = hwloc_bitmap_to_ith_ulong(bitmap, i);
}

/* The units this process may run on, and all units of the cores they belong to. */
struct place {
    struct set units, cores;
    int n_cores; /* touched */
    int inside;  /* the unit it runs on is one of them */
};

static bool find_place(struct place *place) {
    hwloc_topology_t topology;
    hwloc_bitmap_t bound = hwloc_bitmap_alloc(), whole = hwloc_bitmap_alloc(),
                   now = hwloc_bitmap_alloc();
    bool found = false;
    *place = (struct place){.n_cores = 0};
    if (hwloc_topology_init(&topology) != 0) goto done;
    if (bound && whole && now && hwloc_topology_load(topology) == 0 &&
        hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_obj_t core = NULL;
        /* Unbound is bound to everything that is there. */
        hwloc_bitmap_and(bound, bound, hwloc_topology_get_topology_cpuset(topology));
        hwloc_bitmap_copy(whole, bound);
        while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)))
            if (hwloc_bitmap_intersects(core->cpuset, bound)) {
                hwloc_bitmap_or(whole, whole, core->cpuset);
                place->n_cores++;
            }
        place->inside = hwloc_get_last_cpu_location(topology, now, HWLOC_CPUBIND_THREAD) == 0 &&
                        hwloc_bitmap_isincluded(now, bound);
        to_words(bound, &place->units);
        to_words(whole, &place->cores);
        found = true;
    }
    hwloc_topology_destroy(topology);
done:
    hwloc_bitmap_free(bound);
    hwloc_bitmap_free(whole);
    hwloc_bitmap_free(now);
    return found;
}

/* The view of a node, the worst of all nodes. */
struct view {
    int unknown, shared_units, shared_cores, several_cores, strayed, oversubscribed;
};

static fr_status look(struct fr_bench *bench, struct view *view, struct fr_error *err) {
    struct place own;
    struct set units, cores;
    int sums[2], totals[2], ranks = bench->n_node_ranks;
    bool found = find_place(&own);
    MPI_Datatype type = MPI_UNSIGNED_LONG;
    sums[0] = count(&own.units);
    sums[1] = count(&own.cores);
    FR_MPI_TRY(MPI_Allreduce(own.units.word, units.word, WORDS, type, MPI_BOR, bench->node));
    FR_MPI_TRY(MPI_Allreduce(own.cores.word, cores.word, WORDS, type, MPI_BOR, bench->node));
    FR_MPI_TRY(MPI_Allreduce(sums, totals, 2, MPI_INT, MPI_SUM, bench->node));
    const struct view here = {
        .unknown = !found,
        .shared_units = totals[0] > count(&units),
        .shared_cores = totals[1] > count(&cores),
        .several_cores = own.n_cores > 1,
        .strayed = found && !own.inside,
        .oversubscribed = (found && ranks > count(&units)) ||
                          ranks > fr_quota_cores("/sys/fs/cgroup", "/proc/self/cgroup")};
    FR_MPI_TRY(MPI_Allreduce(&here, view, (int)(sizeof here / sizeof(int)), MPI_INT, MPI_MAX,
                             bench->world));
    return FR_OK;
}

static const char *tell(const struct view *v) {
    if (v->unknown) return "unknown: hwloc cannot tell";
    if (v->strayed) return "not held: a rank runs outside the cores it is bound to";
    if (v->shared_units) return "not pinned: ranks of a node may run on the same cores";
    if (v->shared_cores) return "ranks share cores as hardware threads, verified through hwloc";
    if (v->several_cores)
        return "each rank has several cores of its own, verified through hwloc";
    return "each rank has one core of its own, verified through hwloc";
}

fr_status fr_binding_describe(struct fr_bench *bench, struct fr_error *err) {
    struct fr_provenance *p = &bench->provenance;
    struct view view = {0};
    if (p->simulated) {
        snprintf(p->pinning, sizeof p->pinning, "simulated");
        return FR_OK;
    }
    FR_TRY(look(bench, &view, err));
    p->oversubscribed = view.oversubscribed;
    snprintf(p->pinning, sizeof p->pinning, "%s; BLAS with 1 thread", tell(&view));
    return FR_OK;
}
