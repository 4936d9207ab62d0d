// Your own table: reads a CSV file, trains a small classifier on it in fp32 or mixed precision,
// stops at the best epoch, and says how well each class is recognised. docs/own_data.md explains
// it.
#include <iostream>
#include <limits>
#include <string>

#include <fmt/core.h>

#include <halfgrad/data/confusion_matrix.h>
#include <halfgrad/data/csv.h>
#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/train_test_split.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/io/state_dict.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/option_checks.h>

namespace hg = halfgrad;

namespace {

struct Options {
  std::string data = OWN_DATA_CSV;
  std::string precision = "fp16";
  std::string save = {};
  int epochs = 200;
  int steps = std::numeric_limits<int>::max();
};

hg::amp::AutocastOptions autocast_options(const std::string& precision) {
  return {.dtype = precision == "bf16" ? hg::kBFloat16 : hg::kHalf, .enabled = precision != "fp32"};
}

void train(const Options& options) {
  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  const hg::data::Table table = hg::data::load_csv(options.data);
  std::cout << table << std::endl;
  const hg::Tensor x =
      table.floats({"sepal_length", "sepal_width", "petal_length", "petal_width"}).to(device);
  const auto [classes, names] = table.categories("species");
  const auto [x_rest, x_test, y_rest, y_test] = hg::data::train_test_split(
      x, classes.to(device), {.test_size = 0.3, .seed = 1, .stratify = true});
  const auto [x_train, x_valid, y_train, y_valid] =
      hg::data::train_test_split(x_rest, y_rest, {.stratify = true});

  hg::manual_seed(0);
  hg::nn::Standardize standardize(x.size(1));
  standardize.fit(x_train);
  auto model = hg::nn::Sequential(standardize, hg::nn::Linear(x.size(1), 32), hg::nn::ReLU(),
                                  hg::nn::Linear(32, std::ssize(names)));
  model.to(device);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
  hg::amp::GradScaler scaler({.enabled = options.precision == "fp16"});
  hg::nn::EarlyStopping early_stopping(model, {.patience = 20});
  hg::data::DataLoader loader(hg::data::TensorDataset(x_train.cpu(), y_train.cpu()),
                              {.batch_size = 16, .shuffle = true});
  int step = 0;
  for (int epoch = 0; epoch < options.epochs && step < options.steps; ++epoch) {
    for (auto [inputs, targets] : loader) {
      if (step++ == options.steps) break;
      optimizer.zero_grad();
      hg::Tensor loss;
      {
        hg::amp::Autocast autocast(device.type(), autocast_options(options.precision));
        loss = hg::nn::functional::cross_entropy(model(inputs.to(device)), targets.to(device));
      }
      scaler.scale(loss).backward();
      scaler.step(optimizer);
      scaler.update();
    }
    const hg::NoGradGuard no_grad;
    const double loss = hg::nn::functional::cross_entropy(model(x_valid), y_valid).item();
    if (epoch % 10 == 0) fmt::print("epoch {:3}: validation loss {:.4f}\n", epoch, loss);
    if (early_stopping.step(loss)) break;
  }
  early_stopping.restore_best();
  fmt::print("best epoch {}: validation loss {:.4f}\n\n", early_stopping.best_epoch(),
             early_stopping.best());

  const hg::NoGradGuard no_grad;
  const hg::Tensor matrix = hg::data::confusion_matrix(model(x_test), y_test);
  fmt::print("{}", hg::data::classification_report(matrix, names));
  if (!options.save.empty()) hg::io::save_state_dict(options.save, model.state_dict());
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app("own_data",
                            "Trains a classifier on a CSV file, by default Fisher's iris.");
  Options options;
  app.add_option("--data", options.data, "A CSV file with the columns of Fisher's iris")
      ->check(CLI::ExistingFile);
  app.add_option("--precision", options.precision, "fp32, fp16 with a GradScaler, or bf16")
      ->transform(programs::one_of({"fp32", "fp16", "bf16"}, programs::precision_aliases()));
  app.add_option("--epochs", options.epochs, "Largest number of epochs")->check(checks::positive);
  app.add_option("--steps", options.steps, "Stop after this many steps")
      ->check(CLI::Range(1, options.steps));
  app.add_option("--save", options.save, "Save the model to this safetensors file")
      ->check(checks::writable);
  app.parse_or_exit(argc, argv);
  return programs::run("own_data", [&] {
    train(options);
    return 0;
  });
}
