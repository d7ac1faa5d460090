/** @file
 *  The software that a plan runs on: a framework and its release, with a date.
 *
 *  A runtime file states facts (fact.h): what a plan starts from where nobody says, and what devices reach with this
 *  software.  A cluster states values of the hardware.  Where it states a software value too (a calibration, an older
 *  file), that value wins, and answers name it.  Software may be unknown on a device (the device is newer, or of
 *  another maker).  It is then priced at what devices reach with the newest runtime that suits the device, and
 *  answers name that runtime too.
 *
 *      { "name": "megatron-bridge-26.06", "date": "2026-06", "from": "megatron-bridge-26.04", "suits": ["hopper"],
 *        "facts": [ { "key": "graphs", "value": "layers", "when": "experts in fp8", "source": "...", "date": "2026-06" },
 *                   { "key": "attention.flash", "of": "hopper", "value": 0.677, "width": 0.067, "source": "..." } ] }
 *
 *  "of" names one generation or device, or a list of several; the fact holds for each of them.
 *
 *  A file takes the facts that it does not state from the file named by `from`, and facts of devices alone from that
 *  named by `costs_from`.  A file that states a key (of a device) hides what those files state of it.  Inside a file
 *  the name of a device goes before its generation, and the generation before a fact of every device.  Facts of plan
 *  and model are tried in their order, up to the first whose condition holds (assume.h).
 *
 *  Nothing comes from itself: a circle is refused.
 *
 *  To add a runtime: a file presets/runtime/NAME.json. */
#ifndef FR_MODELS_JOB_RUNTIME_H
#define FR_MODELS_JOB_RUNTIME_H

#include "base/json.h"
#include "models/job/fact.h"

enum { FR_RUNTIME_NAME = 64, FR_RUNTIME_FILES = 64, FR_RUNTIME_FACTS = 1024 };

/** A fact as a file states it. */
struct fr_fact {
    int row;                  /**< of fr_facts */
    int file;                 /**< whose it is; -1: of --set, before all files */
    char of[FR_RUNTIME_NAME]; /**< generation or name of a device; "": of every */
    int when;                 /**< its condition (assume.h); 0: always */
    bool none;                /**< nothing is assumed: it hides what is behind it */
    double number;            /**< SI; of plan and words not used */
    char text[96];            /**< of plan: the value as JSON; of a word: itself */
    double width;             /**< standard deviation of its logarithm; 0: not stated */
    char date[16];            /**< "" where none is stated */
    const char *source;       /**< owned by its document; "" where none is stated */
};

struct fr_runtime {
    char name[FR_RUNTIME_NAME], date[16], source[2048];
    bool modern;  /**< what models start from with it: today, or 2019 */
    bool guessed; /**< nobody named it or its date: it is the newest that suits */
    int n_files, n_facts;
    struct fr_json_document *file[FR_RUNTIME_FILES]; /**< itself, then what it comes from */
    bool costs_only[FR_RUNTIME_FILES];               /**< it gives facts of devices alone */
    char named[FR_RUNTIME_FILES][FR_RUNTIME_NAME];   /**< as its taker names it */
    char dated[FR_RUNTIME_FILES][16];                /**< as it dates itself */
    struct fr_drift usual; /**< of the newest preset, where none of its files states any */
    struct fr_fact *fact;  /**< [n_facts] nearest file first; owned */
};

/** Read @p name, a preset, a file or a name in the user's folders, and all that it comes from.
 *  Free with fr_runtime_free, also on error.
 *  @return FR_OK; FR_ERR_INPUT with the place; FR_ERR_NOMEM. */
fr_status fr_runtime_read(const char *name, struct fr_runtime *runtime, struct fr_error *err);
void fr_runtime_free(struct fr_runtime *runtime);

/** The facts of @p from, whose documents stay its own: @p from outlives @p runtime.  Free with fr_runtime_free. */
fr_status fr_runtime_copy(const struct fr_runtime *from, struct fr_runtime *runtime,
                          struct fr_error *err);

/** Facts of @p later in the rows that @p taken names, of @p first in the others; those of --set (file -1) of neither.
 *  `made->modern` is @p first's.  Both outlive it; free with fr_runtime_free, also on error.
 *  @param taken  [fr_fact_count] */
fr_status fr_runtime_mix(const struct fr_runtime *first, const struct fr_runtime *later,
                         const bool *taken, struct fr_runtime *made, struct fr_error *err);

/** Is @p set, a KEY=VALUE, about the runtime: "runtime=NAME" or "runtime.KEY=VALUE"? */
bool fr_runtime_is_set(const char *set);

/** Put fact @p key ("runtime." before it or not) of @p text before all files: `--set runtime.KEY=VALUE`; "date" is that
 *  of the software itself.
 *  @return FR_OK; FR_ERR_USAGE where there is no such fact or value. */
fr_status fr_runtime_set(struct fr_runtime *runtime, const char *key, const char *text,
                         struct fr_error *err);

/** Its value as --set takes it: SI, without quotes.  @return @p out. */
const char *fr_fact_text(const struct fr_fact *fact, char *out, size_t capacity);

/** The fact of a device value @p row, or NULL. */
const struct fr_fact *fr_runtime_of_device(const struct fr_runtime *runtime, int row,
                                           const struct fr_device *device);

/** Facts of devices of preset or file @p name, behind all that @p runtime has.  @return as fr_runtime_read. */
fr_status fr_runtime_join(struct fr_runtime *runtime, const char *name, struct fr_error *err);

/** How far @p runtime is from the nearest preset that it is or comes from, and what is said of that. */
void fr_runtime_drift(const struct fr_runtime *runtime, struct fr_drift *drift);

/** Give @p cluster, read from @p document, the values that its devices reach with @p runtime: all that its file does
 *  not state, and those of --set.  cluster->runtime names the runtime, and cluster->software lists what the file
 *  states itself.  cluster->drift is the distance from a preset whose facts it has.  Where neither states anything of
 *  its generation or its device, the newest preset that suits the generation joins @p runtime, for costs alone, and
 *  cluster->costs names it.
 *  @return FR_OK; FR_ERR_INPUT or FR_ERR_NOMEM of reading that one. */
fr_status fr_runtime_equip(struct fr_runtime *runtime, const struct fr_json_document *document,
                           struct fr_cluster *cluster, struct fr_error *err);

/** Carry the runtime of @p own to the devices of @p to, a cluster of the same file.  A fact of devices that both
 *  runtimes give changes by the ratio of the two, so that values fitted to @p to stay.  A fact that one of them
 *  leaves out becomes that of @p own.  A fact that a file states itself stays. */
void fr_runtime_carry(const struct fr_cluster *own, struct fr_cluster *to);

/** The preset that --defaults 2019 names. */
extern const char fr_runtime_2019[];

/** Capacity for what fr_runtime_line writes. */
enum { FR_RUNTIME_LINE = 384 };

/** "megatron-bridge-26.06 (2026-06); the cluster's own: fixed" of @p cluster, as heads of answers name it.
 *  @return @p out */
const char *fr_runtime_line(const struct fr_cluster *cluster, char *out, size_t capacity);

/** Write the software of @p cluster into a JSON answer: its name, its date, and whose costs it has if not its own.
 *  Then follow what the cluster states itself, and the distance from a release that is known. */
void fr_runtime_put(const struct fr_cluster *cluster, struct fr_json_writer *w);

#endif
