#!/usr/bin/env bash
# Trains while the disk is full. A program must warn, keep its old checkpoint, go on, save again once there
# is space, and end with a status other than 0. A limit of the size of files stands for the full disk; root
# also fills a small file system, if it may mount one.
#   full_disk.sh BIN FOLDER     creates FOLDER, and removes it on success
set -euo pipefail

bin=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

fail() {
  echo "full_disk: $*, got status $status and"
  cat output errors
  exit 1
}

# run_limited STATUS KIB PROGRAM ARGUMENT...: runs a program that may write files of KIB KiB.
run_limited() {
  status=0
  (ulimit -f "$2" && exec "${@:3}") >output 2>errors || status=$?
  ((status == $1)) || fail "expected status $1"
}

expect_error() {
  grep -q -- "$1" errors || fail "expected '$1'"
}

mnist=("$bin/mnist_mlp" --task digits --precision fp16 --batch 2000 --hidden 16 --epochs 3 --threads 2)
char_lm=("$bin/char_lm" --model mlp --batch 16 --width 16 --steps 6 --samples 0 --warm-up 3
         --validation-batches 1 --validate-every 2 --device cpu)

for program in mnist char_lm; do
  declare -n command=$program
  echo "an old checkpoint" >run
  run_limited 1 20 "${command[@]}" --save run
  expect_error "warning: not saved after step .*: File too large"
  expect_error "The training goes on"
  expect_error "3 of 3 saves failed; run was not written"
  [[ $(cat run) == "an old checkpoint" ]] || fail "expected the old checkpoint"
  [[ $(ls -A) == $'errors\noutput\nrun' ]] || fail "expected no other files, got $(ls -A)"
  run_limited 0 100000 "${command[@]}" --save run
done
grep -q "epoch  3/3" <("${mnist[@]}")

# An interrupt on a full disk claims no checkpoint.
rm run
set -m
(ulimit -f 20 && exec "$bin/mnist_mlp" --task digits --precision fp16 --batch 2000 --hidden 16 --epochs 100000 \
  --save run --save-every 1) >output 2>errors &
program=$!
until grep -q "warning: not saved" errors; do sleep 0.01; done
kill -TERM "$program"
status=0
wait "$program" || status=$?
((status == 143)) || fail "expected status 143"
expect_error "interrupted after step .*, nothing is saved"

# A file system that is full at first, and has space later.
if ((EUID == 0)) && mkdir small && mount -t tmpfs -o size=600k tmpfs small 2>errors; then
  trap 'umount "$folder/small"' EXIT
  head -c 500k /dev/zero >small/filler
  "$bin/mnist_mlp" --task digits --precision fp16 --batch 2000 --hidden 16 --epochs 1000 --threads 1 \
    --save small/run >output 2>errors &
  program=$!
  until grep -q "warning: not saved after step .*: No space left on device" errors; do sleep 0.01; done
  rm small/filler
  until [[ -s small/run ]]; do sleep 0.01; done
  kill -INT "$program"
  status=0
  wait "$program" || status=$?
  ((status == 130)) || fail "expected status 130"
  expect_error "saved in small/run"
fi

cd /
trap - EXIT
if mountpoint -q "$folder/small" 2>/dev/null; then umount "$folder/small"; fi
rm -r "$folder"
