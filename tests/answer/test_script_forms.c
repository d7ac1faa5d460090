/* One run of Megatron-LM in the forms that people write their launch scripts in: each is read as the plain one. */
#include <stdlib.h>
#include <string.h>

#include "answer/trainer/trainer.h"
#include "base/text.h"
#include "tests/cmocka.h"

/* Pieces of the forms: {L} launcher and program, {M} model, {P} mesh, {T} batches; {m}, {p}, {t} an option a line, {b} the
 * mesh with backslashes. */
static const char *const pieces[][2] = {
    {"{L}", "torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py"},
    {"{M}",
     "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --swiglu "
     "--vocab-size 32000"},
    {"{m}", "--num-layers 32\n--hidden-size 4096\n--num-attention-heads 32\n--seq-length 4096\n"
            "--swiglu\n--vocab-size 32000"},
    {"{P}",
     "--tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --sequence-parallel "
     "--use-distributed-optimizer"},
    {"{p}", "--tensor-model-parallel-size 4\n--pipeline-model-parallel-size 2 # mesh\n"
            "--sequence-parallel\n--use-distributed-optimizer"},
    {"{b}", "--tensor-model-parallel-size 4 \\\n  --pipeline-model-parallel-size 2 \\\n "
            "--sequence-parallel \\\n --use-distributed-optimizer"},
    {"{Q}", "--pipeline-model-parallel-size 2 --sequence-parallel --use-distributed-optimizer"},
    {"{T}", "--micro-batch-size 1 --global-batch-size 64 --bf16 --train-iters 100"},
    {"{t}", "--micro-batch-size 1\n--global-batch-size 64\n--bf16\n--train-iters 100"},
    {"{y}", "'--tensor-model-parallel-size', '4', \"--pipeline-model-parallel-size\",\"2\", "
            "'--sequence-parallel', '--use-distributed-optimizer'"},
};

static const char *const forms[] = {
    "{L} {M} {P} {T}",
    "{L} \\\n {M} \\\n {b} \\\n {T}\n",
    "TP=${TP:-4}\nG=${1:-64}\n{L} {M} --tensor-model-parallel-size $TP {Q} --micro-batch-size "
    "1 "
    "--global-batch-size $G --bf16 --train-iters 100",
    "MODEL=(\n{m}\n)\nMESH=( {P} )\n{L} \"${MODEL[@]}\" ${MESH[@]} {T}",
    "A=()\nA+=({M})\nA+=(\n{p}\n)\n{L} ${A[*]} {T}",
    "A=(\n{m}\n# --recompute-granularity full\n{p}\n)\n{L} \"${A[@]}\" {T}",
    "A=\"\n {M} \\\n\"\nB=\"{P}\"\n{L} $A $B {T}",
    "A=\"{M}\"\nA=\"$A {P}\"\nA+=\" {T}\"\n{L} $A",
    "A=$(cat <<EOF\n{M}\n{p}\nEOF\n)\n{L} $A {T}",
    "read -r -d '' A <<EOF\n{M}\n{P}\nEOF\n{L} $A {T}",
    "run() {\n {L} {M} {P} {T} \"$@\"\n}\nrun\n",
    "S=8B\ncase $S in\n70B)\n TP=8;;\n8B)\n TP=4\n;;\n*) exit 1;;\nesac\n{L} {M} "
    "--tensor-model-parallel-size $TP {Q} {T}",
    "S=8\nif [ $S == 70 ]; then\nTP=8\nelif [[ $S -eq 8 ]]; then\nTP=4\nfi\n{L} {M} "
    "--tensor-model-parallel-size $TP {Q} {T}",
    "source ./env.sh\n. $(dirname $0)/common.sh\n{L} {M} {P} {T}",
    "#SBATCH --nodes=4\n#SBATCH --ntasks-per-node=8\nC=\"python -u pretrain_gpt.py {M} {P} "
    "{T}\"\n"
    "srun --label bash -c \"$C\"",
    "O=\" {M} {P} {T}\"\nC=\"{L} ${O}\"\necho ${C}\neval ${C}",
    "{L} {M} {P} {T} 2>&1 | tee log.txt",
    "{L} {M} {P} {T} > out.log 2> err.log &\nwait",
    "{L} {M} {P} {T} |& tee -a x.log; echo done --tensor-model-parallel-size 8",
    "cd /w && {L} {M} {P} {T} || exit 1",
    "[[ 1 -eq 1 ]] && O=\"{P}\" || O=\"\"\n{L} {M} $O {T}",
    "mpirun -np 32 -N 8 -x NCCL_DEBUG=INFO python pretrain_gpt.py {M} {P} {T}",
    "for TP in 4; do\n {L} {M} --tensor-model-parallel-size $TP {Q} {T}\ndone",
    "let TP=2*2\n{L} {M} --tensor-model-parallel-size $TP {Q} {T}",
    "(( TP = 2 * 2 ))\n{L} {M} --tensor-model-parallel-size $TP {Q} {T}",
    "TP=`expr 2 + 2`\n{L} {M} --tensor-model-parallel-size $TP {Q} {T}",
    "spec:\n  containers:\n  - args:\n    - |\n      {L} \\\n {M} {b} \\\n {T}\n",
    "docker run --gpus all --rm -v $PWD:/w img bash -c \"cd /w && {L} {M} {P} {T}\"",
    "cat > run.sh <<'EOF'\n{L} {M} {P} {T}\nEOF\nbash run.sh",
    "cat <<EOF\nusage: run.sh --tensor-model-parallel-size 8 --num-layers 96\nEOF\n{L} {M} {P} "
    "{T}",
    "python3 - <<'EOF'\nprint('--tensor-model-parallel-size 8')\nEOF\n{L} {M} {P} {T}",
    "train:\n\t{L} {M} \\\n\t{b} {T}",
    "import subprocess\nc = ['torchrun', '--nproc_per_node', '8', '--nnodes', '4', "
    "'pretrain_gpt.py', {y}]\nc += \"{M} {T}\".split()\n",
};

