# Checks halfgrad-check: the saved smallest failing case of a bad kernel makes the bad kernel fail again,
# but not the good one. Files without an output need a kernel, and operands must fit the op. Runs with
# -DPROGRAM=halfgrad-check -DLIBRARY=example_kernels.so -DENDING_LIBRARY=ending_kernels.so
# -DFOLDER=folder, which is created and removed.
set(case "${FOLDER}/smallest.safetensors")
file(MAKE_DIRECTORY "${FOLDER}")

function(expect_code code)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} RESULT_VARIABLE got OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT got STREQUAL code)
    list(JOIN ARGN " " arguments)
    message(FATAL_ERROR "halfgrad-check ${arguments}: expected exit code ${code}, got ${got}\n${out}${err}")
  endif()
endfunction()

foreach(op IN ITEMS sum mm softmax layer_norm)
  expect_code(0 ${op} --library "${LIBRARY}" --symbol ${op}_good)
  expect_code(1 ${op} --library "${LIBRARY}" --symbol ${op}_bad --save-smallest "${case}")
  expect_code(1 ${op} --library "${LIBRARY}" --symbol ${op}_bad --values "${case}")
  expect_code(0 ${op} --library "${LIBRARY}" --symbol ${op}_good --values "${case}")
endforeach()
expect_code(2 layer_norm --values "${case}")
expect_code(2 mm --library "${LIBRARY}" --symbol mm_good --values "${case}")
expect_code(2 sum --library "${LIBRARY}" --symbol no_such_kernel)
expect_code(0 sum --library "${LIBRARY}" --symbol sum_good --layout contiguous misaligned)
expect_code(1 sum --library "${LIBRARY}" --symbol sum_good --layout transposed)  # ignores strides
expect_code(2 sum --library "${LIBRARY}" --symbol sum_good --layout upright)
expect_code(2 amax --library "${LIBRARY}" --symbol sum_good --dims 3 1 0)  # empty rows have no maximum
expect_code(2 sum --library "${LIBRARY}" --symbol sum_good --dims -3 1 5)
foreach(size IN ITEMS 1099511627776 9223372036854775807)
  expect_code(2 sum --library "${LIBRARY}" --symbol sum_good --dims ${size} 1 ${size})
endforeach()
expect_code(2 sum --library "${LIBRARY}" --symbol sum_bad --dims 0 0 0)  # nothing to check
expect_code(2 sum --library "${LIBRARY}" --symbol sum_good --device cuda:4096)

# Kernels that end their process, or hang, are reported.
expect_code(1 sum --library "${ENDING_LIBRARY}" --symbol sum_exits)
expect_code(1 sum --library "${ENDING_LIBRARY}" --symbol sum_writes_to_null --json "${FOLDER}/report.json")
expect_code(1 sum --library "${ENDING_LIBRARY}" --symbol sum_throws)
expect_code(1 sum --library "${ENDING_LIBRARY}" --symbol sum_hangs --timeout 0.2)
expect_code(0 sum --library "${ENDING_LIBRARY}" --symbol sum_spies --seed 424242 --dims 3 1 7)
expect_code(0 sum --library "${ENDING_LIBRARY}" --symbol sum_spies --seed=424242 --dims 3 1 7)
expect_code(1 sum --library "${ENDING_LIBRARY}" --symbol sum_spies --seed 424242 --dims 3 1 7 --in-process)
expect_code(0 sum --library "${LIBRARY}" --symbol sum_good --seed random --fresh-seed 3 --dims 3 1 7)
expect_code(2 sum --library "${LIBRARY}" --symbol sum_good --seed some)
expect_code(0 sum --library "${LIBRARY}" --symbol sum_good --in-process --repeat 10)
expect_code(0 sum --library "${LIBRARY}" --symbol sum_good --flush-subnormals --any-nan --fast-math --any-order --max-abs 100 --accumulate tf32
            --without "near max" specials)
expect_code(2 sum --library "${LIBRARY}" --symbol sum_good --timeout 0)
expect_code(2 sum --library "${LIBRARY}" --symbol sum_good --without "near the maximum")

