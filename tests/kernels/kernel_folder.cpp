#include <halfgrad/tests/kernels/kernel_folder.h>

namespace halfgrad::tests {

std::filesystem::path kernel_folder() { return HALFGRAD_KERNEL_FOLDER; }

}  // namespace halfgrad::tests
