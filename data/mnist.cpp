#include <halfgrad/data/mnist.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include <halfgrad/core/fail.h>
#include <halfgrad/data/idx.h>

namespace halfgrad::data {
namespace {

/// Finds the file for what = "images" and ndim = 3: train-images-idx3-ubyte or one of its other
/// spellings. Skips folders of that name, which some archives of the data set unpack to.
std::filesystem::path find(const std::filesystem::path& folder, Split split,
                           const std::string& what, int ndim) {
  const std::string stem = (split == Split::train ? "train-" : "t10k-") + what;
  const std::string ending = "idx" + std::to_string(ndim) + "-ubyte";
  for (const char* separator : {"-", "."})
    for (const char* packed : {"", ".gz"}) {
      const auto path = folder / (stem + separator + ending + packed);
      if (std::filesystem::exists(path) && !std::filesystem::is_directory(path)) return path;
    }
  if (!std::filesystem::is_directory(folder))
    halfgrad::detail::fail<std::runtime_error>(
        "load_mnist", "expected a folder, got no such folder: {}", folder.string());
  halfgrad::detail::fail<std::runtime_error>(
      "load_mnist", "expected {}-{} or .{}, plain or .gz, got neither in {}", stem, ending, ending,
      folder.string());
}

std::string text(const IdxFile& file) {
  std::string dims;
  for (std::int64_t dim : file.dims) dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
  return std::string(name(file.dtype)) + " [" + dims + "]";
}

}  // namespace

DigitImages load_mnist(const std::filesystem::path& folder, Split split,
                       const files::ReadOptions& options) {
  const auto images_path = find(folder, split, "images", 3);
  const auto labels_path = find(folder, split, "labels", 1);
  const IdxFile images = read_idx(images_path, options), labels = read_idx(labels_path, options);
  constexpr std::int64_t side = DigitImages::kSide;
  const bool are_images = images.dtype == DType::u8 && images.dims.size() == 3 &&
                          images.dims[1] == side && images.dims[2] == side;
  if (!are_images)
    halfgrad::detail::fail<std::runtime_error>("load_mnist",
                                               "expected uint8 [count, 28, 28], got {} in {}",
                                               text(images), images_path.string());
  if (labels.dtype != DType::u8 || labels.dims != std::vector<std::int64_t>{images.dims[0]})
    halfgrad::detail::fail<std::runtime_error>(
        "load_mnist", "expected uint8 [{}], a label for each image, got {} in {}", images.dims[0],
        text(labels), labels_path.string());
  DigitImages digits;
  digits.pixels.resize(images.data.size());
  std::memcpy(digits.pixels.data(), images.data.data(), images.data.size());
  for (std::byte label : labels.data) {
    if (label > std::byte{9})
      halfgrad::detail::fail<std::runtime_error>(
          "load_mnist", "expected labels 0 to 9, got {} for image {} in {}",
          std::to_integer<int>(label), digits.labels.size(), labels_path.string());
    digits.labels.push_back(std::to_integer<std::int64_t>(label));
  }
  return digits;
}

}  // namespace halfgrad::data
