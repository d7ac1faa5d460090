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
    /* files of hosts, batch systems, and what is left open */
    {"mpirun -np 16 --hostfile hosts --map-by ppr:8:node:PE=12 --bind-to core "
     "./all_reduce_perf",
     16, 2},
    {"mpirun -np 64 --map-by slot -hostfile h -npernode 8 ./all_reduce_perf", 64, 8},
    {"mpirun -np 2 --map-by node ./osu_latency", 2, 0},
    {"mpirun -np 2 --map-by node -H a,b ./osu_latency", 2, 2},
    {"mpirun -np 16 --host \"node1:8,node2:8\" ./all_reduce_perf", 16, 2},
    {"mpirun -H a:*,b:* -np 16 ./all_reduce_perf", 16, 0},
    {"mpirun -genv I_MPI_FABRICS=shm:ofi -n 96 -ppn 48 ./osu_alltoall", 96, 2},
    {"mpirun -env A 1 -n 48 ./a.out : -env A 2 -n 48 ./a.out", 96, 0},
    {"mpirun -n 1 -host a ./a.out : -n 1 -host b ./a.out", 2, 2},
    {"mpirun_rsh -np 16 -hostfile hosts MV2_USE_CUDA=1 ./osu_allreduce", 16, 0},
    {"mpirun_rsh -np 4 n1 n1 n2 n2 MV2_USE_CUDA=1 ./osu_allreduce", 4, 2},
    {"mpirun_rsh -n 2 node0 node1 ./osu_latency", 2, 2},
    {"mpirun_rsh -rsh -np 2 node0 node1 MV2_DEBUG=1 ./osu_latency", 2, 2},
    {"mpirun -np 2 -env MV2_USE_CUDA=1 ./osu_latency", 2, 0},
    {"mpiexec -n 16 -ppn 8 --cpu-bind verbose,list:0:1:2 --hostfile $PBS_NODEFILE "
     "./all_reduce_perf",
     16, 2},
    {"mpiexec -l --line-buffer -n 24 --ppn 12 --envall ./benchmark", 24, 2},
    {"aprun -n 64 -N 16 -d 2 -j 1 -cc depth ./IMB-MPI1", 64, 4},
    {"aprun -n64 -N16 -S8 ./IMB-MPI1", 64, 4},
    {"aprun -B ./a.out", 0, 0},
    {"aprun -n 32 -N 1 -L 12-43 ./a.out", 32, 32},
    {"aprun -n 16 -N 8 ./a : -n 16 -N 8 ./b", 32, 4},
    {"jsrun --smpiargs=\"-gpu\" -n 4 -a 4 -r 1 ./a.out", 16, 4},
    {"jsrun -n ALL_HOSTS -a 4 ./a.out", 0, 0},
    {"jsrun -h /tmp -n 6 -r 6 -a1 ./a.out", 6, 1},
    {"flux run -N2 -c 96 -g 8 --tasks-per-core=1 ./a.out", 0, 2},
    {"srun -N 2-2 -n 16 ./a.out", 16, 2},
    {"srun -N 2 -n 8 ./a : -N 1 -n 4 ./b", 12, 3},
    {"srun --het-group=0,1 ./a.out", 0, 0},
    {"srun --ntasks-per-socket=4 -N 2 ./a.out", 0, 2},
    {"SLURM_JOB_NODELIST=gpu[01-02]\nSLURM_NTASKS=16\nsrun ./a.out", 16, 2},
    {"SLURM_TASKS_PER_NODE=8(x2)\nsrun ./a.out", 16, 2},
    {"SLURM_TASKS_PER_NODE='8(x2),4'\nsrun ./a.out", 20, 3},
    {"SLURM_NPROCS=16\nSLURM_NNODES=2\nmpirun ./a.out", 16, 2},
    {"#SBATCH --ntasks=16\n#SBATCH --nodes=2\nmpirun ./osu_allreduce", 16, 2},
    {"salloc -N2 --ntasks-per-node=8\nmpirun ./osu_allreduce", 16, 2},
    {"deepspeed --hostfile=h t.py", 0, 0},
    {"deepspeed --include localhost:0,1,2,3 t.py", 4, 1},
    {"deepspeed --include=\"a:0,1@b:0,1\" t.py", 4, 2},
    {"horovodrun -np 16 -H a:8,b:8 python t.py", 16, 2},
    {"prun -n 16 -N 8 ./a.out", 16, 2},
    {"prterun -np 16 --map-by ppr:8:node ./a.out", 16, 2},
    {"prterun --np 16 --host a:8,b:8 ./a.out", 16, 2},
    {"oshrun -np 16 -N 8 ./shmem_put_bw", 16, 2},
    {"nvshmrun -n 16 -ppn 8 ./shmem_put_bw", 16, 2},
    {"nvshmrun.hydra -n 16 -ppn 8 -hosts a,b ./shmem_put_bw", 16, 2},
    {"ccc_mprun -N 2 -n 96 ./a.out", 96, 2},
    {"mpiexec -np 16 --map-by node:PE=4 --host a:8,b:8 ./a.out", 16, 2},
    {"bsub -n 72 -R \"span[ptile=36]\" mpirun ./IMB-MPI1", 72, 2},
    {"#BSUB -n 72\n#BSUB -R \"span[ptile=36]\"\nmpirun ./IMB-MPI1", 72, 2},
    {"#BSUB -nnodes 2\njsrun -n 12 -a 1 ./a.out", 12, 2},
    {"#PBS -l select=2:ncpus=64:mpiprocs=8:ngpus=8\nmpirun ./a.out", 16, 2},
    {"#PBS -l nodes=2:ppn=8\nmpirun ./a.out", 16, 2},
    {"#PBS -l select=4:system=polaris\nNNODES=4\nmpiexec -n 16 --ppn 4 ./a.out", 16, 4},
    {"#PBS -l select=1:mpiprocs=8+2:mpiprocs=8\nmpirun ./a.out", 24, 3},
    {"#COBALT -n 4\naprun -n 256 -N 64 ./a.out", 256, 4},
    {"#PJM -L node=2\n#PJM --mpi proc=96\nmpiexec ./IMB-MPI1", 96, 2},
    {"#PJM -L \"node=2\"\n#PJM --mpi \"max-proc-per-node=48\"\nmpiexec ./IMB-MPI1", 96, 2},
    {"command: [\"mpirun\", \"-np\", \"16\", \"-npernode\", \"8\", \"all_reduce_perf\"]", 16,
     2},
    {"args: [\"-c\", \"mpirun -np 16 -N 8 all_reduce_perf -b 8\"]", 16, 2},
    {"kubectl exec -it launcher -- mpirun -np 16 -N 8 all_reduce_perf", 16, 2},
    {"docker run --rm --gpus all -n 5 img mpirun -np 8 all_reduce_perf", 8, 0},
    {"sudo -u x mpirun -np 16 -N 8 a.out", 16, 2},
    {"Running: mpirun -np 16 -N 8 a.out", 16, 2},
    {"mpirun --n 16 --npersocket 4 a.out", 16, 0},
    {"$ cat hosts\nnode1 slots=8\nnode2 slots=8\nmpirun -np 16 -hostfile hosts "
     "./all_reduce_perf",
     16, 2},
    {"node1 slots=8 max_slots=8\nnode2 slots=8 max_slots=8\nmpirun -np 8 --hostfile hosts "
     "./all_reduce_perf",
     8, 1},
    {"node1:8\nnode2:8\nmpiexec -f hosts -n 16 ./osu_allreduce", 16, 2},
    {"n1 slots=8\nn2 slots=8\nmpirun --hostfile h ./all_reduce_perf", 16, 2},
    {"n1 slots=8\nn2 slots=8\nmpirun --hostfile h -np 2 --map-by node ./osu_latency", 2, 2},
    {"worker-1 slots=4\nworker-2 slots=4\ndeepspeed --hostfile=h t.py", 8, 2},
    {"mpirun -np 16 -hostfile h ./a.out", 16, 0},
    {"10.0.0.1 slots=8\n10.0.0.2 slots=8\nmpirun -np 16 --hostfile h ./a.out", 16, 2},
    {"cat > hostfile <<EOF\na.cluster slots=4\nb.cluster slots=4\nc.cluster slots=4\nd.cluster "
     "slots=4\nEOF\nmpirun --hostfile hostfile -np 16 ./a.out",
     16, 4},
    {"n1 slots = 8\nmpirun -np 8 --hostfile h ./a.out", 8, 0},
    {"#SBATCH -N 2\n#SBATCH --ntasks-per-node=16\nmpirun -np 16 ./a.out", 16, 1},
    {"#SBATCH -N 2\n#SBATCH --ntasks-per-node=1\nmpirun -np 16 ./a.out", 16, 2},
    {"#SBATCH -N 2\n#SBATCH --ntasks-per-node=8\nmpirun -np 2 --map-by node ./osu_latency", 2,
     2},
    {"#SBATCH -N 2\n#SBATCH --gpus-per-node=8\nsrun --ntasks-per-gpu=1 ./a.out", 0, 2},
    {"mpirun --n 16 --N 8 a.out", 16, 2},
    {"flux submit -N2 -n16 --gpus-per-task=1 ./a.out", 16, 2},
    {"flux alloc -N2 flux run -n 16 ./a.out", 16, 2},
    {"flux run -N 2 --tasks-per-node=8 ./a.out", 16, 2},
    {"#flux: -N 2\n#flux: -n 16\nflux run -N2 -n16 ./a.out", 16, 2},
    {"#flux: -N2\nflux run -n 16 ./a.out", 16, 2},
    {"flux batch -N2 -n16 --wrap flux run -n 16 ./a.out", 16, 2},
    {"jsrun -n 4 -a 4 -c 16 -g 4 -r 2 ./a.out", 16, 2},
    {"jsrun --nrs 12 --tasks_per_rs 1 --cpu_per_rs 7 --gpu_per_rs 1 --rs_per_host 6 ./a.out",
     12, 2},
    {"jsrun --smpiargs=\"-gpu\" -n2 -a6 -r1 ./a.out", 12, 2},
    {"jsrun -p 16 -r 8 ./a.out", 16, 2},
    {"jsrun --np 16 ./a.out", 16, 0},
    {"#SBATCH -N 2\n#SBATCH -n 96\nibrun ./a.out", 96, 2},
    {"#SBATCH -N 2\n#SBATCH --ntasks-per-node 48\nibrun tacc_affinity ./a.out", 96, 2},
    {"ibrun -n 16 -o 0 ./a.out", 16, 0},
    {"lrun -N 2 -T 4 ./a.out", 8, 2},
    {"accelerate launch --num_processes 16 --num_machines 2 train.py", 16, 2},
    {"yhrun -N 2 -n 16 ./a.out", 16, 2},
    {"mpiexec.hydra -n 16 -ppn 8 ./a.out", 16, 2},
    {"orterun -np 16 -npernode 8 ./a.out", 16, 2},
    {"python -m torch.distributed.run --nproc-per-node 8 --nnodes 2 t.py", 16, 2},
    {"colossalai run --nproc_per_node 8 --host a,b t.py", 16, 2},
    {"mpirun --map-by ppr:8:node:pe=4 --host a,b ./x", 16, 2},
    {"mpirun --host a:8,b:8 --map-by ppr:4:node ./x", 8, 2},
    {"mpirun --np 16 --host a:8,b:8 --map-by node ./x", 16, 2},
    {"mpiexec -n 2 -hosts a,b osu_latency", 2, 0},
    {"mpiexec -n 2 -hosts a:1,b:1 -ppn 1 osu_latency", 2, 2},
    {"mpiexec -np 2 -host a,b osu_latency", 2, 2},
    {"aprun -n 2 -N 1 osu_latency", 2, 2},
    {"jsrun -n 2 -r 1 -a 1 -c 42 -g 6 osu_latency", 2, 2},
    {"lrun -N 2 -T 1 osu_latency", 2, 2},
    {"flux run -N 2 -n 2 osu_latency", 2, 2},
    {"ibrun -n 2 osu_latency", 2, 0},
    {"command:\n- /bin/sh\n- -c\n- mpirun -np 16 -npernode 8 all_reduce_perf -b 8", 16, 2},
    {"args:\n  - \"mpirun\"\n  - \"--allow-run-as-root\"\n  - \"-np\"\n  - \"16\"\n  - "
     "\"-npernode\"\n  - \"8\"\n  - \"all_reduce_perf\"",
     16, 2},
    {"#COBALT -n 4\n#COBALT -q q\nmpiexec -n 16 --ppn 4 ./x", 16, 4},
    {"mpirun --host node[01-02]:8 -np 16 ./a.out", 16, 0},
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
