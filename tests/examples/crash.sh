#!/usr/bin/env bash
# Kills verify_resume with SIGKILL: the training that it started must end with it, and its folder must go.
#   crash.sh BIN FOLDER     creates FOLDER, and removes it on success
set -euo pipefail

bin=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"
export TMPDIR=$folder

# wait_until COMMAND...: waits for at most 20 seconds until the command succeeds.
wait_until() {
  for ((i = 0; i < 2000; ++i)); do
    if "$@"; then return; fi
    sleep 0.01
  done
  echo "crash: expected $*"
  ls -R "$folder"
  exit 1
}

children_of() { cat "/proc/$1/task/$1/children" 2>/dev/null || true; }
has_training() {
  for child in $(children_of "$program"); do
    if grep -qz -- --complete-at "/proc/$child/cmdline" 2>/dev/null; then
      training=$child
      return 0
    fi
  done
  return 1
}
has_ended() { [[ ! -e /proc/$1 ]] || grep -qs '^State:\s*Z' "/proc/$1/status" || [[ ! -e /proc/$1 ]]; }
is_empty() { [[ -z $(ls -A "$folder") ]]; }

for signal in KILL TERM; do
  "$bin/verify_resume" --steps 1000000 --mode fp32 >/dev/null 2>&1 &
  program=$!
  wait_until has_training
  if is_empty; then
    echo "crash: expected a folder of the training"
    exit 1
  fi
  kill "-$signal" "$program"
  wait_until has_ended "$program"
  wait_until has_ended "$training"
  wait_until is_empty
  wait "$program" 2>/dev/null || true
done
rmdir "$folder"
