#!/bin/sh
# The commands whose outputs golden.sh freezes, one a line.  Small inputs stand in in/; what a verb
# makes of another verb's output is one command.
set -eu

p='forerun predict' s='forerun search' r='forerun simulate'

# A plan of every method and axis, priced: text and JSON.
plans() {
  while read -r cluster model sets; do
    flags=
    for set in $sets; do flags="$flags --set $set"; done
    echo "$p --cluster $cluster --model $model$flags --json"
  done <<'END'
frontier ffn-16384 tp=8
frontier ffn-16384 tp=8 method=phantom ghost=16
frontier ffn-16384 tp=64 method=phantom ghost=2
frontier ffn-16384 tp=8 dp=4 method=grid
frontier ffn-16384 tp=8 dp=4 method=phantom ghost=4
frontier ffn-4096 tp=4 pp=2 method=phantom ghost=8 micro_batch=113
frontier ffn-4096 tp=4 pp=2 micro_batch=113
frontier ffn-4096 tp=4 dp=2 overlap=gradient
frontier ffn-4096 tp=4 dp=2 overlap=gradient bucket=1MiB method=phantom ghost=8
frontier ffn-4096 tp=4 dp=2 method=subgraph
frontier ffn-131072 tp=256 method=phantom ghost=64
frontier ffn-262144 tp=32
frontier ffn-262144 tp=32 method=phantom ghost=64
cori-knl alexnet method=grid tp=4 dp=128
cori-knl alexnet method=grid tp=1 dp=512
cori-knl alexnet method=grid dp=512 layer_tp=best
cori-knl alexnet method=grid tp=2 dp=4 overlap=gradient
cori-knl alexnet method=grid tp=2 dp=2 pp=2 micro_batch=64
cori-knl alexnet method=subgraph tp=2 dp=4
cori-knl in/mlp.json method=grid tp=2 dp=2
cori-knl in/mlp.json method=grid dp=4 layer_tp=[2,1,4,1]
cori-knl in/mlp.json method=phantom ghost=2 tp=2
lassen attention-branches method=subgraph tp=4 global_batch=8
lassen attention-branches method=subgraph tp=4 dp=2 global_batch=8 common=subgrid
lassen attention-branches method=subgraph tp=4 dp=2 global_batch=8 exchange=all_gather placement=round-robin
lassen t5-large-mod method=subgraph tp=4 dp=2 global_batch=8
lassen t5-large-mod method=subgraph tp=4 dp=2 global_batch=8 common=subgrid overlap=gradient
lassen t5-large-mod method=subgraph tp=4 pp=2 dp=1 global_batch=8 branches=layer
lassen transformer-base method=subgraph tp=4 global_batch=8 branches=attention
lassen transformer-base method=subgraph tp=2 dp=2 global_batch=8 placement=by-axis:tp-pp-dp
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full rank_order=tp-dp-pp
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.embedding=fused
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.embedding=fused rank_order=tp-dp-pp
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.embedding=fused placement=by-axis:tp-pp-dp
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.backward.scope=epilogue
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.backward.scope=all compression.backward.rank=8
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.gradient.stages=1
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.gradient.stages=4 compression.gradient.rank=32
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.gradient.stages=2 compression.codec=topk
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.gradient.stages=1 cluster.levels.1.shared_by=1
a100-hdr gpt-8.3b tp=8 pp=4 dp=2 cp=2 micro_batch=8 recompute=full compression.gradient.stages=4 compression.backward.scope=all zero=1
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.gradient.stages=4 compression.codec=topk compression.gradient.rank=8 schedule=interleaved chunks=2 compression.backward.scope=all
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 recompute=full compression.gradient.stages=4 zero=2
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 schedule=interleaved chunks=2 recompute=full
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 schedule=zero-bubble recompute=selective
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 schedule=gpipe recompute=full
a100-hdr gpt-8.3b tp=8 pp=4 dp=4 micro_batch=8 schedule=1f1b-double recompute=full
a100-hdr gpt-2.5b tp=4 pp=4 dp=8 micro_batch=8 overlap=gradient
a100-hdr gpt-2.5b tp=4 pp=4 dp=8 micro_batch=8 overlap=gradient bucket=100MiB sequence_parallel=true
a100-hdr gpt-9.2b tp=8 pp=8 dp=2 micro_batch=4 recompute=full
a100-hdr gpt-2.5b tp=4 method=phantom ghost=16 pp=4 dp=8 micro_batch=8
a100-hdr gpt-2.5b tp=4 method=grid pp=4 dp=8
a100-opa gpt-2 dp=4 tp=2
dgx-a100 gpt3-175b tp=8 pp=8 dp=16 micro_batch=1 recompute=selective sequence_parallel=true
dgx-a100 gpt3-175b tp=8 pp=8 dp=16 micro_batch=1 recompute=selective schedule=interleaved chunks=3
dgx-a100 gpt3-175b tp=8 pp=16 dp=4 micro_batch=2 recompute=full attention=flash
dgx-a100 llama-2-70b tp=8 pp=4 dp=4 micro_batch=1 attention=flash-2 model.dtype=bf16
dgx-a100 nemotron-4-15b tp=4 pp=2 dp=8 micro_batch=1 attention=flash-1 model.dtype=bf16
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash zero=1
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash zero=2
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash zero=3
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash zero=3 recompute=full
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash zero=1 overlap=gradient
dgx-h100 llama-3-8b dp=4 cp=2 tp=2 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash
dgx-h100 llama-3-8b dp=4 cp=4 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash zero=1
dgx-h100 llama-3-8b dp=64 micro_batch=1 global_batch=512 model.dtype=fp8 attention=flash zero=1
dgx-h100 llama-3-70b tp=8 pp=4 dp=2 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash sequence_parallel=true
dgx-h100 llama-3-70b tp=8 pp=4 dp=2 micro_batch=1 global_batch=64 model.dtype=fp8 attention=flash stage_layers=[19,21,21,19]
dgx-h100 llama-3-405b tp=8 pp=16 dp=8 micro_batch=1 global_batch=256 model.dtype=bf16 attention=flash sequence_parallel=true
dgx-h100 mixtral-8x7b dp=8 ep=8 zero=1 micro_batch=1 global_batch=8 model.dtype=bf16 attention=flash
dgx-h100 mixtral-8x7b dp=8 ep=8 zero=0 micro_batch=1 global_batch=8 model.dtype=bf16 attention=flash
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 zero=1 offload=all cluster.device.host_link=50GB/s cluster.device.host_bandwidth=30GB/s cluster.device.host_memory=250GB
dgx-h100 llama-3-8b dp=2 pp=4 micro_batch=1 global_batch=64 schedule=zero-bubble offload=activations cluster.device.host_link=50GB/s
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=64 offload=optimizer
dgx-h100 mixtral-8x7b dp=8 zero=3 recompute=full micro_batch=1 global_batch=8 model.dtype=bf16 attention=flash
dgx-h100 mixtral-8x7b tp=4 dp=4 ep=4 etp=1 sequence_parallel=true micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash
dgx-h100 mixtral-8x7b tp=4 dp=4 ep=4 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash zero=1
dgx-h100 grok-1 tp=8 pp=8 dp=8 ep=8 micro_batch=1 global_batch=512 model.dtype=bf16 attention=flash
dgx-h100 grok-1 tp=4 pp=8 dp=8 ep=8 overlap_experts=true micro_batch=1 global_batch=512 model.dtype=bf16 attention=flash
dgx-h100 qwen3-30b-a3b tp=2 pp=2 dp=8 ep=8 micro_batch=1 global_batch=256 model.dtype=bf16 attention=flash
dgx-b200 qwen3-235b-a22b pp=8 dp=8 ep=8 micro_batch=1 global_batch=512 model.dtype=bf16 attention=flash
dgx-b200 llama-3-8b dp=8 micro_batch=1 global_batch=64 model.dtype=fp8 attention=flash zero=1
dgx-b300 llama-3-70b tp=4 pp=4 dp=4 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash
gb200-nvl72 qwen3-30b-a3b dp=8 ep=8 micro_batch=1 global_batch=512 model.dtype=bf16 attention=flash
gb300-nvl72 llama-3-70b tp=2 dp=32 zero=3 micro_batch=1 global_batch=64 model.dtype=bf16 attention=flash
dgx-h100 in/hf.json dp=4 tp=2 micro_batch=1
frontier in/stages.json pp=4 global_batch=16
frontier in/stages.json pp=4 dp=2 global_batch=32 overlap=gradient
frontier in/stages.json pp=4 global_batch=16 schedule=in/order.json
END
}