static void put(const char *form, struct fr_text *text) {
    while (*form) {
        size_t piece = 0, n = sizeof pieces / sizeof *pieces;
        while (piece < n && strncmp(form, pieces[piece][0], 3) != 0) piece++;
        if (piece < n)
            fr_text_addf(text, "%s", pieces[piece][1]);
        else
            fr_text_add(text, form, 1);
        form += piece < n ? 3 : 1;
    }
}

static fr_status read_form(const char *form, struct fr_run_row *row, struct fr_error *err) {
    const struct fr_trainer_ask ask = {.by = NULL};
    struct fr_trainer_result result;
    struct fr_text text = {0};
    fr_text_addf(&text, "#!/bin/bash\n");
    put(form, &text);
    *row = (struct fr_run_row){.n = 0};
    fr_status status =
        fr_trainer_read(&ask, fr_text_get(&text), text.length, "run.sh", row, &result, err);
    fr_trainer_result_free(&result);
    fr_text_free(&text);
    return status;
}

static void every_form_is_the_plain_one(void **state) {
    struct fr_run_row *plain = calloc(1, sizeof *plain), *row = calloc(1, sizeof *row);
    struct fr_error err = {0};
    (void)state;
    if (read_form(forms[0], plain, &err) != FR_OK) fail_msg("%s: %s", err.where, err.detail);
    assert_string_equal(fr_run_row_get(plain, "plan.tp"), "4");
    assert_string_equal(fr_run_row_get(plain, "plan.dp"), "4");
    for (size_t i = 1; i < sizeof forms / sizeof *forms; i++) {
        if (read_form(forms[i], row, &err) != FR_OK)
            fail_msg("%s: %s: %s", forms[i], err.where, err.detail);
        for (int k = 0; k < plain->n; k++) {
            const char *got = fr_run_row_get(row, plain->item[k].key);
            FR_TRUE(got && strcmp(got, plain->item[k].value) == 0, "%s: %s is %s, wanted %s",
                    forms[i], plain->item[k].key, got ? got : "not read", plain->item[k].value);
        }
        FR_TRUE(row->n == plain->n, "%s: %d keys, wanted %d", forms[i], row->n, plain->n);
    }
    free(plain);
    free(row);
}

/* Nothing runs, so a value that a form leaves to another program refuses the script, by name. */
static void what_nobody_says_is_refused(void **state) {
    static const char *const open[] = {
        "t() {\n local tp=$1\n{L} {M} --tensor-model-parallel-size $tp {Q} {T}\n}\nt 4",
        "declare -A c=( [tp]=4 )\n{L} {M} --tensor-model-parallel-size ${c[tp]} {Q} {T}",
        "TP=$(python tune.py)\n{L} {M} --tensor-model-parallel-size $TP {Q} {T}",
        "for TP in 1 2 4; do\n{L} {M} --tensor-model-parallel-size $TP {Q} {T}\ndone",
    };
    struct fr_run_row *row = calloc(1, sizeof *row);
    (void)state;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        struct fr_error err = {0};
        FR_TRUE(read_form(open[i], row, &err) == FR_ERR_INPUT, "%s: read", open[i]);
        FR_TRUE(strstr(err.detail, "plan.tp=VALUE") != NULL, "%s: %s", open[i], err.detail);
    }
    free(row);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_form_is_the_plain_one),
                                       cmocka_unit_test(what_nobody_says_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
