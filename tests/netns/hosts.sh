#!/bin/sh
# Several hosts on one machine: network namespaces joined by a bridge, each host's link shaped to
# a rate.  Needs root, iproute2 and util-linux; uses Open MPI's rsh starter.
#
#   hosts.sh up NAME N MBIT       hosts NAME0 .. NAME<N-1>, MBIT megabits a second each way
#   hosts.sh down NAME N          and everything of them
#   hosts.sh rsh HOST COMMAND...  stands in for ssh
#   hosts.sh run NAME N RANKS COMMAND...   an MPI job, RANKS a host; a launcher for --launcher
#
# A UTS and an IPC namespace for each command, or Open MPI would take the hosts for one and use
# shared memory between them.
set -eu
me=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
net=10.77.0

up() {
  name=$1 n=$2 mbit=$3
  ip netns add "${name}sw"
  ip -n "${name}sw" link add br0 type bridge
  ip -n "${name}sw" link set br0 up
  i=0
  while [ "$i" -lt "$n" ]; do
    host=$name$i
    ip netns add "$host"
    ip -n "$host" link set lo up
    ip -n "$host" link add eth0 type veth peer name "p$i" netns "${name}sw"
    ip -n "$host" addr add "$net.$((i + 1))/24" dev eth0
    ip -n "$host" link set eth0 up
    ip -n "${name}sw" link set "p$i" master br0
    ip -n "${name}sw" link set "p$i" up
    # What leaves the host, and what the switch sends to it.
    ip netns exec "$host" tc qdisc add dev eth0 root tbf rate "${mbit}mbit" burst 32kb latency 100ms
    ip netns exec "${name}sw" tc qdisc add dev "p$i" root tbf rate "${mbit}mbit" burst 32kb latency 100ms
    mkdir -p "/etc/netns/$host"
    {
      echo '127.0.0.1 localhost'
      j=0
      while [ "$j" -lt "$n" ]; do
        echo "$net.$((j + 1)) $name$j"
        j=$((j + 1))
      done
    } >"/etc/netns/$host/hosts"
    i=$((i + 1))
  done
}

down() {
  name=$1 n=$2 i=0
  while [ "$i" -lt "$n" ]; do
    ip netns pids "$name$i" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns del "$name$i" 2>/dev/null || true
    rm -rf "/etc/netns/$name$i"
    i=$((i + 1))
  done
  ip netns del "${name}sw" 2>/dev/null || true
  rmdir /etc/netns 2>/dev/null || true
}

remote() { # options of ssh that Open MPI may add come first
  while [ "${1#-}" != "$1" ]; do shift; done
  host=$1
  shift
  # shellcheck disable=SC2016 # expanded by the inner shell
  exec ip netns exec "$host" unshare --uts --ipc /bin/sh -c \
    'hostname "$0" && exec /bin/sh -c "$1"' "$host" "$*"
}

run() {
  name=$1 n=$2 ranks=$3 list='' i=0
  shift 3
  while [ "$i" -lt "$n" ]; do
    list="$list${list:+,}$name$i:$ranks"
    i=$((i + 1))
  done
  words=
  for word in "$@"; do words="$words '$word'"; done
  remote "${name}0" "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe \
    --host $list -np $((n * ranks)) --map-by slot --bind-to none --mca plm rsh \
    --mca plm_rsh_agent '$me rsh' --mca plm_rsh_no_tree_spawn 1 \
    --mca oob_tcp_if_include $net.0/24 --mca btl self,vader,tcp --mca btl_tcp_if_include $net.0/24 \
    --mca mpi_yield_when_idle 1 $words"
}

command=$1
shift
case $command in
up) up "$@" ;;
down) down "$@" ;;
rsh) remote "$@" ;;
run) run "$@" ;;
*) echo "hosts.sh: \"$command\" is none of up, down, rsh, run" >&2 && exit 2 ;;
esac
