/* Read more than once, so without guard.  Rows alone: one for every fact of an outcome.
 *
 *  FR_FACT(word, "name in JSON", KIND, presence, value, "sentence", shown ...)
 *  FR_FACT_WORD(word, "name", its words, presence, value, "sentence")      a word of a list
 *  FR_FACT_EACH(word, "name.*", KIND, names, how many, value of i, ...)    one number for each name
 *  FR_FACT_PUT(word, "name", ALWAYS or SOMETIMES, writer, "sentence")      what is no number or word: it writes its key
 *  FR_FACT_ENDS(word, "object")            here stand the intervals of what the object holds
 *
 *  Rows stand in the order of the document; a dot stands for an object around what follows, whose rows are side by
 *  side.  The unit is the name's.  `v` is the view of an outcome (models/outcome/facts/outcome_fact.h); a number that is not
 *  known is NAN.  presence: ALWAYS, or WHERE(condition) for a key that is absent otherwise.  The sentence is what
 *  docs/output.md and docs/schemas/outcome.json say.  shown, as many as apply, in JSON always:
 *
 *      INTERVAL("key", ends of v, ALWAYS or SOMETIMES)   two keys more, the ends of its 90 % interval
 *      CSV(group, "head")   a column, in order of groups and then of rows; NULL: the name
 *      TEXT(group, "label") a line of `forerun predict`, ordered likewise
 *      PAGE(group)          among the first columns of tables on pages, ordered likewise
 *
 *  To add one: a row here, a field of struct fr_outcome and the line that computes it. */

FR_FACT_PUT(schema, "schema", ALWAYS, fr_report_put_schema, "")
FR_FACT_WORD(engine, "engine", fr_engine_names, ALWAYS,
             v->out->engine ? v->out->engine : "closed",
             "`closed`: priced by formulas, for a pipeline by the recurrence over its passes; "
             "`event`: by the event engine; `simgrid`: by SimGrid, energy too")
FR_FACT_PUT(plan, "plan", ALWAYS, fr_report_put_plan,
            "a plan file (docs/files.md): every key, defaults filled in, but `etp` and "
            "`iterations` where they were left to tp and to the model, and `micro_batch` where "
            "each layer's grid has its own. Given back with `--plan` it prints the same bytes; "
            "so does the whole document, and a search's (its `best`): `predict`, `simulate`, "
            "`compare-plans` and `--include` take them")
FR_FACT_PUT(varied, "varied", SOMETIMES, fr_report_put_varied,
            "of a search that varies them: keys of the model and the cluster, with this plan's "
            "values")
FR_FACT(ranks, "ranks", WHOLE, ALWAYS, (double)v->out->ranks, "dp · pp · tp")
FR_FACT_PUT(units, "units", SOMETIMES, fr_report_put_units,
            "levels of which the plan has several units that it does not fill alike or whole: "
            "`level`, how many `units`, `ranks` in each but the last, in the `last`, and what "
            "one `holds`")
FR_FACT(parameters, "parameters", COUNT, ALWAYS, v->priced ? v->out->parameters : NAN,
        "of the model as trained, over all ranks (data-parallel copies once)", CSV(1, NULL),
        TEXT(1, "parameters"))
FR_FACT(parameters_trained, "parameters_trained", WHOLE,
        WHERE(v->priced && v->out->parameters_frozen > 0),
        v->out->parameters - v->out->parameters_frozen,
        "of these, where some are frozen: the adapters'", TEXT(1, "  trained"))
FR_FACT(parameters_per_rank_max, "parameters_per_rank_max", COUNT, ALWAYS,
        v->priced ? v->out->parameters_rank_max : NAN, "of the rank that holds most",
        CSV(1, NULL), TEXT(1, "  fullest rank"))
FR_FACT(iteration_time_s, "iteration_time_s", TIME, ALWAYS, v->out->time_s,
        "one forward pass, backward pass and update", CSV(1, NULL), TEXT(1, "iteration time"),
        PAGE(1))