# The same plans, each read by another road: text, CSV, --explain, the event engine.
roads() {
  plans | sed -n '1~3s/ --json$//p'
  plans | sed -n '2~4s/ --json$/ --csv/p'
  plans | sed -n '3~4s/ --json$/ --explain/p'
  plans | sed -n '2~3s/ --json$/ --engine event --json/p'
}

refused() {
  cat <<END
$p --cluster frontier --model ffn-16384 --set tp=3
$p --cluster frontier --model ffn-16384 --set tp=8 --set method=phantom
$p --cluster frontier --model ffn-16384 --set tp=8 --set method=phantom --set ghost=4000
$p --cluster frontier --model ffn-16384 --set tp=8 --set tq=1
$p --cluster frontier --model ffn-16384 --set tp=x
$p --cluster frontier --model ffn-16384 --set tp=0
$p --cluster fronteer --model ffn-16384
$p --cluster frontier --model alexnet --set tp=2 --set method=phantom --set ghost=2
$p --cluster frontier
$p --cluster dgx-h100 --model llama-3-8b --set tp=16
$p --cluster dgx-h100 --model llama-3-8b --set cp=3
$p --cluster dgx-h100 --model llama-3-8b --set ep=2
$p --cluster dgx-h100 --model mixtral-8x7b --set dp=32 --set ep=64
$p --cluster dgx-h100 --model llama-3-405b --set dp=8
$p --cluster dgx-h100 --model llama-3-8b --set dp=8 --set global_batch=9
$p --cluster a100-hdr --model gpt-8.3b --set pp=4 --set schedule=interleaved --set chunks=7
$p --cluster a100-hdr --model gpt-8.3b --set p2p=duplex --set pp=4
$p --cluster a100-hdr --model gpt-8.3b --set compression.gradient.stages=2 --set method=phantom --set ghost=4
$p --cluster a100-hdr --model gpt-8.3b --set compression.gradient.stages=2 --set overlap=gradient --set dp=2
$p --cluster a100-hdr --model gpt-8.3b --set stage_layers=[1,2,3]
$p --cluster in/refused.json --model ffn-4096
$p --cluster in/truncated.json --model ffn-4096
$s --cluster frontier --model ffn-16384 --ranks 8..1
$s --cluster frontier --model ffn-16384 --ranks 7 --vary tp=2,4
$s --cluster frontier --model ffn-16384 --ranks 8 --vary speed=1,2
$s --cluster frontier --model ffn-16384 --ranks 8 --objective money
$p --cluster frontier --model ffn-16384 --set ghost=4
$p --cluster a100-hdr --model gpt-2.5b --set compression.backward.scope=all
forerun predikt
forerun
END
}

