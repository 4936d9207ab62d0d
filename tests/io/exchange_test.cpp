// Reads files that tests/expected/formats.py made with NumPy and the safetensors package bit for
// bit, and writes them again byte for byte.
#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>

#include "../folder.h"

namespace halfgrad::io {
namespace {

using namespace tests;

std::filesystem::path fixture(const std::string& name) {
  return std::filesystem::path(HALFGRAD_SOURCE_DIR) / "tests/expected/formats" / name;
}

template <class T>
Tensor from_bits(DType dtype, const std::vector<T>& bits, const Shape& sizes = {2, 3}) {
  const Array array = Array::empty(sizes, dtype);
  std::memcpy(array.data(), bits.data(), bits.size() * sizeof(T));
  return Tensor(array);
}

/// Each tensor of floats: 0, -1, the smallest subnormal, the largest finite value, infinity, a NaN.
TensorMap arrays() {
  return {
      {"f64", from_bits<std::uint64_t>(kDouble, {0, 0xBFF0000000000000, 1, 0x7FEFFFFFFFFFFFFF,
                                                 0x7FF0000000000000, 0x7FF4000000001234})},
      {"f32",
       from_bits<std::uint32_t>(kFloat, {0, 0xBF800000, 1, 0x7F7FFFFF, 0x7F800000, 0x7FA01234})},
      {"f16", from_bits<std::uint16_t>(kHalf, {0, 0xBC00, 1, 0x7BFF, 0x7C00, 0x7D23})},
      {"i64", from_bits<std::int64_t>(kInt64, {0, -1, 1, INT64_MAX, INT64_MIN, 42})},
      {"i32", from_bits<std::int32_t>(kInt32, {0, -1, 1, INT32_MAX, INT32_MIN, 42})},
      {"i16", from_bits<std::int16_t>(kInt16, {0, -1, 1, INT16_MAX, INT16_MIN, 42})},
      {"i8", from_bits<std::int8_t>(kInt8, {0, -1, 1, INT8_MAX, INT8_MIN, 42})},
      {"u8", from_bits<std::uint8_t>(kUInt8, {0, 255, 1, 127, 128, 42})},
      {"bool", from_bits<std::uint8_t>(kBool, {0, 1, 1, 0, 0, 1})},
  };
}

TensorMap tensors() {
  TensorMap all = arrays();
  all["bf16"] = from_bits<std::uint16_t>(kBFloat16, {0, 0xBF80, 1, 0x7F7F, 0x7F80, 0x7FA3});
  all["scalar"] = from_bits<float>(kFloat, {1.5f}, {});
  all["empty"] = empty({0, 3});
  all["a \"name\"\n\u00e9\u0001\\"] = from_bits<std::uint8_t>(kUInt8, {7}, {1});
  return all;
}

Bytes bits_of(const Tensor& tensor) {
  const Array array = tensor.array().contiguous();
  return Bytes(array.data(), array.data() + array.numel() * item_size(array.dtype()));
}

void expect_same(const Tensor& got, const Tensor& expected) {
  EXPECT_EQ(got.dtype(), expected.dtype());
  EXPECT_EQ(got.sizes(), expected.sizes());
  EXPECT_TRUE(got.is_contiguous());
  EXPECT_EQ(bits_of(got), bits_of(expected));
}

void expect_same(const TensorMap& got, const TensorMap& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(got.contains(name));
    expect_same(got.at(name), tensor);
  }
}

TEST(Exchange, SafetensorsOfThePackage) {
  const Folder folder;
  const Safetensors file = load_safetensors(fixture("all.safetensors"));
  expect_same(file.tensors, tensors());
  EXPECT_EQ(file.metadata, (Metadata{{"made by", "safetensors 0.8.0 \u00e9/\t"}}));
  save_safetensors(folder / "file", tensors(), file.metadata);
  EXPECT_EQ(contents(folder / "file"), contents(fixture("all.safetensors")));

  EXPECT_TRUE(load_safetensors(fixture("none.safetensors")).tensors.empty());
  save_safetensors(folder / "file", {});
  EXPECT_EQ(contents(folder / "file"), contents(fixture("none.safetensors")));
}

TEST(Exchange, NpyOfNumPy) {
  const Folder folder;
  TensorMap all = arrays();
  all["scalar"] = tensors().at("scalar");
  all["empty"] = empty({0, 3});
  all["vector"] = arange(5);
  for (const auto& [name, tensor] : all) {
    SCOPED_TRACE(name);
    expect_same(load_npy(fixture(name + ".npy")), tensor);
    save_npy(folder / "file", tensor);
    EXPECT_EQ(contents(folder / "file"), contents(fixture(name + ".npy")));
  }
}

TEST(Exchange, NpyOfOtherOrdersAndVersions) {
  for (const char* const name : {"fortran", "big_endian", "version2", "version3"}) {
    SCOPED_TRACE(name);
    expect_same(load_npy(fixture(std::string(name) + ".npy")), arrays().at("f32"));
  }
}

TEST(Exchange, NpzOfNumPy) {
  expect_same(load_npz(fixture("stored.npz")), arrays());
  TensorMap all = arrays();
  all["zeros"] = zeros({1000}, {.dtype = kDouble});
  expect_same(load_npz(fixture("deflated.npz")), all);
}

// NumPy's own .npz has other dates, so this compares with a file of ours that NumPy has read
// (formats.py).
TEST(Exchange, NpzThatNumPyHasRead) {
  const Folder folder;
  save_npz(folder / "file", arrays());
  EXPECT_EQ(contents(folder / "file"), contents(fixture("halfgrad.npz")));
}

TEST(Exchange, NpzIsReadBackByHalfgrad) {
  const Folder folder;
  TensorMap all = arrays();
  all["layer/weight \u00e9"] = empty({0, 3});
  all["dense/kernel:0"] = ones({2});
  all["b:0"] = ones({1});
  save_npz(folder / "file", all);
  expect_same(load_npz(folder / "file"), all);
  const Bytes first = contents(folder / "file");
  save_npz(folder / "file", all);
  EXPECT_EQ(contents(folder / "file"), first);
}

TEST(Exchange, ViewsAreWrittenRowMajor) {
  const Folder folder;
  const Tensor view = arange(6).reshape({2, 3}).transpose(0, 1);
  save_npy(folder / "npy", view);
  save_npz(folder / "npz", {{"view", view}});
  save_safetensors(folder / "safetensors", {{"view", view}});
  expect_same(load_npy(folder / "npy"), view.contiguous());
  expect_same(load_npz(folder / "npz").at("view"), view.contiguous());
  expect_same(load_safetensors(folder / "safetensors").tensors.at("view"), view.contiguous());
}

TEST(Exchange, RefusesToWriteContentsThatAFormatLacks) {
  const Folder folder;
  const Tensor one = ones({1});
  const auto path = folder / "file";
  EXPECT_THROW(save_npy(path, one.to(kBFloat16)), std::invalid_argument);
  EXPECT_THROW(save_npy(path, Tensor()), std::invalid_argument);
  for (const char* const name : {"", "../a", "a/../b", "/a", "a\\b", "C:/a", "a\xE9"}) {
    EXPECT_THROW(save_npz(path, {{name, one}}), std::invalid_argument) << name;
  }
  EXPECT_THROW(save_npz(path, {{"a", one.to(kBFloat16)}}), std::invalid_argument);
  EXPECT_THROW(save_safetensors(path, {{"a", Tensor()}}), std::invalid_argument);
  EXPECT_THROW(save_safetensors(path, {{"a\xE9", one}}), std::invalid_argument);
  EXPECT_THROW(save_safetensors(path, {{"__metadata__", one}}), std::invalid_argument);
  EXPECT_THROW(save_safetensors(path, {}, {{"a", "\xE9"}}), std::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Exchange, NamesTheFileThatIsMissing) {
  const Folder folder;
  const auto expect_unreadable = [&](const auto& load) {
    try {
      load(folder / "missing");
      ADD_FAILURE();
    } catch (const FormatError& error) {
      EXPECT_EQ(error.code(), FormatCode::unreadable);
      EXPECT_NE(std::string(error.what()).find("missing"), std::string::npos) << error.what();
    }
  };
  expect_unreadable(load_npy);
  expect_unreadable([](const auto& path) { load_npz(path); });
  expect_unreadable(load_safetensors);
}

}  // namespace
}  // namespace halfgrad::io
