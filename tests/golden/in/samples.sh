#!/bin/sh
# Samples of a made-up machine, $1 times slower: every kind that forerun fit reads, with a scatter
# of a few percent that is the same at every call.
awk -v slow="${1:-1}" 'BEGIN {
  print "{\"schema\": \"forerun/samples/1\", \"kind\": \"provenance\", \"date\": \"2026-01-01\", \"host\": \"made-up\", \"kernel\": \"\", \"cpu\": \"none\", \"cores\": 8, \"memory_B\": 1e10, \"mpi\": \"none\", \"blas\": \"none\", \"blas_core\": \"\", \"ranks\": 8, \"ranks_per_node\": 4, \"nodes\": 2, \"oversubscribed\": false, \"seed\": 1, \"version\": \"0.1.0\"}"
  n = split("broadcast all_reduce all_gather reduce_scatter all_to_all send_recv", ops, " ")
  for (o = 1; o <= n; o++) for (p = 2; p <= 8; p *= 2) {
    if (ops[o] == "send_recv" && p > 2) continue
    for (size = 8; size <= 4194304; size *= 8) for (launch = 0; launch < 3; launch++) for (rep = 0; rep < 5; rep++) {
      level = p <= 4 ? "node" : "system"; nodes = p <= 4 ? 1 : 2
      time = (2e-6 * o * log(p) / log(2) + size * (0.2 + 0.1 * o) * 1e-9 * (p - 1) / p) * nodes
      line("\"kind\": \"collective\", \"op\": \"" ops[o] "\", \"ranks\": " p ", \"level\": \"" level "\", \"nodes\": " nodes ", \"size_B\": " size, time)
    }
  }
  for (m = 16; m <= 1024; m *= 4) for (n = 16; n <= 1024; n *= 4) for (k = 16; k <= 1024; k *= 4)
    for (launch = 0; launch < 3; launch++) for (rep = 0; rep < 3; rep++)
      line("\"kind\": \"gemm\", \"dtype\": \"fp32\", \"m\": " m ", \"n\": " n ", \"k\": " k, 1e-6 + 2 * m * n * k / 4e10)
  for (size = 65536; size <= 67108864; size *= 4) for (launch = 0; launch < 3; launch++) for (rep = 0; rep < 3; rep++)
    line("\"kind\": \"memory\", \"size_B\": " size, size / (size < 2e6 ? 4e10 : 1e10))
  for (launch = 0; launch < 3; launch++) for (rep = 0; rep < 5; rep++) line("\"kind\": \"kernel\"", 3e-7)
}
function line(what, time) {
  count++
  noise = 1 + 0.03 * sin(count * 12.9898) + (count % 53 == 0 ? 0.8 : 0)
  printf "{%s, \"launch\": %d, \"rep\": %d, \"time_s\": %.6g}\n", what, launch, rep, time * noise * slow
}'
