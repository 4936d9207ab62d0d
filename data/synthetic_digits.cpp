#include <halfgrad/data/synthetic.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/philox.h>

namespace halfgrad::data {
namespace {

constexpr int kSide = static_cast<int>(DigitImages::kSide);

struct Point {
  double x, y;
};
using Stroke =
    std::vector<Point>;  // a smooth curve through its points; a straight line through two
using Glyph = std::vector<Stroke>;

/// The ways to write each digit, in the unit square with y downwards.
// clang-format off
const std::vector<std::vector<Glyph>> kGlyphs = {
    {{{{.5, .1}, {.27, .22}, {.2, .5}, {.27, .78}, {.5, .9}, {.73, .78}, {.8, .5}, {.73, .22},
       {.5, .1}}},
     {{{.6, .1}, {.38, .25}, {.3, .55}, {.36, .82}, {.5, .9}, {.62, .75}, {.7, .45}, {.64, .18},
       {.5, .12}}}},
    {{{{.5, .1}, {.5, .9}}},
     {{{.3, .3}, {.52, .1}}, {{.52, .1}, {.52, .9}}},
     {{{.32, .28}, {.5, .1}}, {{.5, .1}, {.5, .9}}, {{.28, .9}, {.72, .9}}}},
    {{{{.22, .3}, {.34, .13}, {.58, .1}, {.74, .27}, {.65, .5}, {.42, .72}, {.2, .9}},
      {{.2, .9}, {.8, .9}}},
     {{{.25, .25}, {.45, .1}, {.7, .2}, {.68, .48}, {.45, .75}, {.25, .88}, {.2, .78}, {.35, .73},
       {.6, .88}, {.82, .85}}}},
    {{{{.24, .18}, {.5, .1}, {.72, .25}, {.62, .42}, {.42, .47}},
      {{.42, .47}, {.68, .54}, {.76, .72}, {.55, .9}, {.22, .82}}},
     {{{.24, .1}, {.74, .1}}, {{.74, .1}, {.46, .42}},
      {{.46, .42}, {.7, .5}, {.76, .7}, {.55, .9}, {.22, .83}}}},
    {{{{.66, .9}, {.66, .1}}, {{.66, .1}, {.2, .62}}, {{.2, .62}, {.84, .62}}},
     {{{.28, .1}, {.22, .52}}, {{.22, .52}, {.8, .52}}, {{.7, .12}, {.66, .9}}}},
    {{{{.75, .1}, {.32, .1}}, {{.32, .1}, {.28, .46}},
      {{.28, .46}, {.5, .4}, {.74, .55}, {.72, .78}, {.48, .9}, {.22, .82}}},
     {{{.78, .13}, {.36, .12}, {.32, .3}, {.36, .44}, {.62, .52}, {.7, .72}, {.5, .88},
       {.22, .86}}}},
    {{{{.68, .1}, {.42, .28}, {.26, .58}, {.32, .84}, {.54, .9}, {.74, .76}, {.67, .56}, {.46, .52},
       {.29, .68}}},
     {{{.45, .1}, {.3, .4}, {.26, .7}, {.42, .9}, {.66, .84}, {.7, .66}, {.54, .56}, {.28, .7}}}},
    {{{{.2, .12}, {.8, .12}}, {{.8, .12}, {.42, .9}}},
     {{{.2, .12}, {.78, .12}}, {{.78, .12}, {.55, .45}, {.45, .9}}, {{.36, .5}, {.7, .5}}}},
    {{{{.5, .1}, {.28, .22}, {.35, .42}, {.65, .58}, {.74, .76}, {.5, .9}, {.26, .76}, {.35, .58},
       {.65, .42}, {.72, .22}, {.5, .1}}},
     {{{.5, .1}, {.32, .28}, {.5, .46}, {.68, .28}, {.5, .1}},
      {{.5, .46}, {.26, .68}, {.5, .9}, {.74, .68}, {.5, .46}}}},
    {{{{.73, .3}, {.52, .1}, {.28, .26}, {.36, .48}, {.6, .47}, {.73, .3}},
      {{.73, .3}, {.68, .9}}},
     {{{.7, .2}, {.48, .1}, {.28, .28}, {.42, .5}, {.66, .4}, {.72, .25}, {.7, .6}, {.52, .86},
       {.28, .88}}}},
};
// clang-format on

/// Draws the random numbers of one image.
class Dice {
 public:
  explicit Dice(RandomKey key) : key_(key) {}

  double between(double low, double high) {
    if (next_ == 2) {
      uniform(random_block(key_, index_++), drawn_);
      next_ = 0;
    }
    return low + (high - low) * drawn_[next_++];
  }
  template <class Items>
  const auto& one_of(const Items& items) {
    return items[static_cast<size_t>(between(0, static_cast<double>(items.size())))];
  }

