/** @file
 *  Convolutions whose images the tp ranks of method grid divide by height, in place of their filters (the plan's
 *  `domain`).
 *
 *      forward   halos of a layer's input between neighbours (models/workload/halo.h)
 *      backward  gradients of these halos go back; |W| weight gradients all-reduced over P_r P_c
 *
 *  Each rank holds all filters, and 1/P_r of the rows of the images of its P_c share of the batch.  Rows go down, then up:
 *  each direction is one send and receive of the largest halo.  It is packed before and unpacked after it, since a halo's
 *  rows of many channels lie apart.  The first layer's gradient is exchanged like any other's, as it is priced elsewhere in
 *  this method.
 *
 *  A pooling's windows read rows of neighbours too.  A mean over positions adds up the
 *  ranks' means.  A shortcut's rows lie where the rows are that they are added to.  A batch norm's statistics are of a
 *  rank's rows; with sync_norms they are of all P_r P_c ranks.
 *
 *  After the last divided convolution the next layer needs whole samples, so the P_r ranks gather what it reads, once.
 *  Backward, the all-reduce of that layer's input gradient leaves it whole on each rank, which takes its rows.
 *
 *  Gholami et al., Integrated Model, Batch, and Domain Parallelism in Training Neural Networks (SPAA 2018), use the ranks
 *  of P_r for the model or for the domain.  We have read its abstract only: exchanges, strides, pooling, packing and the
 *  last gather are our derivation. */
#ifndef FR_MODELS_WORK_DOMAIN_H
#define FR_MODELS_WORK_DOMAIN_H

#include "models/plan/plan.h"
#include "models/work/method.h"

/** Do ranks divide the images of entry @p k of the model's layers? */
bool fr_domain_divides(const struct fr_plan *plan, int k);
/** Leading convolutions of a model, which `domain` may reach to. */
int fr_domain_most(const struct fr_workload *workload);
/** Would a domain that ends before entry @p k cut a residual block in two? */
bool fr_domain_cuts(const struct fr_workload *workload, int64_t k);

/** Share of its rows that the rank with most of them has of the input of entry @p k. */
double fr_domain_share(const struct fr_workload *workload, const struct fr_plan *plan, int k);

/** Reasons against the layer of @p x, whose images are divided. */
fr_reasons fr_domain_check(const struct fr_work_part *x);
/** Bytes and kernels that halos are packed and unpacked with. */
struct fr_domain_packed {
    double moved_B, kernels;
};
/** Values of a rank of such a layer. */
struct fr_domain_rows {
    double positions; /**< that it makes a channel */
    double inputs;    /**< values of a sample that it holds, with the halo */
    double pooled;    /**< values of a sample of the pooling's halo */
};
struct fr_domain_rows fr_domain_rows(const struct fr_work_part *x);
/** Its exchanges. */
struct fr_domain_packed fr_domain_exchange(const struct fr_work_part *x,
                                           struct fr_rank_work *work);

#endif
