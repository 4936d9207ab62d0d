#include <algorithm>
#include <iterator>
#include <vector>

#include "training.h"

namespace hg = halfgrad;

std::string write(const Model& model, const Corpus& corpus, const Options& options) {
  const hg::NoGradGuard no_grad;
  hg::nn::Module module = model.module;
  module.eval();
  std::vector<std::int64_t> text(corpus.by_line ? static_cast<std::size_t>(corpus.context) : 1,
                                 corpus.start());
  const std::ptrdiff_t prompt = std::ssize(text);
  for (std::int64_t i = 0; i < options.samples; ++i) {
    // A model that reads single lines sees line ends in place of the previous lines.
    std::vector<std::int64_t> seen(text.end() - std::min(std::ssize(text), corpus.context),
                                   text.end());
    if (corpus.by_line) {
      const auto start = std::find(seen.rbegin(), seen.rend(), corpus.start()).base();
      std::fill(seen.begin(), start, corpus.start());
    }
    const hg::Tensor x = hg::tensor(seen, {1, std::ssize(seen)}, {.device = options.device});
    const hg::Tensor logits = model.logits(x).view({-1, corpus.alphabet.size()});
    text.push_back(logits[-1].softmax(0).multinomial(1).item<std::int64_t>());
  }
  return corpus.alphabet.decode({text.begin() + prompt, text.end()});
}
