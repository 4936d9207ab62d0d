# Tests the messages of the scripts in -DTOOLS=tools on machines that lack something. Such a machine is a
# folder of commands: links to the real commands that the scripts call, and fakes that report what a test
# case needs.
cmake_minimum_required(VERSION 3.24)

set(folder "${CMAKE_CURRENT_BINARY_DIR}/install_deps machine/bin")
set(script install_deps)

function(fake name)
  list(JOIN ARGN "\n" lines)
  file(WRITE "${folder}/${name}" "#!/bin/sh\n${lines}\n")
  file(CHMOD "${folder}/${name}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# fake_compiler(<first line of --version> <version> <missing headers, with | between them>)
function(fake_compiler line version headers)
  fake(c++ "if [ $1 = --version ]\nthen echo '${line}'"
       "elif [ $1 = -dumpversion ]\nthen echo ${version}" "else ! grep -qE '<(${headers}|/)>'\nfi")
endfunction()

# make_machine(<g++'s version> <CMake's version> <user id> [<missing header>...])
function(make_machine compiler cmake user)
  file(REMOVE_RECURSE "${folder}")
  foreach(command IN ITEMS bash dirname env grep head sed sh sort)
    find_program(real_${command} ${command} REQUIRED)
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "${real_${command}}" "${folder}/${command}" SYMBOLIC)
  endforeach()
  list(JOIN ARGN "|" headers)
  fake_compiler("c++ (fake) ${compiler}" ${compiler} "${headers}")
  fake(cmake "echo 'cmake version ${cmake}'")
  fake(ninja "true")
  fake(patch "true")
  fake(id "echo ${user}")
endfunction()

# check(<status> <part of what it says>... [NOT <part>...] [ARGUMENTS <argument>...])
function(check status)
  cmake_parse_arguments(arg "" "" "SAYS;NOT;ARGUMENTS" ${ARGN})
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env --unset=CXX "PATH=${folder}" "${folder}/bash"
                          "${TOOLS}/${script}" ${arg_ARGUMENTS}
                  INPUT_FILE /dev/null RESULT_VARIABLE got OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT got STREQUAL status)
    message(SEND_ERROR "${script}: expected status ${status}, got ${got} and\n${text}")
  endif()
  foreach(part IN LISTS arg_SAYS)
    string(FIND "${text}" "${part}" position)
    if(position EQUAL -1)
      message(SEND_ERROR "${script}: expected \"${part}\" in\n${text}")
    endif()
  endforeach()
  foreach(part IN LISTS arg_NOT)
    string(FIND "${text}" "${part}" position)
    if(NOT position EQUAL -1)
      message(SEND_ERROR "${script}: expected no \"${part}\" in\n${text}")
    endif()
  endforeach()
endfunction()

# Nothing is missing: prints nothing, and installs nothing.
make_machine(12 3.25.1 1000)
check(0 NOT halfgrad)

# The demo needs fewer packages.
make_machine(12 3.25.1 1000 gtest/gtest.h benchmark/benchmark.h)
check(0 ARGUMENTS --demo NOT halfgrad)
check(1 ARGUMENTS --check SAYS "libgtest-dev libbenchmark-dev" NOT libfmt-dev)

# MPI is not needed to build and test, but for packages and CI.
check(1 ARGUMENTS --check --package SAYS "dpkg-dev file libopenmpi-dev openmpi-bin" NOT clang)
check(1 ARGUMENTS --check NOT libopenmpi-dev)

# A user without root and sudo, and a sudo that asks for a password.
fake(apt-get "echo called")
check(1 SAYS "not root, and there is no sudo" "apt-get install libgtest-dev libbenchmark-dev"
      NOT called)
fake(sudo "exit 1")
check(1 SAYS "sudo asks for a password" "apt-get install libgtest-dev" NOT called)
file(REMOVE "${folder}/apt-get")
check(1 SAYS "there is no apt-get")

# Versions that are too old: apt-get has nothing newer, or may not be used.
make_machine(12 3.22.1 0)
fake(apt-get "echo called \"$@\" >&2")
check(1 SAYS "found CMake 3.22.1, need 3.24 or newer" "called -qq" "pip install cmake")
make_machine(11 3.25.1 1000)
check(1 ARGUMENTS --demo SAYS "found g++ 11 (c++), need 12 or newer" "CXX=g++-12" NOT CMake)
make_machine(9.4.0 3.9 1000)
check(1 ARGUMENTS --check SAYS "found g++ 9.4.0" "found CMake 3.9,")
make_machine(14 4.0.0 1000)
check(0 NOT halfgrad)
fake_compiler("clang version 13.0.1" 13.0.1 "")
check(1 ARGUMENTS --check SAYS "found clang 13.0.1 (c++), need 14 or newer")

# Root installs what is missing, and nothing else.
make_machine(12 3.25.1 0 zlib.h)
fake(apt-get "echo called \"$@\" >&2")
check(0 SAYS "halfgrad: installing zlib1g-dev" "--no-install-recommends zlib1g-dev")

# The demo leaves out the tests only if their packages are missing.
set(project "${CMAKE_CURRENT_BINARY_DIR}/install_deps machine/project")
file(COPY "${TOOLS}/bare-machine" "${TOOLS}/demo" "${TOOLS}/install_deps" DESTINATION "${project}/tools")
set(folder_of_commands "${folder}")
set(folder "${project}/build/cpu/bin")
fake(mnist_mlp "echo ran \"$@\"")
set(folder "${folder_of_commands}")
set(TOOLS "${project}/tools")
set(script demo)
make_machine(12 3.25.1 1000)
fake(nproc "echo 2")
fake(cmake "if [ $1 = --version ]\nthen echo 'cmake version 3.25.1'\nelse echo called \"$@\"\nfi")
check(0 ARGUMENTS --steps 1 SAYS "called --preset cpu" "called --build --preset cpu" "ran --report"
      "build/report.html --steps 1")
check(0 ARGUMENTS --report own.html SAYS "ran --report own.html" NOT build/report.html)
fake_compiler("c++ (fake) 12" 12 "gtest/gtest.h")
check(0 SAYS "called --preset demo" "called --build --preset demo" "ran")
fake_compiler("c++ (fake) 12" 12 "zlib.h")
check(1 SAYS "there is no apt-get" "apt-get install zlib1g-dev" NOT called ran)

# Only root may make chroots.
set(script bare-machine)
check(2 ARGUMENTS trixie SAYS "expected root")
check(2 SAYS "tools/bare-machine [--compile | --demo | --make-packages FOLDER | --packages FOLDER] SUITE")
check(0 ARGUMENTS --help SAYS "tools/bare-machine [--compile | --demo | --make-packages FOLDER | --packages FOLDER] SUITE")

file(REMOVE_RECURSE "${CMAKE_CURRENT_BINARY_DIR}/install_deps machine")
