#include "options.h"

#include <halfgrad/core/thread_pool.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/option_checks.h>
#include <halfgrad/programs/record_options.h>

namespace hg = halfgrad;

std::optional<hg::DType> Options::autocast() const {
  if (precision == "fp32") return std::nullopt;
  return precision == "fp16" ? hg::kHalf : hg::kBFloat16;
}

Options parse_options(int argc, char** argv) {
  Options options;
  std::string device = hg::cuda::is_available() ? "cuda" : "cpu";
  int threads = hg::get_num_threads();
  options.command.assign(argv, argv + argc);
  programs::CommandLine app(
      "char_lm",
      "Trains a language model of characters in mixed precision, and generates text with it:\n"
      "  mlp    a multilayer perceptron on the previous characters of a line (Bengio et al. 2003)\n"
      "  gpt    a small transformer with causal self-attention, on running text\n"
      "  llama  the same with rotary positions, RMSNorm and SwiGLU, by fused ops");
  app.option_defaults()->always_capture_default();
  const auto count = [&](const std::string& name, std::int64_t& value, const std::string& meaning) {
    return app.add_option(name, value, meaning)->check(checks::positive);
  };
  app.add_option("--model", options.model, "mlp, gpt or llama")
      ->transform(programs::one_of({"mlp", "gpt", "llama"}));
  app.add_option("--data", options.data, "Text file; default: a short built-in text")
      ->check(CLI::ExistingFile);
  app.add_option("--precision", options.precision, "fp32, fp16 (with a GradScaler) or bf16")
      ->transform(programs::one_of({"fp32", "fp16", "bf16"}, programs::precision_aliases()));
  count("--steps", options.steps, "Updates");
  count("--batch", options.batch, "Sequences in a batch");
  count("--accumulation", options.accumulation, "Batches in an update");
  CLI::Option* const context = count("--context", options.context, "Characters seen; mlp: 8");
  count("--layers", options.layers, "Transformer blocks");
  count("--heads", options.heads, "Attention heads; divides the width");
  count("--width", options.width, "Size of hidden vectors");
  app.add_option("--dropout", options.dropout, "Dropout probability")
      ->check(checks::within(0, 0.9));
  app.add_flag("--checkpoint", options.checkpoint,
               "Recompute the activations of blocks in backward, which saves memory");
  app.add_option("--lr", options.lr, "Peak learning rate")->check(checks::positive);
  count("--warm-up", options.warm_up,
        "Updates until the peak; a cosine then falls to a tenth of it");
  app.add_option("--weight-decay", options.weight_decay, "Weight decay of matrices")
      ->check(checks::within(0, 1));
  app.add_option("--clip", options.clip, "Largest norm of the gradient")->check(checks::positive);
  count("--validate-every", options.validate_every, "Updates between validations");
  count("--validation-batches", options.validation_batches, "Batches in a validation");
  app.add_option("--samples", options.samples, "Characters to generate at the end")
      ->check(CLI::Range(0, 1'000'000'000));
  app.add_option("--seed", options.seed, "Seed of the weights and of the order of samples")
      ->check(checks::seed);
  app.add_option("--save", options.save, "Save a checkpoint to this file at each validation")
      ->check(checks::writable);
  app.add_option("--resume", options.resume, "Continue from this checkpoint, bit for bit")
      ->check(CLI::ExistingFile);
  programs::add_report(app, options.report, "Also write a page with charts to this file");
  count("--until", options.until, "Stop after this update; --resume continues up to --steps")
      ->default_str("");
  const programs::TraceOptions traces(app);
  app.add_option("--device", device, "cpu or cuda")->transform(programs::one_of({"cpu", "cuda"}));
  app.add_option("--threads", threads, "Threads on the CPU")->check(CLI::Range(1, 1024));
  app.parse_or_exit(argc, argv, [&] {
    if (options.model == "mlp" && context->empty()) options.context = 8;
    if (options.width % options.heads != 0)
      throw CLI::ValidationError("--heads: expected a divisor of the width");
    if (options.model == "llama" && options.width / options.heads % 2 != 0)
      throw CLI::ValidationError(
          "--heads: expected width / heads to be even, for rotary positions");
    checks::different_files(
        {{"--save", options.save}, {"--report", options.report}, {"--trace", traces.trace()}});
    checks::different_files(
        {{"--resume", options.resume}, {"--report", options.report}, {"--trace", traces.trace()}});
    if (device == "cuda" && !hg::cuda::is_available())
      throw CLI::ValidationError("--device cuda: " + hg::cuda::why_unavailable());
  });
  options.device = hg::Device(device);
  options.traces = traces.open();
  hg::set_num_threads(threads);
  return options;
}
