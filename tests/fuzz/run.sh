#!/usr/bin/env bash
# ./dev fuzz [TARGET...]: builds with clang and fuzzes each target for GT_FUZZ_SECONDS (default 600). Findings stay in
# build/fuzz/findings; put what made a target fail into tests/fuzz/corpus, so that fuzz_replay_test keeps an eye on it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${GT_FUZZ_SECONDS:-600}
missing=()
for package in clang-19 libclang-rt-19-dev; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "fuzz: installing ${missing[*]}"
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(bencode metadata glob torrent certificate_request gt_message audience token http2_guard)
# clang warns of other things than GCC, which the project's build keeps clean.
cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++-19 \
  -DCMAKE_CXX_FLAGS=-fsanitize=fuzzer-no-link -DGT_SANITIZE=address -DGT_FUZZ=ON -DGT_WERROR=OFF >/dev/null
ninja -C build/fuzz "${targets[@]/#/fuzz_}"
mkdir -p build/fuzz/findings
for target in "${targets[@]}"; do
  echo "fuzz: $target for $seconds s"
  mkdir -p "build/fuzz/grown/$target"
  "build/fuzz/bin/fuzz_$target" -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="build/fuzz/findings/$target-" "build/fuzz/grown/$target" "tests/fuzz/corpus/$target"
done
