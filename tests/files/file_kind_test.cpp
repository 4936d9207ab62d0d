#include <halfgrad/files/file_kind.h>

#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/data/idx.h>
#include <halfgrad/data/mnist.h>
#include <halfgrad/data/text.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

using tests::Folder;

void load_npz(const std::filesystem::path& path) { io::load_npz(path); }
void read_idx(const std::filesystem::path& path) { data::read_idx(path); }

class FileKinds : public ::testing::Test {
 protected:
  FileKinds() {
    io::save_npy(folder_ / "npy", tensor({1.0, 2.0}));
    io::save_npz(folder_ / "npz", {{"x", tensor({1.0})}});
    io::save_safetensors(folder_ / "safetensors", {{"x", tensor({1.0})}});
    data::write_idx(folder_ / "idx", {.dtype = kUInt8, .dims = {1}, .data = {std::byte{7}}});
  }

  std::string path(const std::string& file) const { return (folder_ / file).string(); }

  template <class Load>
  std::string refused(const Load& load, const std::string& file) const {
    return message_of<files::FormatError>([&] { load(folder_ / file); });
  }

  Folder folder_;
};

TEST_F(FileKinds, AFileOfAnotherFormatNamesItsReader) {
  EXPECT_EQ(refused(io::load_npy, "npz"),
            "load_npy: expected an .npy file, got an .npz archive in " + path("npz") +
                " at byte 0; load_npz reads it");
  EXPECT_EQ(refused(io::load_npy, "safetensors"),
            "load_npy: expected an .npy file, got a safetensors file in " + path("safetensors") +
                " at byte 0; load_safetensors reads it");
  EXPECT_EQ(refused(load_npz, "npy"), "load_npz: expected an .npz archive, got an .npy file in " +
                                          path("npy") + " at byte 0; load_npy reads it");
  EXPECT_EQ(refused([](const auto& file) { io::load_safetensors(file); }, "npz"),
            "load_safetensors: expected a safetensors file, got an .npz archive in " + path("npz") +
                " at byte 0; load_npz reads it");
  EXPECT_EQ(refused(read_idx, "npy"), "read_idx: expected an IDX file, got an .npy file in " +
                                          path("npy") + " at byte 0; load_npy reads it");
  EXPECT_EQ(refused(io::load_npy, "idx"), "load_npy: expected an .npy file, got an IDX file in " +
                                              path("idx") + " at byte 0; read_idx reads it");
}

TEST_F(FileKinds, AMissingFileIsReportedAsMissing) {
  const std::string missing = path("missing");
  EXPECT_EQ(refused(io::load_npy, "missing"),
            "load_npy: expected a file, got no such file: " + missing);
  EXPECT_EQ(refused(load_npz, "missing"),
            "load_npz: expected a file, got no such file: " + missing);
  EXPECT_EQ(refused(read_idx, "missing"),
            "read_idx: expected a file, got no such file: " + missing);
  EXPECT_EQ(refused([](const auto& file) { io::load_safetensors(file); }, "missing"),
            "load_safetensors: expected a file, got no such file: " + missing);
  EXPECT_EQ(message_of([&] { data::read_text(folder_ / "missing"); }),
            "read_text: expected a file, got no such file: " + missing);
  EXPECT_EQ(message_of([&] { data::load_mnist(folder_ / "missing", data::Split::test); }),
            "load_mnist: expected a folder, got no such folder: " + missing);
}

TEST_F(FileKinds, AFolderIsReportedAsAFolder) {
  const std::string folder = path("");
  EXPECT_EQ(refused(io::load_npy, ""), "load_npy: expected a file, got a folder: " + folder);
  EXPECT_EQ(message_of([&] { data::read_text(folder); }),
            "read_text: expected a file, got a folder: " + folder);
}

}  // namespace
}  // namespace halfgrad
