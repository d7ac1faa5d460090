/** @file
 *  One rank's processor: how long its matrix products, memory traffic and kernel launches
 *  take, and what power it draws.
 *
 *  A matrix product (GEMM) of an m x k by a k x n matrix is 2 m n k flop.  Its rate is one of
 *  the forms of models/device/gemm/: a saturating formula in the smallest dimension or in the local
 *  batch, or a measured table.  Whatever is not a matrix product moves bytes at the memory
 *  bandwidth, or at the rate of its working set where those were measured (working_set.h).  Every
 *  kernel costs `launch_s` on top.
 *
 *  To add a form: models/device/gemm/<name>.c exporting fr_gemm_<name>, row FR_GEMM(<name>) in
 *  models/device/gemm_list.h.
 */
#ifndef FR_MODELS_DEVICE_DEVICE_H
#define FR_MODELS_DEVICE_DEVICE_H

#include <math.h>
#include <stdbool.h>

#include "base/json.h"
#include "models/device/clock.h"
#include "models/device/framework.h"
#include "models/device/interruptions.h"
#include "models/device/shown.h"
#include "models/device/working_set.h"

/* code, spelling, bytes; of fp4 with the scale of eight bits that sixteen values share (NVFP4) */
#define FR_DTYPE_LIST(X)                                                                       \
    X(FR_FP64, fp64, 8)                                                                        \
    X(FR_FP32, fp32, 4)                                                                        \
    X(FR_TF32, tf32, 4)                                                                        \
    X(FR_BF16, bf16, 2)                                                                        \
    X(FR_FP16, fp16, 2)                                                                        \
    X(FR_FP8, fp8, 1)                                                                          \
    X(FR_FP4, fp4, 0.5625)

typedef enum {
#define FR_DTYPE_ENUM(code, name, bytes) code,
    FR_DTYPE_LIST(FR_DTYPE_ENUM)
#undef FR_DTYPE_ENUM
        FR_DTYPE_COUNT
} fr_dtype;

/** Spellings in order, then NULL. */
extern const char *const fr_dtype_names[];
double fr_dtype_size_B(fr_dtype dtype);
/** A format of products' inputs alone, which are made from 16 bits: fp8, fp4. */
static inline bool fr_dtype_is_narrow(fr_dtype dtype) {
    return dtype == FR_FP8 || dtype == FR_FP4;
}
/** Bytes of a value between products. */
static inline double fr_dtype_saved_B(fr_dtype dtype) {
    return fr_dtype_is_narrow(dtype) ? 2 : fr_dtype_size_B(dtype);
}

/** A matrix product; all >= 0.  A product with a zero dimension takes no time. */
struct fr_gemm_shape {
    double m, n, k;
    double batch;   /**< samples of the local batch that it serves */
    double at_once; /**< equal ones made at once (of experts), each of this shape; 0: one */
};

/** Which operand of a product lies transposed in memory, row after row.  None: a layer's output W x.  The first: its
 *  input gradient, of W transposed.  The second: its weight gradient, of x transposed.  Libraries take up to three
 *  times as long over thin ones. */
typedef enum {
    FR_TRANSPOSED_MIXED, /**< of a measurement: they took turns; of work: nobody says, as none */
    FR_TRANSPOSED_NONE,
    FR_TRANSPOSED_A,
    FR_TRANSPOSED_B,
    FR_TRANSPOSED_KINDS
} fr_transposed;

/** Spellings in order ("mixed", "none", "a", "b"), then NULL. */
extern const char *const fr_transposed_names[];

/** Equal products. */
struct fr_gemm_work {
    struct fr_gemm_shape shape;
    double count;
    fr_transposed transposed;
};

/** Measured times on the grid m x n x k, kept as logarithms. */
struct fr_gemm_table {
    int n_m, n_n, n_k;
    double *log_m, *log_n, *log_k; /**< ascending */
    double *log_time;              /**< [(i_m * n_n + i_n) * n_k + i_k] */
};

