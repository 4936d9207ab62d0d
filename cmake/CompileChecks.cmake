# Targets that only CI builds, from generated files that do nothing but include:
#   header_check  every public header compiles alone; those in core/cuda/ are nvcc's
#   cuda_check    nvcc compiles all public headers, and each operation's source

set(public_headers halfgrad.h)
foreach(folder IN LISTS HALFGRAD_FOLDERS)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/${folder}/*.h")
  list(APPEND public_headers ${headers})
endforeach()

set(check_folder "${PROJECT_BINARY_DIR}/header_check")
# The CPU's matrix kernel: nvcc's front end loses the indices of its vector shuffles.
set(host_only core/gemm_kernel.h core/gemm_operand.h core/gemm_blas.h)
set(includes "")
set(check_sources "")
foreach(header IN LISTS public_headers)
  string(MAKE_C_IDENTIFIER "${header}" name)
  set(include "#include <halfgrad/${header}>\n")
  if(NOT header MATCHES "^core/cuda/")
    file(CONFIGURE OUTPUT "${check_folder}/${name}.cpp" CONTENT "${include}" @ONLY)
    list(APPEND check_sources "${check_folder}/${name}.cpp")
  endif()
  if(NOT header IN_LIST host_only)
    string(APPEND includes "${include}")
  endif()
endforeach()

add_library(header_check OBJECT EXCLUDE_FROM_ALL ${check_sources})
target_link_libraries(header_check PRIVATE halfgrad::halfgrad)

if(HALFGRAD_CUDA)
  file(CONFIGURE OUTPUT "${check_folder}/all_headers.cu" CONTENT "${includes}" @ONLY)
  set(check_sources "${check_folder}/all_headers.cu")
  file(GLOB operations CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/autograd/ops/*.cpp")
  foreach(operation IN LISTS operations)
    cmake_path(GET operation STEM name)
    file(CONFIGURE OUTPUT "${check_folder}/${name}.cu" CONTENT "#include \"${operation}\"\n" @ONLY)
    list(APPEND check_sources "${check_folder}/${name}.cu")
  endforeach()
  add_library(cuda_check OBJECT EXCLUDE_FROM_ALL ${check_sources})
  target_link_libraries(cuda_check PRIVATE halfgrad::halfgrad)
endif()
