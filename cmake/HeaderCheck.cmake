# Every public header compiles alone: one generated file each, in targets that only CI builds.
#   header_check       as C++
#   header_check_cuda  all headers in one file, as CUDA

set(public_headers halfgrad.h)
foreach(folder IN LISTS HALFGRAD_FOLDERS)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/${folder}/*.h")
  list(APPEND public_headers ${headers})
endforeach()
if(NOT EXISTS "${PROJECT_SOURCE_DIR}/halfgrad.h")
  list(REMOVE_ITEM public_headers halfgrad.h)
endif()
if(NOT public_headers)
  return()
endif()

set(check_folder "${PROJECT_BINARY_DIR}/header_check")
set(includes "")
set(check_sources "")
foreach(header IN LISTS public_headers)
  string(MAKE_C_IDENTIFIER "${header}" name)
  set(include "#include <halfgrad/${header}>\n")
  file(CONFIGURE OUTPUT "${check_folder}/${name}.cpp" CONTENT "${include}" @ONLY)
  list(APPEND check_sources "${check_folder}/${name}.cpp")
  string(APPEND includes "${include}")
endforeach()

add_library(header_check OBJECT EXCLUDE_FROM_ALL ${check_sources})
target_link_libraries(header_check PRIVATE halfgrad::halfgrad)

if(HALFGRAD_CUDA)
  file(CONFIGURE OUTPUT "${check_folder}/all_headers.cu" CONTENT "${includes}" @ONLY)
  add_library(header_check_cuda OBJECT EXCLUDE_FROM_ALL "${check_folder}/all_headers.cu")
  target_link_libraries(header_check_cuda PRIVATE halfgrad::halfgrad)
endif()
