# Every labs/<name> of -DSOURCE_DIR has a change.patch that applies, and a README.md whose title stands in
# docs/labs.md, which lists nothing else. The patches are tried on copies in -DCOPIES by -DPATCH.
cmake_minimum_required(VERSION 3.24)

file(READ "${SOURCE_DIR}/docs/labs.md" index)
file(GLOB labs RELATIVE "${SOURCE_DIR}/labs" "${SOURCE_DIR}/labs/*")
foreach(lab IN LISTS labs)
  set(folder "${SOURCE_DIR}/labs/${lab}")
  file(STRINGS "${folder}/README.md" lines)
  list(GET lines 0 title)
  if(NOT title MATCHES "^# ${lab}: (.+)$")
    message(SEND_ERROR "labs/${lab}/README.md: expected the title '# ${lab}: what happens', got '${title}'")
  endif()
  string(FIND "${index}" "\n| [`${lab}`](../labs/${lab}/README.md) | ${CMAKE_MATCH_1} |\n" position)
  if(position EQUAL -1)
    message(SEND_ERROR "docs/labs.md: expected a row for ${lab} that says '${CMAKE_MATCH_1}', got none")
  endif()
  foreach(heading IN ITEMS "What the field shipped" "What happens" "What to think about")
    if(NOT "## ${heading}" IN_LIST lines)
      message(SEND_ERROR "labs/${lab}/README.md: expected a section '${heading}', got none")
    endif()
  endforeach()

  file(STRINGS "${folder}/change.patch" files REGEX "^[+][+][+] b/")
  list(TRANSFORM files REPLACE "^[+][+][+] b/" "")
  if(NOT files)
    message(SEND_ERROR "labs/${lab}/change.patch: expected the name of a source after +++ b/, got none")
  endif()
  list(JOIN files "," files)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DPATCH=${PATCH}" "-DCHANGE=${folder}/change.patch"
                          "-DSOURCE_DIR=${SOURCE_DIR}" "-DCOPIES=${COPIES}" "-DFILES=${files}"
                          -P "${CMAKE_CURRENT_LIST_DIR}/apply_lab.cmake"
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(SEND_ERROR "labs/${lab}: expected a patch that applies, got the error above")
  endif()
endforeach()

string(REGEX MATCHALL "labs/[a-z_]+/README.md" rows "${index}")
list(LENGTH rows rows)
list(LENGTH labs count)
if(NOT rows EQUAL count)
  message(SEND_ERROR "docs/labs.md: expected ${count} labs, got ${rows}")
endif()