# Parameters of the op: a kernel of rows does not go along columns.
set(rows softmax --library "${LIBRARY}" --symbol softmax_good --dims 12 1 12 --no-shrink)
expect_code(0 ${rows} --dim -1)
expect_code(1 ${rows} --dim 0)
expect_code(2 ${rows} --dim 2)
expect_code(2 ${rows} --reduction sum)
expect_code(2 ${rows} --operand-dtype x=float32)
expect_code(2 ${rows} --operand-dtype 1=float32)

# A kernel with several outputs: findings and saved cases name them.
set(several rms_norm_backward --library "${ENDING_LIBRARY}" --symbol rms_norm_backward)
expect_code(0 ${several}_good)
expect_code(1 ${several}_bad --save-smallest "${case}")
expect_code(1 ${several}_bad --values "${case}")
expect_code(0 ${several}_good --values "${case}")
expect_code(2 rms_norm_backward --values "${case}")

# A library in the current folder is found by its name.
get_filename_component(folder "${LIBRARY}" DIRECTORY)
get_filename_component(name "${LIBRARY}" NAME)
execute_process(COMMAND "${PROGRAM}" sum --library ${name} --symbol sum_good
                WORKING_DIRECTORY "${folder}" RESULT_VARIABLE got ERROR_VARIABLE err OUTPUT_QUIET)
if(NOT got EQUAL 0)
  message(FATAL_ERROR "halfgrad-check --library ${name} in ${folder}: expected exit code 0, got ${got}\n${err}")
endif()

# Checks the text of a message.
function(expect_text pattern)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT text MATCHES "${pattern}")
    list(JOIN ARGN " " arguments)
    message(FATAL_ERROR "halfgrad-check ${arguments}: expected '${pattern}', got\n${text}")
  endif()
endfunction()
expect_text("crashed in 20 cases; first: m = 1, n = 1, k = 1, normal.*called exit.0..*ended early"
            sum --library "${ENDING_LIBRARY}" --symbol sum_exits --no-shrink)
expect_text("hung in 1 case.*did not return within 0.2 s.*ended early"
            sum --library "${ENDING_LIBRARY}" --symbol sum_hangs --timeout 0.2)
expect_text("softmax: expected no eps, which only these ops have: layer_norm, rms_norm" ${rows} --eps 1e-6)
expect_text("--library requires --symbol" sum --library "${LIBRARY}")

# Stored operands run in each layout and in place, as generated ones do. Options without an effect on
# them are refused.
expect_code(1 softmax --library "${LIBRARY}" --symbol softmax_bad --save-smallest "${case}")
set(stored softmax --library "${LIBRARY}" --symbol softmax_good --values "${case}")
expect_text("passed, 3 cases" ${stored})
expect_text("passed, 2 cases" ${stored} --in-place --layout contiguous)
expect_text("--in-place requires --library" softmax --values "${case}" --in-place)
foreach(option IN ITEMS "--dims;1;1;1" "--seed;1" "--dtype;float32" "--save-smallest;${case}")
  list(GET option 0 name)
  expect_text("--values excludes ${name}|${name} excludes --values" ${stored} ${option})
endforeach()
expect_code(1 sum --library "${LIBRARY}" --symbol sum_bad --save-smallest "${case}")
expect_text("expected an op that may work in place, got sum" sum --library "${LIBRARY}" --symbol sum_good
            --values "${case}" --in-place)