/** The same on a grid of its own: logarithms of how many times as long a product takes in some other way. */
struct fr_gemm_ratio {
    bool present;
    struct fr_gemm_table log_ratio; /**< log_time holds it */
};

/** Tiles of a device's products, for the form tiled. */
struct fr_gemm_tiles {
    double efficiency; /**< share of the peak that large aligned products reach */
    double grouped;    /**< of equal ones made at once (of experts), their share over that */
    double tail;       /**< share of a wave that the last, incomplete one costs on average */
    double units;      /**< tiles worked on at once */
    double tile;       /**< rows and columns of one */
    double align;      /**< values that a dimension should be a multiple of */
    double odd;        /**< factor on the time where one is no multiple of align / 8 */
    double misaligned; /**< factor on the time where one is not */
    bool writes;       /**< writing the result takes memory's time besides */
};

struct fr_gemm_model {
    const struct fr_gemm_form *form; /**< NULL: this dtype is not described */
    double peak_flop_per_s;
    double
        nominal_flop_per_s; /**< the data sheet's, where the peak is measured or fitted; 0: not stated */
    double half;            /**< half_dim, or half_batch */
    double full_batch; /**< beyond it the rate no longer grows */
    struct fr_gemm_table table;
    /** Operands from memory over operands used just before, >= 0. */
    struct fr_gemm_ratio memory;
    /** Weight gradients (B transposed) that from memory add to what is there, over those that do neither. */
    struct fr_gemm_ratio adds;
    struct fr_gemm_ratio transposed[FR_TRANSPOSED_KINDS]; /**< A or B over none */
    struct fr_gemm_tiles tiles;
    double residual_median, residual_p90; /**< relative; negative: not stated */
    /** Beyond the largest measured dimensions: standard deviation of the logarithm of a time for each
     *  doubling, and by how many of them times are moved (as fr_price's shift); 0: not stated. */
    double beyond_octave, shift;
};

/** Peak that utilisation is a share of: the data sheet's (`nominal_peak`), else the stated one [FLOP/s].  0 where all
 *  rates were measured or fitted (a table, or residuals beside a peak). */
static inline double fr_gemm_nominal_flop_per_s(const struct fr_gemm_model *model) {
    bool fitted = model->table.n_m > 0 || model->residual_median >= 0;
    if (model->nominal_flop_per_s > 0) return model->nominal_flop_per_s;
    return fitted ? 0 : model->peak_flop_per_s;
}

struct fr_gemm_form {
    const char *name;
    const char *equation;
    const char *source;
    const char *key; /**< the member of the JSON object that tells this form */
    /** Its rate is that of a whole training step (as throughput against batch is measured),
     *  so that element-wise and optimiser traffic must not be added. */
    bool whole_step;
    fr_status (*read)(const struct fr_json *object, struct fr_gemm_model *model,
                      struct fr_error *err);
    /** Time of one product without its launch [s].  Sets *extrapolated, never clears it. */
    double (*time_s)(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape,
                     bool *extrapolated);
    /** The shape from whose time that of @p shape follows by their work alone: itself, within what was
     *  measured; NULL: everywhere. */
    struct fr_gemm_shape (*edge)(const struct fr_gemm_model *model,
                                 const struct fr_gemm_shape *shape);
    /** Share of its time that a product takes where its depth is divided among units that would be idle; NULL: all. */
    double (*split)(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape);
    /** log(time / time of none transposed); NULL: no form of this has it. */
    double (*log_transposed)(const struct fr_gemm_model *model,
                             const struct fr_gemm_shape *shape, fr_transposed transposed);
    /** log(time from memory / time) of a shape within the edge; likewise. */
    double (*log_from_memory)(const struct fr_gemm_model *model,
                              const struct fr_gemm_shape *shape);
    /** The same of a weight gradient that adds to what is there. */
    double (*log_adds)(const struct fr_gemm_model *model, const struct fr_gemm_shape *shape);
};

