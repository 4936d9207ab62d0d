#include <halfgrad/io/dlpack.h>

#include <functional>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad::io {
namespace {

using enum files::FormatCode;

/// A row-major [2, 3] tensor of floats from another framework; counts the calls of its deleter.
struct Foreign {
  float elements[6] = {0, 1, 2, 3, 4, 5};
  std::int64_t shape[9] = {2, 3, 1, 1, 1, 1, 1, 1, 1}, strides[2] = {3, 1};
  int deleted = 0;
  dlpack::ManagedTensorVersioned managed{.version = {1, 1},
                                         .manager_ctx = this,
                                         .deleter =
                                             [](dlpack::ManagedTensorVersioned* self) {
                                               ++static_cast<Foreign*>(self->manager_ctx)->deleted;
                                             },
                                         .flags = 0,
                                         .dl_tensor = {.data = elements,
                                                       .device = {dlpack::kCpu, 0},
                                                       .ndim = 2,
                                                       .dtype = {dlpack::kFloat, 32, 1},
                                                       .shape = shape,
                                                       .strides = strides,
                                                       .byte_offset = 0}};
};

TEST(Dlpack, SharesMemoryBothWays) {
  const Tensor ours = arange(6, {.dtype = kFloat}).reshape({2, 3}).transpose(0, 1);
  dlpack::ManagedTensorVersioned* const exported = to_dlpack(ours);
  EXPECT_EQ(exported->dl_tensor.data, ours.array().data());
  EXPECT_EQ(exported->dl_tensor.strides[0], 1);
  EXPECT_EQ(exported->dl_tensor.strides[1], 3);
  const Tensor back = from_dlpack(exported);
  EXPECT_EQ(back.sizes(), Shape({3, 2}));
  EXPECT_EQ(back.to_vector<int>(), (std::vector<int>{0, 3, 1, 4, 2, 5}));
  back.array().fill_(7);
  EXPECT_EQ(ours.sum().item(), 42);
}

TEST(Dlpack, KeepsTheMemoryUntilTheDeleterIsCalled) {
  const std::int64_t before = allocator::stats({}).current;
  dlpack::ManagedTensorVersioned* const exported = to_dlpack(ones({1000}));
  EXPECT_GT(allocator::stats({}).current, before);
  EXPECT_EQ(static_cast<float*>(exported->dl_tensor.data)[999], 1);
  exported->deleter(exported);
  EXPECT_EQ(allocator::stats({}).current, before);
}

TEST(Dlpack, EveryTypeSurvives) {
  for (const DType dtype : kAllDTypes) {
    const Tensor ours = ones({3}, {.dtype = dtype});
    const Tensor back = from_dlpack(to_dlpack(ours));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.to_vector<int>(), (std::vector<int>{1, 1, 1}));
  }
}

TEST(Dlpack, CallsTheDeleterWithTheLastView) {
  Foreign foreign;
  {
    Tensor view;
    {
      const Tensor whole = from_dlpack(&foreign.managed);
      view = whole.select(0, 1);
    }
    EXPECT_EQ(foreign.deleted, 0);
    EXPECT_EQ(view.to_vector<int>(), (std::vector<int>{3, 4, 5}));
    view.array().fill_(9);
  }
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(foreign.elements[2], 2);
  EXPECT_EQ(foreign.elements[3], 9);
}

TEST(Dlpack, AcceptsTheStructureBeforeVersion1) {
  Foreign foreign;
  dlpack::ManagedTensor old{foreign.managed.dl_tensor, &foreign, [](dlpack::ManagedTensor* self) {
                              ++static_cast<Foreign*>(self->manager_ctx)->deleted;
                            }};
  EXPECT_EQ(from_dlpack(&old).sum().item(), 15);
  EXPECT_EQ(foreign.deleted, 1);
}

struct Case {
  const char* name;
  std::function<void(Foreign&)> change;
};

TEST(Dlpack, AcceptsEveryVariantOfTheStandard) {
  const Case cases[] = {
      {"no strides", [](Foreign& f) { f.managed.dl_tensor.strides = nullptr; }},
      {"no deleter", [](Foreign& f) { f.managed.deleter = nullptr, f.deleted = 1; }},
      {"newer minor version", [](Foreign& f) { f.managed.version.minor = 99; }},
      {"unknown flag", [](Foreign& f) { f.managed.flags = 1u << 20; }},
      {"copied already", [](Foreign& f) { f.managed.flags = 2; }},
      {"pinned memory", [](Foreign& f) { f.managed.dl_tensor.device.type = dlpack::kCudaHost; }},
      {"offset in bytes",
       [](Foreign& f) {
         f.managed.dl_tensor.data = reinterpret_cast<std::byte*>(f.elements) - 64;
         f.managed.dl_tensor.byte_offset = 64;
       }},
  };
  for (const Case& test : cases) {
    Foreign foreign;
    test.change(foreign);
    EXPECT_EQ(from_dlpack(&foreign.managed).sum().item(), 15) << test.name;
    EXPECT_EQ(foreign.deleted, 1) << test.name;
  }
}

TEST(Dlpack, EmptyAndScalarTensors) {
  Foreign foreign;
  foreign.shape[1] = 0;
  foreign.managed.dl_tensor.data = nullptr;
  EXPECT_EQ(from_dlpack(&foreign.managed).sizes(), Shape({2, 0}));
  EXPECT_EQ(foreign.deleted, 1);
  Foreign scalar;
  scalar.managed.dl_tensor.ndim = 0;
  scalar.managed.dl_tensor.shape = scalar.managed.dl_tensor.strides = nullptr;
  EXPECT_EQ(from_dlpack(&scalar.managed).item(), 0);
  EXPECT_EQ(from_dlpack(to_dlpack(empty({0, 3}))).sizes(), Shape({0, 3}));
}

