#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>

#include <halfgrad/emulator/memory/texture_table.h>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

/// A 2-D image of floats with the values 10 y + x, in memory of its own.
Image image_of(SmallGpu& gpu, unsigned width, unsigned height) {
  const Allocation* made =
      gpu.memory.allocate(MemoryKind::device, 0, std::size_t{4} * width * height, 512, "an array");
  auto* values = reinterpret_cast<float*>(made->host);
  for (unsigned i = 0; i < width * height; ++i) {
    values[i] = static_cast<float>(10 * (i / width) + i % width);
  }
  if (made->written != nullptr) std::memset(made->written, 1, made->bytes);
  Image image;
  image.address = made->begin;
  image.width = width;
  image.height = height;
  image.row_pitch = image.row_bytes();
  image.slice_pitch = image.row_pitch * height;
  return image;
}

/// Runs `body` with the handle in %rd2 and %f1 to %f8 free, and stores %f1 for thread 0.
void run_with(SmallGpu& gpu, std::uint64_t handle, const std::string& body, unsigned threads = 1) {
  gpu.word(100) = static_cast<std::uint32_t>(handle);
  gpu.word(101) = static_cast<std::uint32_t>(handle >> 32);
  gpu.launch(kernel(".reg .f32 %f<9>;\nld.global.u64 %rd2, [%rd1+400];\n" + body +
                    "\nmul.wide.u32 %rd14, %r1, 4;\nadd.s64 %rd15, %rd1, %rd14;\n"
                    "st.global.f32 [%rd15], %f1;\nret;"),
             {}, {threads});
}

float fetched(SmallGpu& gpu, const Texture& texture, const std::string& x, const std::string& y) {
  run_with(gpu, gpu.textures.add(texture),
           "mov.f32 %f5, " + x + ";\nmov.f32 %f6, " + y +
               ";\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f6}];");
  return std::bit_cast<float>(gpu.word(0));
}

Texture texture_of(const Image& image, bool linear = false) {
  Texture texture;
  texture.levels = {image};
  texture.linear_filter = linear;
  return texture;
}

TEST(Texture, PointFilterTakesTheTexelThatHoldsTheCoordinate) {
  SmallGpu gpu;
  const Texture texture = texture_of(image_of(gpu, 5, 3));
  EXPECT_EQ(fetched(gpu, texture, "3.75", "1.0"), 13);
  EXPECT_EQ(fetched(gpu, texture, "-2.0", "9.0"), 20);  // clamped
}

TEST(Texture, LinearFilterWeighsFourTexelsIn256Steps) {
  SmallGpu gpu;
  const Texture texture = texture_of(image_of(gpu, 5, 3), true);
  EXPECT_EQ(fetched(gpu, texture, "2.75", "1.0"), 2.25f + 5.0f);
  // 1.5 + 1/1024 is nearer to the middle of a texel than to a step of 1/256.
  EXPECT_EQ(fetched(gpu, texture, "1.5009765625", "0.5"), 1);
  EXPECT_EQ(fetched(gpu, texture, "1.50390625", "0.5"), 1 + 1.0f / 256);
}

TEST(Texture, NotANumberAndInfinityAreCoordinates) {
  SmallGpu gpu;
  const Texture texture = texture_of(image_of(gpu, 5, 3), true);
  EXPECT_EQ(fetched(gpu, texture, "0f7FC00000", "0.5"), 0);
  EXPECT_EQ(fetched(gpu, texture, "0f7F800000", "0.5"), 4);
  EXPECT_EQ(fetched(gpu, texture, "0fFF800000", "0.5"), 0);
}

TEST(Texture, ResidencyPredicateIsTrue) {
  SmallGpu gpu;
  run_with(
      gpu, gpu.textures.add(texture_of(image_of(gpu, 5, 3))),
      "mov.f32 %f5, 1.0;\nsetp.ne.u32 %p1, 0, 0;\n"
      "tex.2d.v4.f32.f32 {%f2, _, _, _}|%p1, [%rd2, {%f5, %f5}];\nselp.f32 %f1, 1.0, 2.0, %p1;");
  EXPECT_EQ(std::bit_cast<float>(gpu.word(0)), 1);
}

