/* Ranks and nodes of commands: each launcher by its own rules. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "base/text/launch.h"
#include "tests/cmocka.h"

static const struct {
    const char *line; /* or several, parted by \n */
    int64_t ranks, nodes;
} rows[] = {
    /* Open MPI */
    {"$ mpirun -n 144 -N 36 -hostfile /h/hosts.txt -x UCX_NET_DEVICES=mlx5_2:1 IMB-MPI1 -npmin "
     "144",
     144, 4},
    {"ssh n1 mpirun --mca coll_base_verbose 1 -np 4 -pernode -hostfile h osu/bin/osu_allreduce",
     4, 4},
    {"mpirun -np 16 -npernode 8 ./all_reduce_perf -b 8 -n 20 -g 1", 16, 2},
    {"mpirun --np 16 --map-by ppr:8:node --bind-to none ./all_reduce_perf", 16, 2},
    {"mpirun -n 16 --map-by ppr:4:node:PE=8 ./a.out", 16, 4},
    {"mpirun --map-by ppr:8:node -H a,b,c ./a.out", 24, 3},
    {"mpirun -np 16 -H a:8,b:8 ./a.out", 16, 2},
    {"mpirun -np 8 -H a:8,b:8 ./a.out", 8, 1},
    {"mpirun -np 9 --host a:8,b:8 ./a.out", 9, 2},
    {"mpirun -np 8 --map-by node -H a:8,b:8 ./a.out", 8, 2},
    {"mpirun -H a:8 -H b:8 ./a.out", 16, 2},
    {"mpirun -H a,a,b,b ./a.out", 4, 2},
    {"mpirun -np 16 ./a.out", 16, 0},
    {"mpirun -np 4 ./a : -np 12 ./b", 16, 0},
    {"mpirun -np $NP -N 8 ./a.out", 0, 0},
    {"/opt/ompi/bin/mpirun -np 16 -N 8 singularity exec x.sif python t.py -n 3 -N 2", 16, 2},
    {"mpirun --allow-run-as-root -np 16 -N 8 -x NCCL_DEBUG=INFO -x PATH /a/all_reduce_perf -N "
     "3",
     16, 2},
    {"[\"mpirun\", \"-np\", \"16\", \"-N\", \"8\", \"all_reduce_perf\"]", 16, 2},
    {"- mpirun\n- -np\n- \"16\"\n- --map-by\n- ppr:8:node\n- /opt/all_reduce_perf\n- -n\n- "
     "\"20\"\n",
     16, 2},
    {"mpirun -np 16 \\\n   -N 8 \\\n   ./all_reduce_perf -n 20", 16, 2},
    {"slotsPerWorker: 8\nmpirun -np 16 ./all_reduce_perf", 16, 2},
    /* MPICH, Intel MPI, PALS */
    {"mpiexec.hydra -n 144 -ppn 36 IMB-MPI1 allreduce", 144, 4},
    {"mpirun -perhost 8 -np 16 ./a.out", 16, 2},
    {"mpiexec -n 96 --ppn 32 --depth 4 --cpu-bind depth ./a.out", 96, 3},
    {"mpirun -rr -n 4 ./a.out", 4, 4},
    {"mpiexec_mpt -n 72 -ppn 36 ./a.out", 72, 2},
    /* Slurm */
    {"srun -N 2 --ntasks-per-node=8 ./a.out", 16, 2},
    {"srun -N2 ./a.out", 2, 2},
    {"srun -N2 -n16 ./a.out", 16, 2},
    {"srun --mpi=pmix -n 16 --ntasks-per-node 8 ./a.out", 16, 2},
    {"srun --nodes=4 --gpus-per-node=8 --ntasks-per-gpu=1 ./a.out", 32, 4},
    {"srun -N 2 --gres=gpu:h100:8 --ntasks-per-gpu 1 ./a.out", 16, 2},
    {"srun -w node[0-3] --ntasks-per-node=8 -p gpu -t 1:00:00 ./a.out", 32, 4},
    {"srun -N 2 -n 16 --ntasks-per-node=4 ./a.out", 0, 0},
    {"#SBATCH -N 2\n#SBATCH --ntasks-per-node=8\nsrun ./a.out", 16, 2},
    {"#SBATCH --nodes=4\nsrun -n 32 ./a.out", 32, 4},
    {"#SBATCH -N 2\nmpirun -np 16 ./a.out", 16, 2},
    {"salloc -N 4 mpirun -np 32 ./a.out", 32, 4},
    {"SLURM_NTASKS=16\nSLURM_NNODES=2\nsrun ./a.out", 16, 2},
    /* others */
    {"aprun -n 64 -N 32 ./a.out", 64, 2},
    {"jsrun -n4 -r2 -a4 -g4 ./a.out", 16, 2},
    {"jsrun --nrs 12 --rs_per_host 6 --tasks_per_rs 1 ./a.out", 12, 2},
    {"jsrun -p 8 -r 4 ./a.out", 8, 2},
    {"lrun -N4 -T4 ./a.out", 16, 4},
    {"lrun -n 16 -T 4 ./a.out", 16, 4},
    {"time flux run -N4 --tasks-per-node=96 -o cpu-affinity=per-task singularity exec x "
     "osu_allreduce",
     384, 4},
    {"flux mini run -N 2 -n 16 ./a.out", 16, 2},
    {"flux run -N4 ./a.out", 4, 4},
    {"#SBATCH -N 2\n#SBATCH -n 112\nibrun ./a.out", 112, 2},
    {"torchrun --nproc_per_node=8 --nnodes=2 train.py --n 4", 16, 2},
    {"torchrun --nproc-per-node 8 train.py", 8, 1},
    {"python -m torch.distributed.launch --nproc_per_node 4 t.py", 4, 1},
    {"torchrun --nproc_per_node gpu --nnodes 2 t.py", 0, 2},
    {"srun -N 2 --ntasks-per-node=1 torchrun --nnodes 2 --nproc-per-node 8 t.py", 16, 2},
    {"srun -N 2 --ntasks-per-node=1 torchrun --nproc-per-node 8 t.py", 0, 0},
    {"srun -N 2 --ntasks-per-node=1 torchrun --nnodes $SLURM_NNODES --nproc-per-node 8 t.py",
     16, 2},
    {"accelerate launch --num_processes 16 --num_machines 2 t.py", 16, 2},
    {"deepspeed --num_gpus 8 --num_nodes 2 t.py", 16, 2},
    {"#PBS -l select=2:ncpus=36:mpiprocs=36\nmpirun -np 72 ./a.out", 72, 2},
    {"mpirun detected that one or more processes exited with non-zero status", 0, 0},
    {"./all_reduce_perf -b 8 -e 128M -n 20 -N 4", 0, 0},
};

