#pragma once

#include <filesystem>

#include <halfgrad/data/digit_images.h>
#include <halfgrad/files/read_options.h>

namespace halfgrad::data {

enum class Split { train, test };

/// Reads MNIST, or a data set of 10 classes in its format (Fashion-MNIST, KMNIST), from the folder
/// of its files. `Split::train` reads train-images-idx3-ubyte and train-labels-idx1-ubyte,
/// `Split::test` the files that begin with t10k-. The spelling ...-images.idx3-ubyte and the ending
/// .gz are accepted, too. Throws std::runtime_error if a file is missing or broken, if images are
/// not `[count, 28, 28]` bytes and labels `[count]` bytes, for a label above 9, and for gzipped
/// files that unpack to more than options.max_unpacked_bytes.
DigitImages load_mnist(const std::filesystem::path& folder, Split split,
                       const files::ReadOptions& options = {});

}  // namespace halfgrad::data