TEST(Texture, LanesMayHaveTexturesOfTheirOwn) {
  SmallGpu gpu;
  const std::uint64_t first = gpu.textures.add(texture_of(image_of(gpu, 5, 3)));
  Image image = image_of(gpu, 5, 3);
  image.address += 4 * 5;  // rows 1 and 2
  image.height = 2;
  const std::uint64_t second = gpu.textures.add(texture_of(image));
  ASSERT_EQ(second, first + 1);
  run_with(gpu, first,
           "and.b32 %r2, %r1, 1;\ncvt.u64.u32 %rd3, %r2;\nadd.s64 %rd2, %rd2, %rd3;\n"
           "mov.f32 %f5, 2.5;\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f5}];",
           32);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(std::bit_cast<float>(gpu.word(i)), 22) << i;
}

TEST(Texture, QueriesAnswerSizes) {
  SmallGpu gpu;
  run_with(gpu, gpu.textures.add(texture_of(image_of(gpu, 5, 3))),
           "txq.width.b32 %r2, [%rd2];\ntxq.height.b32 %r3, [%rd2];\n"
           "txq.num_mipmap_levels.b32 %r4, [%rd2];\nshl.b32 %r3, %r3, 8;\nor.b32 %r2, %r2, %r3;\n"
           "shl.b32 %r4, %r4, 16;\nor.b32 %r2, %r2, %r4;\nmov.b32 %f1, %r2;");
  EXPECT_EQ(gpu.word(0), 0x10305u);
}

TEST(Texture, HandlesThatAreNoneEndTheKernel) {
  SmallGpu gpu;
  const std::string body =
      "mov.f32 %f5, 1.0;\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f5}];";
  EXPECT_THROW(run_with(gpu, 12, body), KernelAborted);
  const std::uint64_t surface = gpu.textures.add_surface(image_of(gpu, 5, 3));
  EXPECT_THROW(run_with(gpu, surface, body), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::invalid_call).size(), 1u);  // one line of one kernel
}

TEST(Texture, ObjectsServeKernelsThatWereLaunchedBeforeTheirEnd) {
  SmallGpu gpu;
  const Texture texture = texture_of(image_of(gpu, 5, 3));
  const std::uint64_t handle = gpu.textures.add(texture);
  const std::string body =
      "mov.f32 %f5, 1.0;\ntex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f5}];";
  EXPECT_TRUE(gpu.textures.end(handle, false, 7));
  EXPECT_FALSE(gpu.textures.end(handle, false, 8));
  gpu.operation = 6;
  run_with(gpu, handle, body);
  EXPECT_EQ(std::bit_cast<float>(gpu.word(0)), 11);
  gpu.operation = 8;
  EXPECT_THROW(run_with(gpu, handle, body), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::use_after_free).size(), 1u);
}

TEST(Texture, FetchesOfFreedArraysEndTheKernel) {
  SmallGpu gpu;
  const Image image = image_of(gpu, 5, 3);
  const Texture texture = texture_of(image);
  gpu.memory.free(image.address);
  EXPECT_THROW(fetched(gpu, texture, "1.0", "1.0"), KernelAborted);
  EXPECT_EQ(gpu.found(FindingKind::use_after_free).size(), 1u);
}

TEST(Texture, FetchesOfTheWrongShapeEndTheKernel) {
  SmallGpu gpu;
  Image image = image_of(gpu, 15, 1);
  image.shape = ImageShape::one;
  EXPECT_THROW(fetched(gpu, texture_of(image), "1.0", "1.0"), KernelAborted);
}

TEST(Texture, FetchesOfAnotherTypeGetANote) {
  SmallGpu gpu;
  Image image = image_of(gpu, 5, 3);
  image.format.kind = TexelKind::signed_integer;
  EXPECT_EQ(fetched(gpu, texture_of(image), "1.0", "1.0"), 11);  // the bits as they are
  ASSERT_EQ(gpu.found(FindingKind::invalid_call).size(), 1u);
  EXPECT_EQ(gpu.found(FindingKind::invalid_call)[0].severity, Severity::note);
}

TEST(Texture, FetchesDoNotSeeStoresOfTheSameLaunch) {
  SmallGpu gpu;
  gpu.settings.check_race = true;
  const Image image = image_of(gpu, 5, 3);
  run_with(gpu, gpu.textures.add(texture_of(image)),
           "mov.u64 %rd3, " + std::to_string(image.address) +
               ";\nst.global.f32 [%rd3], 0f3F800000;\nmov.f32 %f5, 0.0;\n"
               "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f5}];");
  ASSERT_EQ(gpu.found(FindingKind::race).size(), 1u);
  EXPECT_NE(gpu.found(FindingKind::race)[0].message.find("texture fetch"), std::string::npos);
}

