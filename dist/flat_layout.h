#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/core/array.h>

namespace halfgrad::detail {

/// A list of parameters, one after another in one flat array, which is cut into one part of equal
/// size for each rank:
///
///     parameters  |   0    |1|     2      |     3      | padding |
///     parts       |    rank 0     |    rank 1     |    rank 2     |
///
/// A rank's segment of a parameter is the piece of it that lies in the rank's part: it may be
/// empty.
class FlatLayout {
 public:
  FlatLayout(const std::vector<std::int64_t>& numels, int ranks);

  std::int64_t size() const { return part_size_ * ranks_; }
  std::int64_t part_size() const { return part_size_; }

  /// A rank's part of a flat array.
  Array part(const Array& flat, int rank) const;
  /// A parameter in a flat array, 1-dim.
  Array parameter(const Array& flat, std::size_t index) const;
  /// The rank's segment of a parameter: in a part, and in the parameter's elements, 1-dim.
  Array segment_of_part(const Array& part, std::size_t index, int rank) const;
  Array segment_of_parameter(const Array& elements, std::size_t index, int rank) const;

 private:
  struct Range {
    std::int64_t begin, end;
  };
  Range segment(std::size_t index, int rank) const;

  int ranks_;
  std::int64_t part_size_;
  std::vector<std::int64_t> offsets_;  ///< first elements of the parameters, and the end
};

}  // namespace halfgrad::detail
