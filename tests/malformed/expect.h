#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "malformed.h"

namespace halfgrad::tests {

/// Expects that the reader refuses every file with its code. The message must name the reader and
/// the file; the offset must not exceed the size of the file, or `unpacked`, the size of its
/// unpacked data.
template <class Reader>
void expect_refused(const std::vector<Malformed>& list, const std::string& reader,
                    const Reader& read, std::size_t unpacked = 0) {
  std::set<std::string> names;
  for (const Malformed& malformed : list) {
    SCOPED_TRACE(malformed.name);
    EXPECT_TRUE(names.insert(malformed.name).second) << "listed twice";
    try {
      read(malformed.file, "the file");
      ADD_FAILURE() << "was read";
    } catch (const files::FormatError& error) {
      const std::string message = error.what();
      EXPECT_EQ(name(error.code()), name(malformed.code)) << message;
      EXPECT_LE(error.offset(), std::max(malformed.file.size(), unpacked)) << message;
      EXPECT_EQ(message.rfind(reader + ": expected ", 0), 0u) << message;
      EXPECT_NE(message.find(" in the file"), std::string::npos) << message;
      EXPECT_NE(message.find(malformed.message), std::string::npos) << message;
    }
  }
}

/// Expects that the reader refuses every truncation of a file, and reads or refuses it with a
/// FormatError after a change of any bit.
template <class Reader>
void expect_robust(const Bytes& whole, const Reader& read) {
  const auto survive = [&](const Bytes& file) {
    try {
      read(file, "the file");
      return true;
    } catch (const files::FormatError&) {
      return false;
    }
  };
  ASSERT_TRUE(survive(whole));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    EXPECT_FALSE(survive(without_last(whole, whole.size() - at))) << at << " bytes";
    for (int bit = 0; bit < 8; ++bit) {
      survive(with_byte(whole, at, std::to_integer<int>(whole[at]) ^ (1 << bit)));
    }
  }
}

}  // namespace halfgrad::tests
