// An error quotes at most 200 characters of a file.
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/tests/message_of.h>

#include "../malformed/npy.h"
#include "../malformed/safetensors.h"
#include "../malformed/zip_builder.h"

namespace halfgrad::tests {
namespace {

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

std::string safetensors_error(const Bytes& file) {
  return message_of<files::FormatError>([&] { io::parse_safetensors(file, "file"); });
}

TEST(MessageLength, AShapeOfTwoMillionOnesIsCut) {
  const std::string ones = "[" + repeated("1,", 2'000'000) + "1]";
  const Bytes file = safetensors_files::shaped("F32", ones, "[0,8]", 8);
  EXPECT_EQ(safetensors_error(file), "load_safetensors: expected the 32 bits that F32 of shape [" +
                                         repeated("1,", 84) +
                                         "1... (4000039 bytes), got 8 bytes in file at byte 13");
}

TEST(MessageLength, NamesAndTextsAreCut) {
  const std::string long_text(1'000'000, 'x');
  const std::string scalar = R"({"dtype":"U8","shape":[],"data_offsets":[0,1]})";
  const Bytes files[] = {
      safetensors_files::shaped(long_text, "[1]", "[0,1]", 1),
      safetensors_files::file("{\"" + long_text + "\":" + scalar + "}", 0),
      safetensors_files::file("{\"" + long_text + "\":" + scalar + ",\"" + long_text + "\":1}", 1),
      safetensors_files::entry("{\"" + long_text + "\":1}", 1),
  };
  for (const Bytes& file : files) {
    const std::string message = safetensors_error(file);
    EXPECT_LT(message.size(), 600u) << message.substr(0, 600);
    EXPECT_NE(message.find("xxxx"), std::string::npos) << message.substr(0, 600);
  }
}

TEST(MessageLength, MembersOfArchivesAreCut) {
  const std::string name = std::string(60'000, 'm') + ".npy";
  const std::string message = message_of<files::FormatError>(
      [&] { io::parse_npz(zip({zip_part(name, bytes("no array"))}), "file"); });
  EXPECT_NE(message.find("file:mmmm"), std::string::npos) << message.substr(0, 600);
  EXPECT_LT(message.size(), 600u);
}

TEST(MessageLength, ACharacterOfSeveralBytesIsKeptWhole) {
  for (int shift = 0; shift < 3; ++shift) {
    const std::string name = std::string(shift, 'a') + repeated("\xE2\x82\xAC", 200);  // the euro
    const std::string message =
        safetensors_error(safetensors_files::shaped(name, "[1]", "[0,1]", 1));
    const std::size_t cut = message.find("...");
    ASSERT_NE(cut, std::string::npos) << message;
    EXPECT_EQ(message.substr(cut - 3, 3), "\xE2\x82\xAC") << message;
  }
}

TEST(MessageLength, TextsOfCheckpointsAreCut) {
  io::Checkpoint checkpoint;
  checkpoint.write_text("settings", std::string(1'000'000, 's'));
  EXPECT_LT(message_of([&] { checkpoint.require_text("settings", "others"); }).size(), 600u);
  checkpoint.metadata["\xFF" + std::string(1'000'000, 's')] = "";
  EXPECT_LT(message_of([&] { io::save_checkpoint("unused", checkpoint); }).size(), 600u);
}

TEST(MessageLength, OnlySomeUnexpectedNamesAreListed) {
  nn::Linear model(1, 1);
  io::Checkpoint checkpoint;
  checkpoint.write("model", model);
  const Tensor zero = halfgrad::zeros({});
  for (int i = 0; i < 10'000; ++i) checkpoint.write("model/extra" + std::to_string(i), zero);
  checkpoint.write("model/" + std::string(1'000'000, 'n'), zero);
  const std::string message = message_of([&] { checkpoint.read("model", model); });
  EXPECT_LT(message.size(), 2000u);
  EXPECT_NE(message.find("unexpected: \"extra0\""), std::string::npos) << message.substr(0, 500);
  EXPECT_NE(message.find(" and 9981 more"), std::string::npos) << message.substr(0, 500);
}

}  // namespace
}  // namespace halfgrad::tests