/** Rows that others name. */
extern const struct fr_gemm_form fr_gemm_saturating, fr_gemm_table, fr_gemm_tiled;
/** Rows in table order, then NULL. */
extern const struct fr_gemm_form *const fr_gemm_forms[];

/** Power of a device that communicates, or waits inside a kernel for others, where nobody states it: this share of
 *  the way from idle to busy.  LoRA on 8 nodes of 8 H100 takes 1.36 times an eighth of one node's step time, at 6.1
 *  kW a node.  A node draws 7.2 kW at work and 2.4 kW at rest, which gives 0.12 (MLPerf Training v4.0; forerun
 *  reproduce energy, nodes_scale). */
#define FR_POWER_WAITING 0.125

/** Device power [W]; `known` false when the file does not say. */
struct fr_power {
    bool known;
    double busy_W, idle_W;
    double communicating_W; /**< and waiting for other ranks within an iteration */
    double uncertainty;     /**< of the energy, half of its 90 % interval, relative */
    char quality[16]; /**< measured, sampled, estimated, unavailable, or "" = not stated */
    char source[160];
};

/** Rates that the products of attention reach, as shares of the dtype's peak. */
struct fr_attention_rates {
    double plain;            /**< batched products over the scores; 0: priced as any product */
    double flash;            /**< the fused kernel of today; 0: plain's */
    double flash_2, flash_1; /**< of earlier generations; 0: flash's, and half of flash_2's */
    double backward; /**< rate of a fused kernel's backward pass over its forward's; 0: 1 */
    double scan; /**< of 16 bits, products of a state-space scan; 0: plain's, else flash's */
    double scan_backward; /**< rate of a scan's backward pass over its forward's; 0: 1 */
    /** Rate of the fused kernel of today at 8 bits, both passes together, over its rate at 16, where products are of 8
     *  bits or fewer and the software runs attention so, too; 0: it does not. */
    double eight_bits;
    /** The same of heads whose queries have more than 128 values: latent attention's; 0: eight_bits. */
    double eight_bits_wide;
    /** Values of a head at which a forward kernel's exponentials take as long as its products at 16 bits; narrower heads
     *  wait for exponentials; 0: none does. */
    double exponentials;
    /** Keys that a query attends to at which a fused kernel reaches half of its share: with K of them
     *  K / (K + half_keys).  A tile of queries has its own beginning, end and, where causal, half-empty last
     *  tile of keys, however many keys it meets (our derivation). 0: its share at any length. */
    double half_keys;
    /** The same of a backward pass; 0: half_keys. */
    double backward_keys;
    double flash_2_backward; /**< backward, of FlashAttention-2; 0: backward */
};

/** Generations of fused attention kernels, by the flop rate that they reach.  Dao, FlashAttention-2, 2023: the first
 *  reaches 25 to 40 % of an A100's peak, the second 50 to 73 % forward and up to 63 % backward.  Shah et al.,
 *  FlashAttention-3, 2024: of an H100's peak the second reaches 35 %, the third up to 75 %. */
typedef enum { FR_FLASH_NOW, FR_FLASH_2, FR_FLASH_1 } fr_flash;

