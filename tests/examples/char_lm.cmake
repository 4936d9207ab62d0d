# Runs -DPROGRAM=char_lm: help, wrong arguments, short trainings (-DSTEPS=40 for the transformer) whose
# validation losses in fp16 and fp32 differ by at most 0.02 nats, and trainings that resume from a
# checkpoint bit for bit.
cmake_minimum_required(VERSION 3.24)

function(expect_run status pattern)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} RESULT_VARIABLE actual OUTPUT_VARIABLE text
                  ERROR_VARIABLE text)
  if(NOT actual EQUAL status OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "char_lm ${ARGN}: expected status ${status} and '${pattern}', got "
                        "${actual} and\n${text}")
  endif()
  set(digits "${CMAKE_MATCH_1}${CMAKE_MATCH_2}" PARENT_SCOPE)
endfunction()

expect_run(0 "--precision" --help)
expect_run(2 "fp8" --precision fp8)
expect_run(2 "divisor of the width" --heads 3)
expect_run(2 "width / heads to be even" --model llama --width 12)
expect_run(2 "save: create the folder no_such_folder" --save no_such_folder/run.safetensors)
expect_run(1 "longer text" --context 2000 --layers 1)
expect_run(2 "save: expected a file, got the folder" --save "${CMAKE_CURRENT_LIST_DIR}")
string(REPEAT "n" 256 long_name)
expect_run(2 "save: expected a name of at most 255 bytes, got 256" --save "${long_name}")
foreach(option IN ITEMS clip lr dropout weight-decay)
  expect_run(2 "${option}: expected a .*number.*, got nan" --${option} nan)
endforeach()
foreach(option IN ITEMS steps batch width)
  expect_run(2 "${option}: expected a finite number above 0, got 0\n" --${option} 0)
endforeach()

foreach(seed IN ITEMS -1 99999999999999999999999)
  expect_run(2 "seed: expected an integer in \\[0, 18446744073709551615\\], got ${seed}" --seed ${seed})
endforeach()
expect_run(2 "--report: expected another file than that of --save" --save same --report same)

# Texts of users: the training and the validation part must be long enough.
set(file "${CMAKE_CURRENT_BINARY_DIR}/char_lm_text")
function(expect_text status pattern text)
  file(WRITE "${file}" "${text}")
  expect_run(${status} "${pattern}" --data "${file}" --device cpu --steps 1 --batch 2
             --width 8 --layers 1 ${ARGN})
  file(REMOVE "${file}")
endfunction()
string(REPEAT "abcd" 20 long)
string(REPEAT "ab\n" 9 lines)
expect_text(0 "validation loss [0-9]" "${long}" --context 7)
expect_text(1 "longer text.* the 8 of --context, got 8" "${long}" --context 8)
expect_text(1 "10 lines or more" "${long}" --model mlp)
expect_text(1 "10 lines or more" "${lines}" --model mlp)
expect_text(0 "validation loss [0-9]" "${lines}c" --model mlp)

function(expect_same_loss)
  foreach(precision fp32 fp16)
    expect_run(0 "validation loss ([0-9])\\.([0-9][0-9][0-9][0-9]) nats"
               ${ARGN} --precision ${precision} --device cpu --samples 20)
    set(${precision} "${digits}")
  endforeach()
  math(EXPR difference "${fp16} - ${fp32}")
  if(difference GREATER 200 OR difference LESS -200)
    message(FATAL_ERROR "char_lm ${ARGN}: expected the loss of fp32, ${fp32} / 10000, to 0.02, got "
                        "${fp16} / 10000")
  endif()
endfunction()
math(EXPR mlp_steps "${STEPS} * 5 / 2")
math(EXPR validation_batches "${STEPS} / 2")
set(small --width 32 --validation-batches ${validation_batches})
expect_same_loss(--model mlp --steps ${mlp_steps} ${small})
expect_same_loss(--model gpt --steps ${STEPS} --layers 2 --accumulation 2 --checkpoint ${small})
expect_same_loss(--model llama --steps ${STEPS} --layers 2 --checkpoint ${small})

set(file "${CMAKE_CURRENT_BINARY_DIR}/char_lm_test")
function(expect_resumed)
  set(training ${ARGN} --device cpu --samples 0 --steps 9 --validate-every 4)
  expect_run(0 "validation" ${training} --save "${file}.straight")
  expect_run(0 "validation" ${training} --save "${file}.half" --until 5)
  expect_run(0 "validation" ${training} --save "${file}.resumed" --resume "${file}.half")
  file(SHA256 "${file}.straight" straight)
  file(SHA256 "${file}.resumed" resumed)
  if(NOT straight STREQUAL resumed)
    message(FATAL_ERROR "char_lm ${training}: expected the state of an uninterrupted run after "
                        "--resume, got another")
  endif()
  expect_run(1 "fewer than 9 updates" ${training} --resume "${file}.resumed")
  expect_run(1 "--clip 3 " ${training} --clip 3 --resume "${file}.half")
  expect_run(1 "--heads 2 " ${training} --heads 2 --resume "${file}.half")
  file(REMOVE "${file}.straight" "${file}.half" "${file}.resumed")
endfunction()
set(small --width 16 --warm-up 3 --validation-batches 1)
# A trace that cannot be written does not lose the page and the text; a checkpoint belongs to its text.
set(training --model mlp --steps 2 --samples 20 --device cpu ${small})
expect_run(1 "expected to write /dev/full.*Report: .*validation loss [0-9]" ${training} --trace /dev/full
           --report "${file}.html" --save "${file}.half" --until 1)
foreach(line IN ITEMS "abcd" "dcba")
  string(REPEAT "${line}\n" 20 text)
  file(WRITE "${file}.${line}" "${text}")
endforeach()
expect_run(0 "validation" ${training} --data "${file}.abcd" --save "${file}.half" --until 1)
expect_run(1 "on the same text, crc32c [0-9a-f]+, got one on crc32c [0-9a-f]+" ${training} --data "${file}.dcba"
           --resume "${file}.half")
execute_process(COMMAND env LC_ALL=C sed -i "s/\"data\"/\"d_t_\"/" "${file}.half" COMMAND_ERROR_IS_FATAL ANY)
expect_run(0 "validation" ${training} --data "${file}.dcba" --resume "${file}.half")  # an older checkpoint
file(REMOVE "${file}.half" "${file}.html" "${file}.abcd" "${file}.dcba")
foreach(precision IN ITEMS fp32 bf16)
  expect_resumed(--model mlp --precision ${precision} --batch 120 ${small})  # an epoch has 5 batches
endforeach()
expect_resumed(--model gpt --layers 1 --context 16 --dropout 0.2 --accumulation 2 ${small})
expect_resumed(--model llama --layers 1 --context 16 --dropout 0.2 ${small})