TEST(Texture, UnwrittenTexelsAreFound) {
  SmallGpu gpu;
  gpu.settings.check_init = true;
  Image image = image_of(gpu, 5, 3);
  const Allocation* made = gpu.memory.find(image.address, 1);
  if (made->written == nullptr) GTEST_SKIP() << "the process keeps no record of writes";
  std::memset(made->written, 0, 4);  // the first texel
  const Texture texture = texture_of(image, true);
  fetched(gpu, texture, "1.5", "0.5");  // weight 0 for the first texel, which is not read
  EXPECT_TRUE(gpu.found(FindingKind::uninitialised).empty());
  fetched(gpu, texture, "1.25", "0.5");
  EXPECT_EQ(gpu.found(FindingKind::uninitialised).size(), 1u);
}

TEST(Texture, UnknownFormsEndWithTheirText) {
  for (const char* form :
       {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f5}], {1, 1};",
        "tex.2d.v2.f16x2.f32 {%r2, %r3}, [%rd2, {%f5, %f5}];",
        "tex.base.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f5}];",
        "txq.channel_order.b32 %r2, [%rd2];", "suld.p.2d.b32.trap {%r2}, [%rd2, {%r1, %r1}];"}) {
    SmallGpu gpu;
    EXPECT_THROW(run_with(gpu, 1, form), KernelAborted) << form;
    EXPECT_EQ(gpu.found(FindingKind::unknown_instruction).size(), 1u) << form;
  }
}

// ---- Surfaces

std::string surface_load(int x, int y, const std::string& mode) {
  return "mov.b32 %r3, " + std::to_string(x) + ";\nmov.b32 %r4, " + std::to_string(y) +
         ";\nsuld.b.2d.b32." + mode + " {%r2}, [%rd2, {%r3, %r4}];\nmov.b32 %f1, %r2;";
}

TEST(Surface, XCountsBytes) {
  SmallGpu gpu;
  run_with(gpu, gpu.textures.add_surface(image_of(gpu, 5, 3)), surface_load(12, 2, "trap"));
  EXPECT_EQ(std::bit_cast<float>(gpu.word(0)), 23);
  EXPECT_THROW(
      run_with(gpu, gpu.textures.add_surface(image_of(gpu, 5, 3)), surface_load(3, 2, "trap")),
      KernelAborted);
  ASSERT_EQ(gpu.found(FindingKind::misaligned).size(), 1u);
  EXPECT_NE(gpu.found(FindingKind::misaligned)[0].message.find("counts bytes"), std::string::npos);
}

TEST(Surface, BoundaryModesDecideOutside) {
  SmallGpu gpu;
  const std::uint64_t surface = gpu.textures.add_surface(image_of(gpu, 5, 3));
  run_with(gpu, surface, surface_load(100, 1, "clamp"));
  EXPECT_EQ(std::bit_cast<float>(gpu.word(0)), 14);
  run_with(gpu, surface, surface_load(4, -1, "zero"));
  EXPECT_EQ(std::bit_cast<float>(gpu.word(0)), 0);
  EXPECT_THROW(run_with(gpu, surface, surface_load(20, 1, "trap")), KernelAborted);
  ASSERT_EQ(gpu.found(FindingKind::out_of_bounds).size(), 1u);
  EXPECT_NE(gpu.found(FindingKind::out_of_bounds)[0].message.find("byte 20 of row 1"),
            std::string::npos);
}

TEST(Surface, StoresOfNarrowElementsCutRegisters) {
  SmallGpu gpu;
  Image image = image_of(gpu, 4, 1);
  const Allocation* made = gpu.memory.find(image.address, 1);
  run_with(gpu, gpu.textures.add_surface(image),
           ".reg .b16 %rs<3>;\nmov.b16 %rs1, 0x1234;\nmov.b16 %rs2, 0xffee;\nmov.b32 %r3, 0;\n"
           "sust.b.2d.v2.b8.trap [%rd2, {%r3, %r3}], {%rs1, %rs2};\nmov.b32 %f1, 0;");
  EXPECT_EQ(made->host[0], std::byte{0x34});
  EXPECT_EQ(made->host[1], std::byte{0xee});
  EXPECT_EQ(made->host[2], std::byte{0});
}

}  // namespace
}  // namespace halfgrad::emulator
