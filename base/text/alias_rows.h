/* Rows alone: words that other tools and papers use, and the word that Forerun uses for the same thing.
 *
 *  FR_ALIAS("their words", "our word", "how it differs, or empty")
 *
 *  Their words are written without separators and in small letters ("seqlen" stands for seq_len, --seq-len and
 *  seqLen), one blank between two.  Our word is an option (--ranks), a key (tp, model.sequence) or a value (bf16).
 *  Where a word has several rows, the first whose word is known in the place counts. */

/* ---- sizes of a run -------------------------------------------------------------------------- */
FR_ALIAS("gpus gpu ngpus ngpu numgpus numgpu totalgpus gpucount devices ndevices numdevices "
         "worldsize nranks numranks "
         "processes nprocs nproc np chips nchips numchips accelerators workers numworkers "
         "tasks ntasks size totalranks",
         "--ranks", "")
FR_ALIAS("nodes nnodes numnodes hosts nhosts numhosts machines servers", "--ranks",
         "the number of nodes times the GPUs of a node")
FR_ALIAS("nprocpernode gpuspernode ngpuspernode ranksperhost taskspernode devicespernode",
         "--ranks-per-node", "")
FR_ALIAS("nprocpernode gpuspernode ngpuspernode ranksperhost taskspernode devicespernode "
         "localworldsize",
         "--ranks", "all GPUs; those of a node are cluster.levels.0.ranks")
FR_ALIAS("nprocpernode gpuspernode ngpuspernode ranksperhost taskspernode devicespernode "
         "localworldsize ranksnode "
         "nodesize",
         "cluster.levels.0.ranks", "")

/* ---- options --------------------------------------------------------------------------------- */
FR_ALIAS("hardware machine hw platform gputype devicetype clustername system hwconfig",
         "--cluster", "")
FR_ALIAS("modelname modelpath modelconfig arch architecture llm modelid hf config configfile "
         "checkpoint network",
         "--model", "")
FR_ALIAS("framework software backend library version release", "--runtime", "")
FR_ALIAS("strategy parallelism planfile parallel layout", "--plan", "")
FR_ALIAS("output outfile outputfile o savefile save saveto", "--out", "")
FR_ALIAS("output outfile outputfile", "--output", "")
FR_ALIAS("out outfile savefile save saveto file", "--output", "")
FR_ALIAS("format outputformat asjson fmt", "--json", "")
FR_ALIAS("jobs nthreads numthreads cores cpus", "--threads", "")
FR_ALIAS("limit nbest best topk numresults results count", "--top", "")
FR_ALIAS("verbose debug why reasons details breakdown", "--explain", "")
FR_ALIAS("full everything long verbose", "--all", "")
FR_ALIAS("cluster hardware machine preset", "--base", "")
FR_ALIAS("goal minimize minimise optimizefor optimisefor metric target", "--objective", "")
FR_ALIAS("maxmemory memlimit gpumemorylimit memorycap maxmem", "--memory-limit", "")
FR_ALIAS("ntokens numtokens traintokens trainingtokens totaltokens", "--tokens", "")
FR_ALIAS("nsamples numsamples trainsamples", "--samples", "")
FR_ALIAS("cost costs priceperhour gpuprice usd dollars hourlyprice", "--price", "")
FR_ALIAS("co2 emissions carbonintensity", "--carbon", "")
FR_ALIAS("failures mtbfhours meantimebetweenfailures failurerate", "--mtbf", "")
FR_ALIAS("time times timems seconds steptime steptimes iterationtime measured measuredtime "
         "sperstep secondsperstep durations elapsed",
         "measured_s", "")
FR_ALIAS("data measurements measured runsfile measuredruns csvfile input", "--runs", "")
FR_ALIAS("samplesfile data input measurements", "--samples", "")
FR_ALIAS("yes overwrite replace clobber", "--force", "")
FR_ALIAS("collective operation primitive coll", "--op", "")
FR_ALIAS("messagesize msgsize bytes minbytes maxbytes message", "--size", "")
FR_ALIAS("algo", "--algorithm", "")
FR_ALIAS("precision datatype", "--dtype", "")
FR_ALIAS("param params key override option opt", "--set", "")
FR_ALIAS("sweep range scan grid values", "--vary", "")
FR_ALIAS("freeze pin constrain constraint", "--fix", "")
FR_ALIAS("simulator solver", "--engine", "")
FR_ALIAS("timeline chrometrace perfetto", "--trace", "")
FR_ALIAS("time timelimit maxtime duration", "--budget", "")
FR_ALIAS("slurm mpirun launch srun", "--launcher", "")

