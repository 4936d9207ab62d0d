#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/message_of.h>

// An error names the function that the program called, not an op that it calls.
namespace halfgrad {
namespace {

struct Case {
  std::string name;
  std::function<void()> call;
};

TEST(OpNames, AreThoseOfTheCall) {
  const Tensor x = ones({2, 3}), other = ones({4, 5});
  const Case cases[] = {
      {"view", [&] { x.view({4}); }},
      {"view_as", [&] { x.view_as(other); }},
      {"reshape", [&] { x.reshape({4}); }},
      {"reshape_as", [&] { x.reshape_as(other); }},
      {"expand_as", [&] { x.expand_as(other); }},
      {"copy_", [&] { x.copy_(other); }},
      {"index",
       [&] {
         x.index({0, 9});
       }},
      {"index_put_", [&] { x.index_put_({9}, 1); }},
      {"select", [&] { x.select(0, 9); }},
      {"max", [&] { max(x, 9); }},
      {"max", [&] { ones({0}).max(); }},
      {"min", [&] { min(x, 9); }},
      {"min", [&] { ones({0}).min(); }},
      {"clamp", [&] { clamp(x, other, Tensor()); }},
      {"clamp", [&] { clamp(x, Tensor(), other); }},
      {"clamp_min", [&] { clamp_min(x, other); }},
      {"clamp_max", [&] { clamp_max(x, other); }},
      {"empty", [&] { empty({-1}); }},
      {"zeros", [&] { zeros({-1}); }},
      {"ones", [&] { ones({-1}); }},
      {"full", [&] { full({-1}, 1); }},
      {"rand", [&] { rand({-1}); }},
      {"randn", [&] { randn({-1}); }},
      {"randint", [&] { randint(5, {-1}); }},
      {"randint", [&] { randint(5, 5, {2}); }},
      {"randperm", [&] { randperm(-1); }},
      {"eye", [&] { eye(-1); }},
      {"linspace", [&] { linspace(0, 1, -1); }},
  };
  for (const Case& c : cases) {
    std::string message;
    try {
      c.call();
    } catch (const Error& error) {
      message = error.what();
    }
    EXPECT_TRUE(message.starts_with(c.name + ": expected")) << c.name << " said: " << message;
  }
}

TEST(OpNames, LeaveTheRestOfTheMessage) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(message_of<std::invalid_argument>([&] { x.view({4}); }),
            "view: expected sizes for 6 elements, got [4]");
  EXPECT_EQ(message_of<std::out_of_range>([&] { x.index({9}); }),
            "index: expected an index in [-2, 1] for dimension 0 of [2, 3], got 9");
}

}  // namespace
}  // namespace halfgrad