searches() {
  for paper in phantom grid optimus dsp; do
    echo "forerun reproduce $paper --json | forerun plot - -o . --keep-script && cat *.gp *.dat && cat *.tex *.md 2>/dev/null"
  done
  f="--cluster frontier --model ffn-16384 --ranks 8,16,32,64,128,256 --vary method=tensor,phantom --vary ghost=2,4,6,16"
  g="--cluster cori-knl --model alexnet --ranks 512 --vary method=grid --vary tp=1..512*2"
  o="--cluster a100-hdr --model gpt-8.3b --ranks 128 --set tp=8 --set pp=4 --set micro_batch=8 --set recompute=full --vary compression.gradient.stages=0..4"
  d="--cluster lassen --model t5-large-mod --ranks 8 --set overlap=gradient --set global_batch=8 --vary method=subgraph --vary tp=1..8*2 --vary common=all,subgrid --vary placement=linear,round-robin,optimised"
  h="--cluster dgx-h100 --model llama-3-70b --ranks 64 --set global_batch=128 --set model.dtype=bf16 --set attention=flash --set sequence_parallel=true --vary tp=1..8*2 --vary pp=1..8*2 --vary micro_batch=1,2 --vary recompute=none,selective,full"
  m="--cluster dgx-h100 --model mixtral-8x7b --ranks 32 --set global_batch=128 --set model.dtype=bf16 --set attention=flash --vary tp=1..8*2 --vary pp=1..4*2"
  c="--cluster a100-hdr --model gpt-2.5b --ranks 32 --vary tp=1..8*2 --vary pp=1..8*2 --vary schedule=1f1b,gpipe,interleaved,zero-bubble,1f1b-double --vary chunks=1,2"
  for q in "$f" "$f --objective energy" "$f --objective edp" "$f --per-iteration" "$f --per-iteration --objective energy" "$g" "$o" "$o --set cluster.levels.1.shared_by=1" "$d" "$h" "$m" "$c"; do
    echo "$s $q"
    echo "$s $q --json"
    echo "$s $q --csv --top 0"
  done
  for q in "$f --objective energy" "$g" "$o" "$d" "$h"; do
    echo "$s $q --explain"
    echo "$s $q --explain --json --top 3"
    echo "$s $q --threads 1 --json"
    echo "$s $q --threads 3 --json"
  done
  cat <<END
$s --cluster dgx-h100 --model mixtral-8x7b --ranks 64 --set global_batch=512 --vary tp=1..8*2 --vary ep=1..8*2 --vary zero=0..1 --vary sequence_parallel=true,false --json
$s --cluster dgx-h100 --model llama-3-8b --ranks 32 --set tp=4 --set attention=flash --set global_batch=64 --vary model.sequence=2048..8192*2 --vary "cluster.levels.1.bandwidth=25 GB/s,50 GB/s" --csv
$s --cluster a100-hdr --model gpt-2.5b --ranks 32 --set tp=4 --vary pp=1,4 --vary schedule=1f1b,interleaved --vary chunks=1,2 --vary rank_order=tp-pp-dp,tp-dp-pp
$s --cluster frontier --model ffn-16384 --ranks 8 --set ghost=4
$s --cluster dgx-h100 --model llama-3-70b --ranks 64 --set global_batch=128 --set sequence_parallel=true --set attention=flash --vary tp=1..8*2 --vary pp=1..8*2 --vary zero=1 --tokens 1T --price "2.5 USD/h" --carbon "0.4 kg/kWh"
$s --cluster dgx-h100 --model llama-3-70b --ranks 64 --set global_batch=128 --set tp=8 --set pp=4 --vary zero=0,1 --tokens 1T --price "2.5 USD/h" --carbon "0.4 kg/kWh" --json
$p --cluster dgx-h100 --model llama-3-8b --set tp=8 --set dp=8 --set attention=flash --set zero=1 --set global_batch=64 --tokens 1T --price "2.5 USD/h" --carbon "0.4 kg/kWh" --pue 1.2 --mtbf "50000 h" --storage "10 GB/s" --restart "10 min"
$p --cluster dgx-h100 --model llama-3-8b --set tp=8 --set dp=8 --set attention=flash --set zero=1 --set global_batch=64 --tokens 1T --mtbf "300 h" --storage "1 GB/s" --checkpoint-size "50 GB" --json
$p --cluster frontier --model ffn-16384 --set tp=8 --samples 10M --price "1.1 EUR/h"
$p --cluster frontier --model ffn-16384 --set tp=8 --tokens 1T
$p --cluster dgx-h100 --model llama-3-8b --set tp=8 --set global_batch=64 --tokens 300B --json
$s --cluster frontier --model ffn-16384 --ranks 64 --json
$s --cluster a100-hdr --model gpt-2.5b --ranks 16 --set micro_batch=4 --set recompute=none --max-lossy 1
$s --cluster dgx-h100 --model mixtral-8x7b --ranks 32 --set zero=1 --set overlap=gradient --set schedule=1f1b
$s $h --max-lossy 0.5 --vary compression.backward.scope=none,epilogue,all
$s $o --max-lossy 0.3
$s $h --memory-limit "40 GiB"
$s --cluster cori-knl --model alexnet --ranks 8..512*2 --vary method=grid --vary tp=1..512*2 --top 0 --json
$s --cluster frontier --model ffn-4096 --ranks 8..64*2 --vary method=tensor,phantom,grid --vary ghost=2,8 --vary pp=1,2 --vary micro_batch=8,16 --per-iteration --top 0 --csv
$s --cluster a100-hdr --model gpt-2.5b --ranks 32 --vary global_batch=128,256,512 --set tp=4 --set pp=2 --json
$s --cluster a100-hdr --model gpt-2.5b --ranks 32 --vary compression.backward.rank=4,16 --vary compression.backward.scope=none,epilogue --vary compression.gradient.rank=32,128 --vary compression.gradient.stages=0..2 --vary compression.embedding=separate,fused --set pp=4 --set tp=4 --csv --top 0
$s --cluster lassen --model transformer-base --ranks 16 --vary method=subgraph --vary tp=2,4,8 --vary exchange=all_to_all,all_gather --vary branches=heads,attention,layer --set global_batch=16 --csv --top 0
END
}

