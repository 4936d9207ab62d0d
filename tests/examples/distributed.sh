#!/usr/bin/env bash
# Trains with mnist_mlp --distributed on ranks of mpirun. A SIGTERM to one rank must stop all of them
# after the same step, with a checkpoint from which other numbers of ranks go on.
#   distributed.sh MPIRUN BIN FOLDER     creates FOLDER, and removes it on success
set -euo pipefail

mpirun=$1
bin=$2
folder=$3
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # its name in Open MPI 5

fail() {
  echo "distributed: $*"
  cat output errors
  exit 1
}

training=("$bin/mnist_mlp" --distributed --batch 400 --hidden 16 --threads 1)
train() { # train RANKS ARGUMENT...
  local ranks=$1
  shift
  "$mpirun" -np "$ranks" "${training[@]}" "$@" >output 2>errors || fail "$ranks ranks, $*"
}

# Only rank 0 prints, and all learn.
train 2 --epochs 3
(($(grep -c "^epoch" output) == 3)) || fail "expected 3 lines of epochs"
grep -q "Ranks: 2, with 200 of the 400 images" output || fail "expected the number of ranks"
grep -Eq "accuracy (9|[5-8][0-9])" output || fail "expected the network to learn"

# stop SIGNAL: trains 2 ranks, and sends the signal to the second one.
rm -f run
"$mpirun" -np 2 "${training[@]}" --epochs 100000 --save run --save-every 1 >output 2>errors &
job=$!
for ((i = 0; i < 6000; ++i)); do
  [[ -e run ]] && break
  kill -0 "$job" 2>/dev/null || fail "expected a training"
  sleep 0.01
done
rank=$(pgrep -P "$job" -x mnist_mlp | tail -n 1)
kill -TERM "$rank"
status=0
wait "$job" || status=$?
((status == 143)) || fail "expected status 143, got $status"
grep -Eq "interrupted after step [0-9]+, saved in run" errors || fail "expected a saved checkpoint"
steps=$(sed -n 's/.*interrupted after step \([0-9]*\),.*/\1/p' errors | head -n 1)

# An uninterrupted training of as many steps has the same checkpoint.
train 2 --epochs 100000 --save straight --steps "$steps"
cmp straight run || fail "expected the checkpoint of $steps steps"

# Other numbers of ranks go on from both, and end in the same bits.
for ranks in 1 4; do
  cp run resumed
  train "$ranks" --epochs 100000 --resume run --save resumed --steps 7
  cp straight expected
  train "$ranks" --epochs 100000 --resume straight --save expected --steps 7
  cmp expected resumed || fail "expected equal checkpoints of $ranks ranks"
done

# A training without ranks reads the checkpoint, too.
"$bin/mnist_mlp" --task digits --precision fp16 --batch 400 --hidden 16 --threads 1 --epochs 100000 \
  --steps 3 --resume run >output 2>errors || fail "expected mnist_mlp to go on alone"

# Bad numbers of ranks are an error.
if "$mpirun" -np 3 "${training[@]}" >output 2>errors; then fail "expected 3 ranks to be refused"; fi
grep -q "expected a multiple of the 3 ranks, got 400" errors || fail "expected the reason"

cd /
rm -r "$folder"
