# Runs -DPROGRAM=mnist_mlp: help, wrong arguments, short trainings with their results, and trainings that
# resume from a checkpoint bit for bit.
cmake_minimum_required(VERSION 3.24)

function(expect_run status pattern)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} RESULT_VARIABLE actual OUTPUT_VARIABLE text
                  ERROR_VARIABLE text)
  if(NOT actual EQUAL status OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "mnist_mlp ${ARGN}: expected status ${status} and '${pattern}', got "
                        "${actual} and\n${text}")
  endif()
endfunction()

expect_run(0 "--precision" --help)
expect_run(2 "fp16-noscale.*got fp8" --precision fp8)
expect_run(2 "epochs" --epochs 0)
expect_run(2 "epochs" --epochs 200000000000000000)
expect_run(2 "hidden" --hidden 512,zero)
foreach(sizes IN ITEMS 4,,4 4, ,4 0)
  expect_run(2 "hidden: expected sizes" --hidden ${sizes})
endforeach()
expect_run(2 "lr.* finite" --lr inf)
foreach(seed IN ITEMS -1 99999999999999999999999 1.5)
  expect_run(2 "seed: expected an integer in \\[0, 18446744073709551615\\], got ${seed}" --seed ${seed})
endforeach()
expect_run(2 "data" --data no_such_folder)
expect_run(2 "no_such_folder" --json no_such_folder/results.json)
expect_run(2 "save: create the folder no_such_folder" --task digits --precision fp32
           --save no_such_folder/run.safetensors)
expect_run(2 "report: create the folder no_such_folder" --report no_such_folder/run.html)
foreach(option IN ITEMS json save report)
  expect_run(2 "${option}: expected a file, got the folder" --${option} "${CMAKE_CURRENT_LIST_DIR}")
endforeach()
set(one_training --task digits --precision fp32)
expect_run(2 "--report: expected another file than that of --save, got ./same" ${one_training} --save same
           --report ./same)
expect_run(2 "--trace: expected another file than that of --report" --report same --trace same)
expect_run(2 "--report: expected another file than that of --launches" --report "${CMAKE_CURRENT_LIST_FILE}"
           --launches "${CMAKE_CURRENT_LIST_FILE}")
expect_run(1 "expected a file of halfgrad-emulate --json, got" --report launches_test.html
           --launches "${CMAKE_CURRENT_LIST_FILE}")
expect_run(2 "--launches requires --report" --launches "${CMAKE_CURRENT_LIST_FILE}")
expect_run(1 "expected t10k-images" --data "${CMAKE_CURRENT_LIST_DIR}")

set(file "${CMAKE_CURRENT_BINARY_DIR}/mnist_mlp_test.json")
expect_run(0 "fp32 +[0-9]+ %\n +fp16-pure +[0-9]+ %\n +fp16-masters +[0-9]+ % of its fp32 masters.*fp16-noscale +-"
           --steps 2 --hidden 16 --batch 8 --seeds 2 --threads 2 --json "${file}")
file(READ "${file}" results)
file(REMOVE "${file}")
set(precisions fp32 fp32 fp16-noscale fp16-noscale fp16 fp16 bf16 bf16 fp16-pure fp16-pure fp16-masters
               fp16-masters)
set(keys seed test_score final_loss final_scale skipped_steps median_step_seconds
         peak_memory_bytes epochs)
function(expect_reports task precisions)
  string(JSON count LENGTH "${results}" ${task})
  list(LENGTH precisions expected)
  if(NOT count EQUAL expected)
    message(FATAL_ERROR "${task}: expected ${expected} reports, got ${count}")
  endif()
  foreach(precision IN LISTS precisions)
    math(EXPR count "${count} - 1")
    list(POP_BACK precisions expected)
    string(JSON actual GET "${results}" ${task} ${count} precision)
    if(NOT actual STREQUAL expected)
      message(FATAL_ERROR "${task} ${count}: expected ${expected}, got ${actual}")
    endif()
    foreach(key IN LISTS keys)
      string(JSON ignored GET "${results}" ${task} ${count} ${key})
    endforeach()
  endforeach()
