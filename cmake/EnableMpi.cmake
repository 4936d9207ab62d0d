# Finds MPI for dist, and sets HALFGRAD_HAS_MPI.

set(HALFGRAD_HAS_MPI OFF)
set(MPI_CXX_SKIP_MPICXX ON)  # the C API suffices
if(HALFGRAD_DIST AND HALFGRAD_MPI)
  if(NOT HALFGRAD_MPI STREQUAL "AUTO")
    find_package(MPI REQUIRED COMPONENTS CXX)
  elseif(NOT HALFGRAD_PYTHON)  # a wheel would not work on a machine without MPI
    find_package(MPI QUIET COMPONENTS CXX)
  endif()
  set(HALFGRAD_HAS_MPI ${MPI_CXX_FOUND})
endif()
# A static library leaves the link with MPI to the programs that use it.
set(HALFGRAD_PACKAGE_NEEDS_MPI OFF)
if(HALFGRAD_HAS_MPI AND NOT BUILD_SHARED_LIBS)
  set(HALFGRAD_PACKAGE_NEEDS_MPI ON)
endif()
if(NOT HALFGRAD_HAS_MPI)
  message(STATUS "halfgrad: without MPI, so programs run on one rank")
endif()
