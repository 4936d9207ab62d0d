#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/text.h>

struct Options;

/// Text to learn from and text to be tested on. A model that reads lines gets every tenth line to
/// be tested on, one that reads on and on the last tenth.
struct Corpus {
  /// Throws std::invalid_argument for a text of which one of the two parts would be too short.
  explicit Corpus(const Options& options);

  halfgrad::data::Alphabet alphabet;
  std::vector<std::int64_t> train, validation;
  bool by_line;
  std::int64_t context;
  std::optional<std::int64_t> line_end;  ///< a text that is read by lines has them

  halfgrad::data::DataLoader loader(const std::vector<std::int64_t>& text,
                                    halfgrad::data::DataLoaderOptions options) const;

  /// What a text that is to be written begins behind.
  std::int64_t start() const { return line_end.value_or(train[0]); }

 private:
  Corpus(const Options& options, const std::string& text);
};
