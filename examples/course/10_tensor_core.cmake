# bin/course_10_cuda: the chapter's kernels, for halfgrad-emulate. It needs nvcc, but no GPU.
target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
include(emulated_program.cmake)
add_emulated_program(course_10_cuda 10_tensor_core/ladder.cu ${target}
                     "${CMAKE_CURRENT_SOURCE_DIR}/10_tensor_core/kernels.cuh")