FR_FACT(iteration_time_expected_s, "iteration_time_expected_s", TIME,
        WHERE(v->time.told && v->differs), v->out->expected_s,
        "where it differs: that time with what the runs of the same model or plan that the "
        "cluster was tuned to took besides (tuned files, `seen`). The interval, where one is "
        "known, is about it",
        INTERVAL("iteration_time_s", time, SOMETIMES), TEXT(1, "  expected"))
FR_FACT_WORD(
    interval_from, "interval_from", interval_sources, WHERE(v->time.told),
    interval_sources[fr_cluster_interval_source(&v->job->cluster)],
    "where the interval comes from: `tuning` (the posterior that `forerun tune` left in "
    "the cluster file), `calibration` (the coefficients' usual uncertainty, for the "
    "model error 8 % or the calibration's own error, and how much the machine varied), "
    "`widths` (the uncertainty that the cluster file states of its values, priors of "
    "the rest, and 8 %) or `priors` (8 %), each with the intervals that the cluster "
    "file states of its collectives")
FR_FACT(
    iteration_time_p05_s, "iteration_time_p05_s", TIME, WHERE(v->steps.told), v->steps.low,
    "nine in ten steps of one run lie between this and `iteration_time_p95_s`, where the "
    "cluster states `jitter`, `jitter_share` or interruptions: how far steps are apart, not "
    "how sure their time is",
    TEXT(1, "  its steps"))
FR_FACT(iteration_time_p95_s, "iteration_time_p95_s", TIME, WHERE(v->steps.told), v->steps.high,
        "see `iteration_time_p05_s`")
FR_FACT_PUT(
    calibration, "calibration", SOMETIMES, fr_report_put_calibration,
    "of a calibrated cluster: `verdict`, its first `reason`, `held_out` and `variation` "
    "of the cluster file")
FR_FACT(
    iteration_energy_J, "iteration_energy_J", ENERGY, ALWAYS, v->out->energy_J,
    "of one iteration, all ranks together, and what the cluster states around them. Its "
    "interval: that of the power (`uncertainty` of the cluster file), with that of the time "
    "where one is stated",
    INTERVAL("iteration_energy_J", energy, ALWAYS), CSV(1, NULL), TEXT(1, "iteration energy"),
    PAGE(1))
FR_FACT_EACH(energy_J, "energy_J.*", PART, fr_energy_names, FR_ENERGY_COUNT,
             fr_energy_known(&v->job->cluster, i) && isfinite(v->out->energy_J)
                 ? v->out->energy_part_J[i]
                 : NAN,
             "of that: `device`, `node` (hosts, idle devices of nodes used in part, losses of "
             "supplies), `network` (switches), `facility` (`pue`); null: the cluster does not "
             "state it",
             TEXT(1, "  *"))
FR_FACT_PUT(
    stage_clock_Hz, "stage_clock_Hz", SOMETIMES, fr_report_put_clocks,
    "of a plan with `clock` or `power_cap`: the clock of each stage; of `slack` the mean "
    "over its passes, which have clocks of their own")
FR_FACT(samples_per_s, "samples_per_s", NUMBER, ALWAYS, v->rates.samples_per_s, "of all ranks",
        CSV(4, NULL))
FR_FACT(tokens_per_s, "tokens_per_s", NUMBER, ALWAYS, v->rates.tokens_per_s,
        "of all ranks; null: a model without tokens", CSV(4, NULL), PAGE(4))
FR_FACT(tokens_per_s_per_device, "tokens_per_s_per_device", NUMBER, ALWAYS,
        v->rates.tokens_per_s_per_device, "the same by the number of ranks", CSV(4, NULL))
FR_FACT(model_flop_per_s_per_device, "model_flop_per_s_per_device", NUMBER, ALWAYS,
        v->rates.model_flop_per_s_per_device,
        "what the model asks for, forward and backward, without recomputation (three products "
        "of 2 m n k each; of ghosts those of the phantom network), by ranks and time",
        CSV(4, NULL), TEXT(4, "model FLOP/s a device"))
