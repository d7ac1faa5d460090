/** @file
 *  Replicas that divide the data that each would hold: optimiser state, gradients, parameters.
 *
 *  Rajbhandari et al., ZeRO, SC'20.  A parameter's copies divide its state, and its gradient is reduced over them.  D
 *  = dp cp ranks hold the same shard of a parameter outside of experts, E = dp cp tp / (ep etp) the same shard of an
 *  expert.  With G bytes of gradients and W of parameters of one kind on a rank before dividing, N copies, m
 *  micro-batches:
 *
 *      zero 0   all-reduce of G                                     every copy updates everything
 *      zero 1   reduce-scatter of G, all-gather of W, once          update of 1/N   (also called a
 *               distributed optimiser)
 *      zero 2   the reduce-scatter after every micro-batch          gradients 1/N
 *      zero 3   besides, an all-gather of W in every forward and    parameters 1/N  (FSDP)
 *               backward pass, in place of the one after the update
 *
 *  and with f = (N-1)/N a rank sends in an iteration
 *
 *      2fG     f (G + W)     f (m G + W)     f m (2W + G)           zero 0, 1, 2, 3
 *
 *  With `zero_ranks` Z below N (hybrid sharding: FSDP's HYBRID_SHARD, torchtitan's data_parallel_shard_degree) Z
 *  neighbours divide what N would.  State is 1/Z, and gathers of W and scatters of G are among Z. After every scatter
 *  the N/Z ranks that have the same part all-reduce it, G/Z bytes:
 *
 *      sent   f_Z (G + W) + 2 f_A G/Z      (zero 1; f_Z = (Z-1)/Z, A = N/Z, f_A = (A-1)/A)
 *             f_Z (m G + W) + m 2 f_A G/Z,  m (f_Z (2W + G) + 2 f_A G/Z)      zero 2, 3
 *
 *  A table that is tied over stages is divided at both ends alike.  With zero 2 and 3 a rank has the sum of its share
 *  alone, and the ends all-reduce shares, 1/Z of the table's gradients; below they all-reduce all of it.
 *
 *  With `zero_exchange` broadcast, zero 1 all-reduces G over all copies, as zero 0 does.  Then each of the Z owners
 *  broadcasts its W/Z to the Z - 1 others.  Owners take turns, and nothing runs beside them.  An owner has whole
 *  tensors, so there are no more owners than tensors.  InternEvo 0.1 (hybrid_zero_optim.py, broadcast_params) and
 *  PyTorch's ZeroRedundancyOptimizer do so:
 *
 *      sent   2 f G + W, of the broadcasts as many as a chain passes on
 *
 *  Recomputed activations ask for no further all-gather: a layer's parameters are gathered before
 *  it is recomputed and stay so until its backward pass is over, as with FSDP around checkpointed
 *  layers.  Zero 2 and 3 go layer by layer, and hold two layers at a time whole: the one at work
 *  and the one on its way.
 *
 *  FSDP may keep two things whole.  With `reshard_after_forward` false parameters stay gathered from a forward pass
 *  to its backward pass: W bytes more, and one gather of a micro-batch less.  With `gradient_sync` iteration every
 *  rank adds up whole gradients, G bytes, and scatters them once, beside the last backward pass (no_sync of FSDP).
 *  FSDP2's set_requires_gradient_sync keeps them at the width that they are reduced in:
 *
 *      sent   f m (W + G)       f (2 m W + G)       zero 3, either
 *
 *  XLA gathers weight by weight (fact `gathers`): it holds one, the next and one gradient in place of two layers.
 *
 *  Where weight gradients are passes of their own, parameters are gathered beside the passes before them, and
 *  gradients scattered beside theirs.
 *
 *  A collective beside a pass shows as far as it outlasts the pass, and slows the pass by the device's `interference`
 *  of the rest.  The first layer's gather and the last layer's scatter have nothing to hide behind; with v chunks that
 *  is v layers of a stage.  Our programs show it (docs/evidence/2026-11-27-compositions-run.md).
 *
 *  Zero 2 and 3 overlap in this way whatever `overlap` says.  Under `overlap` the reduce-scatter of zero 1, or the
 *  all-reduce of zero 0, goes in buckets beside the last backward pass, which loses as much.  The all-gather of zero
 *  1 and 2 then runs beside the next iteration's first forward pass.  Zero 3 leaves `overlap` nothing to do, so the
 *  two together are refused.  Which of these overlap is our reading of Megatron-LM and PyTorch's FSDP. */
#ifndef FR_MODELS_PRICE_ZERO_H
#define FR_MODELS_PRICE_ZERO_H

#include "models/plan/copies.h"
#include "models/price/pipeline.h"
#include "models/price/rank_map.h"

/** Parameters of a rank whose state the plan leaves on it, for state that zero @p least and above divide.  The second
 *  function counts trained parameters alone. */
double fr_zero_stored(const struct fr_plan *plan, const struct fr_stage *stage, int least);
double fr_zero_trained(const struct fr_plan *plan, const struct fr_stage *stage, int least);

/** Time of reducing a stage's gradients once an iteration, in @p parts equal parts: all-reduced, or
 *  scattered to those that divide them, and all-reduced across such groups [s]. */
double fr_zero_reduce_s(const struct fr_ledger *ledger, const struct fr_plan *plan,
                        const struct fr_rank_map *rank_map, const struct fr_stage *stage,
                        double parts);

/** Who of those that hold copies takes part: all, those that divide what zero divides, or one of each group of these. */
typedef enum { FR_AMONG_ALL, FR_AMONG_DIVIDING, FR_AMONG_ACROSS } fr_among;

/** `times` collectives of copies of a kind. */
struct fr_zero_exchange {
    fr_op op;
    fr_copies kind;
    fr_among among;
    const struct fr_group *group; /**< of the rank map */
    double size_B, times;
};
enum { FR_ZERO_EXCHANGES = 2 * FR_COPIES };

/** When copies exchange something. */
typedef enum {
    FR_ZERO_REDUCES,  /**< gradients, once an iteration, in parts */
    FR_ZERO_UPDATED,  /**< parameters, once they are updated */
    FR_ZERO_GATHERS,  /**< parameters, in a pass of all chunks */
    FR_ZERO_SCATTERS, /**< gradients, likewise */
} fr_zero_step;

/** List a step's collectives, which the functions below price.
 *  @param layers  of the stage
 *  @param parts   of FR_ZERO_REDUCES: equal parts
 *  @return how many */
int fr_zero_list(const struct fr_job *job, const struct fr_plan *plan,
                 const struct fr_rank_map *rank_map, double layers,
                 const struct fr_stage *stage, fr_zero_step step, double parts,
                 struct fr_zero_exchange out[FR_ZERO_EXCHANGES]);
/** Share of what a pass gathers that nothing hides: one layer of each chunk. */
double fr_zero_ends(const struct fr_plan *plan, double layers);

/** Price what the plan's zero gathers and scatters besides the gradients' one reduction an
 *  iteration; stage's passes and gradients are priced.
 *  @param layers  of the stage, gathered one by one
 *  @param splits  weight gradients are passes of their own */
void fr_zero_price(const struct fr_job *job, const struct fr_plan *plan,
                   const struct fr_rank_map *rank_map, double layers, bool splits,
                   struct fr_stage *stage, uint32_t *extrapolated);

#endif
