#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "../run_ptx.h"

namespace halfgrad::emulator {
namespace {

template <class T>
using Relation = std::pair<const char*, std::function<bool(T, T)>>;

/// setp and set of a type against the host, p and its complement q.
template <class T, class Read>
void expect_relations(const std::string& type, const std::string& operands_text,
                      const std::vector<Relation<T>>& relations, Read read) {
  const auto in = operands(2, 12000);
  for (const auto& [name, relation] : relations) {
    const std::string body = "setp." + std::string(name) + "." + type + " %p1|%p2, " +
                             operands_text +
                             ";\nselp.b32 %tw0, 1, 0, %p1;\nselp.b32 %tw1, 2, 0, "
                             "%p2;\nset." +
                             name + ".u32." + type + " %tw2, " + operands_text +
                             ";\nand.b32 %tw2, %tw2, 4;\nor.b32 %tw0, %tw0, %tw1;\nor.b32 %tw0, "
                             "%tw0, %tw2;\ncvt.u64.u32 %result, %tw0;";
    const Words got = run_ptx(body, in);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool holds = relation(read(in[0][i]), read(in[1][i]));
      ASSERT_EQ(got[i], holds ? 5u : 2u)
          << name << "." << type << std::hex << " " << in[0][i] << " " << in[1][i];
    }
  }
}

template <class T>
std::vector<Relation<T>> ordered() {
  return {{"eq", [](T a, T b) { return a == b; }},
          {"ne", [](T a, T b) { return a != b && a == a && b == b; }},
          {"lt", [](T a, T b) { return a < b; }},
          {"le", [](T a, T b) { return a <= b; }},
          {"gt", [](T a, T b) { return a > b; }},
          {"ge", [](T a, T b) { return a >= b; }}};
}

template <class T>
std::vector<Relation<T>> with_unordered() {
  auto all = ordered<T>();
  const auto nan = [](T a, T b) { return std::isnan(a) || std::isnan(b); };
  for (const auto& [name, relation] : ordered<T>()) {
    static const char* const kNames[] = {"equ", "neu", "ltu", "leu", "gtu", "geu"};
    all.push_back(
        {kNames[all.size() - 6], [=, r = relation](T a, T b) { return nan(a, b) || r(a, b); }});
  }
  all.push_back({"num", [=](T a, T b) { return !nan(a, b); }});
  all.push_back({"nan", nan});
  return all;
}

TEST(Comparisons, EveryOperatorOfEveryType) {
  expect_relations<std::uint32_t>("u32", "%w0, %w1", ordered<std::uint32_t>(),
                                  [](auto x) { return static_cast<std::uint32_t>(x); });
  expect_relations<std::int32_t>("s32", "%w0, %w1", ordered<std::int32_t>(),
                                 [](auto x) { return static_cast<std::int32_t>(x); });
  expect_relations<std::int64_t>("s64", "%a0, %a1", ordered<std::int64_t>(),
                                 [](auto x) { return static_cast<std::int64_t>(x); });
  expect_relations<std::int16_t>("s16", "%h0, %h1", ordered<std::int16_t>(),
                                 [](auto x) { return static_cast<std::int16_t>(x); });
  expect_relations<float>("f32", "%f0, %f1", with_unordered<float>(), [](auto x) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x));
  });
  expect_relations<double>("f64", "%d0, %d1", with_unordered<double>(),
                           [](auto x) { return std::bit_cast<double>(x); });
  expect_relations<float>("bf16", "%h0, %h1", with_unordered<float>(), [](auto x) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
  });
}

std::uint64_t run_once(const std::string& body, std::uint64_t a, std::uint64_t b) {
  return run_ptx(body + " cvt.u64.u32 %result, %tw0;", {{a}, {b}})[0];
}

TEST(Comparisons, CombineWithPredicatesAndPackedHalves) {
  const std::string chosen = " selp.b32 %tw0, 1, 0, %p1;";
  const std::string setup = "setp.eq.u32 %p3, 0, 0; ";
  EXPECT_EQ(run_once(setup + "setp.lt.and.u32 %p1, %w0, %w1, %p3;" + chosen, 1, 2), 1u);
  EXPECT_EQ(run_once(setup + "setp.lt.and.u32 %p1, %w0, %w1, !%p3;" + chosen, 1, 2), 0u);
  EXPECT_EQ(run_once(setup + "setp.lt.xor.u32 %p1, %w0, %w1, %p3;" + chosen, 1, 2), 0u);
  EXPECT_EQ(run_once(setup + "setp.gt.or.u32 %p1, %w0, %w1, %p3;" + chosen, 1, 2), 1u);
  const std::string both =
      " selp.b32 %tw0, 1, 0, %p1; selp.b32 %tw1, 2, 0, %p2; or.b32 %tw0, %tw0, %tw1;";
  EXPECT_EQ(run_once("setp.gt.f16x2 %p1|%p2, %w0, %w1;" + both, 0x3c004000, 0x3c003c00), 1u);
  EXPECT_EQ(run_once("set.gt.f16x2.f16x2 %tw0, %w0, %w1;", 0x3c004000, 0x38003c00), 0x3c003c00u);
  EXPECT_EQ(run_once("set.le.f32.s32 %tw0, %w0, %w1;", 3, 3), 0x3f800000u);
}

TEST(Comparisons, SelectionBySignAndProperties) {
  EXPECT_EQ(run_once("slct.u32.s32 %tw0, 7, 9, %w0;", 0xffffffff, 0), 9u);
  EXPECT_EQ(run_once("slct.u32.f32 %tw0, 7, 9, %f0;", 0x80000000, 0), 7u);
  EXPECT_EQ(run_once("slct.u32.f32 %tw0, 7, 9, %f0;", 0x7fc00000, 0), 9u);
  const std::string chosen = " selp.b32 %tw0, 1, 0, %p1;";
  EXPECT_EQ(run_once("testp.normal.f32 %p1, %f0;" + chosen, 0, 0), 1u);
  EXPECT_EQ(run_once("testp.subnormal.f32 %p1, %f0;" + chosen, 1, 0), 1u);
  EXPECT_EQ(run_once("testp.finite.f32 %p1, %f0;" + chosen, 0x7f800000, 0), 0u);
}

TEST(Moves, PackUnpackAndPredicates) {
  EXPECT_EQ(run_ptx("mov.b64 {%tw0, %tw1}, %a0; mov.b64 %result, {%tw1, %tw0};",
                    {{0x1122334455667788}})[0],
            0x5566778811223344u);
  EXPECT_EQ(run_once("mov.b32 {%th0, _}, %w0; mov.b32 %tw0, {%th0, %th0};", 0x12345678, 0),
            0x56785678u);
  EXPECT_EQ(run_once("mov.pred %p1, -1; mov.pred %p2, !%p1; selp.b32 %tw0, 1, 0, %p2;", 0, 0), 0u);
}

}  // namespace
}  // namespace halfgrad::emulator
