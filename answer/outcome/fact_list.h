/* Read more than once, so without guard.  Rows alone: one for every fact of an outcome.
 *
 *  FR_FACT(word, "name in JSON", KIND, presence, value, "sentence", shown ...)
 *  FR_FACT_WORD(word, "name", its words, presence, value, "sentence")      a word of a list
 *  FR_FACT_EACH(word, "name.*", KIND, names, how many, value of i, ...)    one number for each name
 *  FR_FACT_PUT(word, "name", ALWAYS or SOMETIMES, writer, "sentence")      what is no number or word: it writes its key
 *  FR_FACT_ENDS(word, "object")            here stand the intervals of what the object holds
 *
 *  Rows stand in the order of the document; a dot stands for an object around what follows, whose rows are side by
 *  side.  The unit is the name's.  `v` is the view of an outcome (answer/outcome/outcome_fact.h); a number that is not
 *  known is NAN.  presence: ALWAYS, or WHERE(condition) for a key that is absent otherwise.  The sentence is what
 *  docs/reference/outputs.md and docs/schemas/outcome.json say.  shown, as many as apply, in JSON always:
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
             "`closed`: formulas, for a pipeline the recurrence over its passes; `event`: "
             "the event engine; `simgrid`: SimGrid, with its energy")
FR_FACT_PUT(plan, "plan", ALWAYS, fr_report_put_plan,
            "a complete plan file: every key with its default filled in. `--plan` reads it "
            "back, or the whole document, and prints the same bytes")
FR_FACT_PUT(varied, "varied", SOMETIMES, fr_report_put_varied,
            "of a search that varies them: this plan's values of model and cluster keys")
FR_FACT(ranks, "ranks", WHOLE, ALWAYS, (double)v->out->ranks, "dp · pp · tp")
FR_FACT_PUT(units, "units", SOMETIMES, fr_report_put_units,
            "levels that the plan fills unevenly: `level`, number of `units`, `ranks` in "
            "each, in the `last`, and what one `holds`")
FR_FACT(parameters, "parameters", COUNT, ALWAYS, v->priced ? v->out->parameters : NAN,
        "of the model as trained, over all ranks (data-parallel copies once)", CSV(1, NULL),
        TEXT(1, "parameters"))
FR_FACT(parameters_trained, "parameters_trained", WHOLE,
        WHERE(v->priced && v->out->parameters_frozen > 0),
        v->out->parameters - v->out->parameters_frozen,
        "parameters that are trained, where others are frozen: those of adapters",
        TEXT(1, "  trained"))
FR_FACT(parameters_per_rank_max, "parameters_per_rank_max", COUNT, ALWAYS,
        v->priced ? v->out->parameters_rank_max : NAN, "of the rank that holds most",
        CSV(1, NULL), TEXT(1, "  fullest rank"))
FR_FACT(iteration_time_s, "iteration_time_s", TIME, ALWAYS, v->out->time_s,
        "one forward pass, backward pass and update", CSV(1, NULL), TEXT(1, "iteration time"),
        PAGE(1))
FR_FACT(iteration_time_expected_s, "iteration_time_expected_s", TIME,
        WHERE(v->time.stated && v->differs), v->out->expected_s,
        "predicted time plus the measured model error of the runs that the cluster was "
        "tuned to, where it differs. The interval is about this value",
        INTERVAL("iteration_time_s", time, SOMETIMES), TEXT(1, "  expected"))
FR_FACT_WORD(interval_from, "interval_from", interval_sources, WHERE(v->time.stated),
             interval_sources[fr_cluster_interval_source(&v->job->cluster)],
             "source of the interval: `tuning` (posterior of `forerun tune`), "
             "`calibration`, `widths` (stated in the cluster file) or `priors`. "
             "See [docs/explanation/intervals.md](../explanation/intervals.md)")
FR_FACT(iteration_time_p05_s, "iteration_time_p05_s", TIME, WHERE(v->steps.stated),
        v->steps.low,
        "nine in ten steps of one run lie between this and `iteration_time_p95_s` "
        "(needs `jitter` or interruptions in the cluster file)",
        TEXT(1, "  its steps"))
FR_FACT(iteration_time_p95_s, "iteration_time_p95_s", TIME, WHERE(v->steps.stated),
        v->steps.high, "see `iteration_time_p05_s`")
FR_FACT_PUT(calibration, "calibration", SOMETIMES, fr_report_put_calibration,
            "of a calibrated cluster: `verdict`, first `reason`, `held_out` error and "
            "`variation` of the machine")
FR_FACT(iteration_energy_J, "iteration_energy_J", ENERGY, ALWAYS, v->out->energy_J,
        "energy of one iteration, all ranks together. Its interval combines the "
        "uncertainty of power and of time",
        INTERVAL("iteration_energy_J", energy, ALWAYS), CSV(1, NULL),
        TEXT(1, "iteration energy"), PAGE(1))
FR_FACT_EACH(energy_J, "energy_J.*", PART, fr_energy_names, FR_ENERGY_COUNT,
             fr_energy_known(&v->job->cluster, i) && isfinite(v->out->energy_J)
                 ? v->out->energy_part_J[i]
                 : NAN,
             "parts of the energy: `device`, `node` (hosts, supplies, idle devices), "
             "`network` (switches), `facility` (`pue`); null: the cluster does not state it",
             TEXT(1, "  *"))
FR_FACT_PUT(stage_clock_Hz, "stage_clock_Hz", SOMETIMES, fr_report_put_clocks,
            "clock of each stage, where the plan sets one; of `slack` the mean over its "
            "passes")
FR_FACT(samples_per_s, "samples_per_s", NUMBER, ALWAYS, v->rates.samples_per_s, "of all ranks",
        CSV(4, NULL))
FR_FACT(tokens_per_s, "tokens_per_s", NUMBER, ALWAYS, v->rates.tokens_per_s,
        "of all ranks; null: a model without tokens", CSV(4, NULL), PAGE(4))
FR_FACT(tokens_per_s_per_device, "tokens_per_s_per_device", NUMBER, ALWAYS,
        v->rates.tokens_per_s_per_device, "the same by the number of ranks", CSV(4, NULL))
FR_FACT(token_time_s, "token_time_s", TIME, WHERE(v->priced &&fr_outcome_generates(v)),
        v->out->time_s / (double)v->job->workload.transformer.sequence,
        "behind cached tokens: between two tokens of a sample", TEXT(1, "time a token"))
FR_FACT(token_energy_J, "token_energy_J", ENERGY, WHERE(v->priced &&fr_outcome_generates(v)),
        v->out->energy_J / fr_outcome_tokens(v),
        "behind cached tokens: energy of one token of one sample, on all devices",
        TEXT(1, "energy a token"))
FR_FACT(cache_size_B, "cache_size_B", SIZE, WHERE(v->known &&fr_outcome_generates(v)),
        v->out->cache_B,
        "behind cached tokens: keys and values on the rank that holds most, of all its "
        "samples; part of `memory_B.activations`",
        TEXT(1, "cache"))
FR_FACT(model_flop_per_s_per_device, "model_flop_per_s_per_device", NUMBER, ALWAYS,
        v->rates.model_flop_per_s_per_device,
        "work of the model, forward and backward, without recomputation, by ranks and "
        "time",
        CSV(4, NULL), TEXT(4, "model FLOP/s a device"))
FR_FACT(mfu, "mfu", NUMBER, ALWAYS, v->rates.mfu,
        "model FLOP/s over the data sheet's peak in the model's dtype; null: the "
        "cluster states no such peak",
        CSV(4, NULL), PAGE(3))
FR_FACT(hardware_flop_per_s_per_device, "hardware_flop_per_s_per_device", NUMBER, ALWAYS,
        v->rates.hardware_flop_per_s_per_device,
        "as `model_flop_per_s_per_device`, with recomputation counted again", CSV(4, NULL),
        TEXT(4, "hardware FLOP/s a device"))
FR_FACT(hfu, "hfu", NUMBER, ALWAYS, v->rates.hfu,
        "hardware FLOP/s over the data sheet's peak, as `mfu`", CSV(4, NULL))
FR_FACT(iterations_per_epoch, "iterations_per_epoch", NUMBER, ALWAYS,
        v->rates.iterations_per_epoch, "the model's `samples` by the global batch",
        CSV(4, NULL))
FR_FACT(epoch_time_s, "epoch_time_s", TIME, ALWAYS, v->rates.epoch_time_s,
        "time of that many iterations", CSV(4, NULL), TEXT(3, "epoch"))
FR_FACT(epoch_energy_J, "epoch_energy_J", ENERGY, ALWAYS, v->rates.epoch_energy_J,
        "energy of that many iterations", CSV(4, NULL), TEXT(3, "epoch's energy"))
FR_FACT_WORD(flop_convention, "flop_convention", fr_rates_conventions, ALWAYS,
             fr_rates_convention(v->job),
             "attention scores that `mfu` and `hfu` count: `causal` (those that masks "
             "leave) or `palm` (all: 6 N + 12 L a d s a token; PaLM, 2022, appendix B)")
FR_FACT(memory_peak, "memory_B.peak", PART, ALWAYS, v->known ? v->out->memory_peak_B : NAN,
        "tensors of the peak rank. Transformers have an interval (`forerun reproduce "
        "memory`)",
        INTERVAL("memory_B", peak, ALWAYS), CSV(3, "memory_peak_B"), PAGE(2))
FR_FACT_EACH(memory_B, "memory_B.*", PART, fr_memory_names, FR_MEMORY_COUNT,
             v->known ? v->out->memory_B[i] : NAN,
             "parts of the peak: `parameters`, `gradients`, `optimizer`, `activations`, "
             "`buffers`, `fragmentation`")
FR_FACT(memory_reserved, "memory_B.reserved", PART, ALWAYS, v->fits.reserved_B,
        "memory that the allocator reserves without pressure, from `peak` and facts of "
        "the runtime",
        CSV(3, "memory_reserved_B"))
FR_FACT(memory_shown, "memory_B.shown", PART, ALWAYS, v->fits.shown_B,
        "memory that the device then shows (nvidia-smi)",
        INTERVAL("memory_shown_B", shown, ALWAYS), CSV(3, "memory_shown_B"))
FR_FACT(memory_needed, "memory_B.needed", PART, ALWAYS, v->fits.needed_B,
        "smallest device memory that the plan runs with",
        INTERVAL("memory_needed_B", needed, ALWAYS), CSV(3, "memory_needed_B"))
FR_FACT(device_memory_B, "device_memory_B", SIZE, ALWAYS, v->fits.memory_B,
        "the device's memory; null: the cluster does not state it")
FR_FACT(fits, "fits", CHANCE, ALWAYS, v->fits.probability,
        "probability that `needed` is at most `device_memory_B`. Under 0.05 the plan "
        "is infeasible",
        CSV(3, NULL))
FR_FACT(host_memory_B, "host_memory_B", SIZE, WHERE(v->out->plan.offload),
        v->known ? v->out->host_memory_B : NAN, "host memory of the rank that offloads most")
FR_FACT(peak_rank, "fullest_rank", COUNT, ALWAYS,
        v->known && v->out->peak_rank >= 0 ? (double)v->out->peak_rank : NAN,
        "the peak rank, the first of several; null: sub-graphs, or memory is not priced")
FR_FACT(peak_stage, "fullest_stage", COUNT, ALWAYS, v->known ? (double)v->out->peak_stage : NAN,
        "pipeline stage of the peak rank")
FR_FACT_ENDS(memory_ends, "memory_B")
FR_FACT(near_memory_edge, "near_memory_edge", FLAG, ALWAYS,
        v->known &&fr_memory_near_edge(&v->job->cluster.device, v->out),
        "the plan fits but takes more than 90 % of the device")
FR_FACT_PUT(memory_moments, "memory_moments", SOMETIMES, fr_report_put_moments,
            "of `predict`: memory of the peak rank at each moment of an iteration, with "
            "its tensors. See [docs/reference/outputs.md](outputs.md#memory_moments)")
FR_FACT(iterations, "iterations", NUMBER, ALWAYS, v->out->iterations,
        "iterations to target loss", CSV(2, NULL))
FR_FACT(iterations_low, "iterations_low", NUMBER, WHERE(v->out->iterations_deviation > 0),
        v->out->iterations / fr_growth_half(v->out->iterations_deviation),
        "low end of the 90 % interval of iterations by a law of growth")
FR_FACT(iterations_high, "iterations_high", NUMBER, WHERE(v->out->iterations_deviation > 0),
        v->out->iterations *fr_growth_half(v->out->iterations_deviation), "its high end")
FR_FACT_WORD(iterations_origin, "iterations_origin", fr_iterations_origins, ALWAYS,
             fr_iterations_origins[v->out->iterations_origin],
             "`given`, `interpolated` between known plans, `scaled` from another batch, by "
             "a `law` fitted to known plans, or `unknown`")
FR_FACT(break_even_iterations, "break_even_iterations", NUMBER,
        WHERE(v->out->break_even_iterations > 0), v->out->break_even_iterations,
        "of a plan that loses information: it wins if it needs less than so many times the "
        "iterations of an exact plan, of samples where batches differ",
        TEXT(5, "break-even iterations"), PAGE(5))
FR_FACT_WORD(break_even_against, "break_even_against", break_even_plans,
             WHERE(v->out->break_even_iterations > 0),
             break_even_plans[v->out->break_even_from],
             "that exact plan: `best exact plan` of the same search, or `same plan without "
             "loss`, nothing compressed and method tensor")
FR_FACT(probability_wins, "probability_wins", CHANCE, WHERE(v->out->wins > 0), v->out->wins,
        "of a plan that loses information: probability that it reaches the loss for less than "
        "that exact plan",
        TEXT(5, "wins with probability"), PAGE(5))
FR_FACT(warm_up_iteration_time_s, "warm_up_iteration_time_s", TIME,
        WHERE(v->out->plain_time_s > 0), v->out->plain_time_s,
        "time of an iteration of the warm-up, which sends nothing compressed",
        TEXT(6, "  warm-up"))
FR_FACT(warm_up_iteration_energy_J, "warm_up_iteration_energy_J", ENERGY,
        WHERE(v->out->plain_time_s > 0), v->out->plain_energy_J, "energy of such an iteration")
FR_FACT(total_time_s, "total_time_s", TIME, ALWAYS, v->out->total_time_s,
        "time to target loss: iterations times one iteration", CSV(2, NULL),
        TEXT(5, "time to the loss"), PAGE(5))
FR_FACT(total_energy_J, "total_energy_J", ENERGY, ALWAYS, v->out->total_energy_J,
        "energy to target loss", CSV(2, NULL), TEXT(5, "energy to the loss"), PAGE(5))
FR_FACT_EACH(breakdown_s, "breakdown_s.*", PART, fr_part_names, FR_PART_COUNT,
             v->out->part_s[i],
             "exposed time of each part; the parts add up to the iteration. "
             "See [docs/reference/outputs.md](outputs.md#breakdown_s)",
             CSV(5, "*_s"))
FR_FACT_EACH(bytes_per_rank, "bytes_per_rank.*", PART, fr_sent_names, FR_SENT_COUNT,
             v->out->sent_B[i],
             "bytes that one rank sends in an iteration, by axis, the most over the stages. "
             "See [docs/reference/outputs.md](outputs.md#bytes_per_rank)")
FR_FACT(gradient_bytes, "lossy.gradient_bytes", PART, ALWAYS, v->out->lossy_gradient,
        "share of the gradient bytes that is compressed")
FR_FACT(gradient_rank, "lossy.gradient_rank", WHOLE, ALWAYS,
        v->out->lossy_gradient > 0 ? (double)fr_plan_gradient_rank_most(&v->out->plan) : 0,
        "rank they are compressed to, the largest of several; 0: nothing is, as where factors "
        "would not be smaller")
FR_FACT(backward_messages, "lossy.backward_messages", PART, ALWAYS, v->out->lossy_backward,
        "share of the backward messages that is compressed")
FR_FACT(backward_rank, "lossy.backward_rank", WHOLE, ALWAYS,
        v->out->lossy_backward > 0 ? (double)v->out->plan.compression.backward_rank : 0,
        "their rank")
FR_FACT(forward_messages, "lossy.forward_messages", PART, ALWAYS, v->out->lossy_forward,
        "share of the forward messages that is compressed")
FR_FACT(forward_rank, "lossy.forward_rank", WHOLE, ALWAYS,
        v->out->lossy_forward > 0 ? (double)v->out->plan.compression.forward_rank : 0,
        "their rank")
FR_FACT(gradient_break_even, "lossy.gradient_break_even_B_per_s", RATE, ALWAYS,
        positive(v->out->break_even_gradient_B_per_s),
        "bandwidth of a rank above which compressing gradients costs more time than it "
        "saves")
FR_FACT(backward_break_even, "lossy.backward_break_even_B_per_s", RATE, ALWAYS,
        positive(v->out->break_even_backward_B_per_s), "the same for backward messages")
FR_FACT(forward_break_even, "lossy.forward_break_even_B_per_s", RATE, ALWAYS,
        positive(v->out->break_even_forward_B_per_s), "the same for forward messages")
FR_FACT(feasible, "feasible", FLAG, ALWAYS, v->out->reasons == 0,
        "whether the plan can run; a plan that only exceeds memory is priced all the "
        "same")
FR_FACT_PUT(reasons, "reasons", ALWAYS, fr_report_put_reasons,
            "why the plan cannot run, in sentences")
FR_FACT_PUT(extrapolated, "extrapolated", ALWAYS, fr_report_put_extrapolated,
            "inputs outside the measured range: `gemm`, `collectives.all_gather`, …")
FR_FACT_WORD(
    messages, "messages", message_rules, WHERE(v->out->messages),
    message_rules[v->out->messages],
    "rule for a pipeline's messages. `in_order`: one at a time from a rank to another, "
    "on shared links. `alone`: each by itself, at most 1 % too fast. `fair`: all at "
    "once")
FR_FACT_PUT(messages_beside, "messages_beside", SOMETIMES, fr_report_put_beside,
            "other traffic on the links of messages in order, which is not counted: `tp`, "
            "`cp`, `ep`, `dp`, or `replicas` placed in other ways. The time may be too short")
FR_FACT_PUT(provenance, "provenance", ALWAYS, fr_report_put_provenance,
            "version, cluster and model with sources, `runtime` with date, `assumed` keys, "
            "quality of the power figures")
