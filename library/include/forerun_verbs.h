/** @file
 *  Verbs of the program as functions.  Written by `ninja documents` from their tables of options: not edited by
 *  hand.
 *
 *  Each is forerun_ask (forerun.h, which includes this) of its name: words of the command line in, NULL behind the
 *  last; the document that --json prints out.  Options with ... may come several times. */
#ifndef FORERUN_VERBS_H
#define FORERUN_VERBS_H

#include "forerun.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */

/** Time and energy of generating tokens, memory of the cache.
 *    --cluster FILE|PRESET  cluster file, preset, or - for standard input
 *    --model FILE|PRESET  model file, preset, or -
 *    --runtime FILE|PRESET  software with a date: a release of a framework (forerun list
 *         runtimes), a file, or -; without it the newest that suits cluster and model
 *    --defaults WORD  2019: the same as --runtime papers-2019; modern: the newest runtime that
 *         suits
 *    --plan FILE  plan file, or what predict or search printed with --json; without it every
 *         key has its default
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --undisturbed  predict for an idle machine, not under typical load
 *    --prompt N  tokens of each prompt (default 1024)
 *    --tokens N  tokens that each sample gets, at least 2 (default 256)
 *    --batch N  samples that generate at once (default 1)
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_generate(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Read nccl-tests, rccl-tests, OSU or IMB output and tables as samples, published training runs, MLPerf's power logs and trainers' logs as runs.
 *    --ranks N  ranks that took part, where the files do not say
 *    --nodes N  nodes they were on
 *    --ranks-per-node N  ranks on each node
 *    --op NAME  collective of nccl-tests files that do not say
 *    --system TEXT  whose machine; files of different systems are never fitted together
 *    --setup TEXT  how it was set up; the same holds
 *    --dtype NAME  of products whose table does not say it
 *    --only COLUMN=VALUE...  rows of a table of products to take; repeatable
 *    --column KEY=VALUE...  of the runs.csv, what a log does not say: model=, plan.tp=
 *    --ignore NAME...  a setting of a trainer's file to leave out of account; may be repeated
 *    --power FILE...  with one trainer's log: what a node drew, a file a node; repeatable
 *    --strict  with several files: one that cannot be read ends it, none is skipped
 *    --scale-power  devices of --power stand for as many as the run has ranks
 *    --out FILE  where samples go (default: standard output) */
