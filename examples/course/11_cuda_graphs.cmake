# bin/course_11_cuda: the chapter's step in CUDA, for halfgrad-emulate. It needs nvcc, but no GPU.
target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
include(emulated_program.cmake)
add_emulated_program(course_11_cuda 11_cuda_graphs/steps.cu ${target})
target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
