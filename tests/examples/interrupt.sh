#!/usr/bin/env bash
# Sends signals to the training programs in BIN. A program must finish its step, save, and print the
# command that resumes it, which must end in the bits of an uninterrupted run. A second signal must end
# the program at once.
#   interrupt.sh BIN FOLDER     creates FOLDER, and removes it on success
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

# start PROGRAM ARGUMENT...: starts a program in the background, and waits until its signal handler is
# installed and the file $waits_for exists, if one is named.
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

# stop SIGNAL STATUS: sends the signal and expects the exit status.
stop() {
  kill "-$1" "$program"
  status=0
  wait "$program" || status=$?
  ((status == $2)) || fail "expected status $2"
}

# Runs the printed command, and compares its checkpoint with that of the uninterrupted run.
resume() {
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
grep -q "interrupted after step" errors || fail "expected the step of the interrupt"
grep -q '"interrupted": true' results.json
resume

# --steps counts from the start or the resumption of a training.
"${training[@]}" --save straight --steps 30 >output
start "${training[@]}" --steps=30 --save run --save-every 1
stop TERM 143
resume

endless=("$bin/mnist_mlp" --task digits --precision fp16 --batch 2000 --hidden 16 --epochs 100000 --threads 2)
# timeout(1) sends its signal twice: to the program, and to the group of both.
for attempt in 1 2 3 4 5; do
  start "${endless[@]}" --save run --save-every 1
  kill -TERM "$program"
  kill -TERM -- "-$program"
  status=0
  wait "$program" || status=$?
  ((status == 143)) || fail "expected status 143 at attempt $attempt"
  grep -q "saved in run" errors || fail "expected a checkpoint after timeout, at attempt $attempt"
done

# A closed terminal.
start "${endless[@]}" --save run --save-every 1
stop HUP 129
grep -q "saved in run" errors || fail "expected a checkpoint after SIGHUP"

waits_for=
start "$bin/mnist_mlp" --batch 2000 --epochs 100000
stop INT 130
grep -q "nothing is saved without --save" errors || fail "expected the message that nothing is saved"

# The report shows the steps until the interrupt.
start "${endless[@]}" --report page.html
sleep 0.3
stop INT 130
grep -q '"interrupted":true' page.data.json || fail "expected a report that says it was interrupted"

# Two signals within one step; large layers make the step long enough.
waits_for=run
start "$bin/mnist_mlp" --task digits --precision fp32 --batch 8000 --hidden 2048,2048 --epochs 1000 \
  --save run --save-every 1
kill -INT "$program"
sleep 0.2
stop INT 130
! grep -q "interrupted" errors || fail "expected the second signal to end the program"

training=("$bin/char_lm" --model mlp --batch 16 --width 16 --steps 60 --samples 0 --warm-up 3
          --validation-batches 1 --device cpu)
"${training[@]}" --save straight >output
start "${training[@]}" --save run --validate-every 1
stop TERM 143
resume

waits_for=
start "$bin/verify_resume" --mode fp32 --to 1000000 --save run
stop INT 130
[[ -s run ]] || fail "expected a checkpoint"
grep -q -- "--to 1000000 --save run --resume run" errors || fail "expected the command that resumes it"

cd /
rm -r "$folder"
