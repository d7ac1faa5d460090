"""chakra.py FORERUN [PROTO]: Chakra traces read back with the published schema (protoc, Google's protobuf), both
forms; and replayed.  Without them skipped (77).

- the two forms hold the same messages, every field known;
- every send has its one receive, every wait its node, every collective its group, in which all ranks have the
  same ones in the same order;
- replayed on a network whose messages take no time, the last end is the event engine's iteration."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

FORERUN = sys.argv[1]
PROTO = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).with_name("chakra.proto")).resolve()
try:
    import google.protobuf.json_format as json_format
    from google.protobuf.internal.decoder import _DecodeVarint32 as varint
except ImportError:
    print("Skipped: no python3-protobuf")
    sys.exit(77)
if not shutil.which("protoc"):
    print("Skipped: no protoc")
    sys.exit(77)

work = tempfile.TemporaryDirectory()
subprocess.run(["protoc", f"--python_out={work.name}", f"-I{PROTO.parent}", str(PROTO)], check=True)
sys.path.insert(0, work.name)
et = __import__(f"{PROTO.stem}_pb2")

# No message takes time: what is left is order and waiting.
QUIET = [f"--set=cluster.levels.{i}.{what}" for i in (0, 1) for what in ("latency=0 s", "bandwidth=1 PB/s")]
CASES = [
    "a100-hdr gpt-2.5b tp=4 pp=4 dp=2 micro_batch=8 global_batch=64",
    "a100-hdr gpt-2.5b tp=2 pp=4 dp=2 micro_batch=4 global_batch=64 recompute=full schedule=interleaved chunks=2 overlap=gradient",
    "a100-hdr gpt-2.5b tp=2 pp=4 dp=4 micro_batch=4 global_batch=64 schedule=zero-bubble zero=1 p2p=duplex",
    "a100-hdr gpt-2.5b tp=1 pp=4 dp=1 micro_batch=2 global_batch=64 compression.backward.scope=epilogue",
    "frontier ffn-4096 tp=4 dp=2 method=phantom ghost=8",
    "frontier ffn-4096 tp=8",
    "a100-hdr alexnet method=grid tp=2 dp=4",
]
KINDS = {0: "all_reduce", 2: "all_gather", 7: "reduce_scatter"}
bad = 0


def complain(*words):
    global bad
    bad += 1
    print(*words)


def read_binary(path):
    data, at = path.read_bytes(), 0
    while at < len(data):
        size, at = varint(data, at)
        yield data[at:at + size]
        at += size
    assert at == len(data)


def read_rank(folder, rank):
    """Metadata and nodes of one rank, the same in both forms."""
    binary = list(read_binary(folder / "et" / f"chakra.{rank}.et"))
    lines = (folder / "json" / f"chakra.{rank}.jsonl").read_text().splitlines()
    if len(binary) != len(lines):
        complain(f"rank {rank}: {len(binary)} messages, {len(lines)} lines")
    messages = []
    for i, (data, line) in enumerate(zip(binary, lines)):
        one, other = (et.Node() if i else et.GlobalMetadata() for _ in range(2))
        one.ParseFromString(data)
        json_format.Parse(line, other)  # refuses what the schema does not have
        if one != other or one.SerializeToString() != other.SerializeToString() or len(one.SerializeToString()) != len(data):
            complain(f"rank {rank}, message {i}: the two forms differ\n{one}\n{other}")
        messages.append(one)
    if messages[0].version != "0.0.4":
        complain(f"rank {rank}: version {messages[0].version}")
    return messages[1:]


def attributes(node):
    return {a.name: getattr(a, a.WhichOneof("value")) for a in node.attr}


def check(nodes, groups, what):
    sends, receives, collectives = {}, {}, {}
    for rank, mine in enumerate(nodes):
        ids = {node.id for node in mine}
        if len(ids) != len(mine) or any(dep not in ids for node in mine for dep in node.data_deps):
            complain(f"{what}: rank {rank} waits for what is not there")
        for node in mine:
            a = attributes(node)
            if node.type in (et.COMM_SEND_NODE, et.COMM_RECV_NODE):
                ends = (a["comm_src"], a["comm_dst"], a["comm_tag"])
                table = sends if node.type == et.COMM_SEND_NODE else receives
                if ends in table or ends[node.type == et.COMM_RECV_NODE] != rank or a["comm_size"] < 1:
                    complain(f"{what}: rank {rank}: message {ends}")
                table[ends] = a["comm_size"]
            if node.type == et.COMM_COLL_NODE:
                if rank not in groups.get(a["pg_name"], []) or a["comm_size"] < 1:
                    complain(f"{what}: rank {rank} is not in group {a['pg_name']}")
                collectives.setdefault(a["pg_name"], {}).setdefault(rank, []).append((a["comm_type"], a["comm_size"]))
    if sends != receives:
        complain(f"{what}: {len(sends)} sends, {len(receives)} receives")
    for name, ranks in collectives.items():
        if sorted(ranks) != sorted(groups[name]) or len(set(map(str, ranks.values()))) != 1:
            complain(f"{what}: the ranks of group {name} differ")
    return len(sends), sum(len(r) for ranks in collectives.values() for r in ranks.values())


def replay(nodes, groups):
    """The last end [s]: a receive with its send, a collective when all of its group are there."""
    end, sent, met, counted = {}, {}, {}, {}
    order = {}
    for rank, mine in enumerate(nodes):
        for node in mine:
            a = attributes(node)
            if node.type == et.COMM_COLL_NODE:
                k = counted[rank, a["pg_name"]] = counted.get((rank, a["pg_name"]), -1) + 1
                order[rank, node.id] = (a["pg_name"], k)
    todo = [(rank, node, attributes(node)) for rank, mine in enumerate(nodes) for node in mine]
    while todo:
        left = []
        for rank, node, a in todo:
            deps = [end.get((rank, dep)) for dep in node.data_deps]
            ready = None if None in deps else max(deps, default=0)
            if ready is not None and node.type == et.COMM_RECV_NODE:
                at = sent.get((a["comm_src"], a["comm_dst"], a["comm_tag"]))
                ready = None if at is None else max(ready, at)
            if ready is not None and node.type == et.COMM_COLL_NODE:
                there = met.setdefault(order[rank, node.id], {})
                there[rank] = ready
                ready = max(there.values()) if len(there) == len(groups[a["pg_name"]]) else None
            if ready is None:
                left.append((rank, node, a))
                continue
            end[rank, node.id] = ready + 1e-9 * a.get("duration_ns", 0)
            if node.type == et.COMM_SEND_NODE:
                sent[a["comm_src"], a["comm_dst"], a["comm_tag"]] = ready
        if len(left) == len(todo):
            complain(f"{len(left)} nodes wait for each other")
            return 0
        todo = left
    return max(end.values())


def whole_microseconds(nodes, what):
    for rank, mine in enumerate(nodes):
        us = sum(node.duration_micros for node in mine if node.type == et.COMP_NODE)
        ns = sum(attributes(node)["duration_ns"] for node in mine if node.type == et.COMP_NODE)
        if abs(us - ns / 1e3) > 1:
            complain(f"{what}: rank {rank} works {us} us, or {ns} ns")


for case in CASES:
    cluster, model, *sets = case.split()
    words = [f"--cluster={cluster}", f"--model={model}", *(f"--set={s}" for s in sets)]
    if cluster != "frontier" or "method=phantom" in sets:
        words += QUIET
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for form, flag in ("et", []), ("json", ["--json"]):
            subprocess.run([FORERUN, "export", "chakra", *words, *flag, "-o", str(folder / form)], check=True,
                           stdout=subprocess.DEVNULL)
        groups = json.loads((folder / "et" / "comm_groups.json").read_text())
        ranks = len(list((folder / "et").glob("*.et")))
        nodes = [read_rank(folder, rank) for rank in range(ranks)]
    said = json.loads(subprocess.run([FORERUN, "simulate", *words, "--set=cluster.device.fixed=0 s", "--json"],
                                     capture_output=True).stdout)["outcome"]
    if ranks != said["ranks"]:
        complain(f"{case}: {ranks} files of {said['ranks']} ranks")
    messages, together = check(nodes, groups, case)
    whole_microseconds(nodes, case)
    last, wanted = replay(nodes, groups), said["iteration_time_s"]
    if abs(last - wanted) > 1e-6 * wanted + 1e-9 * sum(map(len, nodes)):
        complain(f"{case}: replayed {last:.9f} s, simulated {wanted:.9f} s")
    print(f"{case}: {ranks} ranks, {sum(map(len, nodes))} nodes, {messages} messages, {together} of collectives")
sys.exit(bad > 0)
