/** @file
 *  One row for each key of a plan.  It holds the key's name, its values, its place in the plan and in a line, its
 *  readers, and a sentence of help.
 *
 *  Reading, writing, the line of a plan, columns, `--vary`, its help, docs/reference/plan-keys.md and "would have
 *  no effect" walk these rows.  To add a key: a row in models/plan/key_list.h, its name in the
 *  list below, a field in struct fr_plan with its default in fr_plan_default, and the code that reads the field. */
#ifndef FR_MODELS_PLAN_KEY_H
#define FR_MODELS_PLAN_KEY_H

#include "models/plan/plan.h"

struct fr_plan_key;

/** Type of a value: how it is read, written and compared. */
struct fr_plan_type {
    const char *name;
    /** Member @p member of @p object into the key's field; lists go into @p lists. */
    fr_status (*read)(const struct fr_plan_key *key, const struct fr_json *object,
                      const char *member, struct fr_plan *plan, struct fr_plan_lists *lists,
                      struct fr_error *err);
    /** As a JSON value that read takes back. */
    void (*write)(const struct fr_plan_key *key, const struct fr_plan *plan,
                  struct fr_json_writer *w);
    /** As a word for a line or a cell, different for different values.  @return @p out. */
    const char *(*text)(const struct fr_plan_key *key, const struct fr_plan *plan, char *out,
                        size_t capacity);
    bool (*same)(const struct fr_plan_key *key, const struct fr_plan *a,
                 const struct fr_plan *b);
    /** Nothing was said, and another default than a value stands for it; NULL: never. */
    bool (*open)(const struct fr_plan_key *key, const struct fr_plan *plan);
    bool ranges; /**< of `--vary`: whole numbers from..to */
    bool sizes;  /**< likewise, with a unit of size */
};

extern const struct fr_plan_type fr_plan_integer, fr_plan_number, fr_plan_size, fr_plan_bool,
    fr_plan_choice, fr_plan_modules, fr_plan_row, fr_plan_order, fr_plan_placement,
    fr_plan_list, fr_plan_quantities;

struct fr_plan_key {
    const char *name; /**< in files and for --set; a dot for each object around it */
    const struct fr_plan_type *type;
    size_t offset, size; /**< of the field, or of several side by side */
    double least, most;
    const char *const *words; /**< of a choice, of rows, or that stand for a list */
    const void *rows;         /**< table of pointers, as many as words */
    const char *label;        /**< how it stands in a line, its text for %s */
    bool always;              /**< in the line also at its default, where ... */
    uint64_t stated;          /**< ... these needs hold, and its own */
    uint64_t needs;           /**< set of needs */
    const char *otherwise;    /**< the default in words, or NULL: as fr_plan_default has it */
    const char *help;
};

/** Names of the rows for code, in the order of key_list.h; key.c checks that order.  A change of a row's values or
 *  words recompiles key.c alone. */
