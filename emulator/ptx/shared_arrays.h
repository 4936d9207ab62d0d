#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include <halfgrad/emulator/ptx/function.h>

namespace halfgrad::emulator {

/// Finds for each load, store and atomic of shared memory the array that its address is computed
/// from, where there is only one: Function::array_of. Follows moves, sums and selections of
/// addresses through the registers. `array_named` returns nothing for a name of another memory.
void find_shared_arrays(
    Function& function,
    const std::function<std::optional<SharedArray>(std::string_view)>& array_named);

}  // namespace halfgrad::emulator
