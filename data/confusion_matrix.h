#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// How well a classifier does on each class.
namespace halfgrad::data {

/// Returns how many samples of class i, the row, have their largest logit at class j, the column:
/// int64 `[classes, classes]` on the CPU. The arguments are those of cross_entropy: logits
/// `[n, classes]` and integer targets `[n]`. The matrices of several batches may be added. Throws
/// std::invalid_argument for other shapes and dtypes, and for a target outside [0, classes).
Tensor confusion_matrix(const Tensor& logits, const Tensor& target);

/// The scores of one class. NaN stands for 0 / 0: a class that never occurs, or is never predicted.
struct ClassScores {
  std::int64_t support;  ///< samples of the class
  double precision;      ///< share of the samples predicted as the class that belong to it
  double recall;         ///< share of the class that is predicted as the class
  double f1;             ///< harmonic mean of the two: 2 right / (predicted + support)
};

/// Returns the scores of each class. Throws std::invalid_argument unless the matrix is square.
std::vector<ClassScores> class_scores(const Tensor& confusion_matrix);

/// Returns the share of samples on the diagonal.
double accuracy(const Tensor& confusion_matrix);

/// Returns the matrix and the scores as a table to print, a line for each class. Leaves out the
/// columns of the matrix for more than 12 classes. Throws std::invalid_argument unless there is a
/// name for each class.
std::string classification_report(const Tensor& confusion_matrix,
                                  const std::vector<std::string>& class_names);

}  // namespace halfgrad::data
