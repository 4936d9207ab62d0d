# Copies -DFILES=amp/a.cpp,... from -DSOURCE_DIR to -DCOPIES and changes the copies with -DPATCH, a
# command, and -DCHANGE, a file. Fails unless every line of context is as the patch has it.
cmake_minimum_required(VERSION 3.24)

string(REPLACE "," ";" FILES "${FILES}")
file(REMOVE_RECURSE "${COPIES}")
foreach(file IN LISTS FILES)
  cmake_path(GET file PARENT_PATH folder)
  file(COPY "${SOURCE_DIR}/${file}" DESTINATION "${COPIES}/${folder}")
endforeach()
execute_process(COMMAND "${PATCH}" --strip=1 --fuzz=0 --batch --directory=${COPIES} --input=${CHANGE}
                RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${CHANGE}: expected a patch that applies to the present sources, got\n${text}")
endif()
foreach(file IN LISTS FILES)
  file(TOUCH "${COPIES}/${file}")
endforeach()
