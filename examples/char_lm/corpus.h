#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/text.h>

struct Options;

/// A text, split into training and validation parts. The validation part is every tenth line for a
/// model that reads single lines, and the last tenth of the text for one that reads running text.
struct Corpus {
  /// Throws std::invalid_argument if one of the two parts is too short.
  explicit Corpus(const Options& options);

  halfgrad::data::Alphabet alphabet;
  std::vector<std::int64_t> train, validation;
  bool by_line;
  std::int64_t context;
  std::optional<std::int64_t> line_end;  ///< index of '\n'; always there if by_line

  halfgrad::data::DataLoader loader(const std::vector<std::int64_t>& text,
                                    halfgrad::data::DataLoaderArguments options) const;

  /// The character that precedes a generated text.
  std::int64_t start() const { return line_end.value_or(train[0]); }

 private:
  Corpus(const Options& options, const std::string& text);
};