FR_FACT(mfu, "mfu", NUMBER, ALWAYS, v->rates.mfu,
        "the same as a share of the data sheet's peak in the model's dtype (`nominal_peak`, or "
        "a `peak` that nobody fitted; null: a file states neither)",
        CSV(4, NULL), PAGE(3))
FR_FACT(hardware_flop_per_s_per_device, "hardware_flop_per_s_per_device", NUMBER, ALWAYS,
        v->rates.hardware_flop_per_s_per_device,
        "as `model_flop_per_s_per_device`, with what the plan recomputes counted again: all of "
        "the layers' forward pass (`recompute` `full`), the attention cores' (`selective`), "
        "other modules' and policies', of the layers that recompute (`recompute_layers`)",
        CSV(4, NULL), TEXT(4, "hardware FLOP/s a device"))
FR_FACT(hfu, "hfu", NUMBER, ALWAYS, v->rates.hfu,
        "the same as a share of the data sheet's peak, as `mfu`", CSV(4, NULL))
FR_FACT(iterations_per_epoch, "iterations_per_epoch", NUMBER, ALWAYS,
        v->rates.iterations_per_epoch,
        "where the model states its `samples`: those by the global batch", CSV(4, NULL))
FR_FACT(epoch_time_s, "epoch_time_s", TIME, ALWAYS, v->rates.epoch_time_s,
        "of so many iterations", CSV(4, NULL), TEXT(3, "epoch"))
FR_FACT(epoch_energy_J, "epoch_energy_J", ENERGY, ALWAYS, v->rates.epoch_energy_J,
        "of so many iterations", CSV(4, NULL), TEXT(3, "epoch's energy"))
FR_FACT_WORD(flop_convention, "flop_convention", fr_rates_conventions, ALWAYS,
             fr_rates_convention(v->job),
             "which attention scores `mfu` and `hfu` count: `causal` those that masks, windows "
             "and documents leave, so that no plan is above 100 %; `palm` (`--flop palm`) all "
             "of them, 6 N + 12 L a d s a token, as most papers do (PaLM, 2022, appendix B)")
FR_FACT(memory_peak, "memory_B.peak", PART, ALWAYS, v->known ? v->out->memory_peak_B : NAN,
        "of the rank that holds most: its tensors. The interval is of transformers, whose "
        "memory was measured (`forerun reproduce memory`)",
        INTERVAL("memory_B", peak, ALWAYS), CSV(3, "memory_peak_B"), PAGE(2))
FR_FACT_EACH(memory_B, "memory_B.*", PART, fr_memory_names, FR_MEMORY_COUNT,
             v->known ? v->out->memory_B[i] : NAN,
             "parts of the peak: `parameters`, `gradients`, `optimizer`, `activations`, "
             "`buffers`, `fragmentation` (the device's `memory_margin` of the two before it)")
FR_FACT(memory_reserved, "memory_B.reserved", PART, ALWAYS, v->fits.reserved_B,
        "by the allocator at ease. This and the next two follow from `peak` and facts of the "
        "runtime ([fits.h](../models/outcome/fits/fits.h))",
        CSV(3, "memory_reserved_B"))
FR_FACT(memory_shown, "memory_B.shown", PART, ALWAYS, v->fits.shown_B,
        "by the device then (nvidia-smi)", INTERVAL("memory_shown_B", shown, ALWAYS),
        CSV(3, "memory_shown_B"))
FR_FACT(memory_needed, "memory_B.needed", PART, ALWAYS, v->fits.needed_B,
        "the least that it runs with, as the device counts it",
        INTERVAL("memory_needed_B", needed, ALWAYS), CSV(3, "memory_needed_B"))
FR_FACT(device_memory_B, "device_memory_B", SIZE, ALWAYS, v->fits.memory_B,
        "the device's memory; null: the cluster does not state it")