emitted() {
  g="--cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 --set micro_batch=8 --set recompute=full"
  l="--cluster dgx-h100 --model llama-3-405b --set tp=8 --set pp=16 --set dp=8 --set cp=2 --set schedule=interleaved --set chunks=8 --set zero=1 --set overlap=gradient --set sequence_parallel=true --set attention=flash --set rank_order=tp-dp-pp --set global_batch=512"
  m="--cluster dgx-h100 --model mixtral-8x7b --set tp=2 --set dp=8 --set ep=8 --set attention=flash --set zero=1 --set global_batch=64 --set model.dtype=bf16"
  for to in megatron megatron-bridge torchtitan deepspeed; do
    for q in "$g" "$l" "$m"; do
      echo "$p $q --emit $to"
    done
    echo "$p $g --emit $to --json"
  done
  cat <<END
$p $g --emit sbatch
$p $l --emit sbatch,megatron
$p $g --set placement=by-axis:tp-dp-pp --emit megatron,sbatch
$s --cluster dgx-h100 --model llama-3-8b --ranks 16 --set global_batch=64 --fix micro_batch=1 --vary tp=1,2 --emit megatron --top 2
$s --cluster dgx-h100 --model llama-3-8b --ranks 16 --set global_batch=64 --fix micro_batch=1 --vary tp=1,2
END
}

