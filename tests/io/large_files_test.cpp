// Large files: refused by their header before memory is allocated, loaded in one copy.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/data/idx.h>
#include <halfgrad/data/text.h>
#include <halfgrad/files/byte_reader.h>
#include <halfgrad/files/byte_source.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::tests {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#elif defined(__has_feature)
constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

/// Limits the address space of this process to 4 GiB. Sanitizers need more.
class AddressSpaceLimit {
 public:
  AddressSpaceLimit() {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit limited{std::min<rlim_t>(before_.rlim_max, 1ull << 32), before_.rlim_max};
    if (!kIsSanitized) ::setrlimit(RLIMIT_AS, &limited);
  }
  ~AddressSpaceLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

/// Writes a file that begins with `start`; the rest is a hole, which reads as zeros.
void write_sparse(const std::filesystem::path& path, const Bytes& start, std::uintmax_t size) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(start.data()), std::ssize(start));
  std::filesystem::resize_file(path, size);
}

TEST(LargeFiles, ASparseFileOf8GBIsRefusedByItsFormat) {
  const Folder folder;
  const auto path = folder / "sparse";
  write_sparse(path, {}, 8ull << 30);
  const AddressSpaceLimit limit;
  const auto refused = [&](const std::function<void()>& read) {
    return message_of<files::FormatError>(read);
  };
  EXPECT_EQ(refused([&] { io::load_safetensors(path); }),
            "load_safetensors: expected a header that begins with {, got \"\" in " + path.string() +
                " at byte 8");
  EXPECT_EQ(refused([&] { io::load_npy(path); }),
            "load_npy: expected \\x93NUMPY, got other bytes in " + path.string() + " at byte 0");
  EXPECT_EQ(refused([&] { io::load_npz(path); }),
            "load_npz: expected a zip archive with its directory at the end, got none in " +
                path.string() + " at byte 0");
  EXPECT_EQ(refused([&] { data::read_idx(path); }),
            "read_idx: expected 1 to 8 dimensions, got 0 in " + path.string() + " at byte 3");
}

TEST(LargeFiles, AFileBeyondTheMemoryNamesItsSize) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers need more address space than the limit";
  const Folder folder;
  write_sparse(folder / "idx", bytes({0, 0, 8, 2, 0, 1, 0, 0, 0, 2, 0, 0}), (8ull << 30) + 12);
  write_sparse(folder / "text", {}, 8ull << 30);
  const AddressSpaceLimit limit;
  for (const auto& message : {message_of([&] { data::read_idx(folder / "idx"); }),
                              message_of([&] { data::read_text(folder / "text"); })}) {
    EXPECT_NE(message.find("expected memory for 8589934592 bytes"), std::string::npos) << message;
  }
}

/// Runs `load` in a child process, and returns by how many bytes its peak memory grew.
std::int64_t peak_growth(const std::function<void()>& load) {
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // in KiB
  };
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    const long before = peak();
    load();
    const long growth = peak() - before;
    _exit(::write(ends[1], &growth, sizeof(growth)) == sizeof(growth) ? 0 : 1);
  }
  ::close(ends[1]);
  long growth = -1;
  if (::read(ends[0], &growth, sizeof(growth)) != sizeof(growth)) growth = -1;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return growth < 0 ? -1 : growth * 1024;
}

TEST(LargeFiles, LoadingPeaksAtOneCopy) {
  constexpr std::int64_t kBytes = 64 << 20;
  const std::string count = std::to_string(kBytes / 4), size = std::to_string(kBytes);
  const Folder folder;
  const std::string json =
      R"({"a":{"dtype":"F32","shape":[)" + count + R"(],"data_offsets":[0,)" + size + R"(]}})";
  write_sparse(folder / "safetensors", little(json.size(), 8) + bytes(json),
               8 + json.size() + kBytes);
  std::string text = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + count + ",), }";
  text.resize(117, ' ');
  const Bytes npy = bytes("\x93NUMPY\x01") + bytes({0}) + little(118, 2) + bytes(text + "\n");
  write_sparse(folder / "npy", npy, npy.size() + kBytes);
  // In a child, so that this process keeps no memory that the reader could use again.
  peak_growth([&] { io::save_npz(folder / "npz", {{"a", full({kBytes / 4}, 1.0)}}); });
  for (const std::int64_t growth :
       {peak_growth([&] { io::load_safetensors(folder / "safetensors"); }),
        peak_growth([&] { io::load_npy(folder / "npy"); }),
        peak_growth([&] { io::load_npz(folder / "npz"); })}) {
    EXPECT_GE(growth, kBytes / 2);
    EXPECT_LE(growth, kBytes * 3 / 2);
  }
}

// A mapped file would end the process with SIGBUS.
TEST(LargeFiles, AFileThatIsTruncatedWhileItIsReadIsAnError) {
  const Folder folder;
  const auto path = folder / "text";
  write_sparse(path, {}, 1 << 20);
  const auto source = files::ByteSource::open(path, "reader");
  files::ByteReader input(source, "reader", path.string());
  Bytes half(1 << 19), rest(1 << 19);
  input.read(half, "first half");
  std::filesystem::resize_file(path, 1 << 18);
  EXPECT_EQ(message_of<files::FormatError>([&] { input.read(rest, "second half"); }),
            "reader: expected 524288 bytes of second half, got 0 in " + path.string() +
                " at byte 524288");
}

TEST(LargeFiles, AFileThatIsReplacedWhileItIsReadStaysWhole) {
  const Folder folder;
  const auto path = folder / "file";
  files::replace_file(path, Bytes(1 << 20, std::byte{1}));
  const auto source = files::ByteSource::open(path, "reader");
  files::replace_file(path, Bytes(1 << 20, std::byte{2}));
  Bytes all(1 << 20);
  EXPECT_EQ(source.read(0, all), all.size());
  EXPECT_EQ(std::ranges::count(all, std::byte{1}), std::ssize(all));
}

TEST(LargeFiles, PartsAreReadAtAnyOffset) {
  Bytes all;
  for (int i = 0; i < 100'000; ++i) all.push_back(static_cast<std::byte>(i * 7 >> 3 & 0xFF));
  const Folder folder;
  files::replace_file(folder / "file", all);
  const auto source = files::ByteSource::open(folder / "file", "reader");
  EXPECT_EQ(source.size(), all.size());
  const auto part = source.part(50'000, 100);
  Bytes within(200);
  EXPECT_EQ(part.size(), 100u);
  EXPECT_EQ(part.read(40, within), 60u);
  EXPECT_EQ(within[59], all[50'099]);
  EXPECT_EQ(part.read(100, within), 0u);
  for (const std::size_t offset : {0, 1, 16'383, 16'384, 40'000, 99'999, 3, 100'000, 200'000}) {
    for (const std::size_t count : {0, 1, 8, 16'383, 16'384, 20'000, 100'000}) {
      const std::size_t expected = std::min(count, all.size() - std::min(offset, all.size()));
      Bytes part(count);
      ASSERT_EQ(source.read(offset, part), expected) << offset << " " << count;
      EXPECT_TRUE(std::equal(part.begin(), part.begin() + expected,
                             all.begin() + std::min(offset, all.size())));
    }
  }
}

}  // namespace
}  // namespace halfgrad::tests
