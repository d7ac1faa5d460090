#!/bin/sh
# bare.sh ROOT [COMMAND] -- a newcomer's two commands, ./demo.sh and ./test.sh, on a bare Debian 12: a folder made by
# debootstrap, in which the commit that ROOT is at is cloned.  COMMAND: that alone instead, in the clone.
# Exit 77 with a sentence where this cannot be: it needs root and debootstrap.  10 to 25 minutes; nothing is left.
# Measurements that tests read (FORERUN_DATA, or ../shared/data) are there too.
set -eu
checkout=$(cd "$1" && pwd) command=${2:-}
skip() {
  echo "Skipped: a bare Debian 12 $*"
  exit 77
}
[ "$(id -u)" = 0 ] || skip 'is made by root alone'
command -v debootstrap >/dev/null || skip 'wants debootstrap (apt-get install debootstrap)'
commit=$(git -C "$checkout" rev-parse HEAD 2>/dev/null) || skip "clones what is committed, and $checkout is no checkout"
[ -z "$(git -C "$checkout" status --porcelain)" ] || echo "What is not committed is not tried: $(git -C "$checkout" describe --always) is"

bare=$(mktemp -d)
chmod 755 "$bare"
log=$bare.log
mounted=
leave() {
  for place in $mounted; do umount "$bare/$place" || umount -l "$bare/$place"; done # the last one first
  rm -rf --one-file-system "$bare" "$log"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

# This machine's own mirror where it is a Debian 12, with what apt has been told of proxies and keys; else debootstrap's.
if grep -q '^VERSION_CODENAME=bookworm' /etc/os-release && grep -q '^ID=debian' /etc/os-release; then
  own=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+).*/\2/p' | sed 1q)
else
  own=
fi
debootstrap --variant=minbase --include=ca-certificates,git bookworm "$bare" ${own:+"$own"} >"$log" 2>&1 || {
  tail -n 5 "$log"
  exit 1
}
if [ -n "$own" ]; then
  rm -f "$bare/etc/apt/sources.list"
  cp -a /etc/apt/. "$bare/etc/apt/"
fi
[ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf "$bare/etc/resolv.conf"
for place in proc sys dev dev/pts; do
  [ -d "/$place" ] || continue
  mount --bind "/$place" "$bare/$place"
  mounted="$place $mounted"
done

git clone -q --no-hardlinks "$checkout" "$bare/forerun"
git -C "$bare/forerun" checkout -q "$commit"
data=${FORERUN_DATA:-$checkout/../shared/data}
if [ -d "$data" ]; then
  mkdir "$bare/shared"
  cp -R "$data" "$bare/shared/data"
fi

inside() { # inside COMMAND : with nothing of this session but how to reach the network
  # shellcheck disable=SC2046 # a word each
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    $(env | grep -iE '^(https?_proxy|no_proxy)=' || true) chroot "$bare" sh -c "cd /forerun && $1"
}
if [ -n "$command" ]; then
  inside "$command"
  exit
fi
for script in demo test; do
  started=$(date +%s)
  if ! inside "./$script.sh" >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "./$script.sh fails on a bare Debian 12"
    exit 1
  fi
  echo "./$script.sh passes on a bare Debian 12, in $(($(date +%s) - started)) s"
done
