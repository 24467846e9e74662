#!/usr/bin/env bash
# build.sh DEBS OUT: makes a container image of the Debian packages in DEBS, as the OCI archive OUT. Root; mmdebstrap and buildah.
# `./dev image` calls it.
set -euo pipefail
debs=$(readlink -f "${1:?usage: build.sh DEBS OUT}")
out=$(readlink -m "${2:?usage: build.sh DEBS OUT}")
here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d --tmpdir gridtorrent-image-XXXXXX)
trap 'rm -rf "$work"' EXIT

sources=/etc/apt/sources.list.d/debian.sources
[ -e "$sources" ] || sources=/etc/apt/sources.list
mkdir "$work/debs"
cp "$debs"/gridtorrent-{server,node,cli}_*.deb "$work/debs"
# Essential packages and what ours depend on; there is no apt in it. tzdata: the hours of `limits` follow TZ.
needed=$(for deb in "$work"/debs/*.deb; do dpkg-deb -f "$deb" Depends; echo; done | tr ',' '\n' | sed 's/^ *//; s/[ (|].*//' | sort -u | grep . | paste -sd,)
mmdebstrap --quiet --variant=essential --include="$needed,tzdata" \
  --customize-hook="copy-in $work/debs /" \
  --customize-hook='chroot "$1" sh -ec "dpkg --install /debs/*.deb >/dev/null; rm -r /debs /etc/gridtorrent"' \
  --customize-hook="copy-in $here/gridtorrent-container /usr/bin" \
  --customize-hook='install -d -m 700 -o 10001 -g 10001 "$1/data"' \
  --customize-hook='echo "gridtorrent:x:10001:10001::/data:/usr/sbin/nologin" >>"$1/etc/passwd"; echo "gridtorrent:x:10001:" >>"$1/etc/group"' \
  bookworm "$work/root.tar" "$sources"
cp "$here/Containerfile" "$work"

buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
"${buildah[@]}" build --quiet --isolation chroot --tag gridtorrent "$work" >/dev/null
mkdir -p "$(dirname "$out")"
rm -f "$out"
"${buildah[@]}" push --quiet gridtorrent "oci-archive:$out:gridtorrent"
ls -l "$out"
