# For cmake --install: headers, libraries, licence, and the package that find_package(halfgrad) reads.
# Component dev has what a program needs to be built, tools the programs, python the Python package.

include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

list(TRANSFORM HALFGRAD_FOLDERS PREPEND halfgrad_ OUTPUT_VARIABLE library_targets)
install(TARGETS halfgrad ${library_targets} EXPORT halfgrad-targets
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

foreach(folder IN LISTS HALFGRAD_FOLDERS)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/halfgrad"
          FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/halfgrad.h" "${PROJECT_SOURCE_DIR}/eigen.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/halfgrad")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# Two packages may not own one file, so each has the licence in a folder of its own.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}-tools"
        COMPONENT tools EXCLUDE_FROM_ALL)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/halfgrad")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/halfgrad-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/halfgrad-config.cmake"
                              INSTALL_DESTINATION "${package_folder}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/halfgrad-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/halfgrad-config.cmake"
              "${PROJECT_BINARY_DIR}/halfgrad-config-version.cmake"
        DESTINATION "${package_folder}")
install(EXPORT halfgrad-targets NAMESPACE halfgrad:: DESTINATION "${package_folder}")
include(PkgConfigFile)