/* ---- the mesh -------------------------------------------------------------------------------- */
FR_ALIAS("tensorparallel tensorparallelsize tensormodelparallelsize tensormodelparallel tpsize "
         "tpdegree "
         "tensorparallelism tensorparalleldegree tensor mp mpsize modelparallel "
         "modelparallelsize nway intraop tensors "
         "tpranks",
         "tp", "")
FR_ALIAS("pipelineparallel pipelineparallelsize pipelinemodelparallelsize "
         "pipelinemodelparallel ppsize ppdegree "
         "pipelineparallelism pipelineparalleldegree pipeline stages numstages nstages "
         "pipelinestages pipelinedepth "
         "interop",
         "pp", "")
FR_ALIAS("dataparallel dataparallelsize dpsize dpdegree dataparallelism dataparalleldegree "
         "replicas nreplicas "
         "dataparallelreplicatedegree dataparallelsharddegree data",
         "dp", "")
FR_ALIAS(
    "contextparallel contextparallelsize cpsize cpdegree contextparallelism "
    "contextparalleldegree "
    "sequenceparallelsize ulyssessize ulysses ringattention spsize ulyssessequenceparallelsize",
    "cp", "")
FR_ALIAS("expertparallel expertparallelsize expertmodelparallelsize expertmodelparallel epsize "
         "epdegree "
         "expertparallelism expertparalleldegree moeparallel moeparallelsize",
         "ep", "")
FR_ALIAS("experttensorparallelsize experttensorparallel etpsize", "etp", "")
FR_ALIAS("gpus gpu ngpus ngpu numgpus numgpu totalgpus devices ndevices numdevices worldsize "
         "ranks nranks numranks "
         "nodes nnodes numnodes hosts machines np chips processes nprocs nproc size",
         "dp", "ranks are dp * pp * tp * cp")
FR_ALIAS("sp sequenceparallelism seqparallel", "sequence_parallel", "")
FR_ALIAS("vpp vp vppsize virtualpipeline virtualpipelinemodelparallelsize "
         "virtualpipelineparallelsize interleave "
         "interleaving virtualstages numvirtualstages modelchunks virtualchunks "
         "numlayerspervirtualpipelinestage "
         "interleaved virtualpipelinesize",
         "chunks", "chunks of layers that each stage holds")
FR_ALIAS("pipelineschedule ppschedule", "schedule", "")
FR_ALIAS("mapping rankmapping rankplacement", "placement", "")

/* ---- the batch ------------------------------------------------------------------------------- */
FR_ALIAS("batch batchsize globalbatchsize gbs gbsz trainbatchsize bs bsz totalbatchsize "
         "globalbsz globalbatchsamples "
         "batches",
         "global_batch", "")
FR_ALIAS("mbs mbsz microbatchsize microbatches ubatch trainmicrobatchsizepergpu "
         "perdevicetrainbatchsize "
         "localbatchsize pergpubatchsize microbsz microbsize perdevicebatchsize "
         "devicebatchsize batchsizepergpu "
         "devicetrainmicrobatchsize",
         "micro_batch", "")
FR_ALIAS("gradientaccumulationsteps gradientaccumulation gradacc gradaccum gradaccumsteps "
         "accumulategradbatches ga gas "
         "nummicrobatches nmicrobatches accumulationsteps accsteps gradaccsteps",
         "global_batch", "global_batch = dp * micro_batch * accumulation steps")

/* ---- memory ---------------------------------------------------------------------------------- */
FR_ALIAS(
    "zerostage zerooptimization zerooptimizationstage deepspeedstage usedistributedoptimizer "
    "distributedoptimizer distopt shardingstage optimizersharding zero1 zero2 zero3",
    "zero", "0, 1 (distributed optimizer), 2 or 3 (FSDP)")