expect_text("wrong value.*element .[0-9]+. of dw is " ${several}_bad)
# The number of cases is printed. A NaN is printed without its sign, which differs between machines.
function(write_npy file shape data)  # float32, its bytes in octal
  execute_process(COMMAND printf "\\223NUMPY\\001\\000\\166\\000%-117s\\n${data}"
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': ${shape}, }"
                  OUTPUT_FILE "${FOLDER}/${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
write_npy(input0.npy "(1, 1)" "\\000\\000\\200\\077")
set(stored sum --values "${FOLDER}/input0.npy" "${FOLDER}/output.npy")
write_npy(output.npy "(1,)" "\\000\\000\\200\\077")
expect_text("passed, 1 case\n" ${stored})
write_npy(output.npy "(1,)" "\\000\\000\\300\\377")
expect_text("FAILED, 1 case\n.*element .0. is nan, expected 1" ${stored})

# Cases for kernels that run elsewhere: the expected results, as outputs, pass. A missing or a wrong one
# does not, and nothing but outputs is read.
find_program(PYTHON NAMES python3)
execute_process(COMMAND "${PYTHON}" -c "import numpy" RESULT_VARIABLE no_numpy OUTPUT_QUIET ERROR_QUIET)
set(cases "${FOLDER}/cases")
foreach(dtype IN ITEMS float16 bfloat16)
  file(REMOVE_RECURSE "${cases}")
  expect_text("wrote 62 cases" softmax --write-cases "${cases}" --dtype ${dtype} --dims 3 1 37 17 1 20
              --without "near max" specials --seed 5)
  expect_text("expected an output for each of 62 cases, got none for 62" --judge "${cases}")
  expect_code(2 --judge "${cases}")
  if(no_numpy EQUAL 0)
    set(fill "import json, numpy, pathlib, sys
folder = pathlib.Path('${cases}')
for case in json.loads((folder / 'manifest.json').read_text())['cases']:
    data = numpy.load(folder / (case['name'] + '.npz'))
    out = data['expected'].astype(data['input0'].dtype)
    if len(sys.argv) > 1: out[..., 16:] = 0
    numpy.save(folder / (case['name'] + '.out.npy'), out)
    numpy.savez(folder / (case['name'] + '.npz'), input0=0, expected=0, allowed=9)
")
    execute_process(COMMAND "${PYTHON}" -c "${fill}" COMMAND_ERROR_IS_FATAL ANY)
    if(dtype STREQUAL "float16")  # the float32 outputs for bfloat16 hold more digits than it has
      expect_text("^softmax, float16 -> float16, accumulated in float32: passed, 62 cases" --judge "${cases}")
    endif()
    expect_code(0 --judge "${cases}")
    expect_code(0 softmax --write-cases "${cases}" --dtype ${dtype} --dims 3 1 37 17 1 20
                --without "near max" specials --seed 5)
    execute_process(COMMAND "${PYTHON}" -c "${fill}" wrong COMMAND_ERROR_IS_FATAL ANY)
    expect_text("FAILED, 62 cases.*element .[0-9]+, 16. is 0.*columns 16 and above" --judge "${cases}")
    expect_code(1 --judge "${cases}" --json "${FOLDER}/judged.json" --junit "${FOLDER}/judged.xml")
    file(READ "${FOLDER}/judged.json" judged)
    string(JSON version GET "${judged}" schema_version)
    string(JSON pattern GET "${judged}" findings 0 places pattern)
    if(NOT version EQUAL 1 OR NOT pattern MATCHES "^columns 16 and above")
      message(FATAL_ERROR "--judge --json: expected version 1 and a pattern, got\n\${judged}")
    endif()
  endif()
endforeach()
# A product of batches has columns of its own.
file(REMOVE_RECURSE "${cases}")
expect_text("wrote" bmm --write-cases "${cases}" --dims 2 3 5 --columns 4)
file(READ "${cases}/manifest.json" manifest)
string(JSON dims GET "${manifest}" cases 0 dims)
string(JSON shape GET "${manifest}" cases 0 output shape)
string(REGEX REPLACE "[ \n]" "" sizes "${dims}${shape}")
if(NOT sizes STREQUAL "[2,3,5,4][2,3,4]")
  message(FATAL_ERROR "--columns: expected [2,3,5,4] and an output [2,3,4], got ${sizes}")
endif()
if(no_numpy EQUAL 0)
  set(fill "import json, numpy, pathlib
folder = pathlib.Path('${cases}')
for case in json.loads((folder / 'manifest.json').read_text())['cases']:
    out = numpy.load(folder / (case['name'] + '.npz'))['expected'].astype(numpy.float32)
    numpy.save(folder / (case['name'] + '.out.npy'), out)
")
  execute_process(COMMAND "${PYTHON}" -c "${fill}" COMMAND_ERROR_IS_FATAL ANY)
  expect_code(0 --judge "${cases}")
endif()
expect_code(2 softmax --library "${LIBRARY}" --symbol softmax_good --dims 3 1 7 --columns 4)
expect_code(2 bmm --write-cases "${cases}" --columns 4)  # without --dims
# An op with several outputs has a file for each.
file(REMOVE_RECURSE "${cases}")
set(several --write-cases "${cases}" --dims 3 1 5 --without "near max")
expect_code(0 rms_norm_backward ${several})
expect_text("got none for .*out_dx.npy" --judge "${cases}")
if(no_numpy EQUAL 0)
  set(fill "import json, numpy, pathlib, sys
folder = pathlib.Path('${cases}')
for case in json.loads((folder / 'manifest.json').read_text())['cases']:
    data = numpy.load(folder / (case['name'] + '.npz'))
    for part in ('_dx', '_dw'):
        assert data['expected' + part].shape == tuple(case['output' + part]['shape'])
        out = data['expected' + part].astype(case['output' + part]['dtype'])
        if len(sys.argv) > 1 and part == '_dw': out[...] = 7
        numpy.save(folder / (case['name'] + '.out' + part + '.npy'), out)
")
  execute_process(COMMAND "${PYTHON}" -c "${fill}" COMMAND_ERROR_IS_FATAL ANY)
  expect_code(0 --judge "${cases}")
  execute_process(COMMAND "${PYTHON}" -c "${fill}" wrong COMMAND_ERROR_IS_FATAL ANY)
  expect_text("FAILED.*wrong value.*of dw is 7" --judge "${cases}")
endif()
expect_text("--judge excludes op|op excludes --judge" softmax --judge "${cases}")
file(WRITE "${cases}/manifest.json" "{}")
expect_text("expected the manifest that --write-cases wrote" --judge "${cases}")
expect_code(2 --judge "${FOLDER}/none")
expect_text("op is required" --dtype float32)

# A kernel in C compiles with the directory that the program names.
execute_process(COMMAND "${PROGRAM}" --include-dir OUTPUT_VARIABLE include OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS "${include}/halfgrad/testing/kernel_abi.h")
  message(FATAL_ERROR "--include-dir: expected halfgrad's headers, got ${include}")
endif()

# Short names of dtypes are accepted, and long names are printed. The kernel refuses all but float32.
foreach(dtype IN ITEMS float16 fp16 half)
  expect_text("sum_good returned 1 for float16 -> float16" sum --library "${LIBRARY}" --symbol sum_good
              --dtype ${dtype} --dims 1 1 1)
endforeach()
foreach(dtype IN ITEMS float64 fp64 double)
  expect_text("^sum, float32 -> float32, accumulated in float64: " ${stored} --accumulate ${dtype})
endforeach()

# Reports that cannot be written are errors, on standard output too.
foreach(option IN ITEMS json junit)
  expect_code(2 ${stored} --${option} /dev/full)
  expect_text("expected to write /dev/full, got: No space left" ${stored} --${option} /dev/full)
endforeach()
execute_process(COMMAND sh -c "'${PROGRAM}' sum --values '${FOLDER}/input0.npy' '${FOLDER}/output.npy' >/dev/full"
                RESULT_VARIABLE got ERROR_VARIABLE err)
if(NOT got EQUAL 2 OR NOT err MATCHES "expected to write standard output")
  message(FATAL_ERROR "halfgrad-check >/dev/full: expected exit code 2 and an error, got ${got} and ${err}")
endif()
expect_text("load_npy: expected a file, got no such file: " sum --values "${FOLDER}/none.npy")
expect_text("contiguous,every_second,misaligned,padded_rows," --help)
file(REMOVE_RECURSE "${FOLDER}")
