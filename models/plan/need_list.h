/* Read more than once, so without guard.  Rows alone, no file each: what must hold of a plan and
 * its model that a key is read at all.
 *
 *  FR_PLAN_NEED(name, refused, keys, "what the key needs", holds)
 *
 *  `refused`: a key that lacks it is a mistake and the plan is refused; else the mesh merely leaves
 *  it nothing to do, as one replica leaves zero, and a search counts the plan once.  `holds` sees
 *  the plan `p` and, of the model, `m`: NULL where nobody asks about a model.  `keys`: those of the plan that it reads of such a model,
 *  so that a search can pass over plans by what it has not changed (search/repeats.h). */

FR_PLAN_NEED(DIVIDED, true, 0, "a model that a method divides", !m || !measured)
FR_PLAN_NEED(TRANSFORMER, true, 0, "a model of kind transformer", !m || transformer)
FR_PLAN_NEED(TRAINED, true, KEY(pass), "a backward pass (\"pass\": \"both\")", !p->forward)
FR_PLAN_NEED(EXPERTS, true, 0, "a mixture of experts", !m || m->transformer.experts > 0)
FR_PLAN_NEED(TIED, true, KEY(schedule),
             "logits that share the embedding's weights, on another stage",
             (!m || (transformer && m->transformer.tied && !m->transformer.lora_rank)) &&
                 !p->schedule->folds)
FR_PLAN_NEED(GHOST, true, KEY(method), "a method with ghost neurons", p->method->uses_ghost)
FR_PLAN_NEED(SUBGRAPH, true, KEY(method), "method subgraph", p->method->branches)
FR_PLAN_NEED(GRID, true, KEY(method), "method grid", p->method->grids)
FR_PLAN_NEED(IMAGES, true, 0, "a model of kind cnn", !m || m->kind == &fr_kind_cnn)
FR_PLAN_NEED(WHOLE_IMAGES, true, KEY(domain), "whole images (\"domain\": 0)", p->domain == 0)
FR_PLAN_NEED(GROUPS, true, KEY(layer_tp), "layer_tp (in pairs on one grid is method tensor)",
             p->layer_tp || p->layer_tp_best)
FR_PLAN_NEED(PIPELINE, true, KEY(pp), "a pipeline (pp above 1)", p->pp > 1)
FR_PLAN_NEED(PASSES, true, m && m->n_layers > 0 ? KEY(pp) | KEY(overlap) | OF_REDUCED : 0,
             "a pipeline (pp above 1)",
             !m || m->n_layers == 0 || p->pp > 1 || (p->overlap && fr_plan_reduces(p)))
FR_PLAN_NEED(OVERLAP, true, KEY(overlap), "\"overlap\": \"gradient\"", p->overlap)
FR_PLAN_NEED(SCOPE, true, KEY(backward_scope), "compression.backward.scope",
             p->compression.scope != FR_SCOPE_NONE)
FR_PLAN_NEED(GRADIENT_STAGES, true, KEY(gradient_stages), "compression.gradient.stages",
             p->compression.gradient_stages > 0)
FR_PLAN_NEED(ONE_RANK, true, KEY(gradient_ranks),
             "compression.gradient.ranks \"one\" or \"best\"", !p->gradient_ranks)
FR_PLAN_NEED(CODED, true, KEY(backward_scope) | KEY(forward_rank) | KEY(gradient_stages),
             "compression.backward.scope, compression.forward.rank or "
             "compression.gradient.stages",
             p->compression.scope != FR_SCOPE_NONE || p->compression.forward_rank > 0 ||
                 p->compression.gradient_stages > 0)
FR_PLAN_NEED(OFFLOADED, true, KEY(offload), "\"offload\": \"activations\"",
             p->offload &FR_OFFLOAD_ACTIVATIONS)
FR_PLAN_NEED(RECOMPUTED, true, KEY(recompute), "recompute", p->recompute != FR_RECOMPUTE_NONE)
FR_PLAN_NEED(KERNELS, true, KEY(graphs), "launches of single kernels (\"graphs\": \"none\")",
             p->graphs == FR_GRAPHS_NONE)
FR_PLAN_NEED(STAGES, false, KEY(pp), "more than one stage", p->pp > 1)
FR_PLAN_NEED(ORDERED, false, KEY(pp) | KEY(schedule),
             "more than one stage, or an order that holds more",
             p->pp > 1 || p->schedule->phases || p->order)
FR_PLAN_NEED(CHUNKED, false, KEY(pp) | KEY(schedule), "more than one stage",
             p->pp > 1 || p->order)
FR_PLAN_NEED(INTERLEAVES, false, KEY(schedule), "a schedule that interleaves",
             p->schedule->interleaves)
FR_PLAN_NEED(WAYS, false, KEY(tp) | KEY(layer_tp), "tp above 1",
             p->tp > 1 || p->layer_tp || p->layer_tp_best)
FR_PLAN_NEED(SEQUENCE, true, KEY(sequence_parallel) | KEY(method) | KEY(divide),
             "sequence_parallel, of products in pairs",
             p->sequence_parallel && (!p->method->grids || p->pairs))
FR_PLAN_NEED(REPLICAS, false, KEY(dp) | KEY(cp), "replicas (dp or cp above 1)",
             fr_plan_replicas(p) > 1)
FR_PLAN_NEED(COPIES, false, OF_COPIES | KEY(common), "ranks that hold the same parameters",
             fr_plan_replicas(p) > 1 || fr_plan_expert_copies(p) > 1 ||
                 (p->method->data_first && p->tp > 1 && !p->common_subgrid))
FR_PLAN_NEED(REDUCED, false, OF_REDUCED, "gradients to reduce", fr_plan_reduces(p))
FR_PLAN_NEED(ZERO, true, KEY(zero), "zero above 0", p->zero > 0)
FR_PLAN_NEED(ZERO_1, true, KEY(zero), "zero 1", p->zero == 1)
FR_PLAN_NEED(ZERO_2, true, KEY(zero), "zero 2 or 3", p->zero >= 2)
FR_PLAN_NEED(ZERO_3, true, KEY(zero), "zero 3", p->zero == 3)
FR_PLAN_NEED(BUCKETS, false, KEY(zero), "zero 0 or 1", p->zero < 2)
FR_PLAN_NEED(CONTEXT, false, KEY(cp), "cp above 1", p->cp > 1)
FR_PLAN_NEED(SHARED, false, KEY(ep), "ep above 1", p->ep > 1)
FR_PLAN_NEED(TP_FIRST, false, KEY(method), "a method that numbers tp first",
             !p->method->data_first)
FR_PLAN_NEED(SLICES, false, KEY(common) | KEY(branches), "slices that all ranks exchange",
             !p->common_subgrid && (!transformer || p->branches == FR_BRANCHES_HEADS))
