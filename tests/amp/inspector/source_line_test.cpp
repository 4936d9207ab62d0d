#include <halfgrad/amp/inspector/source_line.h>

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/devices.h>

/// Code of a user, outside namespace halfgrad, with planted overflows. This file is compiled with
/// -g1, so that the lines are known.
namespace planted {
namespace {

namespace hg = halfgrad;

struct Attention : hg::nn::Callable<Attention> {
  hg::nn::Linear project{register_module("project", hg::nn::Linear(2, 2))};
  static constexpr int kLineOfExp = __LINE__ + 2;

  hg::Tensor forward(const hg::Tensor& x) const { return hg::exp(project(x).to(hg::kFloat) * 1e4); }
};

struct Found {
  hg::amp::Overflow overflow;
  int line;
};

Found exp_of_a_large_number() {
  const Attention model;
  model.project.weight.array().fill_(1);
  const auto overflow = hg::amp::find_overflow(hg::amp::NamedModel(model),
                                               [&] {
                                                 return model(hg::ones({1, 2})).sum();
                                               },
                                               {.scale = 1});
  return {overflow, Attention::kLineOfExp};
}

// The op is called by a layer of the library, which this line calls.
Found scale_too_high() {
  const hg::nn::Sequential model(hg::nn::Linear(4, 4));
  int line = 0;
  const auto loss = [&] {
    const hg::amp::Autocast autocast(hg::default_device_type());
    line = __LINE__ + 1;
    const hg::Tensor y = model(hg::full({2, 4}, 100.0));
    return (y.to(hg::kFloat) * 0.25).sum();
  };
  return {hg::amp::find_overflow(hg::amp::NamedModel(model), loss, {.scale = 65536}), line};
}

}  // namespace
}  // namespace planted

namespace halfgrad::detail {
namespace {

TEST(SourceLine, TellsTheLibraryFromTheUser) {
  for (const char* library :
       {"_ZN8halfgrad3expERKNS_6TensorE", "_ZNK8halfgrad2nn6Linear7forwardE",
        "_ZZN8halfgrad3amp3runEvENKUlvE_clEv", "_ZNSt17_Function_handlerIFvvEE", "_ZSt3maxv",
        "_ZNKSt8functionIFN8halfgrad6TensorEvEEclEv", "_ZN9__gnu_cxx3fooEv",
        "_ZN8halfgradmlERKNS_6TensorES2_"}) {
    EXPECT_TRUE(is_library_function(library, "train.cpp:1")) << library;
  }
  for (const char* user :
       {"main", "_Z5trainRKN8halfgrad6TensorE", "_ZZ4mainENKUlvE_clEv",
        "_ZN7planted12_GLOBAL__N_14stepEv", "_ZNK4mine9Attention7forwardERKN8halfgrad6TensorE",
        "_ZN10halfgraded3fooEv", "??", ""}) {
    EXPECT_FALSE(is_library_function(user, "train.cpp:1")) << user;
  }
  for (const char* file : {"/usr/include/halfgrad/nn/module.h:9", "/usr/include/c++/12/tuple:9"}) {
    EXPECT_TRUE(is_library_function("operator()", file)) << "inlined, with a plain name";
    EXPECT_FALSE(is_library_function("_Z5trainv", file));
  }
}

bool has_addr2line() { return std::system("addr2line --version > /dev/null 2>&1") == 0; }

TEST(SourceLine, NamesTheLineOfTheUserThatCalledTheOp) {
  if (!has_addr2line()) GTEST_SKIP() << "no addr2line (Debian's package binutils)";
  for (const auto& [overflow, line] :
       {planted::exp_of_a_large_number(), planted::scale_too_high()}) {
    ASSERT_TRUE(overflow);
    const std::string place = "source_line_test.cpp:" + std::to_string(line) + " in planted::";
    EXPECT_NE(overflow.source.find(place), std::string::npos)
        << overflow.source << ", expected " << place;
    EXPECT_NE(explain(overflow).find("\n  called at " + overflow.source), std::string::npos);
  }
  EXPECT_EQ(planted::exp_of_a_large_number().overflow.op, "exp");
  EXPECT_EQ(planted::scale_too_high().overflow.op, "linear");
}

TEST(SourceLine, IsNoErrorWithoutTheTool) {
  const char* const before = std::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  ::setenv("PATH", "/nowhere", 1);
  const std::string source = planted::exp_of_a_large_number().overflow.source;
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(source.find(".cpp:"), std::string::npos) << source;
}

TEST(SourceLine, MayComeFromTheCaller) {
  const nn::Linear model(2, 2);
  int calls = 0;
  const auto overflow =
      amp::find_overflow(amp::NamedModel(model),
                         [&] {
                           return log(mul(model(ones({1, 2})), 0) - 1).sum();
                         },
                         {.source = [&] { return "line " + std::to_string(++calls); }});
  EXPECT_EQ(overflow.op, "log");
  EXPECT_EQ(overflow.source, "line 1");
}

TEST(SourceLine, IsEmptyOutsideTheUsersCode) {
  EXPECT_EQ(source_line({}), "");
  const std::vector<void*> stack = call_stack();
  EXPECT_EQ(source_line(stack, stack.size() + 1), "");
  EXPECT_EQ(source_line({nullptr}), "");
}

}  // namespace
}  // namespace halfgrad::detail
