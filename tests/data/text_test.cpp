#include <halfgrad/data/text.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::data {
namespace {

using Ids = std::vector<std::int64_t>;

TEST(Text, AlphabetNumbersCharactersInOrder) {
  const std::string text = "to be\nor not \xC3\xA9";
  const Alphabet alphabet(text);
  EXPECT_EQ(alphabet.size(), 10);  // \n, space, b, e, n, o, r, t, and the two bytes of e acute
  EXPECT_EQ(alphabet.encode("\n et\xC3"), (Ids{0, 1, 3, 7, 9}));
  EXPECT_EQ(alphabet.decode(alphabet.encode(text)), text);
  EXPECT_THROW(alphabet.encode("x"), std::invalid_argument);
  for (const std::int64_t index : {10, -1}) {
    EXPECT_EQ(message_of<std::out_of_range>([&] { alphabet.decode(Ids{index}); }),
              "Alphabet: expected an index in [0, 10), got " + std::to_string(index));
  }
}

TEST(Text, BlocksAreFollowedByTheNextCharacter) {
  const TextBlocks blocks({10, 11, 12, 13, 14}, 3);
  EXPECT_EQ(blocks.size(), 2);
  const auto [x, y] = blocks.get_batch(Ids{1, 0});
  EXPECT_EQ(x.sizes(), (Shape{2, 3}));
  EXPECT_EQ(x.to_vector<std::int64_t>(), (Ids{11, 12, 13, 10, 11, 12}));
  EXPECT_EQ(y.to_vector<std::int64_t>(), (Ids{12, 13, 14, 11, 12, 13}));
  EXPECT_THROW(blocks.get_batch(Ids{2}), std::out_of_range);
  EXPECT_THROW(TextBlocks({1, 2, 3}, 3), std::invalid_argument);
  EXPECT_THROW(TextBlocks({1, 2, 3}, 0), std::invalid_argument);
}

TEST(Text, ContextsStopAtThePreviousLineEnd) {
  const LineContexts contexts({5, 6, 7, 8, 0, 9, 0}, 0, 3);
  EXPECT_EQ(contexts.size(), 7);
  const auto [x, y] = contexts.get_batch(Ids{0, 1, 3, 4, 5, 6});
  EXPECT_EQ(x.sizes(), (Shape{6, 3}));
  EXPECT_EQ(x.to_vector<std::int64_t>(),
            (Ids{0, 0, 0, 0, 0, 5, 5, 6, 7, 6, 7, 8, 0, 0, 0, 0, 0, 9}));
  EXPECT_EQ(y.to_vector<std::int64_t>(), (Ids{5, 6, 8, 0, 9, 0}));
  EXPECT_THROW(contexts.get_batch(Ids{7}), std::out_of_range);
  EXPECT_THROW(LineContexts({1}, 0, 0), std::invalid_argument);
}

TEST(Text, ReadsEveryByte) {
  const tests::Folder folder;
  const std::string path = folder / "text.txt";
  const std::string text("a\r\n\0b", 5);
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(read_text(path), text);
  std::remove(path.c_str());
  EXPECT_EQ(message_of<std::runtime_error>([&] { read_text(path); }),
            "read_text: expected a file, got no such file: " + path);
  EXPECT_EQ(message_of<std::runtime_error>([] { read_text(::testing::TempDir()); }),
            "read_text: expected a file, got a folder: " + ::testing::TempDir());
}

}  // namespace
}  // namespace halfgrad::data