own_plans() {
  a='{"tp":4,"sequence_parallel":true,"zero":1,"attention":"flash"}'
  b='{"tp":1,"zero":2,"overlap":"gradient","attention":"flash"}'
  q="--cluster dgx-h100 --model llama-3-8b --ranks 64 --set global_batch=512"
  for f in "" --json; do
    echo "forerun compare-plans '$a' '$b' '{\"tp\":1}' $q $f"
    echo "$s $q --fix micro_batch=1 --fix recompute=none --include '$a' --include '{\"tp\":1}' --include '$b' $f"
  done
}

schedules() {
  echo "forerun export goal --cluster a100-hdr --model gpt-2.5b --set tp=8 --set pp=4 --set dp=2 --set global_batch=16"
  echo "forerun export chakra --cluster a100-hdr --model gpt-2.5b --set tp=2 --set pp=2 --set dp=2 --set global_batch=8 --json -o t && cat t/*"
  echo "forerun export goal --cluster dgx-h100 --model ffn-4096 --set model.dtype=bf16 --set tp=4 --set method=phantom --set ghost=16"
}

several_clusters() {
  q="--model llama-3-8b --ranks 16 --set global_batch=64 --vary tp=1,2,4 --vary zero=0..3"
  for f in "" --json; do
    echo "forerun compare --cluster dgx-h100 --cluster dgx-a100 $q $f"
    echo "forerun compare --cluster dgx-h100 --cluster dgx-b200 $q --tokens 1T --price '2 USD/h' --price '4 USD/h' --carbon '0.4 kg/kWh' $f"
  done
}

