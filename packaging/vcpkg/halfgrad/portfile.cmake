# An overlay port, which builds the repository that it lies in:
#   vcpkg install halfgrad --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(
  OUT_FEATURE_OPTIONS feature_options
  FEATURES
    data HALFGRAD_DATA
    io HALFGRAD_IO
    dist HALFGRAD_DIST
    mpi HALFGRAD_MPI
    testing HALFGRAD_TESTING
)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${feature_options}
    -DHALFGRAD_NATIVE=OFF
    -DHALFGRAD_TESTS=OFF
    -DHALFGRAD_EXAMPLES=OFF
    -DHALFGRAD_TOOLS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/halfgrad)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
