#!/usr/bin/env bash
# Sends signals to the trainings in a folder of programs: they finish the step, save, and print the
# command that goes on, which then ends in the bits of a straight run. A second signal ends them at once.
#   interrupt.sh BIN FOLDER     FOLDER is made, and removed if all is well
set -euo pipefail
set -m  # without job control, background programs ignore SIGINT

bin=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

fail() {
  echo "interrupt: $*, got status $status and"
  cat errors
  exit 1
}

# start PROGRAM ARGUMENT...: in the background, until its handler is there and file `run`, if it saves one.
start() {
  rm -f run results.json
  "$@" >output 2>errors &
  program=$!
  for ((i = 0; i < 6000; ++i)); do
    if ! kill -0 "$program" 2>/dev/null; then break; fi
    caught=$(sed -n 's/^SigCgt:\s*//p' "/proc/$program/status")
    if ((0x${caught:-0} & 0x4002)) && { [[ -z $waits_for ]] || [[ -e $waits_for ]]; }; then return; fi
    sleep 0.01
  done
  status=none
  fail "expected $* to train"
}

# stop SIGNAL STATUS
stop() {
  kill "-$1" "$program"
  status=0
  wait "$program" || status=$?
  ((status == $2)) || fail "expected status $2"
}

go_on() {
  command=$(tail -n 1 errors)
  [[ $command == *"--resume run"* ]] || fail "expected a command with --resume"
  bash -c "$command" >output 2>>errors
  cmp straight run
}

waits_for=run
training=("$bin/mnist_mlp" --task digits --precision fp16 --batch 2000 --hidden 16 --epochs 10 --threads 2)
"${training[@]}" --save straight >output
start "${training[@]}" --save run --save-every 1 --json results.json
stop INT 130
grep -q "interrupted after step" errors || fail "expected to read after which step"
grep -q '"interrupted": true' results.json
go_on

# --steps counts from where a training starts.
"${training[@]}" --save straight --steps 30 >output
start "${training[@]}" --steps=30 --save run --save-every 1
stop TERM 143
go_on

waits_for=
start "$bin/mnist_mlp" --batch 2000 --epochs 100000
stop INT 130
grep -q "nothing is saved without --save" errors || fail "expected to read that nothing is saved"

# Two signals within a step, which is a long one.
waits_for=run
start "$bin/mnist_mlp" --task digits --precision fp32 --batch 8000 --hidden 1024 --epochs 1000 \
  --save run --save-every 1
kill -INT "$program"
sleep 0.05
stop INT 130
! grep -q "interrupted" errors || fail "expected the second signal to end the program"

training=("$bin/char_lm" --model mlp --batch 16 --width 16 --steps 60 --samples 0 --warm-up 3
          --validation-batches 1 --device cpu)
"${training[@]}" --save straight >output
start "${training[@]}" --save run --validate-every 1
stop TERM 143
go_on

waits_for=
start "$bin/verify_resume" --mode fp32 --to 1000000 --save run
stop INT 130
[[ -s run ]] || fail "expected a checkpoint"
grep -q -- "--to 1000000 --save run --resume run" errors || fail "expected the command that goes on"

cd /
rm -r "$folder"