struct fr_device {
    char name[64];
    char generation
        [32];        /**< "hopper": what facts of software are identified by; "": not stated */
    double memory_B; /**< 0: not stated */
    double memory_margin;  /**< what an allocator loses of what comes and goes, as its share */
    struct fr_shown shown; /**< of its memory, what software takes besides tensors */
    double memory_rate_B_per_s;
    struct fr_working_sets working_sets;
    /** Shares by which products and memory traffic take longer than what was measured idle:
     *  the file's own `noise`, or how the machine usually is and what interrupts it. */
    double noise, memory_noise;
    double usual_products, usual_memory; /**< time of the machine under typical load over idle,
                                              less 1 */
    struct fr_interruptions interruptions;
    double host_link_B_per_s; /**< to the host's memory, each way; 0: not stated, as below */
    double host_memory_B;     /**< of the host's, a device's share */
    double host_rate_B_per_s; /**< at which its share of the host goes through that */
    double launch_s;          /**< per kernel */
    double fixed_s;           /**< per iteration */
    double host_launch_s;     /**< of the host to launch a kernel: see fr_pass */
    double host_skew;         /**< by which the slowest of tp hosts lags, per doubling of tp */
    double host_pass_s;       /**< of the host around a pass of a pipeline stage */
    double
        host_experts_s;  /**< of the host to send a layer's tokens to their experts, forward */
    double host_overlap; /**< share by which it takes longer for a layer that is cut so that
                              exchanges run beside another micro-batch's passes */
    double
        interference; /**< share of the time of collectives that what runs beside them loses */
    double jitter_s, jitter_share; /**< how far steps are apart: models/device/jitter.h */
    bool fp8_transpose; /**< products of 8 bits read both operands along the summed dimension */
    struct fr_framework framework; /**< of its runtime */
    struct fr_attention_rates attention;
    struct fr_gemm_model gemm[FR_DTYPE_COUNT];
    struct fr_power power;
    struct fr_device_clock clock;
};

/** Power that the device draws at work at @p clock_Hz (0: its highest clock) [W]. */
static inline double fr_device_busy_W(const struct fr_device *device, double clock_Hz) {
    return clock_Hz > 0 ? device->power.busy_W * fr_device_clock_power(&device->clock, clock_Hz)
                        : device->power.busy_W;
}

/** Time that one kernel's launch adds in a model of layers (models/price/layers.h) [s].  It is the longer of the
 *  device's and the host's launch, since nothing there runs ahead to hide either. */
static inline double fr_device_layer_launch_s(const struct fr_device *device) {
    return device->launch_s > device->host_launch_s ? device->launch_s : device->host_launch_s;
}

/** Share of the peak that the fused attention kernel reaches forward. */
double fr_device_flash(const struct fr_device *device, fr_flash generation);

/** Time that a collective of @p comm_s costs the pass @p pass_s beside which it runs, while both run [s].  It takes
 *  multiprocessors and memory bandwidth. */
static inline double fr_device_lost_s(const struct fr_device *device, double comm_s,
                                      double pass_s) {
    return device->interference * (comm_s > pass_s ? pass_s : comm_s);
}

/** Time that the collective adds to the pass: its part that outlasts the pass, and the time that the rest costs the
 *  pass [s]. */
static inline double fr_device_beside_s(const struct fr_device *device, double comm_s,
                                        double pass_s) {
    double lost_s = fr_device_lost_s(device, comm_s, pass_s);
    return comm_s > pass_s ? comm_s - pass_s + lost_s : lost_s;
}

/** Read the object "device" of a cluster file.  Free with fr_device_free, also on error. */
fr_status fr_device_read(const struct fr_json *object, struct fr_device *device,
                         struct fr_error *err);
void fr_device_free(struct fr_device *device);

/** How a product stores the m x n values of its result, and from which operands it makes them. */
struct fr_gemm_use {
    double value_B; /**< size of one; 0: as values are kept between products */
    bool
        adds; /**< to what is there (a weight gradient of several micro-batches), which is read */
    fr_transposed transposed;
};

/** How many times as long it takes as one without a transposed operand. */
static inline double fr_gemm_transposed(const struct fr_gemm_model *model,
                                        const struct fr_gemm_shape *shape,
                                        fr_transposed transposed) {
    if (!model->transposed[transposed].present) return 1;
    return exp(model->form->log_transposed(model, shape, transposed));
}

/** Bytes of its result that a product moves [B]. */
static inline double fr_gemm_result_B(fr_dtype dtype, const struct fr_gemm_shape *shape,
                                      struct fr_gemm_use use) {
    double value_B = use.value_B > 0 ? use.value_B : fr_dtype_saved_B(dtype);
    return shape->m * shape->n * value_B * (use.adds ? 2 : 1);
}