FORERUN_API forerun_status forerun_import(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** A calibration, or any result, as one HTML page: answer, live figures, tables.
 *    --output FILE  page to write (default: none)
 *    --series TEXT  of several series fit those that have TEXT in their name
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_report(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Device, host, network and power coefficients from measured training runs.
 *    --cluster FILE|PRESET  cluster file, preset, or - for standard input
 *    --runs FILE...  measured runs: a runs.csv, or a published file; may be repeated
 *    --where COLUMN=VALUE...  only rows with this value; may be repeated: all must hold
 *    --out FILE  cluster file to write; - for standard output (default: none)
 *    --save-runtime FILE  runtime file to write: what software makes of devices, apart from
 *         what they are
 *    --hold NAMES  coefficients to leave as they are: fixed,node_latency
 *    --always  move what the runs do not refute, too
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --runtime FILE|PRESET  software of rows that name none: a release of a framework
 *    --defaults YEAR  modern (today's software) or 2019, for rows that do not say
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_tune(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Predictions beside measured runs: error, rank, regret, coverage.
 *    --cluster FILE|PRESET  cluster file, preset, or - for standard input
 *    --runs FILE...  measured runs: a runs.csv, or a published file; may be repeated
 *    --from LOG...  a trainer's log, as --runs takes it, too; may be repeated
 *    --column KEY=VALUE...  of every log, what it does not say: model=, ranks=, plan.tp=
 *    --ignore NAME...  a setting of a trainer's file to leave out of account; may be repeated
 *    --where COLUMN=VALUE...  only rows with this value; may be repeated: all must hold
 *    --by COLUMNS  a score for each value of these columns, e.g. model.hidden,plan.tp
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --runtime FILE|PRESET  software of rows that name none: a release of a framework
 *    --defaults YEAR  modern (today's software) or 2019, for rows that do not say
 *    --all  everything that the short answer leaves out: all tables, all reasons
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_score(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Draw a figure from the JSON of other commands.
 *    --output FILE  picture to write: .svg, .png or .pdf; of paper a folder
 *    --format NAME  of a folder's pictures: svg, png or pdf (default svg)
 *    --title TEXT  instead of the figure's own
 *    --no-title  none: a caption says it
 *    --width LENGTH  of the picture: 3.3in, 84mm, 240pt (paper: 3.3in as it is)
 *    --font NAME,SIZE  family, size [pt] or both (default DejaVu Sans,9)
 *    --x KEY  of energy-time: what to draw against, e.g. model.sequence (default: ranks, or
 *         what varies)
 *    --from TIME  of gantt: draw the part from there on, e.g. 120ms
 *    --to TIME  of gantt: and up to there
 *    --keep-script  leave the gnuplot script and its data beside the picture
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_plot(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Time and bandwidth of a collective over message sizes.
 *    --cluster FILE|PRESET  cluster file, preset, or - for standard input
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --op NAME  broadcast, reduce, all_reduce, all_gather, reduce_scatter, all_to_all,
 *         send_recv, scatter, gather
 *    --ranks N  ranks taking part
 *    --stride S  distance between neighbours (default 1)
 *    --groups G  so many such groups at once, sharing links (default: all ranks are busy)
 *    --size RANGE  message sizes, e.g. 8..16MiB*2 (default); counted as nccl-tests does
 *    --algorithm NAME|all  price an algorithm from the levels instead of the cluster's form
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there
 *    --csv  print CSV */
FORERUN_API forerun_status forerun_collective(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Time of one matrix product.
 *    --cluster FILE|PRESET  cluster file, preset, or - for standard input
 *    --runtime FILE|PRESET  software with a date: a release of a framework (forerun list
 *         runtimes), a file, or -; without it the newest that suits cluster and model
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --m M  rows of the result
 *    --n N  columns of the result
 *    --k K  inner dimension
 *    --batch B  samples it serves, for devices known by throughput against batch (default n)
 *    --dtype NAME  fp64, fp32, tf32, bf16, fp16, fp8, fp4 (default fp32)
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_gemm(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** A cluster as a SimGrid platform; a plan's program as GOAL, as Chakra traces.
 *    --cluster FILE|PRESET  cluster file, preset, or - for standard input
 *    --model FILE|PRESET  model file, preset, or -
 *    --runtime FILE|PRESET  software with a date: a release of a framework (forerun list
 *         runtimes), a file, or -; without it the newest that suits cluster and model
 *    --defaults WORD  2019: the same as --runtime papers-2019; modern: the newest runtime that
 *         suits
 *    --plan FILE  plan file, or what predict or search printed with --json; without it every
 *         key has its default
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --ranks N  simgrid: how many ranks (default: all of the cluster, at most 512)
 *    --out FILE  where it goes (default: standard output); of chakra a folder
 *    --collectives NAME  goal, of a pipeline: operations (inside its passes, default) or
 *         messages of all ranks
 *    --json  chakra: JSON, not protobuf */
FORERUN_API forerun_status forerun_export(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Clusters, models or runtimes side by side; or a second calibration beside the first.
 *    --cluster FILE|PRESET...  one of several clusters side by side; may be repeated
 *    --model FILE|PRESET...  what is trained there; may be repeated
 *    --runtime FILE|PRESET...  software of all; repeated: the runtimes side by side, and what
 *         the first is behind by
 *    --plan FILE  plan file, or what predict or search printed with --json; without it every
 *         key has its default
 *    --ranks RANGE  rank counts of each: 512, 8..512*2
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --vary KEY=RANGE...  as of search; without it the whole recipe is searched
 *    --fix KEY=VALUE...  hold a key of the recipe, as of search
 *    --objective NAME  time (default), energy or edp (energy times time)
 *    --per-iteration  rank one iteration, without the iterations to the loss
 *    --fit P  how surely a plan must fit into the device's memory to be ranked, e.g. 0.9
 *         (default 0.95); any: whatever is not refused, 5 %
 *    --memory-limit Q  tensors of a rank, e.g. "32 GiB", at most; what the device shows besides
 *         is not counted
 *    --max-lossy X  most of gradient bytes or backward messages that may go compressed, 0 to 1
 *    --threads T  threads (default: processors); the result is the same for any number
 *    --tokens N  what a training of so many tokens costs: 1T, 300B, 2e12
 *    --samples N  the same of samples
 *    --price Q...  of a device, e.g. "2.5 USD/h": money of that training
 *    --carbon Q...  of the electricity, e.g. "0.4 kg/kWh": its CO2
 *    --pue X...  power usage effectiveness of the building, e.g. 1.2, in place of the cluster's
 *    --mtbf Q  mean time between failures of a device, e.g. "50000 h"
 *    --storage Q  rate at which a checkpoint is written, e.g. "100 GB/s"
 *    --checkpoint-size Q  of a checkpoint (default: weights and optimiser state)
 *    --restart Q  time to start again after a failure, e.g. "10 min"
 *    --all  everything that the short answer leaves out: all tables, all reasons
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_compare(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Plans of your own side by side, and how sure it is which is best.
 *    --cluster FILE|PRESET  cluster file, preset, or - for standard input
 *    --model FILE|PRESET  model file, preset, or -
 *    --runtime FILE|PRESET  software with a date: a release of a framework (forerun list
 *         runtimes), a file, or -; without it the newest that suits cluster and model
 *    --defaults WORD  2019: the same as --runtime papers-2019; modern: the newest runtime that
 *         suits
 *    --set KEY=VALUE...  change an input: ghost=16, model.layers=4, cluster.device.launch=5us
 *    --undisturbed  predict for an idle machine, not under typical load
 *    --ranks N  ranks of plans that do not name their replicas (default: dp is 1)
 *    --all  everything that the short answer leaves out: all tables, all reasons
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_compare_plans(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** A preset as the file that it is, to change and keep; a document's schema. */
FORERUN_API forerun_status forerun_show(const char *const *words,
                                    forerun_result **result, forerun_error *error);

/** Collectives, methods, forms, kinds, presets, figures.
 *    --json  print JSON
 *    --page FILE  write the answer as one HTML page with live figures, too
 *    --force  replace a page or picture that is there */
FORERUN_API forerun_status forerun_list(const char *const *words,
                                    forerun_result **result, forerun_error *error);

#ifdef __cplusplus
}
#endif

#endif
