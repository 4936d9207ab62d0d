// Trains a language model of characters in fp32, fp16 with a GradScaler, or bf16: nanoGPT's
// training loop for a multilayer perceptron or one of two small transformers. See --help.
#include <optional>

#include <fmt/core.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/outputs.h>
#include <halfgrad/programs/saves.h>
#include <halfgrad/programs/terminal.h>

#include "char_lm/llama.h"
#include "char_lm/models.h"
#include "char_lm/training.h"

namespace {

Model make_model(const Corpus& corpus, const Options& options) {
  const std::int64_t characters = corpus.alphabet.size();
  if (options.model == "mlp") {
    const char_lm::Mlp mlp(characters, options.context, options.width);
    return {mlp, mlp};
  }
  const char_lm::TransformerOptions sizes{.characters = characters,
                                          .context = options.context,
                                          .layers = options.layers,
                                          .heads = options.heads,
                                          .width = options.width,
                                          .dropout = options.dropout,
                                          .checkpoint = options.checkpoint};
  if (options.model == "llama") {
    const char_lm::Llama llama(sizes);
    return {llama, llama};
  }
  const char_lm::Gpt gpt(sizes);
  return {gpt, gpt};
}

/// Prints what was saved at an interrupt, and the command that resumes the training.
void explain_interrupt(const Options& options, const programs::Saves& saves, std::int64_t steps) {
  fmt::print(stderr, "char_lm: interrupted after step {}, ", steps);
  if (options.save.empty()) {
    fmt::print(stderr, "nothing is saved without --save FILE\n");
    return;
  }
  const auto saved = saves.saved_step();
  if (!saved) {
    fmt::print(stderr, "nothing is saved\n");
    return;
  }
  fmt::print(stderr, "{} {}\n", *saved == steps ? "saved in" : "an earlier step is in",
             options.save.string());
  if (*saved == options.last_step()) return;
  fmt::print(
      stderr, "Resume it with\n  {}\n",
      programs::command_again(options.command, {"--resume"}, {"--resume", options.save.string()}));
}

int run(const Options& options) {
  programs::remember_interrupts();
  const Corpus corpus(options);
  halfgrad::manual_seed(options.seed);
  Model model = make_model(corpus, options);
  model.module.to(options.device);
  std::int64_t weights = 0;
  for (const auto& parameter : model.module.parameters()) weights += parameter.numel();
  programs::print_wrapped(fmt::format(
      "{} in {} on {}: {} weights; {} different characters, {} to learn from, {} to test\n",
      options.model, options.precision, options.device.str(), weights, corpus.alphabet.size(),
      corpus.train.size(), corpus.validation.size()));
  programs::Saves saves("char_lm", options.save);
  std::optional<halfgrad::RunReport> page;
  if (!options.report.empty()) {
    page.emplace(options.report);
    page->describe("char_lm: a language model of characters",
                   programs::command_again(options.command, {}, {}));
  }
  const Validation result = train(model, corpus, options, saves, page ? &*page : nullptr);
  programs::Outputs outputs("char_lm");
  if (options.traces) outputs.write([&] { options.traces->finish(); });
  if (page) {
    if (programs::is_interrupted()) page->set_interrupted();
    outputs.write([&] {
      page->finish();
      fmt::print("\nReport: {}\n", page->file().string());
    });
  }
  const int status = outputs.conclude(saves.conclude());
  if (programs::is_interrupted()) {
    explain_interrupt(options, saves, result.steps);
    return programs::interrupted_status();
  }
  fmt::print("\nvalidation loss {:.4f} nats a character\n\n", programs::printed(result.loss));
  fmt::print("{}\n", write(model, corpus, options));
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  return programs::run("char_lm", [&] { return run(parse_options(argc, argv)); });
}
