# Finds NCCL for dist, and sets HALFGRAD_HAS_NCCL. It has no CMake package of its own.

set(HALFGRAD_HAS_NCCL OFF)
if(HALFGRAD_DIST AND HALFGRAD_CUDA AND HALFGRAD_NCCL)
  find_path(HALFGRAD_NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  find_library(HALFGRAD_NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR})
  mark_as_advanced(HALFGRAD_NCCL_INCLUDE_DIR HALFGRAD_NCCL_LIBRARY)
  if(HALFGRAD_NCCL_INCLUDE_DIR AND HALFGRAD_NCCL_LIBRARY)
    set(HALFGRAD_HAS_NCCL ON)
    add_library(halfgrad::nccl UNKNOWN IMPORTED GLOBAL)
    set_target_properties(
      halfgrad::nccl PROPERTIES IMPORTED_LOCATION "${HALFGRAD_NCCL_LIBRARY}"
                                INTERFACE_INCLUDE_DIRECTORIES "${HALFGRAD_NCCL_INCLUDE_DIR}")
  elseif(NOT HALFGRAD_NCCL STREQUAL "AUTO")
    message(FATAL_ERROR "halfgrad: HALFGRAD_NCCL is ON, but nccl.h or libnccl was not found; install "
                        "libnccl-dev, or set HALFGRAD_NCCL_INCLUDE_DIR and HALFGRAD_NCCL_LIBRARY")
  endif()
endif()
# A static library leaves the link with NCCL to the programs that use it.
set(HALFGRAD_PACKAGE_NEEDS_NCCL OFF)
if(HALFGRAD_HAS_NCCL AND NOT BUILD_SHARED_LIBS)
  set(HALFGRAD_PACKAGE_NEEDS_NCCL ON)
endif()
if(HALFGRAD_CUDA AND NOT HALFGRAD_HAS_NCCL)
  message(STATUS "halfgrad: without NCCL, so GPUs communicate through the host")
endif()