simulations() {
  while read -r cluster model sets; do
    flags=
    for set in $sets; do flags="$flags --set $set"; done
    q="--cluster $cluster --model $model$flags"
    echo "$r $q --json"
    echo "$r $q --trace t.json && cat t.json"
    echo "$r $q --network shared --json --trace t.csv && cat t.csv"
    echo "$r $q --trace t.paje && cat t.paje"
  done <<'END'
frontier in/stages.json pp=4 global_batch=16
frontier in/stages.json pp=4 dp=2 global_batch=16 overlap=gradient schedule=zero-bubble
frontier in/stages.json pp=4 global_batch=16 p2p=duplex
frontier ffn-4096 tp=4
frontier ffn-4096 tp=4 method=phantom ghost=8
frontier ffn-4096 tp=2 pp=2 micro_batch=113 method=phantom ghost=8
cori-knl alexnet method=grid tp=2 dp=2
lassen attention-branches method=subgraph tp=4 global_batch=8
lassen transformer-base method=subgraph tp=2 dp=2 global_batch=8
a100-hdr gpt-2.5b tp=4 pp=4 dp=2 micro_batch=8 global_batch=64
a100-hdr gpt-2.5b tp=4 pp=4 dp=2 micro_batch=8 global_batch=64 compression.backward.scope=epilogue compression.gradient.stages=2
a100-hdr gpt-2.5b tp=4 pp=4 dp=2 micro_batch=8 global_batch=64 schedule=interleaved chunks=2 overlap=gradient
dgx-h100 llama-3-8b dp=8 micro_batch=1 global_batch=16 model.dtype=bf16 attention=flash zero=3
dgx-h100 mixtral-8x7b tp=2 pp=2 dp=4 ep=4 micro_batch=1 global_batch=16 model.dtype=bf16 attention=flash zero=1
END
  echo "$r --cluster frontier --model ffn-4096 --set tp=4 --collectives messages --trace t.json && cat t.json"
  echo "$r --cluster frontier --model ffn-4096 --set tp=4 --set method=phantom --set ghost=8 --collectives messages --network shared --json"
  echo "$r --cluster a100-hdr --model gpt-2.5b --set tp=4 --set pp=4 --set dp=2 --set micro_batch=8 --set global_batch=64 --csv"
}

collectives() {
  for op in broadcast reduce all_reduce all_gather reduce_scatter all_to_all send_recv scatter gather; do
    for cluster in dgx-h100 frontier; do
      echo "forerun collective --cluster $cluster --op $op --ranks 16 --size '8..16MiB*64' --json"
    done
    echo "forerun collective --cluster a100-hdr --op $op --ranks 64 --size 64KiB,16MiB --algorithm all"
    echo "forerun collective --cluster gb200-nvl72 --op $op --ranks 144 --size 1MiB --algorithm all --csv"
  done
  for cluster in a100-opa cori-knl dgx-a100 dgx-b200 dgx-b300 lassen; do
    echo "forerun collective --cluster $cluster --op all_reduce --ranks 32 --size '1KiB..1GiB*32'"
    echo "forerun gemm --cluster $cluster --m 4096 --n 4096 --k 1024 --json"
    echo "forerun gemm --cluster $cluster --m 8 --n 4096 --k 100"
  done
}

places() {
  for q in "--ranks 16 --ways 4" "--ranks 64 --ways 8 --model t5-large-mod --set method=subgraph" "--ranks 64 --ways 4 --placement round-robin"; do
    echo "forerun place --cluster lassen $q"
    echo "forerun place --cluster lassen $q --json"
    echo "forerun place --cluster lassen $q --emit slurm"
    echo "forerun place --cluster lassen $q --emit rankfile"
  done
  q="--cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 --set micro_batch=8"
  echo "forerun place $q --placement linear"
  echo "forerun place $q --placement round-robin --json"
  echo "forerun place $q --emit slurm"
  echo "forerun place $q --ways 8"
  for cluster in a100-hdr dgx-h100 frontier; do
    echo "forerun export simgrid --cluster $cluster --ranks 16"
  done
}

fits() {
  for form in best log segments algorithm similarity; do
    echo "in/samples.sh >s.jsonl && forerun fit s.jsonl --form $form --out c.json && cat c.json"
    echo "in/samples.sh >s.jsonl && forerun fit s.jsonl --form $form --json"
  done
  for tool in nccl-tests osu imb; do
    echo "forerun import $tool in/$tool.txt --nodes 2 && forerun import $tool in/$tool.txt --nodes 2 | forerun fit - --json"
  done
  
  echo "forerun import collectives in/collectives.csv && forerun import collectives in/collectives.csv | forerun fit - --json"
  echo "forerun import products in/products.csv --dtype bf16"
  echo "forerun import products in/products.csv --dtype bf16 --only gpu=one >p.jsonl && cat p.jsonl && forerun fit p.jsonl --base dgx-b200 --out c.json && cat c.json"
  echo "in/samples.sh >a.jsonl; in/samples.sh 1.1 >b.jsonl; forerun compare a.jsonl b.jsonl"
  echo "in/samples.sh >a.jsonl; in/samples.sh 1.1 >b.jsonl; forerun compare a.jsonl b.jsonl --json"
  echo "in/samples.sh >s.jsonl && forerun report s.jsonl -o r.html && sed 's/base64,[^\"]*//' r.html"
  echo "$s --cluster frontier --model ffn-16384 --ranks 8,16 --vary method=tensor,phantom --vary ghost=2,4 --per-iteration --explain --json >f.json && forerun report f.json -o r.html && sed 's/base64,[^\"]*//; s/elapsed.*//' r.html"
  for q in "" "--json" "--out t.json && cat t.json"; do
    echo "forerun tune --cluster dgx-h100 --runs in/runs.csv $q"
  done
  echo "forerun score --cluster dgx-h100 --runs in/runs.csv --by plan.tp"
  echo "forerun score --cluster dgx-h100 --runs in/runs.csv --json"
}