FR_FACT(fits, "fits", CHANCE, ALWAYS, v->fits.probability,
        "the probability that `needed` is no more than `device_memory_B`. Under 0.05 the plan "
        "is not feasible, for every command",
        CSV(3, NULL))
FR_FACT(host_memory_B, "host_memory_B", SIZE, WHERE(v->out->plan.offload),
        v->known ? v->out->host_memory_B : NAN,
        "of a plan that offloads: what the rank that offloads most needs of the host's")
FR_FACT(fullest_rank, "fullest_rank", COUNT, ALWAYS,
        v->known && v->out->fullest_rank >= 0 ? (double)v->out->fullest_rank : NAN,
        "whose memory that is: the first of the ranks that hold as much; null: no one rank is "
        "told (sub-graphs), or memory is not priced")
FR_FACT(fullest_stage, "fullest_stage", COUNT, ALWAYS,
        v->known ? (double)v->out->fullest_stage : NAN, "and its pipeline stage")
FR_FACT_ENDS(memory_ends, "memory_B")
FR_FACT(near_memory_edge, "near_memory_edge", FLAG, ALWAYS,
        v->known &&fr_memory_near_edge(&v->job->cluster.device, v->out),
        "whether the plan fits but takes more than 90 % of the device, where allocators may "
        "fail")
FR_FACT_PUT(
    memory_moments, "memory_moments", SOMETIMES, fr_report_put_moments,
    "of `predict`: when the fullest rank holds how much, `[{\"moment\", \"total_B\", "
    "\"tensors\": {…}}]`, in the order of an iteration; `peak` is the largest `total_B`, "
    "and `fragmentation`. `moment`: `loss`, `loss_backward`, `head_backward`, "
    "`layer_backward` (of the last layer), `embedding_backward`, `step`, or `pass` where "
    "a division of the model does not say; `tensors`: `parameters`, `gradients`, "
    "`optimizer`, `layers` (activations that layers keep), `ends` (inputs of norm and "
    "head, what travels between stages), `logits`, `layer_recomputed`, "
    "`layer_gradients`, `inputs_and_gradients` (whole inputs of products, their "
    "gradients), `weight_gradient`, `dummy_gradients`, `workspace` and "
    "`gradient_buffers` ([device](files.md#clusterjson)), `codecs`, `gathered` (by "
    "ZeRO), `messages`; those absent are none. null: memory is not known")
FR_FACT(iterations, "iterations", NUMBER, ALWAYS, v->out->iterations, "to the loss",
        CSV(2, NULL))
FR_FACT_WORD(iterations_origin, "iterations_origin", fr_iterations_origins, ALWAYS,
             fr_iterations_origins[v->out->iterations_origin],
             "`given`, `interpolated` between two known plans, `scaled` from another batch as "
             "the table's `scaling` says, by a `law` that was fitted to known plans, or "
             "`unknown`")
FR_FACT(warm_up_iteration_time_s, "warm_up_iteration_time_s", TIME,
        WHERE(v->out->plain_time_s > 0), v->out->plain_time_s,
        "with `compression.warm_up` W: of an iteration without compression; to the loss W of "
        "the N iterations take that, the rest `iteration_time_s`",
        TEXT(6, "  warm-up"))
FR_FACT(warm_up_iteration_energy_J, "warm_up_iteration_energy_J", ENERGY,
        WHERE(v->out->plain_time_s > 0), v->out->plain_energy_J, "its energy")
FR_FACT(total_time_s, "total_time_s", TIME, ALWAYS, v->out->total_time_s,
        "iterations × one iteration", CSV(2, NULL), TEXT(5, "time to the loss"), PAGE(5))
FR_FACT(total_energy_J, "total_energy_J", ENERGY, ALWAYS, v->out->total_energy_J, "likewise",
        CSV(2, NULL), TEXT(5, "energy to the loss"), PAGE(5))
