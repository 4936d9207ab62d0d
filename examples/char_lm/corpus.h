#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/text.h>

struct Options;

/// Text to learn from and text to be tested on. A model that reads lines gets every tenth line to
/// be tested on, one that reads on and on the last tenth.
struct Corpus {
  explicit Corpus(const Options& options);

  halfgrad::data::Alphabet alphabet;
  std::vector<std::int64_t> train, validation;
  bool by_line;
  std::int64_t context;

  std::int64_t line_end() const { return alphabet.encode("\n")[0]; }
  halfgrad::data::DataLoader loader(const std::vector<std::int64_t>& text,
                                    halfgrad::data::DataLoaderOptions options) const;

 private:
  Corpus(const Options& options, const std::string& text);
};
