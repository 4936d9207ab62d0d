#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Constants of a scaler.
struct Options {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int growth_interval = 2000;
  double min_scale = 0;  ///< the scale never falls below it
};

using Vector = std::vector<double>;

/// A loss scaler for any number of lists of weights. An iteration is
///
///   backward of scaler.scaled(loss), which gives gradients that are multiplied by scale()
///   scaler.step(weights, gradients, lr), for each list of weights
///   scaler.update()
class Scaler {
 public:
  explicit Scaler(const Options& options) : options_(options), scale_(options.init_scale) {}

  double scale() const { return scale_; }
  /// Good iterations in a row since a bad one or the last growth.
  int good_steps() const { return good_steps_; }

  /// loss * scale().
  double scaled(double loss) const;

  /// Divides every gradient by the scale, then sets weight = weight - lr * gradient for each
  /// weight, unless one of these gradients is inf or NaN: then no weight of this list changes.
  /// Other lists of the same iteration are not concerned. Returns true if the weights changed.
  bool step(Vector& weights, Vector& gradients, double lr);

  /// Ends the iteration. It was bad if any list had an inf or a NaN: then the scale is multiplied
  /// by backoff_factor, but does not fall below min_scale. After growth_interval good iterations in
  /// a row it is multiplied by growth_factor, unless that is infinite.
  void update();

 private:
  Options options_;
  double scale_;
  int good_steps_ = 0;
  bool found_inf_ = false;
};

/// The student's test: returns an empty text if Scaler is right, otherwise what is wrong.
std::string test();
