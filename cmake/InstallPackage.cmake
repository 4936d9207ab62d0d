# For cmake --install: headers, libraries, licence, and the package that find_package(halfgrad) reads.
# Component dev has what a program needs to be built, dist the folder dist, tools the programs, python
# the Python package.

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/halfgrad")

# halfgrad_install(<component> <targets file> <folder>...): installs folders, and a file with their targets.
function(halfgrad_install component file)
  set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME ${component})
  list(TRANSFORM ARGN PREPEND halfgrad_ OUTPUT_VARIABLE targets)
  if(component STREQUAL "dev")
    list(APPEND targets halfgrad)
  endif()
  install(TARGETS ${targets} EXPORT ${file}
          INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(EXPORT ${file} NAMESPACE halfgrad:: DESTINATION "${package_folder}")
  foreach(folder IN LISTS ARGN)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/halfgrad"
            FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
  endforeach()
endfunction()

set(folders ${HALFGRAD_FOLDERS})
list(REMOVE_ITEM folders dist)
halfgrad_install(dev halfgrad-targets ${folders})
if(TARGET halfgrad_dist)
  halfgrad_install(dist halfgrad-dist-targets dist)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/halfgrad.h" "${PROJECT_SOURCE_DIR}/eigen.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/halfgrad")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Two packages may not own one file, so each has the licence in a folder of its own.
foreach(component IN ITEMS dist tools python)
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}-${component}"
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/halfgrad-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/halfgrad-config.cmake"
                              INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/halfgrad-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/halfgrad-config.cmake"
              "${PROJECT_BINARY_DIR}/halfgrad-config-version.cmake"
        DESTINATION "${package_folder}")
include(PkgConfigFile)
