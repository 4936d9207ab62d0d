// Integers of 8, 16 and 32 bits: int8 and int16 stay what they are; uint16 and uint32, which
// tensors lack, are read as int64.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/io/state_dict.h>
#include <halfgrad/tests/bytes.h>

#include "../folder.h"

namespace halfgrad::io {
namespace {

using tests::Bytes;
using tests::bytes;
using tests::operator+;
using Values = std::vector<std::int64_t>;

struct ShortIntegers {
  std::string npy, safetensors;
  std::string data;  // two elements, little-endian
  DType dtype;       // the tensor's
  Values values;
};

const std::vector<ShortIntegers> kShortIntegers = {
    {"|i1", "I8", std::string("\x80\x7F", 2), kInt8, {-128, 127}},
    {"<i2", "I16", std::string("\x00\x80\xFF\x7F", 4), kInt16, {-32768, 32767}},
    {"<u2", "U16", std::string("\x01\x00\xFF\xFF", 4), kInt64, {1, 65535}},
    {"<u4", "U32", std::string("\x02\x01\x00\x00\xFF\xFF\xFF\xFF", 8), kInt64, {258, 4294967295}},
};

Bytes npy(const std::string& descr, const std::string& shape, const std::string& data,
          const std::string& fortran = "False") {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + "}\n";
  const std::string size{static_cast<char>(header.size()), '\0'};
  return bytes("\x93NUMPY" + std::string("\x01\x00", 2) + size + header + data);
}

TEST(ShortIntegers, OfNpyFiles) {
  for (const ShortIntegers& c : kShortIntegers) {
    const Tensor read = parse_npy(npy(c.npy, "(2,)", c.data));
    EXPECT_EQ(read.dtype(), c.dtype);
    EXPECT_EQ(read.to_vector<std::int64_t>(), c.values) << c.npy;
  }
  EXPECT_EQ(
      parse_npy(npy(">i2", "(2,)", std::string("\xFF\xFE\x01\x00", 4))).to_vector<std::int64_t>(),
      (Values{-2, 256}));
  const Tensor columns = parse_npy(npy("|i1", "(2, 2)", "\x01\x02\x03\x04", "True"));
  EXPECT_EQ(columns.to_vector<std::int64_t>(), (Values{1, 3, 2, 4}));
  EXPECT_EQ(parse_npy(npy("<i2", "(0, 3)", "")).sizes(), (Shape{0, 3}));
}

TEST(ShortIntegers, OfSafetensorsFiles) {
  for (const ShortIntegers& c : kShortIntegers) {
    const std::string header = R"({"a":{"dtype":")" + c.safetensors +
                               R"(","shape":[2],"data_offsets":[0,)" +
                               std::to_string(c.data.size()) + "]}}";
    const Bytes file = tests::little(header.size(), 8) + bytes(header) + bytes(c.data);
    const Tensor read = parse_safetensors(file).tensors.at("a");
    EXPECT_EQ(read.dtype(), c.dtype);
    EXPECT_EQ(read.to_vector<std::int64_t>(), c.values) << c.safetensors;
  }
}

TEST(ShortIntegers, AreWrittenInTheirOwnDType) {
  const tests::Folder folder;
  for (const DType dtype : {kUInt8, kInt8, kInt16, kInt32}) {
    const Tensor written = tensor({3, -1, 100, 7}).to(dtype).reshape({2, 2}).t();
    save_npy(folder / "npy", written);
    save_state_dict(folder / "dict", {{"labels", written}});
    for (const Tensor& read :
         {load_npy(folder / "npy"), load_state_dict(folder / "dict")["labels"]}) {
      EXPECT_EQ(read.dtype(), dtype);
      EXPECT_TRUE(equal(read, written));
    }
  }
}

TEST(ShortIntegers, TooFewBytesAreAnError) {
  EXPECT_THROW(parse_npy(npy("<i2", "(2,)", "\x01\x02\x03")), FormatError);
  EXPECT_THROW(parse_npy(npy("<i2", "(2,)", "\x01\x02\x03\x04\x05")), FormatError);
  EXPECT_THROW(parse_npy(npy("|i2", "(1,)", "\x01\x02")), FormatError);  // needs a byte order
}

}  // namespace
}  // namespace halfgrad::io
