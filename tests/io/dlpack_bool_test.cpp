// DLPack does not say which bytes a bool may have; halfgrad's are 0 and 1.
#include <array>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/io/dlpack.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::io {
namespace {

/// Four bools of another framework.
struct ForeignBools {
  std::array<std::uint8_t, 4> bytes;
  std::int64_t shape[2] = {2, 2}, strides[2] = {1, 2};
  int deleted = 0;
  dlpack::ManagedTensorVersioned managed{.version = {1, 1},
                                         .manager_ctx = this,
                                         .deleter =
                                             [](dlpack::ManagedTensorVersioned* self) {
                                               auto* const owner = self->manager_ctx;
                                               ++static_cast<ForeignBools*>(owner)->deleted;
                                             },
                                         .flags = 0,
                                         .dl_tensor = {.data = bytes.data(),
                                                       .device = {dlpack::kCpu, 0},
                                                       .ndim = 2,
                                                       .dtype = {dlpack::kBool, 8, 1},
                                                       .shape = shape,
                                                       .strides = strides,
                                                       .byte_offset = 0}};
};

TEST(DlpackBool, BytesOf0And1AreShared) {
  ForeignBools foreign{.bytes = {0, 1, 1, 0}};
  const Tensor shared = from_dlpack(&foreign.managed);
  EXPECT_EQ(shared.array().data(), reinterpret_cast<std::byte*>(foreign.bytes.data()));
  EXPECT_EQ(shared.to_vector<int>(), (std::vector<int>{0, 1, 1, 0}));
}

TEST(DlpackBool, OtherBytesAreNotShared) {
  for (const int byte : {2, 128, 255}) {
    ForeignBools foreign{.bytes = {0, 1, static_cast<std::uint8_t>(byte), 0}};
    EXPECT_EQ(
        message_of<files::FormatError>([&] { from_dlpack(&foreign.managed); }),
        "from_dlpack: expected bools of byte 0 or 1, got others in a DLPack tensor at byte 0; "
        "import it with {.copy = true}, which makes every byte other than 0 true");
    EXPECT_EQ(foreign.deleted, 1);
  }
}

TEST(DlpackBool, ACopyMakesOtherBytesTrue) {
  ForeignBools foreign{.bytes = {0, 2, 255, 1}};
  const Tensor copy = from_dlpack(&foreign.managed, {.copy = true});
  EXPECT_EQ(foreign.deleted, 1);
  ASSERT_EQ(copy.dtype(), kBool);
  EXPECT_EQ(copy.to_vector<int>(), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(copy.sum().item(), 3);
  std::vector<int> bytes;
  for (std::int64_t i = 0; i < 4; ++i)
    bytes.push_back(std::to_integer<int>(copy.array().data()[i]));
  for (const int byte : bytes) EXPECT_LE(byte, 1);
}

}  // namespace
}  // namespace halfgrad::io
