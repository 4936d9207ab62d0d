# Rules about the source text, checked by ctest:
#   1. a folder includes only itself and the folders that its library links;
#   2. no public header but eigen.h includes Eigen, and none CUDA or cuBLAS; headers in core/cuda/ are
#      not public;
#   3. kernels and everything that depends on CUDA are in core/cuda/, except HG_HD and one #if in each
#      engine;
#   4. requires-expressions appear only in named concepts: in an `if constexpr`, nvcc's device pass
#      evaluates one to false where g++ evaluates it to true;
#   5. no file contains a path of somebody's home directory.
# Runs with -DFOLDERS=core,... -DREACHABLE_core=core,... as in tests/CMakeLists.txt.

cmake_minimum_required(VERSION 3.24)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH root)
string(REPLACE "," ";" FOLDERS "${FOLDERS}")
set(violations "")

macro(violation file text)
  list(APPEND violations "  ${file}: ${text}")
endmacro()

# Sets `lines` to the lines of `file` that match `pattern`.
macro(matching_lines file pattern)
  file(STRINGS "${root}/${file}" lines REGEX "${pattern}")
endmacro()

function(files_below variable)
  file(GLOB_RECURSE found RELATIVE "${root}" ${ARGN})
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

set(may_ask_for_cuda core/hd.h core/engines/elementwise.h core/engines/parallel.h
                     core/engines/rows.h core/engines/reduce.h core/engines/multi_tensor.h
                     core/engines/multi_tensor_norm.h core/engines/multi_tensor_reduce.h)
foreach(folder IN LISTS FOLDERS)
  string(REPLACE "," ";" allowed "${REACHABLE_${folder}}")
  files_below(files "${root}/${folder}/*.h" "${root}/${folder}/*.cpp" "${root}/${folder}/*.cu")
  foreach(file IN LISTS files)
    matching_lines("${file}" "^ *# *include *<halfgrad/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE ".*<halfgrad/([a-z_]+)/.*" "\\1" included "${line}")
      if(NOT included IN_LIST allowed)
        violation("${file}" "may not include from ${included}: ${line}")
      endif()
    endforeach()
    matching_lines("${file}" "^ *# *include *\"")
    if(lines)
      violation("${file}" "expected <halfgrad/...>, got ${lines}")
    endif()

    if(file MATCHES "\\.h$" AND NOT file MATCHES "^core/cuda/")
      matching_lines("${file}" "^ *# *include *<(Eigen|unsupported/Eigen|cuda|cublas)")
      if(lines)
        violation("${file}" "a public header may not include: ${lines}")
      endif()
    endif()

    file(READ "${root}/${file}" text)
    string(REGEX MATCH
           "(if constexpr \\([^;{]*|return |&& |requires |\\|\\| )requires *[({][^;\n]*"
           expression "${text}")
    if(expression)
      violation("${file}" "name the concept, nvcc and g++ disagree: ${expression}")
    endif()

    if(NOT file MATCHES "^core/cuda/")
      matching_lines("${file}" "__CUDA|__global__|HALFGRAD_CUDA|<<<")
      if(lines AND NOT file IN_LIST may_ask_for_cuda)
        violation("${file}" "CUDA conditionals and kernels belong in core/cuda: ${lines}")
      endif()
    endif()
  endforeach()
endforeach()

set(all_patterns "")
foreach(folder IN ITEMS ${FOLDERS} .ci bench cmake docs examples tests tools)
  list(APPEND all_patterns "${root}/${folder}/*")
endforeach()
files_below(all_files ${all_patterns})
file(GLOB top_files RELATIVE "${root}" LIST_DIRECTORIES false "${root}/*")
list(REMOVE_ITEM top_files .git)  # a file in a linked worktree
foreach(file IN LISTS all_files top_files)
  matching_lines("${file}" "(^|[^A-Za-z0-9_.-])/(home|root|work|Users)/[a-z]")
  if(lines)
    violation("${file}" "names a path of one machine: ${lines}")
  endif()
endforeach()

if(violations)
  list(JOIN violations "\n" text)
  message(FATAL_ERROR "layering: expected no violations, got\n${text}")
endif()
