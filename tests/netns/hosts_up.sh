# shellcheck shell=sh
# Sourced with $hosts and $mbit set: so many hosts of network namespaces, in a working folder of
# their own ($work) until the script ends.  $here is this folder, $name what hosts.sh calls them.
# Exit 77 (skipped), with the reason, where namespaces cannot be had.
# shellcheck disable=SC2154 # set by the script that sources this
here=$(cd "$(dirname "$0")" && pwd)
name=fr$$h
work=$(mktemp -d)

skip() {
  echo "skipped: $*"
  rm -rf "$work"
  exit 77
}
[ "$(id -u)" = 0 ] || skip 'only root can make network namespaces'
for tool in ip tc unshare mpirun; do
  command -v $tool >/dev/null || skip "$tool is not installed"
done
trap '"$here/hosts.sh" down "$name" "$hosts"; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
"$here/hosts.sh" up "$name" "$hosts" "$mbit" 2>"$work/up.log" ||
  skip "namespaces cannot be made here: $(tail -n 1 "$work/up.log")"
cd "$work"
