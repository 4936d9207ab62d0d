# How everything of ours is compiled. The options are those of this directory and below, so a project
# that adds halfgrad as a subdirectory keeps its own.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_COMPILE_WARNING_AS_ERROR ${HALFGRAD_WERROR})
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

set(warnings -Wall -Wextra)
# g++ 12 sees overlapping and endless copies in its own std::string (GCC bugs 105329, 105651); which,
# depends on the processor and on how headers reach it. What else it concludes from optimised code is
# told, and no error.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND warnings -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  foreach(concluded IN ITEMS maybe-uninitialized dangling-pointer use-after-free nonnull)
    list(APPEND warnings -Wno-error=${concluded})
  endforeach()
endif()
# -Wconversion is left out where nvcc calls the compiler, which it hands rewritten code.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${warnings};-Wconversion;-Wno-sign-conversion>")
list(JOIN warnings "," warnings_of_host)
add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${warnings_of_host}>")

# Nobody reads errno after exp or installs floating-point traps. Neither option changes a result, and
# both let loops vectorise. -ffast-math would change results, and never appears here.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno;-fno-trapping-math>")

# For programs that leave the work to the libraries: optimising their own lines takes longer than
# running them.
set(HALFGRAD_RUNS_ONCE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>")

# halfgrad_precompile(<target> <header>...): its C++ sources start from headers read once. ccache cannot
# see into those, and saves more; and in a CUDA build engine headers are for nvcc alone.
if(CMAKE_CXX_COMPILER_LAUNCHER OR HALFGRAD_CUDA)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
function(halfgrad_precompile target)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

if(HALFGRAD_SANITIZE)
  set(sanitize "-fsanitize=${HALFGRAD_SANITIZE}" -fno-sanitize-recover=all)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${sanitize};-fno-omit-frame-pointer>")
  add_link_options(${sanitize})
endif()

# Options that users of the headers must share, since inline SIMD code depends on them: a pack is
# passed in a register where the machine has a wide one, in memory elsewhere, and a function compiled
# both ways would break the one-definition rule. They travel with halfgrad::core, also when installed.
# GCC's -Wpsabi reports just that choice.
set(HALFGRAD_ABI_OPTIONS -Wno-psabi)
if(HALFGRAD_NATIVE)
  list(APPEND HALFGRAD_ABI_OPTIONS -march=native)
endif()