figures() {
  k='-o f.svg --keep-script >/dev/null && cat *.gp* *.dat* 2>/dev/null'
  for pair in energy-time:phantom grid:grid fit:fit pareto:front scaling:front breakdown:stages speed-up:stages ways:ways score:score validate:validate ghost:iterations quality:quality gemm:fit gantt:trace frontier:frontier clusters:clusters memory:explain; do
    echo "forerun plot ${pair%%:*} in/plots/${pair##*:}.json $k"
  done
  f="--cluster frontier --model ffn-16384 --ranks 8,16,32 --vary method=tensor,phantom --vary ghost=2,4,6,16 --per-iteration --top 0 --json"
  for figure in energy-time pareto scaling; do
    echo "$s $f >f.json && forerun plot $figure f.json $k"
  done
  echo "$s --cluster dgx-a100 --model gpt-8.3b --ranks 32 --vary tp=8 --vary pp=4 --set global_batch=64 --set micro_batch=2 --set recompute=full --objective energy --max-slowdown 20% --json >f.json && forerun plot frontier f.json $k"
  echo "$s --cluster cori-knl --model alexnet --ranks 8..64*2 --vary method=grid --vary tp=1..64*2 --top 0 --json >f.json && forerun plot grid f.json $k"
  for key in model.sequence=2048..16384*2 'cluster.levels.1.bandwidth=10 GB/s,25 GB/s,50 GB/s'; do
    echo "$s --cluster dgx-h100 --model llama-3-8b --ranks 64 --set tp=8 --set global_batch=512 --vary zero=0,1 --vary '$key' --top 0 --json >f.json && forerun plot energy-time f.json $k"
  done
  echo "$p --cluster a100-hdr --model gpt-2.5b --set tp=4 --set pp=4 --set dp=8 --set micro_batch=8 --json >f.json && forerun plot breakdown f.json $k"
  echo "$r --cluster frontier --model in/stages.json --set pp=4 --set global_batch=16 --trace f.json && forerun plot gantt f.json $k"
}

others() {
  for what in collectives keys methods schedules compressions forms importers kinds families presets figures formats networks shapes schemas reasons compositions; do
    echo "forerun list $what"
    echo "forerun list $what --json"
  done
  for paper in phantom grid optimus dsp; do
    echo "forerun reproduce $paper"
    echo "forerun reproduce $paper --json"
    echo "forerun reproduce $paper --markdown"
    echo "forerun reproduce $paper --latex"
  done
  for verb in predict search simulate fit plot place export collective gemm import tune score report compare-plans; do
    echo "forerun $verb --help"
  done
}

