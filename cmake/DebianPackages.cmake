# Debian packages, which tools/package makes by cpack: libhalfgrad-dev, halfgrad-tools, and
# libhalfgrad-dist-dev, which alone needs MPI; in a build with HALFGRAD_PYTHON python3-halfgrad alone,
# because it hides the symbols of the libraries.
# A build for this machine's processor (HALFGRAD_NATIVE) would crash on others, so cpack finds no
# configuration there.
if(HALFGRAD_NATIVE)
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "halfgrad's authors <nobody@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

if(HALFGRAD_PYTHON)
  set(CPACK_COMPONENTS_ALL python)
else()
  set(CPACK_COMPONENTS_ALL dev)
  if(HALFGRAD_DIST)
    list(APPEND CPACK_COMPONENTS_ALL dist)
  endif()
  if(HALFGRAD_TOOLS)
    list(APPEND CPACK_COMPONENTS_ALL tools)
  endif()
endif()

set(CPACK_COMPONENT_DEV_DESCRIPTION
    "Libraries, headers, and files for CMake and pkg-config.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libhalfgrad-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libc6-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "cmake, libeigen3-dev, pkgconf")
if(HALFGRAD_GEMM STREQUAL "blas")
  string(APPEND CPACK_DEBIAN_DEV_PACKAGE_DEPENDS ", libblas-dev")
endif()

# A static library: the programs that link it depend on MPI's shared library, this package on its headers.
set(CPACK_COMPONENT_DIST_DESCRIPTION "Data parallel training over MPI: the folder dist.")
set(CPACK_DEBIAN_DIST_PACKAGE_NAME libhalfgrad-dist-dev)
set(CPACK_DEBIAN_DIST_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DIST_PACKAGE_DEPENDS "libhalfgrad-dev (= ${PROJECT_VERSION})")
if(HALFGRAD_HAS_MPI AND MPI_CXX_LIBRARIES MATCHES "mpich")
  string(APPEND CPACK_DEBIAN_DIST_PACKAGE_DEPENDS ", libmpich-dev")
  set(CPACK_DEBIAN_DIST_PACKAGE_RECOMMENDS mpich)
elseif(HALFGRAD_HAS_MPI)
  string(APPEND CPACK_DEBIAN_DIST_PACKAGE_DEPENDS ", libopenmpi-dev")
  set(CPACK_DEBIAN_DIST_PACKAGE_RECOMMENDS openmpi-bin)
endif()

set(CPACK_COMPONENT_TOOLS_DESCRIPTION
    "Programs of halfgrad: halfgrad-check judges a kernel, halfgrad-number shows how formats round.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME halfgrad-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION math)

if(HALFGRAD_PYTHON)
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The package halfgrad for Python.")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-halfgrad)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
  set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst"
                                                "${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm")
  # Without the stable ABI, which Python has from 3.12 on, a module fits one version of Python only.
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
  math(EXPR next "${Python_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${next}), python3-numpy")
endif()
include(CPack)
