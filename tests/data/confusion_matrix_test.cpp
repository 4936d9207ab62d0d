#include <halfgrad/data/confusion_matrix.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::data {
namespace {

// Three samples of class 0, one of them predicted as 1; two of class 1; none of class 2.
Tensor example() {
  const Tensor logits = tensor(
      {{2.0, 1.0, 0.0}, {0.5, 3.0, 1.0}, {9.0, 1.0, 2.0}, {0.0, 1.0, 0.5}, {-5.0, -1.0, -2.0}});
  return confusion_matrix(logits.to(kHalf), tensor({0, 0, 0, 1, 1}));
}

TEST(ConfusionMatrix, CountsTargetsInRowsAndPredictionsInColumns) {
  EXPECT_EQ(example().dtype(), kInt64);
  EXPECT_TRUE(equal(example(), tensor({{2, 1, 0}, {0, 2, 0}, {0, 0, 0}})));
  EXPECT_TRUE(equal(example() + example(), tensor({{4, 2, 0}, {0, 4, 0}, {0, 0, 0}})));
}

TEST(ConfusionMatrix, ScoresEachClass) {
  const std::vector<ClassScores> scores = class_scores(example());
  EXPECT_EQ(scores[0].support, 3);
  EXPECT_EQ(scores[0].precision, 1);
  EXPECT_DOUBLE_EQ(scores[0].recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores[0].f1, 0.8);
  EXPECT_DOUBLE_EQ(scores[1].precision, 2.0 / 3);
  EXPECT_EQ(scores[1].recall, 1);
  EXPECT_TRUE(std::isnan(scores[2].precision) && std::isnan(scores[2].recall) &&
              std::isnan(scores[2].f1));
  EXPECT_DOUBLE_EQ(accuracy(example()), 0.8);
}

TEST(ConfusionMatrix, PrintsATable) {
  EXPECT_EQ(classification_report(example(), {"cat", "caf\xC3\xA9", "dog"}),
            "       predicted as\n"
            "class  cat  caf\xC3\xA9  dog  precision  recall     f1  samples\n"
            "cat      2     1    0      1.000   0.667  0.800        3\n"
            "caf\xC3\xA9     0     2    0      0.667   1.000  0.800        2\n"
            "dog      0     0    0          -       -      -        0\n"
            "accuracy 0.800\n");
  const std::string wide =
      classification_report(eye(13, {.dtype = kInt64}), std::vector<std::string>(13, "x"));
  EXPECT_EQ(wide.substr(0, wide.find('\n')), "class  precision  recall     f1  samples");
}

TEST(ConfusionMatrix, RefusesWrongArguments) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              confusion_matrix(tensor({0, 1}), tensor({0, 1}));
            }),
            "confusion_matrix: expected logits [n, classes] and integer targets [n], got [2] of "
            "int64 and [2] of int64");
  EXPECT_THROW(confusion_matrix(zeros({2, 3}), zeros({2})), std::invalid_argument);
  EXPECT_THROW(confusion_matrix(zeros({2, 3}), tensor({0})), std::invalid_argument);
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              confusion_matrix(zeros({2, 3}), tensor({0, 3}));
            }),
            "confusion_matrix: expected targets in [0, 3), got 3 for sample 1");
  EXPECT_THROW(class_scores(tensor({1, 2})), std::invalid_argument);
  EXPECT_THROW(classification_report(example(), {"a"}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::data