# Transformers on grids.
grids() {
  while read -r cluster model sets; do
    flags=" --set method=grid"
    for set in $sets; do flags="$flags --set $set"; done
    echo "$p --cluster $cluster --model $model$flags --json"
    echo "$p --cluster $cluster --model $model$flags --engine event"
  done <<'END2'
a100-hdr gpt-2.5b tp=4 pp=4 dp=8 micro_batch=8 sequence_parallel=true compression.gradient.stages=2
a100-hdr gpt-8.3b tp=8 pp=4 dp=2 cp=2 micro_batch=8 recompute=full zero=1 overlap=gradient
dgx-h100 mixtral-8x7b tp=2 dp=32 ep=8 zero=2 global_batch=128 model.dtype=bf16 attention=flash
a100-hdr gpt-8.3b tp=2 pp=4 dp=16 micro_batch=2 layer_tp=[1,4,8]
a100-hdr gpt-8.3b tp=4 pp=2 dp=16 micro_batch=4 layer_tp=[2,4,8] divide=pairs sequence_parallel=true zero=1 zero_ranks=2
a100-hdr gpt-2.5b tp=2 dp=8 micro_batch=2 layer_tp=best divide=pairs
END2
  echo "$p --cluster dgx-h100 --model llama-3-8b --set dp=16 --set zero=3 --set zero_ranks=8 --set global_batch=64 --set model.dtype=bf16 --set attention=flash --json"
  echo "$p --cluster dgx-h100 --model llama-3-8b --set cp=8 --set context=all-to-all --set global_batch=8 --set model.dtype=bf16 --set attention=flash"
  echo "$p --cluster dgx-h100 --model llama-3-8b --set dp=4 --set cp=4 --set tp=4 --set context=all-to-all --set model.dtype=bf16"
  echo "$p --cluster a100-hdr --model gpt-2.5b --set method=grid --set tp=4 --set layer_tp=[3,4,4]"
  echo "$p --cluster a100-hdr --model gpt-2.5b --set dp=6 --set zero=1 --set zero_ranks=4"
  echo "$p --cluster a100-hdr --model gpt-2.5b --set method=phantom --set ghost=16 --set tp=4 --set cp=2 --set zero=3 --set recompute=full --json"
  echo "$p --cluster lassen --model gpt-2 --set method=subgraph --set tp=2 --set dp=2 --set cp=2 --set zero=2 --set micro_batch=2 --json"
  for v in zero-bubble-v dualpipe-v; do
    echo "$p --cluster a100-hdr --model gpt-8.3b --set tp=8 --set pp=4 --set dp=4 --set micro_batch=2 --set schedule=$v --set chunks=2 --json"
    echo "$r --cluster a100-hdr --model gpt-2.5b --set tp=4 --set pp=4 --set global_batch=16 --set micro_batch=1 --set schedule=$v --set chunks=2 --set compression.backward.scope=all --network shared --json --trace t.csv && cat t.csv"
  done
  echo "$p --cluster a100-hdr --model gpt-2.5b --set pp=4 --set schedule=zero-bubble-v"
  echo "$s --cluster a100-hdr --model gpt-2.5b --ranks 32 --set tp=4 --vary pp=1..8*2 --vary micro_batch=1,4 --vary schedule=1f1b,zero-bubble,zero-bubble-v,dualpipe-v --vary chunks=1,2"
  echo "$s --cluster dgx-a100 --model gpt-2 --ranks 2 --set pp=2 --set micro_batch=1 --set global_batch=2 --plan '{\"schedule\":[\"F0 F1 B0 B1\",\"F0 B0 F1 B1\"]}' --vary schedule=gpipe,1f1b"
  echo "$s --cluster a100-hdr --model gpt-8.3b --ranks 128 --vary method=tensor,phantom,grid,subgraph --vary ghost=16,64 --vary tp=1..8*2 --vary pp=1..8*2 --vary compression.gradient.stages=0..4 --per-iteration"
}

# Commands at random, thousands to a digest (walk/).
walks() {
  up='$here/../..'
  for seed in 1 2 3 4 5 6; do
    echo "golden-walk plans $seed 3000"
    echo "golden-walk simulations $seed 400"
    echo "golden-walk searches $seed 250"
    echo "golden-walk clusters $seed 1500 in/rich/cluster.json in/rich/*cluster*.json in/rich/*cluster*.json $up/presets/cluster/*.json"
    echo "golden-walk models $seed 800 in/rich/[bfmpst]*.json in/rich/cnn.json in/rich/conv.json $up/presets/model/*.json $up/tests/models/hf/*.json"
    echo "golden-walk comparisons $seed 60"
    echo "golden-walk clocks $seed 150"
    echo "golden-walk plan-files $seed 1500"
    echo "golden-walk samples $seed 150"
    echo "golden-walk cards $seed 150"
    echo "golden-walk runs $seed 120"
    echo "golden-walk costs $seed 2000 in/rich/*cluster*.json"
    echo "golden-walk architectures $seed 1200 $up/tests/models/workload/configs.jsonl"
    echo "golden-walk software $seed 1000"
    echo "golden-walk runtimes $seed 500 $up/presets/runtime/*.json"
    echo "golden-walk generations $seed 300"
    echo "golden-walk members $seed 4 in/rich/*.json $up/tests/models/hf/*.json"
  done
}

plans
roads
refused
searches
emitted
own_plans
several_clusters
schedules
simulations
collectives
places
fits
figures
others
grids
walks
