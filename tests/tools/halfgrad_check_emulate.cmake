# Checks halfgrad-check --emulate with -DPROGRAM=halfgrad-check. -DCUDA_LIBRARY=example_cuda_kernels.so exists if
# -DHAS_NVCC is 1. -DLIBRARY=example_kernels.so has no CUDA kernels. -DFOLDER is created and removed.
cmake_minimum_required(VERSION 3.24)
set(ENV{COLUMNS} 100000)  # one line for a finding
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

function(expect code pattern program)
  execute_process(COMMAND "${program}" softmax ${ARGN} --emulate
                  RESULT_VARIABLE got OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT got STREQUAL code OR NOT text MATCHES "${pattern}")
    list(JOIN ARGN " " arguments)
    message(FATAL_ERROR "halfgrad-check softmax ${arguments} --emulate: expected ${code} and '${pattern}', "
                        "got ${got} and\n${text}")
  endif()
  set(text "${text}" PARENT_SCOPE)
endfunction()

# Errors name what to do. A halfgrad-check elsewhere has no emulator beside it.
file(COPY "${PROGRAM}" DESTINATION "${FOLDER}")
get_filename_component(name "${PROGRAM}" NAME)
expect(2 "expected ${FOLDER}/halfgrad-emulate, got no such file; build it with cmake -DHALFGRAD_EMULATOR=ON"
       "${FOLDER}/${name}" --library "${LIBRARY}" --symbol softmax_good)
if(NOT HAS_NVCC)
  message("SKIPPED: no nvcc, so there are no CUDA kernels to check")
  return()
endif()
expect(2 "expected a library that links the shared CUDA runtime, .*link it with nvcc -cudart shared"
       "${PROGRAM}" --library "${LIBRARY}" --symbol softmax_good)
expect(2 "undefined symbol: no_such_kernel" "${PROGRAM}" --library "${CUDA_LIBRARY}" --symbol no_such_kernel)
expect(2 "--device excludes --emulate|--emulate excludes --device"
       "${PROGRAM}" --library "${CUDA_LIBRARY}" --symbol softmax_good --device cuda)

# Returns the line of the source that contains a text.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../../examples/cuda_kernels/softmax.cu" source)
function(line_of text result)
  set(number 0)
  foreach(line IN LISTS source)
    math(EXPR number "${number} + 1")
    string(FIND "${line}" "${text}" found)
    if(NOT found EQUAL -1)
      set(${result} ${number} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "softmax.cu: expected a line with ${text}, got none")
endfunction()

set(good --library "${CUDA_LIBRARY}" --symbol softmax_good)
expect(0 "passed, 282 cases\n.*under the emulator: passed, 0 errors, 0 notes in 655 launches of 1 kernel\n$"
       "${PROGRAM}" ${good})
expect(0 "passed, 66 cases" "${PROGRAM}" ${good} --in-place --dims 3 1 7 --layout contiguous)
expect(1 "FAILED" "${PROGRAM}" ${good} --dims 3 1 7 --layout transposed)  # the kernel ignores strides

# The race, by its two lines; warnings of the emulator are not printed twice.
set(race --library "${CUDA_LIBRARY}" --symbol softmax_race)
expect(1 "under the emulator: FAILED.*error: race: .*softmax.cu:[0-9]+.*in kernel .*softmax_one_buffer"
       "${PROGRAM}" ${race})
if(text MATCHES "==halfgrad-emulate==")
  message(FATAL_ERROR "halfgrad-check --emulate: expected each finding once, got\n${text}")
endif()

line_of("tile[threadIdx.x] = x[first + threadIdx.x]" line)
expect(1 "error: out-of-bounds: load of 4 bytes.*softmax.cu:${line}: " "${PROGRAM}"
       --library "${CUDA_LIBRARY}" --symbol softmax_stray_read)

# A kernel on a stream that nobody waits for races with the copy of its output. Other inputs in the same
# memory show a repeated result.
expect(1 "error: stream-race: cudaMemcpy on the default stream reads memory" "${PROGRAM}"
       --library "${CUDA_LIBRARY}" --symbol softmax_own_stream --dims 3 1 7)
expect(1 "stale in 1 case.*other inputs in the same memory give the result of an earlier call" "${PROGRAM}"
       --library "${CUDA_LIBRARY}" --symbol softmax_repeats --dims 3 1 7 --no-shrink)

# Inputs arrive on the call's stream: a kernel on the default stream reads memory that is not there yet.
expect(1 "error: stream-race: .*softmax.cu:[0-9]+" "${PROGRAM}"
       --library "${CUDA_LIBRARY}" --symbol softmax_default_stream --dims 3 1 7)

# An uncoalesced kernel passes, and its lines are listed.
set(slow --library "${CUDA_LIBRARY}" --symbol softmax_uncoalesced)
line_of("++i) largest = fmaxf(largest, x[i])" line)
expect(0 "passed.*under the emulator: passed.*uncoalesced.*softmax.cu:${line}: [0-9]+ asked for, [0-9]+ needed"
       "${PROGRAM}" ${slow} --dims 200 1 48 --json "${FOLDER}/slow.json")
string(REGEX MATCH "softmax.cu:${line}: ([0-9]+) asked for, ([0-9]+) needed" matched "${text}")
set(needed ${CMAKE_MATCH_2})
math(EXPR asked_for "8 * ${needed}")  # 48 columns: 192 bytes lie between two threads' elements
file(READ "${FOLDER}/slow.json" json)
string(JSON passed GET "${json}" passed)
string(JSON in_json GET "${json}" emulator uncoalesced 0 sectors_needed)
if(NOT passed STREQUAL "ON" OR NOT in_json EQUAL needed OR NOT CMAKE_MATCH_1 EQUAL asked_for)
  message(FATAL_ERROR "--json: expected passed and ${needed} sectors of ${asked_for}, got ${passed}, ${json}")
endif()

# JSON and JUnit have both results.
expect(1 "FAILED" "${PROGRAM}" ${race} --json "${FOLDER}/race.json" --junit "${FOLDER}/race.xml" --dims 3 1 7)
file(READ "${FOLDER}/race.json" json)
string(JSON passed GET "${json}" passed)
string(JSON kind GET "${json}" emulator findings 0 kind)
if(passed STREQUAL "ON" OR NOT kind STREQUAL "race")
  message(FATAL_ERROR "--json: expected a failure and a race, got ${passed} and ${kind} in ${json}")
endif()
file(READ "${FOLDER}/race.xml" xml)
if(NOT xml MATCHES "<testsuites>.*name=\"halfgrad-check\".*name=\"halfgrad-emulate\".*name=\"race\"><failure")
  message(FATAL_ERROR "--junit: expected both suites and a failure called race, got\n${xml}")
endif()
execute_process(COMMAND "${PROGRAM}" softmax ${good} --emulate --dims 3 1 7 --json - OUTPUT_VARIABLE json
                ERROR_VARIABLE error RESULT_VARIABLE got)
string(JSON launches GET "${json}" emulator launches)
if(NOT got EQUAL 0 OR NOT error STREQUAL "" OR NOT launches GREATER 0)
  message(FATAL_ERROR "--json -: expected only JSON, got ${got}, ${error} and\n${json}")
endif()
file(REMOVE_RECURSE "${FOLDER}")