 private:
  RandomKey key_;
  std::uint64_t index_ = 0;
  int next_ = 2;
  double drawn_[2];
};

/// Approximates a stroke, which is a Catmull-Rom spline, by four straight pieces between points.
Stroke flatten(const Stroke& stroke) {
  constexpr int pieces = 4;
  const int last = static_cast<int>(stroke.size()) - 1;
  Stroke line{stroke[0]};
  for (int i = 0; i < last; ++i) {
    const Point a = stroke[std::max(i - 1, 0)], b = stroke[i];
    const Point c = stroke[i + 1], d = stroke[std::min(i + 2, last)];
    for (int piece = 1; piece <= pieces; ++piece) {
      const double t = static_cast<double>(piece) / pieces;
      const auto spline = [t](double p, double q, double r, double s) {
        const double cubic = 3 * (q - r) + s - p, square = 2 * p - 5 * q + 4 * r - s;
        return q + t / 2 * (r - p + t * (square + t * cubic));
      };
      line.push_back({spline(a.x, b.x, c.x, d.x), spline(a.y, b.y, c.y, d.y)});
    }
  }
  return line;
}

std::vector<std::vector<Glyph>> flatten_all() {
  auto outlines = kGlyphs;
  for (auto& variants : outlines)
    for (Glyph& glyph : variants)
      for (Stroke& stroke : glyph) stroke = flatten(stroke);
  return outlines;
}

/// A random handwriting: bends the unit square by a cubic, then stretches, shears, turns and moves
/// it.
class Hand {
 public:
  explicit Hand(Dice& dice) {
    const double tangent = dice.between(-0.125, 0.125);  // tan(angle / 2); angle up to 14 degrees
    cosine_ = (1 - tangent * tangent) / (1 + tangent * tangent);
    sine_ = 2 * tangent / (1 + tangent * tangent);
    shear_ = dice.between(-0.25, 0.25);
    height_ = dice.between(16, 24);
    width_ = height_ * dice.between(0.7, 1.1);
    centre_ = {kSide / 2 + dice.between(-2.5, 2.5), kSide / 2 + dice.between(-2.5, 2.5)};
    for (double& bend : bend_x_) bend = dice.between(-0.4, 0.4);
    for (double& bend : bend_y_) bend = dice.between(-0.4, 0.4);
  }

  Point place(Point p) const {
    const double u = p.x - 0.5, v = p.y - 0.5;
    const double monomials[] = {u * u, u * v, v * v};
    double x = u + 2 * bend_x_[3] * v * v * v, y = v + 2 * bend_y_[3] * u * u * u;
    for (int i = 0; i < 3; ++i) {
      x += bend_x_[i] * monomials[i];
      y += bend_y_[i] * monomials[i];
    }
    x = width_ * (x + shear_ * y);
    y = height_ * y;
    return {centre_.x + cosine_ * x - sine_ * y, centre_.y + sine_ * x + cosine_ * y};
  }

 private:
  double cosine_, sine_, shear_, height_, width_, bend_x_[4], bend_y_[4];
  Point centre_;
};

class Canvas {
 public:
  /// Draws a line with round ends. At its edge the ink falls from full to none over one pixel.
  void draw(Point from, Point to, double half_width, double strength) {
    const double reach = half_width + 0.5;
    const auto first = [&](double a) { return std::max(0, static_cast<int>(a - reach)); };
    const auto last = [&](double a) { return std::min(kSide - 1, static_cast<int>(a + reach)); };
    const double dx = to.x - from.x, dy = to.y - from.y, length2 = dx * dx + dy * dy;
    const int right = last(std::max(from.x, to.x)), bottom = last(std::max(from.y, to.y));
    for (int row = first(std::min(from.y, to.y)); row <= bottom; ++row)
      for (int column = first(std::min(from.x, to.x)); column <= right; ++column) {
        const double x = column + 0.5 - from.x, y = row + 0.5 - from.y;
        const double along = length2 > 0 ? std::clamp((x * dx + y * dy) / length2, 0.0, 1.0) : 0;
        const double off_x = x - along * dx, off_y = y - along * dy;
        const double distance = std::sqrt(off_x * off_x + off_y * off_y);
        double& ink = ink_[row * kSide + column];
        ink = std::max(ink, strength * std::clamp(reach - distance, 0.0, 1.0));
      }
  }

  void develop(Dice& dice, std::uint8_t* pixels) const {
    for (double ink : ink_) {
      const double noisy = std::clamp(ink + dice.between(-0.05, 0.05), 0.0, 1.0);
      *pixels++ = static_cast<std::uint8_t>(noisy * 255 + 0.5);
    }
  }

 private:
  std::array<double, kSide * kSide> ink_{};
};

void draw_digit(const Glyph& glyph, Dice& dice, std::uint8_t* pixels) {
  Canvas canvas;
  const Hand hand(dice);
  const double half_width = dice.between(0.8, 1.8), strength = dice.between(0.7, 1);
  for (const Stroke& stroke : glyph)
    for (size_t i = 1; i < stroke.size(); ++i)
      canvas.draw(hand.place(stroke[i - 1]), hand.place(stroke[i]), half_width, strength);
  if (dice.between(0, 1) < 0.5) {
    const Point from{dice.between(0, kSide), dice.between(0, kSide)};
    const Point to{from.x + dice.between(-4, 4), from.y + dice.between(-4, 4)};
    const double stray_half_width = dice.between(0.2, 0.8), stray_strength = dice.between(0.3, 1);
    canvas.draw(from, to, stray_half_width, stray_strength);
  }
  canvas.develop(dice, pixels);
}

}  // namespace

DigitImages synthetic_digits(std::int64_t count, std::uint64_t seed) {
  if (count < 0) halfgrad::detail::fail("synthetic_digits", "expected count >= 0, got {}", count);
  static const auto outlines = flatten_all();
  DigitImages images;
  images.pixels.resize(count * kSide * kSide);
  images.labels.resize(count);
  for (std::int64_t i = 0; i < count; ++i) {
    Dice dice({.seed = seed, .stream = static_cast<std::uint64_t>(i)});
    const auto& variants = dice.one_of(outlines);
    images.labels[i] = &variants - outlines.data();
    draw_digit(dice.one_of(variants), dice, &images.pixels[i * kSide * kSide]);
  }
  return images;
}

}  // namespace halfgrad::data
