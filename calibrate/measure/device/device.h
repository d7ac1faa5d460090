/** @file
 *  A device that products and traffic are timed on, whatever drives it.
 *
 *  A driver finds the devices of this host, opens one and prepares a task: a product, a pass over
 *  memory, a copy over the host link, or an empty kernel.  It carries the task out as often as it
 *  is asked to, timed by the device's own clock.  The harness decides which points are measured,
 *  how often, and when that is enough.  It does not know which driver it has
 *  (calibrate/measure/harness/bench/device.c).
 *
 *  Nothing here sets a clock, a power limit or a mode of a device.
 *
 *  To add one: calibrate/measure/device/driver/<name>.c exporting fr_device_<name>, and a row FR_DEVICE(<name>) in
 *  calibrate/measure/device/driver_list.h.
 */
#ifndef FR_CALIBRATE_MEASURE_DEVICE_DEVICE_H
#define FR_CALIBRATE_MEASURE_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "models/device/device.h"
#include "models/network/collective.h"

typedef enum {
    FR_DEVICE_PRODUCT,    /**< C = A B in dtype, summed in fp32 */
    FR_DEVICE_TRAFFIC,    /**< a pass over memory of one kind of traffic */
    FR_DEVICE_LAUNCH,     /**< an empty kernel, one launched after the other */
    FR_DEVICE_GRAPH,      /**< an empty kernel among many that are launched as one graph */
    FR_DEVICE_LINK,       /**< a copy between host and device */
    FR_DEVICE_ATTENTION,  /**< a fused kernel of attention, in dtype */
    FR_DEVICE_COLLECTIVE, /**< a collective of `group`, or a message of two of its ranks */
    FR_DEVICE_BESIDE,     /**< a collective and a product: one of the parts below */
} fr_device_task_kind;

/** Parts of FR_DEVICE_BESIDE: each alone, both at once, the product's time while both run; as FR_OVERLAP_... */
enum {
    FR_DEVICE_BESIDE_COLLECTIVE,
    FR_DEVICE_BESIDE_PRODUCT,
    FR_DEVICE_BESIDE_BOTH,
    FR_DEVICE_BESIDE_DURING
};

/** Devices that exchange messages; opaque, each driver's own. */
struct fr_device_group;
enum { FR_DEVICE_GROUP_ID_B = 128 };

struct fr_device_task {
    fr_device_task_kind kind;
    fr_dtype dtype; /**< of a product */
    /** Dimensions of a product: m x n is the result, k the inner dimension.  With matrices stored
     *  row by row, a forward pass has B transposed, an input gradient none, a weight gradient A. */
    int64_t m, n, k;
    fr_transposed transposed;
    bool
        blocks; /**< of a product: blocks of values have scales of their own, not a tensor one */
    fr_traffic traffic;
    double size_B;  /**< of traffic: in use in turn; of a copy: its bytes */
    bool to_device; /**< direction of a copy */
    bool pinned;    /**< the host's pages of a copy */
    /** Sizes of attention: sequences and tokens of each, heads of queries, heads of keys and values, values of a head.
     *  `batch` of a product: equal ones that are one call; 0 is one. */
    int64_t batch, sequence, heads, kv_heads, width;
    bool causal;   /**< a token attends to those before it alone */
    bool backward; /**< the pass */
    struct fr_device_group *group;
    fr_op op;    /**< of group, size_B as fr_op counts it */
    int partner; /**< rank that messages of FR_OP_SEND_RECV go to and come from */
    bool first;  /**< sends first, where messages go there and back */
    bool both;   /**< both ways at once */
    int part;    /**< FR_DEVICE_BESIDE_... */
};

struct fr_device_facts {
    char name[96], driver[48];
    char libraries[192]; /**< with versions, joined by ", " */
    char bus[32];
    char lacks
        [1600]; /**< a sentence on each library that is not there, and what is not measured; "" */
    int64_t units;      /**< multiprocessors */
    int64_t generation; /**< 90: compute capability 9.0 */
    double memory_B, cache_B, clock_Hz;
    double shown_B; /**< memory as its management library shows it; 0: not known */
    double
        context_B; /**< of memory, taken by context and libraries of one process; 0: not known */
    bool divided;  /**< into parts that are devices of their own (MIG) */
};

/** Read now; 0 is not known. */
struct fr_device_state {
    double energy_J; /**< since some time */
    double power_W, clock_Hz;
    double free_B;
};

/** How a library carries a collective out, in small letters ("ring", "simple"); "": it does not say. */
struct fr_device_choice {
    char algorithm[16], protocol[12];
};

/** Opaque; each driver's own. */
struct fr_device_handle;

struct fr_device_driver {
    const char *name;
    const char *summary; /**< a line */
    /** NULL in all below: the harness itself measures it. */
    /** Devices of this host.  @return FR_OK, or FR_ERR_EXTERNAL with one sentence on what is not there. */
    fr_status (*count)(int *n, struct fr_error *err);
    /** @return FR_OK, FR_ERR_EXTERNAL or FR_ERR_NOMEM; nothing is left open on failure. */
    fr_status (*open)(int index, struct fr_device_handle **device, struct fr_error *err);
    void (*close)(struct fr_device_handle *device);
    const struct fr_device_facts *(*facts)(const struct fr_device_handle *device);
    /** Get what a task needs, the same memory as the task before.
     *  @return FR_OK; FR_ERR_UNSUPPORTED: this device or its libraries cannot do it; FR_ERR_EXTERNAL. */
    fr_status (*prepare)(struct fr_device_handle *device, const struct fr_device_task *task,
                         struct fr_error *err);
    /** Carry the prepared task out.  @param[out] time_s  of all calls, by the device's clock */
    fr_status (*run)(struct fr_device_handle *device, int calls, double *time_s,
                     struct fr_error *err);
    /** Bytes that a call of the task moves, each value counted once for each time it is read or written. */
    double (*moved_B)(const struct fr_device_task *task);
    /** A name for a new group, made by one of its ranks and told to the others. */
    fr_status (*group_id)(struct fr_device_handle *device,
                          unsigned char id[FR_DEVICE_GROUP_ID_B], struct fr_error *err);
    /** All ranks of the group at once.
     *  @return FR_OK; FR_ERR_UNSUPPORTED: no library for it; FR_ERR_EXTERNAL, FR_ERR_NOMEM */
    fr_status (*group_open)(struct fr_device_handle *device,
                            const unsigned char id[FR_DEVICE_GROUP_ID_B], int n_ranks, int rank,
                            struct fr_device_group **group, struct fr_error *err);
    void (*group_close)(struct fr_device_handle *device, struct fr_device_group *group);
    /** Tell what the library of groups chose for the last run; never fails. */
    void (*choice)(struct fr_device_handle *device, struct fr_device_choice *choice);
    /** From now on nobody asks for choices, so that noting them takes no time. */
    void (*choice_end)(struct fr_device_handle *device);
    /** Never fails: what cannot be read is 0. */
    void (*state)(struct fr_device_handle *device, struct fr_device_state *state);
};

/** Rows that others name. */
extern const struct fr_device_driver fr_device_cuda, fr_device_hip;
/** Rows in table order, then NULL. */
extern const struct fr_device_driver *const fr_device_drivers[];

/** By name.  @return NULL: none is called so. */
const struct fr_device_driver *fr_device_find(const char *name);

#endif