/** Set noise and memory_noise to what they are where the system takes @p share of the ranks' time. */
static inline void fr_device_disturb(struct fr_device *device, double share) {
    device->noise = (1 + device->usual_products) * (1 + share) - 1;
    device->memory_noise = (1 + device->usual_memory) * (1 + share) - 1;
}

/** Time to move @p moved_B where @p working_set_B are in use in turn [s]. */
static inline double fr_device_traffic_s(const struct fr_device *device, fr_traffic kind,
                                         double moved_B, double working_set_B) {
    double share = fr_working_sets_share(&device->working_sets, kind, working_set_B);
    return (1 + device->memory_noise) * share * moved_B / device->memory_rate_B_per_s;
}

/** Time that a product takes beyond its own because its operands come from a working set (product.c) [s].  It is the
 *  same whichever operand is transposed.
 *  @param alone_s  fr_gemm_time_s of it */
double fr_device_product_beyond_s(const struct fr_device *device, fr_dtype dtype,
                                  const struct fr_gemm_shape *shape, double alone_s,
                                  double working_set_B, bool adds);

/** Time of one matrix product, its launch not included [s], and of what it moves where its form leaves that
 *  out.  The dtype must be described. */
static inline double fr_gemm_time_of_s(const struct fr_device *device, fr_dtype dtype,
                                       const struct fr_gemm_shape *shape,
                                       struct fr_gemm_use use, bool *extrapolated) {
    const struct fr_gemm_model *model = &device->gemm[dtype];
    double time_s = (1 + device->noise) * model->form->time_s(model, shape, extrapolated) *
                    fr_gemm_transposed(model, shape, use.transposed);
    if (!model->tiles.writes || !(time_s > 0)) return time_s;
    double moved_B = fr_gemm_result_B(dtype, shape, use);
    return time_s + (1 + device->memory_noise) * moved_B / device->memory_rate_B_per_s;
}

/** Time that one of several products made at once (of experts) takes in addition for its own m x k matrix [s].  No
 *  earlier tile has brought that matrix from memory, and its few tiles do not run long enough to hide that.  Measured
 *  on 49 grouped products of a B200 (forward and input gradients, forerun reproduce presets): without this term they
 *  come out 25 % too fast, those of 128 rows 60 %.  0 where the form already states all the time of a product. */
static inline double fr_gemm_own_s(const struct fr_device *device, fr_dtype dtype,
                                   const struct fr_gemm_shape *shape) {
    if (!(shape->at_once > 1) || !device->gemm[dtype].tiles.writes) return 0;
    return (1 + device->memory_noise) * shape->m * shape->k * fr_dtype_size_B(dtype) /
           device->memory_rate_B_per_s;
}

/** The same idle, of a product without a transposed operand whose result is kept as it is. */
static inline double fr_gemm_time_s(const struct fr_device *device, fr_dtype dtype,
                                    const struct fr_gemm_shape *shape, bool *extrapolated) {
    const struct fr_gemm_model *model = &device->gemm[dtype];
    double time_s = model->form->time_s(model, shape, extrapolated);
    if (!model->tiles.writes || !(time_s > 0)) return time_s;
    return time_s + fr_gemm_result_B(dtype, shape, (struct fr_gemm_use){0}) /
                        device->memory_rate_B_per_s;
}

/** Time of one matrix product whose operands come from a working set [s]: what the tables hold was
 *  measured on operands used just before, so only what the larger set costs beyond is added.
 *  Where the result adds to what is there, that is read too. */
static inline double fr_device_product_s(const struct fr_device *device, fr_dtype dtype,
                                         const struct fr_gemm_shape *shape,
                                         double working_set_B, struct fr_gemm_use use,
                                         bool *extrapolated) {
    double time_s = fr_gemm_time_of_s(device, dtype, shape, use, extrapolated);
    if (device->working_sets.n == 0) return time_s;
    double alone_s = fr_gemm_time_s(device, dtype, shape, extrapolated);
    return time_s +
           fr_device_product_beyond_s(device, dtype, shape, alone_s, working_set_B, use.adds);
}

#endif