static struct fr_launch taken(const char *lines) {
    struct fr_launch launch = {0};
    char line[600];
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, lines);
        fr_launch_add(&launch, line);
        lines += n + (lines[n] == '\n');
    }
    return launch;
}

static void commands_say_ranks_and_nodes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fr_launch launch = taken(rows[i].line);
        struct fr_launch_facts f = fr_launch_resolve(&launch);
        FR_TRUE(f.ranks == rows[i].ranks && f.nodes == rows[i].nodes,
                "%s: %" PRId64 " ranks on %" PRId64 " nodes, wanted %" PRId64 " on %" PRId64
                " (%s)",
                rows[i].line, f.ranks, f.nodes, rows[i].ranks, rows[i].nodes, launch.unread);
    }
}

/* @p form with ranks for {r}, those of a node for {p}, nodes for {n}. */
static void put(char *line, size_t capacity, const char *form, int ranks, int per_node,
                int nodes) {
    size_t used = 0;
    *line = '\0';
    for (; *form; form++) {
        bool number = form[0] == '{' && form[1] && form[2] == '}';
        if (!number) {
            fr_line_addf(line, capacity, &used, "%c", *form);
            continue;
        }
        fr_line_addf(line, capacity, &used, "%d",
                     form[1] == 'r'   ? ranks
                     : form[1] == 'p' ? per_node
                                      : nodes);
        form += 2;
    }
}

