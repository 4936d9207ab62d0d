# halfgrad_library(<folder> [USES <folder>...])
#
# Makes the library of one folder from all its sources: target halfgrad_<folder>, with the alias
# halfgrad::<folder> for users. USES lists the folders that it may include; the layering test reads
# the same lists. A folder without sources becomes an INTERFACE library.
function(halfgrad_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  set(target halfgrad_${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  if(HALFGRAD_CUDA)
    file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cu")
    set(hopper_sources ${cuda_sources})
    list(FILTER hopper_sources INCLUDE REGEX "/sm_90a/")
    list(FILTER cuda_sources EXCLUDE REGEX "/sm_90a/")
    list(APPEND sources ${cuda_sources})
    # A hand-written kernel must keep its values in registers.
    set_source_files_properties(
      ${cuda_sources} ${hopper_sources} PROPERTIES COMPILE_OPTIONS
                                 "-Xptxas=--warn-on-spills,--warn-on-local-memory-usage")
  endif()

  if(sources)
    set(scope PUBLIC)
    add_library(${target} ${sources})
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION}
                          SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                          INSTALL_RPATH "$ORIGIN")  # finds the libraries that it uses
    add_dependencies(halfgrad_libraries ${target})
    if(hopper_sources)
      halfgrad_hopper_kernels(${target} ${hopper_sources})
    endif()
    if(folder STREQUAL "core")
      halfgrad_precompile(${target} halfgrad/core/engines/elementwise.h halfgrad/core/engines/reduce.h)
    else()
      target_precompile_headers(${target} REUSE_FROM halfgrad_core)
    endif()
  else()
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  add_library(halfgrad::${folder} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${folder})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
                             "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>")

  set(reachable ${folder} ${arg_USES})
  foreach(used IN LISTS arg_USES)
    target_link_libraries(${target} ${scope} halfgrad::${used})
    get_property(further GLOBAL PROPERTY HALFGRAD_REACHABLE_${used})
    list(APPEND reachable ${further})
  endforeach()
  list(REMOVE_DUPLICATES reachable)
  set_property(GLOBAL PROPERTY HALFGRAD_REACHABLE_${folder} "${reachable}")
endfunction()

# halfgrad_hopper_kernels(<target> <source>...): compiles kernels whose instructions only sm_90a has. They
# become machine code for it, or PTX where all architectures of the build do.
function(halfgrad_hopper_kernels target)
  add_library(${target}_sm_90a OBJECT ${ARGN})
  set(code sm_90a)
  if(NOT CMAKE_CUDA_ARCHITECTURES MATCHES "(^|;)([0-9]+a?(-real)?|native|all|all-major)(;|$)")
    set(code compute_90a)
  endif()
  set_target_properties(${target}_sm_90a PROPERTIES CUDA_ARCHITECTURES OFF)
  target_compile_features(${target}_sm_90a PRIVATE cxx_std_20)
  target_compile_options(${target}_sm_90a PRIVATE "-gencode=arch=compute_90a,code=${code}"
                                                  "$<TARGET_PROPERTY:${target},COMPILE_OPTIONS>")
  target_compile_definitions(${target}_sm_90a PRIVATE "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  target_include_directories(${target}_sm_90a PRIVATE "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_sm_90a>)
endfunction()

# halfgrad_link(<folder> <target>...): links libraries that only the folder's sources need, not its
# headers.
function(halfgrad_link folder)
  get_target_property(type halfgrad_${folder} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(halfgrad_${folder} PRIVATE ${ARGN})
  endif()
endfunction()

# halfgrad_kernels(<folder> <source>...): in a CUDA build nvcc compiles these sources of this directory
# and makes kernels of the functors in their engine headers. CMake before 3.31 has unity builds for
# C++ only, hence the batches. A debug build does not optimise these kernels, which takes nvcc a third
# of the time. tests/spills.py lists the kernels that spill.
set(HALFGRAD_UNOPTIMISED_KERNELS
    "$<$<VERSION_GREATER_EQUAL:$<CUDA_COMPILER_VERSION>,13>:-Ofc=max>")
set(HALFGRAD_KERNEL_OPTIONS "$<$<CONFIG:Debug>:${HALFGRAD_UNOPTIMISED_KERNELS}>")
function(halfgrad_kernels folder)
  if(HALFGRAD_CUDA)
    list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE kernels)
    set_property(GLOBAL APPEND PROPERTY HALFGRAD_KERNELS ${kernels})
    if(CMAKE_UNITY_BUILD)
      set_source_files_properties(${kernels} PROPERTIES HEADER_FILE_ONLY ON)
      halfgrad_cuda_batches(batches "${CMAKE_CURRENT_BINARY_DIR}/kernels" ${kernels})
      target_sources(halfgrad_${folder} PRIVATE ${batches})
    else()
      set(batches ${kernels})
    endif()
    set_source_files_properties(${batches} PROPERTIES LANGUAGE CUDA
                                COMPILE_OPTIONS "${HALFGRAD_KERNEL_OPTIONS}")
  endif()
endfunction()

# halfgrad_cuda_batches(<variable> <prefix> <source>...): writes <prefix>_0.cu and so on, which include
# four of the sources each, and lists them in the variable.
function(halfgrad_cuda_batches variable prefix)
  set(batches "")
  while(ARGN)
    list(SUBLIST ARGN 0 4 batch)
    list(REMOVE_ITEM ARGN ${batch})
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
    list(LENGTH batches number)
    string(CONCAT text ${includes})
    file(CONFIGURE OUTPUT "${prefix}_${number}.cu" CONTENT "${text}" @ONLY)
    list(APPEND batches "${prefix}_${number}.cu")
  endwhile()
  set(${variable} ${batches} PARENT_SCOPE)
endfunction()

# halfgrad_optimise_always(<source>...): optimises these sources of this directory in debug builds too.
# They use no precompiled headers: clang refuses those of another optimisation level.
function(halfgrad_optimise_always)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS "$<$<CONFIG:Debug>:-O2>")
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
endfunction()
