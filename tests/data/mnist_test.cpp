#include <halfgrad/data/mnist.h>

#include <cstdlib>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>
#include <halfgrad/data/idx.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::data {
namespace {

namespace fs = std::filesystem;

constexpr auto kImages = "train-images-idx3-ubyte";
constexpr auto kLabels = "train-labels-idx1-ubyte";

class Mnist : public ::testing::Test {
 protected:
  void SetUp() override {
    write(kImages, {2, 28, 28});
    write(kLabels, {2}, 9);
  }

  void write(const std::string& name, const std::vector<std::int64_t>& dims, int value = 0) {
    const auto size =
        std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    write_idx(folder_ / name,
              {DType::u8, dims, std::vector<std::byte>(size, static_cast<std::byte>(value))});
  }
  std::string error() const {
    return message_of<std::runtime_error>([&] { load_mnist(folder_, Split::train); });
  }

  const tests::Folder temporary_;
  const fs::path folder_ = temporary_ / "";
};

TEST_F(Mnist, LoadsImagesAndLabels) {
  const DigitImages digits = load_mnist(folder_, Split::train);
  EXPECT_EQ(digits.pixels, std::vector<std::uint8_t>(2 * 28 * 28));
  EXPECT_EQ(digits.labels, (std::vector<std::int64_t>{9, 9}));
}

TEST_F(Mnist, FindsEverySpellingOfTheNames) {
  for (const char* ending : {"-idx3-ubyte", ".idx3-ubyte", "-idx3-ubyte.gz", ".idx3-ubyte.gz"}) {
    SetUp();
    fs::rename(folder_ / kImages, folder_ / (std::string("train-images") + ending));
    EXPECT_EQ(error(), "no error") << ending;
  }
}

TEST_F(Mnist, SkipsFoldersOfTheSameName) {
  fs::rename(folder_ / kImages, folder_ / "train-images.idx3-ubyte");
  fs::create_directory(folder_ / kImages);
  EXPECT_EQ(error(), "no error");
}

TEST_F(Mnist, RefusesWrongShapesAndLabels) {
  const struct {
    const char* file;
    std::vector<std::int64_t> dims;
    int value;
    const char* message;
  } cases[] = {
      {kImages, {2, 28, 27}, 0, "expected uint8 [count, 28, 28], got uint8 [2, 28, 27] in"},
      {kImages, {2, 784}, 0, "expected uint8 [count, 28, 28], got uint8 [2, 784] in"},
      {kLabels, {3}, 0, "expected uint8 [2], a label for each image, got uint8 [3] in"},
      {kLabels, {2, 1}, 0, "expected uint8 [2], a label for each image, got uint8 [2, 1] in"},
      {kLabels, {2}, 10, "expected labels 0 to 9, got 10 for image 0 in"},
  };
  for (const auto& c : cases) {
    SetUp();
    write(c.file, c.dims, c.value);
    EXPECT_NE(error().find(c.message), std::string::npos) << error();
    EXPECT_NE(error().find(c.file), std::string::npos) << error();
  }
}

TEST_F(Mnist, NamesTheFilesThatItTried) {
  fs::remove(folder_ / kLabels);
  EXPECT_EQ(error(),
            "load_mnist: expected train-labels-idx1-ubyte or .idx1-ubyte, plain or .gz, got "
            "neither in " +
                folder_.string());
  EXPECT_THROW(load_mnist(folder_, Split::test), std::runtime_error);
}

TEST(RealMnist, TestSetHasItsKnownContents) {
  const char* data = std::getenv("HALFGRAD_DATA");
  if (!data) GTEST_SKIP() << "set HALFGRAD_DATA to the folder that holds mnist/";
  const DigitImages digits = load_mnist(fs::path(data) / "mnist", Split::test);
  ASSERT_EQ(digits.labels.size(), 10000u);
  ASSERT_EQ(digits.pixels.size(), 7840000u);
  EXPECT_EQ(std::vector<std::int64_t>(digits.labels.begin(), digits.labels.begin() + 5),
            (std::vector<std::int64_t>{7, 2, 1, 0, 4}));
  std::vector<std::int64_t> counts(10);
  for (std::int64_t label : digits.labels) ++counts[label];
  EXPECT_EQ(counts,
            (std::vector<std::int64_t>{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}));
  const double sum = std::accumulate(digits.pixels.begin(), digits.pixels.end(), 0.0);
  EXPECT_NEAR(sum / 7840000 / 255, 0.1325, 0.00005);  // the published mean, which has four digits
}

}  // namespace
}  // namespace halfgrad::data
