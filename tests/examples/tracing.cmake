# Runs -DPROGRAM=... with -DOPTIONS=a,b,...: --trace and --tensorboard write files, refuse paths that cannot be
# written before the training, and leave a whole trace when the training is interrupted or killed.
cmake_minimum_required(VERSION 3.24)

string(REPLACE "," ";" OPTIONS "${OPTIONS}")
cmake_path(GET PROGRAM FILENAME name)
set(folder "${CMAKE_CURRENT_BINARY_DIR}/tracing_${name}")
file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")

function(expect_run status pattern)
  execute_process(COMMAND "${PROGRAM}" ${OPTIONS} ${ARGN} RESULT_VARIABLE actual OUTPUT_VARIABLE text
                  ERROR_VARIABLE text)
  if(NOT actual EQUAL status OR NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${name} ${ARGN}: expected status ${status} and '${pattern}', got ${actual} and\n${text}")
  endif()
endfunction()

# Sets `text` to the trace, which must be JSON with at least `least` events.
function(expect_trace least)
  file(READ "${folder}/trace.json" text)
  string(JSON count ERROR_VARIABLE error LENGTH "${text}" traceEvents)
  if(error OR count LESS least)
    message(FATAL_ERROR "${name}: expected a trace of at least ${least} events, got ${count} ${error}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

expect_run(0 "" --steps 3 --trace "${folder}/trace.json" --tensorboard "${folder}/runs")
expect_trace(100)
foreach(event IN ITEMS "\"thread_name\",\"args\":{\"name\":\"forward\"" "\"name\":\"backward\"" "\"name\":\"linear\""
                       "\"name\":\"Adam" "\"ph\":\"C\",[^\n]*\"loss\"" "\"ph\":\"s\"")
  if(NOT text MATCHES "${event}")
    message(FATAL_ERROR "${name}: expected ${event} in the trace")
  endif()
endforeach()
file(GLOB events "${folder}/runs/*/events.out.tfevents.*")
list(LENGTH events count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${name}: expected one event file, got ${count}")
endif()
file(STRINGS "${events}" words REGEX "grad_norm")
if(NOT words)
  message(FATAL_ERROR "${name}: expected grad_norm in ${events}")
endif()

expect_run(2 "trace: create the folder" --trace "${folder}/missing/trace.json")
expect_run(1 "TensorBoardWriter: expected to make" --tensorboard "${folder}/trace.json")

foreach(signal IN ITEMS INT KILL)
  file(REMOVE "${folder}/trace.json")
  execute_process(COMMAND timeout -s ${signal} 3 "${PROGRAM}" ${OPTIONS} --steps 1000000
                          --trace "${folder}/trace.json"
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    message(FATAL_ERROR "${name}: expected SIG${signal} to end it")
  endif()
  expect_trace(0)
endforeach()
file(REMOVE_RECURSE "${folder}")