FR_ALIAS("ddp fsdp sharding shardingstrategy fullyshard fullshard fsdp2 hsdp", "zero",
         "3 is FSDP, 0 no sharding")
FR_ALIAS("fsdp2 fsdpunit hsdpsize shardgroupsize", "zero_ranks", "")
FR_ALIAS(
    "activationcheckpointing gradientcheckpointing activationrecompute recomputeactivations "
    "recomputegranularity checkpointing remat activationcheckpoint recomputation rematpolicy "
    "ac rematerialization "
    "recomputemodules actckpt gradckpt ckpt",
    "recompute", "none, selective or full")
FR_ALIAS("recomputenumlayers activationcheckpointlayers", "recompute_layers", "")
FR_ALIAS("cpuoffload activationoffload activationoffloading offloadactivations cpuoffloading",
         "offload", "")

/* ---- how it runs ----------------------------------------------------------------------------- */
FR_ALIAS("overlapgradreduce overlapcomm commoverlap overlapparamgather overlapcommunication",
         "overlap", "")
FR_ALIAS("tpcommoverlap tpoverlap asynctp", "overlap_tp", "")
FR_ALIAS("flashattention flashattn useflashattn attn attnimplementation flash sdpa "
         "attentionimplementation "
         "attentionbackend",
         "attention", "")
FR_ALIAS("cudagraph cudagraphs enablecudagraph cudagraphimpl", "graphs", "")
FR_ALIAS("bucketsize bucketcapmb ddpbucketsize reducebucketsize", "bucket", "")
FR_ALIAS("powerlimit powercapping tdp", "power_cap", "")
FR_ALIAS("gpuclock freq frequency clockspeed smclock clocks", "clock", "")
FR_ALIAS("compressionrank powersgdrank lowrank", "compression.backward.rank", "")
FR_ALIAS("codec gradientcompression compressor", "compression.codec", "")
FR_ALIAS("ghosts ghostwidth ghostneurons k", "ghost", "")
FR_ALIAS("parallelmethod", "method", "")

/* ---- the model ------------------------------------------------------------------------------- */
FR_ALIAS("sequence seq seqlen seqlength sequencelength sequencelen maxseqlen maxseqlength "
         "maxsequencelength "
         "contextlength contextlen contextwindow ctx ctxlen nctx maxpositionembeddings "
         "blocksize seqs maxlength maxlen "
         "contextsize",
         "model.sequence", "")
FR_ALIAS("dtype precision torchdtype datatype mixedprecision computedtype paramsdtype amp bf16 "
         "fp16 fp8 fp4 fp32 fp8format "
         "float16 bfloat16 quantization",
         "model.dtype", "")
FR_ALIAS("layers numlayers nlayers nlayer numhiddenlayers depth blocks numblocks",
         "model.layers", "")
FR_ALIAS(
    "hidden hiddensize dmodel nembd dim modeldim embdim hiddendim embeddim width embeddingsize",
    "model.hidden", "")
FR_ALIAS("heads numheads nheads nhead numattentionheads attentionheads", "model.heads", "")
FR_ALIAS("kvheads numkeyvalueheads nkvheads numkvheads numquerygroups gqa querygroups",
         "model.kv_heads", "")
FR_ALIAS("headdim headsize dhead kvchannels", "model.head_dim", "")
FR_ALIAS("ffn ffnhiddensize intermediatesize ffndim dff mlpdim ffnsize feedforward mlpsize",
         "model.ffn", "")
FR_ALIAS("vocabulary vocab vocabsize vocabularysize paddedvocabsize nvocab", "model.vocabulary",
         "")
FR_ALIAS(
    "experts numexperts nexperts nummoeexperts numlocalexperts nroutedexperts moe moeexperts",
    "model.experts", "")
FR_ALIAS("topk moeroutertopk numexpertspertok expertspertoken routertopk",
         "model.experts_per_token", "")
