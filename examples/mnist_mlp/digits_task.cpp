#include <span>

#include <fmt/core.h>
#include <halfgrad/data/mnist.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/terminal.h>
#include <halfgrad/report/trace/crc32c.h>

#include "table.h"
#include "tasks.h"

namespace hg = halfgrad;

namespace {

constexpr std::int64_t kPixels = hg::data::DigitImages::kSide * hg::data::DigitImages::kSide;

struct Digits {
  hg::data::DigitImages train, test;
};

hg::data::DigitImages part(const hg::data::DigitImages& all, std::int64_t first,
                           std::int64_t last) {
  return {{all.pixels.begin() + first * kPixels, all.pixels.begin() + last * kPixels},
          {all.labels.begin() + first, all.labels.begin() + last}};
}

bool has_training_images(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("train-images")) return true;
  return false;
}

Digits load(const std::filesystem::path& folder) {
  using hg::data::Split;
  if (folder.empty()) {
    fmt::print("Digits drawn in code: 8000 to train on, 2000 to test.\n");
    return {hg::data::synthetic_digits(8000, 1), hg::data::synthetic_digits(2000, 2)};
  }
  const auto test = hg::data::load_mnist(folder, Split::test);
  const auto count = std::ssize(test.labels);
  if (has_training_images(folder)) {
    Digits digits{hg::data::load_mnist(folder, Split::train), test};
    fmt::print("{}: {} images to train on, {} to test.\n", folder.string(),
               digits.train.labels.size(), count);
    return digits;
  }
  constexpr std::int64_t held_out = 2000;
  if (count <= held_out)
    throw std::runtime_error(fmt::format(
        "{}: expected train-... files, or more than {} images in the t10k-... files, got {}",
        folder.string(), held_out, count));
  programs::print_wrapped(
      fmt::format("{} has the t10k-... files alone: the first {} images to train on, the last {} "
                  "to test.\n",
                  folder.string(), count - held_out, held_out),
      2);
  return {part(test, 0, count - held_out), part(test, count - held_out, count)};
}

hg::data::Batch to_tensors(const hg::data::DigitImages& images) {
  const std::int64_t count = std::ssize(images.labels);
  return {hg::tensor(images.pixels, {count, kPixels}).to(hg::kFloat32), hg::tensor(images.labels)};
}

/// The checksums of images and labels, which tell a checkpoint's data from others.
std::string checksum(const hg::data::DigitImages& images) {
  const auto of = [](const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return hg::report::crc32c({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  return fmt::format("crc32c {:08x} {:08x}", of(images.pixels), of(images.labels));
}

/// Subtracts the mean of the training images and divides by their standard deviation.
void normalise(hg::data::Batch& train, hg::data::Batch& test) {
  const double mean = train.first.mean().item(), deviation = hg::std(train.first).item();
  for (hg::Tensor* pixels : {&train.first, &test.first}) pixels->sub_(mean).div_(deviation);
}

hg::Tensor accuracy(const hg::Tensor& logits, const hg::Tensor& labels) {
  return (logits.argmax(1) == labels).to(hg::kFloat32).mean();
}

hg::nn::Sequential make_mlp(const std::vector<std::int64_t>& hidden) {
  hg::nn::Sequential model;
  std::int64_t inputs = kPixels;
  for (const std::int64_t size : hidden) {
    model.push_back(hg::nn::Linear(inputs, size));
    model.push_back(hg::nn::ReLU());
    inputs = size;
  }
  model.push_back(hg::nn::Linear(inputs, 10));
  return model;
}

}  // namespace

Task digits_task(const Options& options, hg::RunReport* page) {
  const Digits digits = load(options.data);
  hg::data::Batch train_set = to_tensors(digits.train), test_set = to_tensors(digits.test);
  normalise(train_set, test_set);
  std::string sizes = std::to_string(kPixels);
  for (const std::int64_t size : options.hidden) sizes += "-" + std::to_string(size);
  const std::string title = fmt::format("{}-10, batch {}, {} {:g}, {} epochs", sizes, options.batch,
                                        options.optimizer, options.lr, options.epochs);
  programs::print_wrapped(title + "\n\n");
  const bool has_checkpoint = !options.save.empty() || !options.resume.empty();
  return {
      .train = hg::data::TensorDataset(train_set.first, train_set.second),
      .test = test_set,
      .make_model = [&options] { return make_mlp(options.hidden); },
      .loss = [](const auto& logits, const auto& y) { return hg::cross_entropy(logits, y); },
      .score = accuracy,
      .score_text =
          [](double score) {
            return fmt::format("accuracy {:>5.2f} %", 100 * programs::printed(score));
          },
      .title = "Digits: " + title,
      .score_name = "accuracy (%)",
      .score_unit = 0.01,
      .page = page,
      .optimizer = options.optimizer,
      .lr = options.lr,
      .init_scale = options.init_scale,
      .batch = options.batch,
      .epochs = options.epochs,
      .steps = options.steps,
      .device = options.device,
      .save = options.save,
      .save_every = options.save_every,
      .resume = options.resume,
      .checksum = has_checkpoint ? checksum(digits.train) : "",
      .traces = options.traces.get(),
      .graph = options.graph,
  };
}

std::vector<TrainingReport> run_digits(const Options& options, hg::RunReport* page) {
  const Task task = digits_task(options, page);
  std::vector<TrainingReport> reports;
  for (const Precision& precision : options.precisions)
    for (int i = 0; i < options.seeds && !programs::is_interrupted(); ++i)
      reports.push_back(train(task, precision, options.seed + static_cast<std::uint64_t>(i)));
  if (!reports.empty()) print_digits_table(reports, options);
  return reports;
}