struct Refused {
  const char* name;
  files::FormatCode code;
  std::function<void(Foreign&)> change;
};

TEST(Dlpack, RefusesInvalidTensorsAndCallsTheDeleter) {
  using F = Foreign;
  const Refused list[] = {
      {"version 0", unsupported_version, [](F& f) { f.managed.version.major = 0; }},
      {"version 2, and the rest is garbage", unsupported_version,
       [](F& f) {
         f.managed.version.major = 2;
         f.managed.dl_tensor.shape = reinterpret_cast<std::int64_t*>(8);
       }},
      {"read-only", read_only, [](F& f) { f.managed.flags = 1; }},
      {"two lanes", no_such_dtype, [](F& f) { f.managed.dl_tensor.dtype.lanes = 2; }},
      {"no lanes", no_such_dtype, [](F& f) { f.managed.dl_tensor.dtype.lanes = 0; }},
      {"float8", no_such_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {10, 8, 1};
       }},
      {"complex", no_such_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {5, 64, 1};
       }},
      {"opaque", no_such_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {3, 64, 1};
       }},
      {"unsigned 16 bits", no_such_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {1, 16, 1};
       }},
      {"float of 80 bits", no_such_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {2, 80, 1};
       }},
      {"float of no bits", no_such_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {2, 0, 1};
       }},
      {"bool of 1 bit", no_such_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {6, 1, 1};
       }},
      {"unknown type", unknown_dtype,
       [](F& f) {
         f.managed.dl_tensor.dtype = {18, 8, 1};
       }},
      {"ROCm", no_such_device,
       [](F& f) {
         f.managed.dl_tensor.device = {10, 0};
       }},
      {"GPU 1000", no_such_device,
       [](F& f) {
         f.managed.dl_tensor.device = {2, 1000};
       }},
      {"GPU -1", no_such_device,
       [](F& f) {
         f.managed.dl_tensor.device = {2, -1};
       }},
      {"device 0", no_such_device,
       [](F& f) {
         f.managed.dl_tensor.device = {0, 0};
       }},
      {"nine dimensions", bad_shape, [](F& f) { f.managed.dl_tensor.ndim = 9; }},
      {"minus one dimensions", bad_shape, [](F& f) { f.managed.dl_tensor.ndim = -1; }},
      {"no shape", bad_shape, [](F& f) { f.managed.dl_tensor.shape = nullptr; }},
      {"negative size", bad_shape, [](F& f) { f.shape[0] = -2; }},
      {"negative stride", bad_shape, [](F& f) { f.strides[1] = -1; }},
      {"product beyond 2^63", size_overflow,
       [](F& f) { f.shape[0] = f.shape[1] = std::int64_t{1} << 32; }},
      {"extent beyond 2^63", size_overflow, [](F& f) { f.strides[0] = INT64_MAX; }},
      {"null data", bad_offsets, [](F& f) { f.managed.dl_tensor.data = nullptr; }},
      {"misaligned data", bad_offsets, [](F& f) { f.managed.dl_tensor.byte_offset = 2; }},
      {"offset beyond the end of memory", bad_offsets,
       [](F& f) { f.managed.dl_tensor.byte_offset = UINT64_MAX - 3; }},
      {"offset back to null", bad_offsets,
       [](F& f) {
         f.managed.dl_tensor.byte_offset = 0 - reinterpret_cast<std::uintptr_t>(f.elements);
       }},
      {"elements beyond the end of memory", bad_offsets,
       [](F& f) {
         f.shape[0] = std::int64_t{1} << 57;
         f.managed.dl_tensor.byte_offset = std::uint64_t{63} << 58;
       }},
      {"expanded", overlap, [](F& f) { f.strides[0] = 0; }},
      {"overlapping rows", overlap, [](F& f) { f.strides[0] = 2; }},
  };
  for (const auto& [name, code, change] : list) {
    Foreign foreign;
    change(foreign);
    try {
      from_dlpack(&foreign.managed);
      ADD_FAILURE() << name;
    } catch (const files::FormatError& error) {
      EXPECT_EQ(files::name(error.code()), files::name(code)) << name << ": " << error.what();
    }
    EXPECT_EQ(foreign.deleted, 1) << name;
  }
  EXPECT_THROW(from_dlpack(static_cast<dlpack::ManagedTensor*>(nullptr)), std::invalid_argument);
}

TEST(Dlpack, CopiesReadOnlyAndOverlappingMemory) {
  for (const auto& change : std::initializer_list<std::function<void(Foreign&)>>{
           [](Foreign& f) { f.managed.flags = dlpack::kReadOnly; },
           [](Foreign& f) { f.strides[0] = 0; }}) {
    Foreign foreign;
    change(foreign);
    const double expected = foreign.strides[0] == 0 ? 6 : 15;
    const Tensor copy = from_dlpack(&foreign.managed, {.copy = true});
    EXPECT_EQ(foreign.deleted, 1);
    EXPECT_EQ(copy.sum().item(), expected);
    copy.array().fill_(9);
    EXPECT_EQ(foreign.elements[0], 0);
  }
}

TEST(Dlpack, RefusesToExportTensorsThatRequireAGradient) {
  const Tensor x = ones({2}, {.requires_grad = true});
  EXPECT_THROW(to_dlpack(x), std::invalid_argument);
  EXPECT_THROW(to_dlpack(x * 2), std::invalid_argument);
  EXPECT_THROW(to_dlpack(Tensor()), std::invalid_argument);
  dlpack::ManagedTensorVersioned* const exported = to_dlpack(x.detach());
  exported->deleter(exported);
}

}  // namespace
}  // namespace halfgrad::io