enum {
    FR_PLAN_KEY_method,
    FR_PLAN_KEY_tp,
    FR_PLAN_KEY_dp,
    FR_PLAN_KEY_pp,
    FR_PLAN_KEY_pass,
    FR_PLAN_KEY_cp,
    FR_PLAN_KEY_context,
    FR_PLAN_KEY_ep,
    FR_PLAN_KEY_etp,
    FR_PLAN_KEY_ghost,
    FR_PLAN_KEY_phantom_parts,
    FR_PLAN_KEY_branches,
    FR_PLAN_KEY_common,
    FR_PLAN_KEY_exchange,
    FR_PLAN_KEY_divide,
    FR_PLAN_KEY_domain,
    FR_PLAN_KEY_placement,
    FR_PLAN_KEY_rank_order,
    FR_PLAN_KEY_schedule,
    FR_PLAN_KEY_chunks,
    FR_PLAN_KEY_p2p,
    FR_PLAN_KEY_backward_scope,
    FR_PLAN_KEY_backward_rank,
    FR_PLAN_KEY_lazy_error,
    FR_PLAN_KEY_forward_rank,
    FR_PLAN_KEY_embedding,
    FR_PLAN_KEY_gradient_stages,
    FR_PLAN_KEY_gradient_rank,
    FR_PLAN_KEY_gradient_ranks,
    FR_PLAN_KEY_codec,
    FR_PLAN_KEY_warm_up,
    FR_PLAN_KEY_stage_layers,
    FR_PLAN_KEY_sequence_parallel,
    FR_PLAN_KEY_overlap_tp,
    FR_PLAN_KEY_attention,
    FR_PLAN_KEY_zero,
    FR_PLAN_KEY_zero_ranks,
    FR_PLAN_KEY_zero_exchange,
    FR_PLAN_KEY_reshard,
    FR_PLAN_KEY_gradient_sync,
    FR_PLAN_KEY_overlap,
    FR_PLAN_KEY_bucket,
    FR_PLAN_KEY_dispatch_ranks,
    FR_PLAN_KEY_overlap_experts,
    FR_PLAN_KEY_recompute,
    FR_PLAN_KEY_recompute_layers,
    FR_PLAN_KEY_offload,
    FR_PLAN_KEY_offload_layers,
    FR_PLAN_KEY_graphs,
    FR_PLAN_KEY_accumulation,
    FR_PLAN_KEY_loss,
    FR_PLAN_KEY_launches,
    FR_PLAN_KEY_global_batch,
    FR_PLAN_KEY_micro_batch,
    FR_PLAN_KEY_clock,
    FR_PLAN_KEY_power_cap,
    FR_PLAN_KEY_iterations,
    FR_PLAN_KEY_layer_tp,
    FR_PLAN_KEYS
};
/** Rows in table order, FR_PLAN_KEYS of them. */
extern const struct fr_plan_key fr_plan_keys[];
/** The option --vary of a search: what it takes, and every key. */
extern const char fr_plan_vary_help[];
/** A set of keys: bit i stands for row i. */
typedef uint64_t fr_plan_key_set;
#define FR_PLAN_KEY_BIT(i) ((fr_plan_key_set)1 << (i))

/** Row called @p name ("plan." before it or not), or NULL; @p near is then the likeliest, or NULL. */
const struct fr_plan_key *fr_plan_key_find(const char *name, const char **near);

/** The key's default in words. @return @p out. */
const char *fr_plan_key_default(const struct fr_plan_key *key, char *out, size_t capacity);

/** Values that a key accepts: "1 to 1024", "`none`, `epilogue`, `all`".
 *  @return @p out. */
const char *fr_plan_key_values(const struct fr_plan_key *key, char *out, size_t capacity);

/** Copy the key's field. */
void fr_plan_key_copy(const struct fr_plan_key *key, const struct fr_plan *from,
                      struct fr_plan *to);

/* ---- what reads a key --------------------------------------------------------------------- */

/** A set of needs (need_list.h) is a bit for each, in order.  Those without which a key is a mistake. */
extern const uint64_t fr_plan_needs_refused;
/** "a model of kind transformer", ... in order, then NULL. */
extern const char *const fr_plan_need_names[];
/** Keys that need number @p need of these reads, of plans of @p model; NULL: of no model. */
fr_plan_key_set fr_plan_need_keys(int need, const struct fr_workload *model);

/** The needs that do not hold; those of a model do where @p model is NULL. */
uint64_t fr_plan_missing(const struct fr_workload *model, const struct fr_plan *plan);
/** The same of those in @p asked. */
uint64_t fr_plan_missing_of(uint64_t asked, const struct fr_workload *model,
                            const struct fr_plan *plan);

/** A key not at its default that lacks what would read it, in a way that is a mistake; @p needs what
 *  it lacks.  NULL: none. */
const struct fr_plan_key *fr_plan_idle_key(const struct fr_workload *model,
                                           const struct fr_plan *plan, const char **needs);

/* ---- lines, columns, files ---------------------------------------------------------------- */

/** Capacity for the line of any plan. */
enum { FR_PLAN_LINE = 640, FR_PLAN_WORD = 96 };

/** Keys that the plan's line says. */
fr_plan_key_set fr_plan_line_keys(const struct fr_plan *plan);

/** The plan in a line: method, mesh, and every key that is read and not at its default, but for
 *  those in @p without.  Plans with equal lines are equal.  @return @p out. */
const char *fr_plan_line(const struct fr_plan *plan, fr_plan_key_set without, char *out,
                         size_t capacity);

/** The plan as a plan file: every key but those that were left open. */
void fr_plan_write(struct fr_json_writer *w, const struct fr_plan *plan);

#endif
