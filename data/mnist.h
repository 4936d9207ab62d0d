#pragma once

#include <filesystem>

#include <halfgrad/data/digit_images.h>

namespace halfgrad::data {

enum class Split { train, test };

/// Reads MNIST, or a set in its format with 10 classes (Fashion-MNIST, KMNIST), from the four
/// files' folder: train-images-idx3-ubyte and train-labels-idx1-ubyte, for `test` t10k-... instead.
/// They may be written ...-images.idx3-ubyte, and either may end in .gz. Throws runtime_error where
/// a file is missing or broken, where images are not [count, 28, 28] and labels [count] bytes,
/// where the counts differ, and for a label above 9.
DigitImages load_mnist(const std::filesystem::path& folder, Split split);

}  // namespace halfgrad::data
