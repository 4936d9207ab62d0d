// docs/files.md: its code runs, and its limits are those of the code.
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/files/format_error.h>
#include <halfgrad/files/read_options.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/tests/folder.h>

#include "page.h"

namespace hg = halfgrad;

namespace halfgrad::tests {
namespace {

TEST(FilesPage, ItsCodeRuns) {
  const Folder folder;
  const auto path = folder / "run.safetensors";
  const hg::nn::Linear model(2, 3);
  hg::nn::Linear resumed(2, 3);
  const int step = 7;

  hg::io::Checkpoint checkpoint;
  checkpoint.write("model", model);
  checkpoint.write("step", step);
  hg::io::save_checkpoint(path, checkpoint);
  const hg::io::Checkpoint saved = hg::io::load_checkpoint(path);
  saved.read("model", resumed);

  EXPECT_EQ(saved.integer("step"), 7);
  EXPECT_TRUE(hg::equal(model.weight, resumed.weight));
  Page("docs/files.md").expect_code("tests/docs/files_test.cpp");
}

TEST(FilesPage, ItsLimitsAreThoseOfTheCode) {
  Page page("docs/files.md");
  EXPECT_EQ(files::ReadOptions().max_unpacked_bytes, std::uint64_t{1} << 30);
  page.expect("Compressed data may unpack to 1 GiB");
  EXPECT_TRUE(files::cut(std::string(201, 'x')).starts_with(std::string(200, 'x') + "... (201"));
  page.expect("A message quotes 200 bytes of a file at most");
}

}  // namespace
}  // namespace halfgrad::tests
