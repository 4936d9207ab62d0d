// A language model of characters in fp32, fp16 with a GradScaler, or bf16: the training loop of
// nanoGPT on a multilayer perceptron or a small transformer. See --help.
#include <exception>

#include <fmt/core.h>

#include "char_lm/models.h"
#include "char_lm/training.h"

namespace {

Model make_model(const Corpus& corpus, const Options& options) {
  const std::int64_t characters = corpus.alphabet.size();
  if (options.model == "mlp") {
    const char_lm::Mlp mlp(characters, options.context, options.width);
    return {mlp, mlp};
  }
  const char_lm::Gpt gpt({.characters = characters,
                          .context = options.context,
                          .layers = options.layers,
                          .heads = options.heads,
                          .width = options.width,
                          .dropout = options.dropout,
                          .checkpoint = options.checkpoint});
  return {gpt, gpt};
}

void run(const Options& options) {
  const Corpus corpus(options);
  halfgrad::manual_seed(options.seed);
  Model model = make_model(corpus, options);
  model.module.to(options.device);
  std::int64_t weights = 0;
  for (const auto& parameter : model.module.parameters()) weights += parameter.numel();
  fmt::print("{} in {} on {}: {} weights; {} different characters, {} to learn from, {} to test\n",
             options.model, options.precision, options.device.str(), weights,
             corpus.alphabet.size(), corpus.train.size(), corpus.validation.size());
  const Validation result = train(model, corpus, options);
  fmt::print("\nvalidation loss {:.4f} nats a character\n\n{}\n", result.loss,
             write(model, corpus, options));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse_options(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "char_lm: {}\n", error.what());
    return 1;
  }
}
