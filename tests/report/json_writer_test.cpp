#include <halfgrad/report/json_writer.h>

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace halfgrad::report {
namespace {

using nlohmann::json;

TEST(JsonWriter, WritesWhatAParserReads) {
  JsonWriter writer;
  writer.begin('{').key("a").begin('[').integer(-3).real(0.1).boolean(false).end(']');
  writer.key("b").begin('{').end('}').key("c").text("x").end('}');
  EXPECT_EQ(json::parse(writer.str()),
            json::parse(R"({"a": [-3, 0.1, false], "b": {}, "c": "x"})"));
}

TEST(JsonWriter, RealsReadBackExactly) {
  for (const double value : {0.1, 1e-300, 65504.0, -0x1p-1074, 1.0 / 3}) {
    EXPECT_EQ(json::parse(JsonWriter().real(value).str()).get<double>(), value);
    const auto narrow = static_cast<float>(value);
    EXPECT_EQ(json::parse(JsonWriter().rounded(value).str()).get<float>(), narrow);
  }
}

TEST(JsonWriter, NumbersThatJsonLacksAreNull) {
  for (const double value : {NAN, INFINITY, -INFINITY}) {
    EXPECT_EQ(JsonWriter().real(value).str(), "null");
    EXPECT_EQ(JsonWriter().rounded(value).str(), "null");
  }
  constexpr double kBeyondFloat = 1e39;
  EXPECT_EQ(json::parse(JsonWriter().rounded(kBeyondFloat).str()).get<double>(), kBeyondFloat);
}

TEST(JsonWriter, NoTextEndsAScriptElement) {
  const std::string text = "</script><!-- \"quoted\" \\ \n\t\x01 2⁻²⁴";
  const std::string written = JsonWriter().text(text).str();
  EXPECT_EQ(written.find('<'), std::string::npos);
  EXPECT_EQ(json::parse(written).get<std::string>(), text);
}

// A path on Linux may hold any bytes.
TEST(JsonWriter, ReplacesBytesThatAreNotUtf8) {
  const std::string kept = "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff";
  const std::string bad[] = {"\xff",
                             "\x80",
                             "\xc3",
                             "\xc0\x80",
                             "\xc1\xbf",
                             "\xe0\x9f\xbf",
                             "\xed\xa0\x80",
                             "\xf0\x8f\xbf\xbf",
                             "\xf4\x90\x80\x80",
                             "\xe2\x81"};
  EXPECT_EQ(json::parse(JsonWriter().text(kept).str()).get<std::string>(), kept);
  for (const std::string& bytes : bad) {
    std::string expected = "a";
    for (std::size_t i = 0; i < bytes.size(); ++i) expected += "\uFFFD";
    expected += "b";
    const std::string written = JsonWriter().text("a" + bytes + "b").str();
    EXPECT_EQ(json::parse(written).get<std::string>(), expected);
  }
}

}  // namespace
}  // namespace halfgrad::report