endfunction()
expect_reports(digits "${precisions}")
list(APPEND keys flushed_gradients_first_epoch flushed_gradients_last_epoch)
expect_reports(underflow "fp32;fp16-noscale;fp16;bf16")
# --graph must give the same results to the last digit, also for an epoch's last, shorter batch.
set(figures)
foreach(graph IN ITEMS "" --graph)
  expect_run(0 "fp16" --task digits --precision fp16 --epochs 3 --steps 8 --batch 3000 --hidden 16
             --threads 2 --json "${file}" ${graph})
  file(READ "${file}" report)
  file(REMOVE "${file}")
  foreach(key IN ITEMS epochs test_score final_scale moved_weights)
    string(JSON figure GET "${report}" digits 0 ${key})
    string(APPEND figures${graph} "${figure}")
  endforeach()
endforeach()
if(NOT "${figures}" STREQUAL "${figures--graph}")
  message(FATAL_ERROR "--graph: expected ${figures}, got ${figures--graph}")
endif()

# Four epochs of three steps must end in the same bits with and without a restart, whether the training
# stops between two epochs or within one.
set(training --task digits --precision fp16 --batch 3000 --hidden 16 --threads 2)
expect_run(0 "fp16" ${training} --epochs 4 --save "${file}.straight")
file(SHA256 "${file}.straight" straight)
foreach(stop IN ITEMS "--epochs;2" "--epochs;4;--steps;2" "--epochs;4;--steps;5;--save-every;4"
                      "--epochs;4;--steps;5;--graph")
  file(REMOVE "${file}.half")
  expect_run(0 "fp16" ${training} ${stop} --save "${file}.half")
  foreach(graph IN ITEMS "" --graph)
    expect_run(0 "fp16" ${training} --epochs 4 --resume "${file}.half" --save "${file}.resumed" ${graph})
    file(SHA256 "${file}.resumed" resumed)
    if(NOT straight STREQUAL resumed)
      message(FATAL_ERROR "--resume after ${stop}: expected the state of an uninterrupted run, got "
                          "another")
    endif()
  endforeach()
endforeach()
# A checkpoint must contain the master weights: they hold the updates that are too small for 16 bits.
set(masters --task digits --precision fp16-masters --batch 512 --hidden 16 --threads 2)
expect_run(0 "masters  epoch  3/3  loss [01].*fp16-masters +[0-9]+ % of its fp32 masters" ${masters} --epochs 3 --save "${file}.straight")
file(SHA256 "${file}.straight" straight)
expect_run(0 "masters" ${masters} --epochs 1 --save "${file}.first")
expect_run(0 "masters" ${masters} --epochs 3 --resume "${file}.first" --save "${file}.resumed")
file(SHA256 "${file}.resumed" resumed)
if(NOT straight STREQUAL resumed)
  message(FATAL_ERROR "--resume with masters: expected the state of an uninterrupted run, got another")
endif()
expect_run(1 "fewer than 3 steps, got one of 5" ${training} --epochs 1 --resume "${file}.half")
expect_run(2 "save" ${training} --save-every 4)
expect_run(1 "--seed 1.*--seed 0" ${training} --epochs 4 --seed 1 --resume "${file}.half")
expect_run(2 "one --precision" --save "${file}.half")
# A checkpoint belongs to its data. Older ones have no checksum.
execute_process(COMMAND env LC_ALL=C sed -i "s/crc32c ......../crc32c 00000000/" "${file}.half"
                COMMAND_ERROR_IS_FATAL ANY)
expect_run(1 "on the same data, crc32c [0-9a-f ]+, got one on crc32c 00000000 " ${training} --epochs 4
           --resume "${file}.half")
execute_process(COMMAND env LC_ALL=C sed -i "s/\"data\"/\"d_t_\"/" "${file}.half" COMMAND_ERROR_IS_FATAL ANY)
expect_run(0 "fp16" ${training} --epochs 4 --resume "${file}.half")
# One file that cannot be written does not lose the others.
expect_run(1 "expected to write /dev/full.*Report: " --task digits --precision fp32 --steps 1 --hidden 8 --threads 2
           --json /dev/full --report "${file}.html")
if(NOT EXISTS "${file}.html")
  message(FATAL_ERROR "mnist_mlp --json /dev/full: expected a report all the same")
endif()
file(REMOVE "${file}.html")
file(REMOVE "${file}.straight" "${file}.half" "${file}.first" "${file}.resumed")

string(JSON flushed GET "${results}" underflow 1 flushed_gradients_first_epoch)
if(NOT flushed EQUAL 1)
  message(FATAL_ERROR "underflow: expected fp16 without scaling to lose every gradient, got "
                      "${flushed}")
endif()