FR_ALIAS("moeffnhiddensize moeintermediatesize expertffn", "model.expert_ffn", "")
FR_ALIAS("optimizer optim optimiser", "model.optimizer", "")
FR_ALIAS("graddtype reducedtype gradreducedtype gradreduceinfp32 gradientdtype",
         "model.gradient_dtype", "")
FR_ALIAS("weightdtype paramdtype", "model.weight_dtype", "")
FR_ALIAS("slidingwindow windowsize window", "model.window", "")
FR_ALIAS("swiglu geglu glu gated", "model.gated", "")
FR_ALIAS("tiewordembeddings tiedembeddings tied shareembeddings", "model.tied_embedding", "")
FR_ALIAS("ropetheta rotarybase ropebase", "model.rotary_base", "")
FR_ALIAS("trainiters steps maxsteps trainsteps numsteps totalsteps nsteps epochs", "iterations",
         "")
FR_ALIAS("lorarank lora", "model.lora_rank", "")
FR_ALIAS("docs documentlength packing", "model.document", "")

/* ---- the cluster ----------------------------------------------------------------------------- */
FR_ALIAS("memory hbm gpumemory vram devicememory mem hbmsize memorysize",
         "cluster.device.memory", "")
FR_ALIAS("hbmbandwidth memorybandwidth membw membandwidth", "cluster.device.memory_bandwidth",
         "")
FR_ALIAS(
    "nvlink nvlinkbandwidth intranodebandwidth nodebandwidth xgmi infinityfabric intranode",
    "cluster.levels.0.bandwidth", "")
FR_ALIAS("bandwidth networkbandwidth internodebandwidth ib infiniband nic interconnect "
         "linkbandwidth netbw internode bw "
         "ethernet roce",
         "cluster.levels.1.bandwidth", "")
FR_ALIAS("latency networklatency netlatency linklatency", "cluster.levels.1.latency", "")

/* ---- values ---------------------------------------------------------------------------------- */
FR_ALIAS("bfloat16 bf mixed bfloat", "bf16", "")
FR_ALIAS("float16 half f16", "fp16", "")
FR_ALIAS("float32 single float f32", "fp32", "")
FR_ALIAS("float64 double f64", "fp64", "")
FR_ALIAS("e4m3 fp8e4m3 float8 fp8hybrid f8 int8", "fp8", "")
FR_ALIAS("nvfp4 mxfp4 float4 f4 int4", "fp4", "")
FR_ALIAS("ar sum", "all_reduce", "")
FR_ALIAS("ag", "all_gather", "")
FR_ALIAS("rs", "reduce_scatter", "")
FR_ALIAS("a2a alltoallv", "all_to_all", "")
FR_ALIAS("bcast", "broadcast", "")
FR_ALIAS("p2p sendrecv pointtopoint", "send_recv", "")
FR_ALIAS("zb zb1p zbh1 zerobubbleh1", "zero-bubble", "")
FR_ALIAS("zbv zbvzerobubble", "zero-bubble-v", "")
FR_ALIAS("interleaved1f1b vpp looped loopedbfs", "interleaved", "")
FR_ALIAS("dualpipe", "dualpipe-v", "")
FR_ALIAS("megatron tensorparallel column row", "tensor", "")
FR_ALIAS("sgdm", "momentum", "")
FR_ALIAS("adamw fusedadam", "adam", "")
FR_ALIAS("energydelayproduct", "edp", "")
FR_ALIAS("speed latency throughput runtime tokens mfu flops utilization fastest", "time", "")
FR_ALIAS("cost money price dollars usd", "time",
         "money follows the time of as many GPUs; --price with --tokens prints it")
FR_ALIAS("power joules watts kwh efficiency", "energy", "")
FR_ALIAS("co2 carbon emissions", "energy",
         "CO2 follows the energy; --carbon with --tokens prints it")
