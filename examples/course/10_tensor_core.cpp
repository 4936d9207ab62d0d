// Chapter 10: predicts from addresses alone what four kernels of y = x w^T ask of memory, and
// compares with the counters of the emulator, if nvcc has compiled the kernels.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <set>
#include <stdexcept>
#include <string>

#include "course.h"
#include "emulated.h"

namespace {

constexpr int kSize = 64;  // m, n and k
constexpr int kTile = 32;  // rows and columns of y for a block
constexpr int kLanes = 32, kBanks = 32, kHalf = 2, kFloat = 4;

/// The byte addresses that the lanes of a warp access at once.
using Addresses = std::array<std::int64_t, kLanes>;

template <class F>
Addresses addresses(const F& of_lane) {
  Addresses result{};
  for (int lane = 0; lane < kLanes; ++lane) result[static_cast<std::size_t>(lane)] = of_lane(lane);
  return result;
}

/// Memory is read in sectors of 32 bytes.
int sectors(const Addresses& lanes) {
  std::set<std::int64_t> touched;
  for (const std::int64_t address : lanes) touched.insert(address / 32);
  return static_cast<int>(touched.size());
}

/// Shared memory has 32 banks, each of which delivers one word of 4 bytes at once: repetitions of
/// the access until the bank that is wanted most has delivered all its words.
int conflicts(const Addresses& lanes) {
  std::array<std::set<std::int64_t>, kBanks> words;
  for (const std::int64_t address : lanes) {
    words[static_cast<std::size_t>(address / 4 % kBanks)].insert(address / 4);
  }
  std::size_t most = 1;
  for (const auto& of_bank : words) most = std::max(most, of_bank.size());
  return static_cast<int>(most) - 1;
}

struct Counters {
  std::int64_t sectors = 0, bytes_loaded = 0, bank_conflicts = 0, flops = 0;
};

// Each warp stores rows of 32 floats.
constexpr std::int64_t kStoredSectors = kSize * kSize * kFloat / 32;

Counters naive() {
  Counters c{.sectors = kStoredSectors};
  // Every element of y needs kSize loads of x, which all lanes share, and of w.
  const int of_x = sectors(addresses([](int) { return 0; }));
  const int of_w = sectors(addresses([](int lane) { return lane * kSize * kHalf; }));
  const std::int64_t loads = kSize * kSize / kLanes * kSize;  // by each warp, from each operand
  c.sectors += loads * (of_x + of_w);
  c.bytes_loaded = loads * (kHalf + kLanes * kHalf);
  return c;
}

// A tile of x and of w is copied for each step along k of each block.
Counters with_tiles(int stride, bool on_tensor_cores) {
  Counters c{.sectors = kStoredSectors};
  const std::int64_t blocks = (kSize / kTile) * (kSize / kTile), steps = kSize / kTile;
  const std::int64_t row_copies = blocks * steps * 2 * kTile;
  c.sectors += row_copies * sectors(addresses([](int lane) { return lane * kHalf; }));
  c.bytes_loaded = row_copies * kTile * kHalf;
  if (on_tensor_cores) {
    c.flops = 2 * std::int64_t{kSize} * kSize * kSize;
    return c;
  }
  const int of_w = conflicts(addresses([&](int lane) { return lane * stride * kHalf; }));
  c.bank_conflicts = blocks * steps * 8 * kTile * of_w;  // 8 warps read 32 columns
  return c;
}

void expect_same_in_cuda(const std::string& kernel, const Counters& predicted) {
  const auto run = course::run_emulated("course_10_cuda", kernel);
  if (!run) return;
  const auto& total = run->report.at("launches").at(0).at("total");
  const auto counted = [&](const char* name) { return total.at(name).get<std::int64_t>(); };
  const Counters c{counted("sectors"), counted("bytes_loaded"), counted("bank_conflicts"),
                   counted("flops")};
  if (c.sectors != predicted.sectors || c.bytes_loaded != predicted.bytes_loaded ||
      c.bank_conflicts != predicted.bank_conflicts || c.flops != predicted.flops) {
    throw std::runtime_error(kernel + ": expected the predicted counters, got " + total.dump());
  }
  std::printf("the emulator counts the same; %lld instructions of warps\n",
              static_cast<long long>(counted("executed")));
}

void report(course::Chapter& chapter, const std::string& kernel, const Counters& c) {
  std::printf("%s:\n", kernel.c_str());
  chapter.fact(kernel + "_sectors", static_cast<double>(c.sectors));
  chapter.fact(kernel + "_bytes", static_cast<double>(c.bytes_loaded));
  chapter.fact(kernel + "_conflicts", static_cast<double>(c.bank_conflicts));
  chapter.fact(kernel + "_flops_a_byte",
               2.0 * kSize * kSize * kSize / static_cast<double>(c.bytes_loaded));
  expect_same_in_cuda(kernel, c);
}

// Draws the bank that each lane wants, for two distances between rows.
std::string picture_of_banks() {
  constexpr double kCell = 10, kTop = 78, kGap = 60, kLeft = 46;
  course::Svg svg(2 * kLanes * kCell + kGap + kLeft + 24, kTop + kBanks * kCell + 50,
                  "The bank that each lane reads");
  svg.write(20, 26, "The bank that each lane reads", course::Anchor::start, 16, "ink", true);
  double left = kLeft;
  for (const int stride : {32, 34}) {
    svg.write(left, 58, "rows " + std::to_string(stride) + " elements apart");
    svg.box(left, kTop, kLanes * kCell, kBanks * kCell, "pale_six");
    std::array<int, kBanks> wanted{};
    for (int lane = 0; lane < kLanes; ++lane) {
      ++wanted[static_cast<std::size_t>(lane * stride * kHalf / 4 % kBanks)];
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const int bank = lane * stride * kHalf / 4 % kBanks;
      svg.box(left + lane * kCell + 1, kTop + bank * kCell + 1, kCell - 2, kCell - 2,
              wanted[static_cast<std::size_t>(bank)] > 1 ? "four" : "three");
    }
    svg.write(left + kLanes * kCell / 2, kTop + kBanks * kCell + 24, "lane 0 to 31",
              course::Anchor::middle, 12, "soft");
    left += kLanes * kCell + kGap;
  }
  svg.write(26, kTop + kBanks * kCell / 2, "bank 0 to 31", course::Anchor::middle, 12, "soft",
            false, -90);
  return svg.str();
}

}  // namespace

int main(int argc, char** argv) {
  course::Chapter chapter(argc, argv,
                          {.slug = "10_tensor_core",
                           .does = "Predicts the counters of four kernels of a matrix product."});
  return chapter.run([&] {
    std::printf("One load of a warp:\n");
    chapter.fact("naive_x_sectors", sectors(addresses([](int) { return 0; })));
    chapter.fact("naive_w_sectors",
                 sectors(addresses([](int lane) { return lane * kSize * kHalf; })));
    chapter.fact("row_sectors", sectors(addresses([](int lane) { return lane * kHalf; })));
    for (const auto& [name, stride] : {std::pair{"tiled", 32}, std::pair{"padded", 34}}) {
      const auto in_a_column = [bytes = stride * kHalf](int lane) { return lane * bytes; };
      chapter.fact(std::string(name) + "_conflicts_a_load", conflicts(addresses(in_a_column)));
    }
    report(chapter, "naive", naive());
    report(chapter, "tiled", with_tiles(32, false));
    report(chapter, "padded", with_tiles(34, false));
    report(chapter, "tensor_core", with_tiles(48, true));
    chapter.fact("tensor_core_flops", static_cast<double>(with_tiles(48, true).flops));
    chapter.picture("banks", picture_of_banks());
  });
}