FR_FACT_EACH(
    breakdown_s, "breakdown_s.*", PART, fr_part_names, FR_PART_COUNT, v->out->part_s[i],
    "exposed time of each part: `compute`, `launch`, `fixed`, `tp_comm`, `cp_comm` (the "
    "ring of keys and values), `ep_comm` (tokens to their experts and back), `pp_comm`, "
    "`dp_comm`, `embedding_comm`, `redistribution`, `compression`, `offload` (to the "
    "host and back, its step included), `bubble`; they add up to the iteration",
    CSV(5, "*_s"))
FR_FACT_EACH(
    bytes_per_rank, "bytes_per_rank.*", PART, fr_sent_names, FR_SENT_COUNT, v->out->sent_B[i],
    "sent by one rank in an iteration, of each axis the most over the stages: `dp`, "
    "`pp`, `tp`, `cp`, `ep`, `embedding` (a tied embedding's all-reduce between first "
    "and last stage), `host` (over its link, both ways). Counted where collectives are "
    "priced, each as nccl-tests' bus bytes. With N copies of parameters (experts have "
    "fewer), f = (N−1)/N, G bytes of their gradients on a rank, W of parameters and m "
    "micro-batches, `dp` is 2fG, f(G + W), f(mG + W), fm(2W + G) for `zero` 0 to 3: "
    "parameters gathered for a pass stay gathered while it recomputes")
FR_FACT(gradient_bytes, "lossy.gradient_bytes", PART, ALWAYS, v->out->lossy_gradient,
        "share of the gradient bytes that goes compressed; what that does to training is not "
        "modelled")
FR_FACT(
    gradient_rank, "lossy.gradient_rank", WHOLE, ALWAYS,
    v->out->lossy_gradient > 0 ? (double)v->out->plan.compression.gradient_rank : 0,
    "at which rank; 0: nothing goes compressed, as where the rank given would not send less")
FR_FACT(backward_messages, "lossy.backward_messages", PART, ALWAYS, v->out->lossy_backward,
        "the same of backward messages")
FR_FACT(backward_rank, "lossy.backward_rank", WHOLE, ALWAYS,
        v->out->lossy_backward > 0 ? (double)v->out->plan.compression.backward_rank : 0,
        "their rank")
FR_FACT(forward_messages, "lossy.forward_messages", PART, ALWAYS, v->out->lossy_forward,
        "the same of forward messages")
FR_FACT(forward_rank, "lossy.forward_rank", WHOLE, ALWAYS,
        v->out->lossy_forward > 0 ? (double)v->out->plan.compression.forward_rank : 0,
        "their rank")
FR_FACT(gradient_break_even, "lossy.gradient_break_even_B_per_s", RATE, ALWAYS,
        positive(v->out->break_even_gradient_B_per_s),
        "a rank's share of the network above which the codec takes longer than it saves")
FR_FACT(backward_break_even, "lossy.backward_break_even_B_per_s", RATE, ALWAYS,
        positive(v->out->break_even_backward_B_per_s), "the same of backward messages")
FR_FACT(forward_break_even, "lossy.forward_break_even_B_per_s", RATE, ALWAYS,
        positive(v->out->break_even_forward_B_per_s), "the same of forward messages")
FR_FACT(feasible, "feasible", FLAG, ALWAYS, v->out->reasons == 0,
        "whether the plan can be; one that is only too large for memory is priced all the same")
FR_FACT_PUT(reasons, "reasons", ALWAYS, fr_report_put_reasons, "why it cannot be, in sentences")
FR_FACT_PUT(extrapolated, "extrapolated", ALWAYS, fr_report_put_extrapolated,
            "inputs beyond what was measured: `gemm`, `collectives.all_gather`, …")
FR_FACT_PUT(provenance, "provenance", ALWAYS, fr_report_put_provenance,
            "version, cluster and model with their sources, `runtime` (the software) with its "
            "`runtime_date`, `software_of_cluster` (values of software that the cluster's file "
            "states itself; absent: none), what of the plan was `assumed` (absent: nothing), "
            "whether the calibration was oversubscribed, quality of the power figures")