FR_ALIAS("yes on 1 enabled y", "true", "")
FR_ALIAS("no off 0 disabled n", "false", "")
FR_ALIAS("true yes on 1 all everything block", "full", "")
FR_ALIAS("false no off 0 never", "none", "")
FR_ALIAS("sdpa fused true yes fa fa3 fa4 flashattention3 xformers", "flash", "")
FR_ALIAS("eager naive unfused math false no", "plain", "")
FR_ALIAS("true yes on 1 grad gradients full comm", "gradient", "")
FR_ALIAS("slurm", "sbatch", "")
FR_ALIAS("nemo bridge", "megatron-bridge", "")
FR_ALIAS("pytorch torch fsdp fsdp2", "torchtitan", "")
FR_ALIAS("zero", "deepspeed", "")
FR_ALIAS("srun sbatch", "slurm", "")
FR_ALIAS("gpu gpus nvidia", "cuda", "")
FR_ALIAS("amd rocm", "hip", "")
FR_ALIAS("processor processors host", "cpu", "")

/* ---- presets --------------------------------------------------------------------------------- */
FR_ALIAS("mi250x mi250 olcf frontiergcd", "frontier", "")
FR_ALIAS("hopper p5 p548xlarge a3mega a3megagpu8g a3highgpu8g ndh100v5 eos", "dgx-h100",
         "the nearest; its network may differ")
FR_ALIAS("ampere p4d p4d24xlarge p4de p4de24xlarge a2megagpu16g ndma100v4 selene", "dgx-a100",
         "the nearest; its network may differ")
FR_ALIAS("blackwell p6b200 p6b20048xlarge a4 a4highgpu8g", "dgx-b200",
         "the nearest; its network may differ")
FR_ALIAS("p5e p5en p5e48xlarge p5en48xlarge a3ultra a3ultragpu8g", "dgx-h200",
         "the nearest; its network may differ")
FR_ALIAS("volta p3 p3dn p3dn24xlarge dgx1 dgx2", "dgx-v100",
         "the nearest; its network may differ")
FR_ALIAS("a4x gb200superpod", "gb200-nvl72", "")
FR_ALIAS("cdna3 ndmi300xv5", "mi300x", "the nearest; its network may differ")
FR_ALIAS("elcapitan mi300a", "mi300x", "another form of it")
FR_ALIAS("v6e tpuv6e tpuv6 trillium", "tpu-trillium", "")
FR_ALIAS("mi350", "mi350x", "")
FR_ALIAS("h200nvl h200pcie", "h200-nvl", "")
FR_ALIAS("ironwood tpuv7 v7 tpu7x", "tpu-ironwood", "")
FR_ALIAS("hpu gaudi habana", "gaudi3", "")
FR_ALIAS("deepseekr1 r1", "deepseek-v3", "the same layers")
FR_ALIAS("knl", "cori-knl", "")
FR_ALIAS("gracehopper", "gh200", "")
FR_ALIAS("graceblackwell", "gb200-nvl72", "")
FR_ALIAS("power9 sierra", "lassen", "")
FR_ALIAS("vaswani attentionisallyouneed", "transformer-base", "")

/* ---- commands -------------------------------------------------------------------------------- */
FR_ALIAS("estimate run price train time infer forecast cost", "predict", "")
FR_ALIAS("optimize optimise find plan autotune sweep autoplan", "search", "")
FR_ALIAS("sim replay emulate", "simulate", "")
FR_ALIAS("measure bench benchmark profile calib", "calibrate", "")
FR_ALIAS("convert read load", "import", "")
FR_ALIAS("draw graph chart figure picture", "plot", "")
FR_ALIAS("html page summary", "report", "")
FR_ALIAS("diff versus vs", "compare", "")
FR_ALIAS("info print cat get describe preset schema", "show", "")
FR_ALIAS("ls presets clusters models gpus", "list", "")
FR_ALIAS("evaluate accuracy", "score", "")
FR_ALIAS("check test verify", "validate", "")
FR_ALIAS("nccl allreduce collectives comm busbw", "collective", "")
FR_ALIAS("matmul mm product flops", "gemm", "")
FR_ALIAS("map mapping placement", "place", "")
FR_ALIAS("status env environment diagnose", "doctor", "")
FR_ALIAS("papers paper", "reproduce", "")
FR_ALIAS("topology probe detect", "discover", "")
FR_ALIAS("docs man documentation", "manual", "")
FR_ALIAS("gpus gpu devices hardware machines", "clusters", "")
FR_ALIAS("networks llms", "models", "")