/* Any number of ranks a node on any number of nodes, whoever starts them. */
static void every_launcher_says_the_same(void **state) {
    static const char *const forms[] = {
        "mpirun -np {r} -N {p} ./a.out",
        "mpirun -np {r} --map-by ppr:{p}:node ./a.out",
        "mpirun --mca btl tcp -npernode {p} -n {r} a.out -n 3",
        "mpiexec -ppn {p} -n {r} ./a.out",
        "srun -N {n} -n {r} ./a.out",
        "srun -N{n} --ntasks-per-node={p} ./a.out",
        "srun --ntasks={r} --ntasks-per-node {p} -c 4 ./a.out",
        "aprun -n {r} -N {p} ./a.out",
        "jsrun -n {r} -r {p} ./a.out",
        "lrun -N {n} -T {p} ./a.out",
        "flux run -N {n} --tasks-per-node={p} ./a.out",
        "flux run -n{r} -N{n} ./a.out",
        "torchrun --nnodes={n} --nproc_per_node={p} t.py",
        "deepspeed --num_nodes {n} --num_gpus {p} t.py",
        "accelerate launch --num_processes {r} --num_machines {n} t.py",
        "#SBATCH -N {n}\n#SBATCH --ntasks-per-node={p}\nsrun ./a.out",
        "#SBATCH --nodes {n}\n#SBATCH -n {r}\nibrun ./a.out",
    };
    uint64_t random = 7;
    (void)state;
    for (int i = 0; i < 600; i++) {
        int per_node = 1 + (int)(fr_random_next(&random) % 96),
            nodes = 1 + (int)(fr_random_next(&random) % 512);
        char line[300];
        const char *form = forms[(size_t)i % (sizeof forms / sizeof *forms)];
        put(line, sizeof line, form, per_node * nodes, per_node, nodes);
        struct fr_launch launch = taken(line);
        struct fr_launch_facts f = fr_launch_resolve(&launch);
        FR_TRUE(f.ranks == per_node * nodes && f.nodes == nodes,
                "%s: %" PRId64 " ranks on %" PRId64 " nodes", line, f.ranks, f.nodes);
    }
}

/* Any words are taken without harm, and never more than there can be. */
static void any_words_are_taken(void **state) {
    static const char *const words[] = {
        "mpirun",      "srun",     "-N",       "-n",     "-np",           "8",
        "99999999999", "-H",       "a:8,b",    ",,:",    "--map-by",      "ppr:",
        "ppr:8:node",  ":",        "\\",       "-",      "flux",          "run",
        "mini",        "-w",       "n[0-",     "n[3-1]", "--gres=gpu:",   "-",
        "#SBATCH",     "torchrun", "--nnodes", "1:4",    "SLURM_NTASKS=", "--"};
    uint64_t random = 11;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct fr_launch launch = {0};
        for (int lines = 0; lines < 3; lines++) {
            char line[300] = "";
            size_t used = 0;
            for (int k = 0; k < 8; k++)
                used += (size_t)snprintf(
                    line + used, sizeof line - used, "%s ",
                    words[fr_random_next(&random) % (sizeof words / sizeof *words)]);
            fr_launch_add(&launch, line);
        }
        struct fr_launch_facts f = fr_launch_resolve(&launch);
        assert_true(f.ranks >= 0 && f.nodes >= 0 && f.ranks <= (int64_t)1 << 31);
        assert_true(f.nodes <= f.ranks || f.ranks == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_say_ranks_and_nodes),
        cmocka_unit_test(every_launcher_says_the_same),
        cmocka_unit_test(any_words_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
