# Targets that only CI builds, from generated files of includes:
#   header_check  every public header compiles alone; in a CUDA build, without the engines. A header
#                 that its own source includes first is left out: presets dev and cpu-tsan compile
#                 that source alone
#   all_headers   one source that includes all public headers compiles without a warning, also with
#                 -Wshadow, which users may switch on; header_check builds it too
#   cuda_check    nvcc compiles all libraries and all public headers, no functor calls a function that
#                 only the host has, kernels contain the instructions they are meant to use, and in a
#                 build of plain PTX they do not spill registers

set(public_headers "")
foreach(folder IN ITEMS compat LISTS HALFGRAD_FOLDERS)  # compat comes first: see compat/names.h
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/${folder}/*.h")
  list(APPEND public_headers ${headers})
endforeach()

list(APPEND public_headers halfgrad.h)
list(REMOVE_DUPLICATES public_headers)
list(FILTER public_headers EXCLUDE REGEX "^dist/mpi/")  # private, and include <mpi.h>
if(TARGET Eigen3::Eigen)
  list(APPEND public_headers eigen.h)
endif()

set(check_folder "${PROJECT_BINARY_DIR}/header_check")
# Headers that nvcc must not see: its front end loses the indices of vector shuffles in the CPU's
# matrix kernel, and Eigen does not vectorise under nvcc.
set(host_only core/gemm/gemm_amx.h core/gemm/gemm_amx_pack.h core/gemm/gemm_amx_parts.h
              core/gemm/gemm_amx_row.h core/gemm/gemm_bf16.h core/gemm/gemm_column.h
              core/gemm/gemm_kernel.h core/gemm/gemm_library.h core/gemm/gemm_operand.h
              core/gemm/gemm_row.h core/gemm/gemm_sums.h core/gemm/gemm_tile.h eigen.h)
# Headers that make kernels.
set(engines core/engines/elementwise.h core/engines/reduce.h core/engines/rows.h
            core/engines/multi_tensor.h core/engines/multi_tensor_norm.h core/engines/multi_tensor_reduce.h
            core/engines/parallel.h amp/step_pass.h
            autograd/graph/elementwise_op.h autograd/op_table/elementwise_entry.h
            autograd/ops/shared/class_targets.h autograd/ops/shared/cross_entropy_rows.h
            autograd/ops/shared/division_operands.h autograd/ops/shared/gelu.h
            autograd/ops/shared/layer_norm_rows.h autograd/ops/shared/loss.h
            autograd/ops/shared/mlp_formula.h autograd/ops/shared/predicate.h autograd/ops/shared/relu.h
            autograd/ops/shared/softmax_rows.h optim/formula_update.h optim/parameter_update.h
            optim/state_update.h)
set(includes "")
set(host_includes "")
set(check_sources "")
foreach(header IN LISTS public_headers)
  string(MAKE_C_IDENTIFIER "${header}" name)
  set(include "#include <halfgrad/${header}>\n")
  set(first "")
  cmake_path(REPLACE_EXTENSION header .cpp OUTPUT_VARIABLE source)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${source}")
    file(STRINGS "${PROJECT_SOURCE_DIR}/${source}" first REGEX "^#include" LIMIT_COUNT 1)
  endif()
  if(NOT "${first}\n" STREQUAL include AND NOT header MATCHES "^core/cuda/" AND
     NOT (HALFGRAD_CUDA AND header IN_LIST engines))
    file(CONFIGURE OUTPUT "${check_folder}/${name}.cpp" CONTENT "${include}" @ONLY)
    list(APPEND check_sources "${check_folder}/${name}.cpp")
  endif()
  if(NOT header MATCHES "^core/cuda/" AND NOT (HALFGRAD_CUDA AND header IN_LIST engines))
    string(APPEND host_includes "${include}")
  endif()
  if(NOT header IN_LIST host_only)
    string(APPEND includes "${include}")
  endif()
endforeach()

add_library(header_check OBJECT EXCLUDE_FROM_ALL ${check_sources})
set_target_properties(header_check PROPERTIES UNITY_BUILD OFF)
target_link_libraries(header_check PRIVATE halfgrad::halfgrad)

file(CONFIGURE OUTPUT "${check_folder}/all_headers.cpp" CONTENT "${host_includes}" @ONLY)
add_library(all_headers OBJECT EXCLUDE_FROM_ALL "${check_folder}/all_headers.cpp")
target_link_libraries(all_headers PRIVATE halfgrad::halfgrad)
target_compile_options(all_headers PRIVATE -Wshadow)
add_dependencies(header_check all_headers)
if(TARGET Eigen3::Eigen)
  target_link_libraries(header_check PRIVATE Eigen3::Eigen)
  target_link_libraries(all_headers PRIVATE Eigen3::Eigen)
endif()

# device_check(<target> <source>...): an object library of the sources' kernels alone, as PTX. Without
# the CPU's instances nvcc can report a device function that calls a host function as an error;
# otherwise it silently leaves that call out of the kernel.
function(device_check target)
  halfgrad_cuda_batches(sources "${check_folder}/${target}" ${ARGN})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target} PRIVATE halfgrad::halfgrad)
  target_compile_definitions(${target} PRIVATE HALFGRAD_DEVICE_ONLY)
  target_compile_options(${target} PRIVATE --diag-error=20011,20014)
  set_target_properties(${target} PROPERTIES CUDA_PTX_COMPILATION ON CUDA_ARCHITECTURES 80-virtual)
endfunction()

if(HALFGRAD_CUDA)
  file(CONFIGURE OUTPUT "${check_folder}/all_headers.cu" CONTENT "${includes}" @ONLY)
  add_library(cuda_headers OBJECT EXCLUDE_FROM_ALL "${check_folder}/all_headers.cu")
  target_link_libraries(cuda_headers PRIVATE halfgrad::halfgrad)
  get_property(kernels GLOBAL PROPERTY HALFGRAD_KERNELS)
  list(FILTER kernels EXCLUDE REGEX "/core/")
  device_check(cuda_functors ${kernels})
  target_compile_options(cuda_functors PRIVATE "${HALFGRAD_UNOPTIMISED_KERNELS}")
  set_target_properties(cuda_functors PROPERTIES CUDA_ARCHITECTURES 90-virtual)
  add_custom_target(cuda_check DEPENDS halfgrad_libraries cuda_headers cuda_functors)

  # A spill in a hand-written kernel is an error if ptxas runs (HalfgradLibrary.cmake). In a build
  # without ptxas this target checks those kernels and the ones that nvcc makes of functors.
  find_package(Python3 COMPONENTS Interpreter)
  if(Python3_FOUND AND CMAKE_CUDA_ARCHITECTURES MATCHES "^[0-9]+-virtual$" AND
     CMAKE_CUDA_FLAGS MATCHES "--no-compress")
    get_filename_component(cuda_folder "${CMAKE_CUDA_COMPILER}" DIRECTORY)
    find_program(HALFGRAD_PTXAS ptxas HINTS "${cuda_folder}" REQUIRED)
    set(libraries "")
    foreach(folder IN LISTS HALFGRAD_FOLDERS)
      get_target_property(type halfgrad_${folder} TYPE)
      if(NOT type STREQUAL "INTERFACE_LIBRARY")
        list(APPEND libraries "$<TARGET_FILE:halfgrad_${folder}>")
      endif()
    endforeach()
    add_custom_target(cuda_spills
                      COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tests/spills.py"
                              "${HALFGRAD_PTXAS}" sm_90 ${libraries}
                      VERBATIM)
    add_dependencies(cuda_spills halfgrad_libraries)
    add_dependencies(cuda_check cuda_spills)
  endif()

  # instruction_check(<source> <kernels> <instruction>...): see tests/instructions.cmake.
  function(instruction_check source kernels)
    cmake_path(GET source STEM name)
    device_check(ptx_${name} "${PROJECT_SOURCE_DIR}/${source}")
    list(JOIN ARGN "," instructions)
    add_custom_target(instructions_${name}
                      COMMAND "${CMAKE_COMMAND}" "-DPTX=$<TARGET_OBJECTS:ptx_${name}>"
                              "-DKERNELS=${kernels}" "-DINSTRUCTIONS=${instructions}"
                              -P "${PROJECT_SOURCE_DIR}/tests/instructions.cmake"
                      VERBATIM)
    add_dependencies(instructions_${name} ptx_${name})
    add_dependencies(cuda_check instructions_${name})
  endfunction()

  set(wide "(v4\\.[ubf]32|v2\\.[ubf]64|b128)")  # 128 bits at once
  set(wide_accesses "ld\\.global(\\.nc)?\\.${wide}" "st\\.global\\.wb\\.${wide}")
  instruction_check(autograd/ops/relu.cpp "map_packs" ${wide_accesses})
  # AdamUpdate, not BiasCorrectionUpdate, which writes single elements.
  instruction_check(optim/adam.cpp "update_tensors.*DenseView.*10AdamUpdate" ${wide_accesses})
  instruction_check(core/cuda/kernels/layer_norm.cu "normalize" ${wide_accesses})
  instruction_check(core/cuda/kernels/cross_entropy.cu "class_gradient" ${wide_accesses})
  instruction_check(core/cuda/kernels/gemm_small.cu "small_product" "mma\\.sync" "ldmatrix"
                    "cp\\.async\\.cg" "cp\\.async\\.ca")
  instruction_check(core/cuda/lessons/gemm_naive.cu "naive" "fma\\.rn\\.f32")
  instruction_check(core/cuda/lessons/gemm_tiled.cu "tiled" "ld\\.shared\\.v4\\.f32" "fma\\.rn\\.f32")
  instruction_check(core/cuda/lessons/gemm_tensor_core.cu "tensor_core" "mma\\.sync" "cp\\.async\\.cg")
endif()
