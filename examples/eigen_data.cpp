// Data prepared with Eigen, a model trained with halfgrad: <halfgrad/eigen.h> lets each work in the
// other's memory. Three classes of points have strongly correlated features; whitening makes the
// features uncorrelated, each of variance 1, and training then needs fewer steps.
#include <halfgrad/eigen.h>

#include <Eigen/Eigenvalues>

#include <fmt/core.h>

#include <halfgrad/halfgrad.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/option_checks.h>

namespace hg = halfgrad;

namespace {

constexpr int kPoints = 1536;
constexpr int kFeatures = 8;
constexpr int kClasses = 3;

struct Data {
  hg::Tensor x;  // [points, features] float32
  hg::Tensor y;  // [points] int64
};

// Whitens x [points, features]: (x - mean) V D^(-1/2), where V D V^T is the covariance of x.
Eigen::MatrixXf whitened(const Eigen::MatrixXf& x) {
  const Eigen::MatrixXf centred = x.rowwise() - x.colwise().mean();
  const Eigen::MatrixXf covariance = centred.transpose() * centred / float(x.rows() - 1);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXf> solver(covariance);
  return centred * solver.eigenvectors() *
         solver.eigenvalues().cwiseSqrt().cwiseInverse().asDiagonal();
}

Data make_data(bool whiten) {
  hg::manual_seed(1);
  // Eigen reads what halfgrad has drawn, without a copy.
  const hg::Tensor noise = hg::randn({kPoints, kFeatures});
  const hg::Tensor centres = hg::randn({kClasses, kFeatures}) * 1.5;
  const hg::Tensor mixing = hg::randn({kFeatures, kFeatures});
  Eigen::MatrixXf x = hg::eigen_map<float>(noise);
  Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1> y(kPoints);
  for (int i = 0; i < kPoints; ++i) {
    y[i] = i % kClasses;
    x.row(i) += hg::eigen_map<float>(centres).row(y[i]);
  }
  x = x * hg::eigen_map<float>(mixing);
  x.col(0) *= 100;  // one feature in other units
  return {hg::from_eigen(whiten ? whitened(x) : x), hg::from_eigen(y)};
}

// The share of rows whose largest logit is that of the row's class, computed by Eigen.
double accuracy(const hg::Tensor& logits, const hg::Tensor& y) {
  const auto scores = hg::eigen_map<const float>(logits);
  const auto classes = hg::eigen_map<const std::int64_t, 1>(y);
  int right = 0;
  for (Eigen::Index i = 0; i < scores.rows(); ++i) {
    Eigen::Index largest = 0;
    scores.row(i).maxCoeff(&largest);
    right += largest == classes[i];
  }
  return double(right) / double(scores.rows());
}

void train(const char* title, const Data& data, int steps) {
  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  const hg::Tensor x = data.x.to(device);
  const hg::Tensor y = data.y.to(device);
  hg::manual_seed(0);
  auto model = hg::nn::Sequential(hg::nn::Linear(kFeatures, 32), hg::nn::ReLU(),
                                  hg::nn::Linear(32, kClasses));
  model.to(device);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-2});
  hg::amp::GradScaler scaler;
  double last = 0;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(device.type());
      loss = hg::nn::functional::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    last = loss.item();
  }
  const hg::NoGradGuard no_grad;
  const hg::Tensor logits = model(x).cpu();
  fmt::print("{:<9}  loss {:.3f}  accuracy {:.1f} %\n", title, last,
             100 * accuracy(logits, data.y));
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app("eigen_data",
                            "Trains twice: on correlated features, and on the same features "
                            "whitened by Eigen (uncorrelated, each of variance 1).");
  int steps = 40;
  app.add_option("--steps", steps, "Steps of training")
      ->check(checks::positive)
      ->capture_default_str();
  app.parse_or_exit(argc, argv);
  return programs::run("eigen_data", [&] {
    train("as drawn", make_data(false), steps);
    train("whitened", make_data(true), steps);
    return 0;
  });
}
