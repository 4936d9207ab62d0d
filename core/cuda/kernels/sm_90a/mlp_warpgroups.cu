// The backward pass of an MLP of 33 to 128 features with relu between its layers, on the tensor
// cores of compute capability 9.0 as warpgroups use them. mlp_backward.cu says which gradients.
//
// The registers of a block hold the sums of dW for a group of layers: two of 128 x 128, or four of
// 64 x 64, and a last layer of at most 16 features. So the pass is a launch for each group, from
// the last to the first, and before them one that computes h where a group begins:
//
//     x --> layers 0, 1 --> h_2          group_forward: only layers below the last group
//     h_2 --> layers 2, 3, 4 --> loss --> dW_4, dW_3, dW_2, g_1              layer_group
//     x --> layer 0 --> h_1;  g_1 --> dW_1, dW_0 (and dx)                    layer_group
//
// A block takes 128 rows at a time, 64 for each warpgroup. Every h_l and g_l is a tile in shared
// memory, from which both operands of each product come:
//
//     h_{l+1} = relu(h_l W_l^T + b_l)     A = rows of h_l,         B = W_l^T
//     dh_l = g_l W_l                      A = rows of g_l,         B = W_l
//     dW_l = g_l^T h_l                    A = columns of g_l,      B = h_l
//     db_l = g_l^T 1                      A = columns of g_l,      B = ones
//
// g_{l-1} takes the place of h_l when dW_l is done. While the tensor cores compute dW_l, the
// threads round dh_l and multiply it by relu'.
//
// W = 128: each warpgroup owns 64 rows of dW, and adds over all 128 rows of the tile. W = 64: each
// owns all of dW for its own rows, and waits for the other one only at the end.
//
// docs/performance_gpu.md has the bytes that a row moves, and a prediction; it is not measured.

#include <algorithm>
#include <vector>

#include <halfgrad/core/cuda/engines/shared_memory.h>
#include <halfgrad/core/cuda/kernels/mlp_group_back.h>

namespace halfgrad::detail {
namespace {

template <class T, int kWidth>
__global__ void __launch_bounds__(kMlpThreads, 1)
    group_forward(const __grid_constant__ MlpOperands op, const __grid_constant__ MlpGroup group) {
  extern __shared__ __align__(16) std::byte memory[];
  const GroupMemory<T, kWidth, false> shared(memory, group.layers());
  shared.load(op, group.begin);
  __syncthreads();
  const WarpgroupPlace place;
  for (unsigned tile = blockIdx.x; tile < tiles_of(op); tile += gridDim.x) {
    const std::int64_t first = static_cast<std::int64_t>(tile) * kMlpTileRows + place.first_row();
    const int rows = place.rows_of(op, first);
    load_group_rows(shared.h(0), op, group.h, op.sizes[group.begin], tile, place);
    place.publish();
    for (int i = 0; i < group.layers(); ++i) {
      hidden_layer(shared.h(i), shared.weight(i), shared.bias(i), shared.h(i + 1), place,
                   place.first_row() + rows);
    }
    store_group_rows(group.below, shared.h(group.layers()), op.sizes[group.end], first, rows,
                     place);
    sync_warpgroup(place.warpgroup);
  }
}

template <class T, int kWidth, bool kNarrow>
__global__ void __launch_bounds__(kMlpThreads, 1)
    layer_group(const __grid_constant__ MlpOperands op, const __grid_constant__ MlpGroup group,
                const __grid_constant__ MlpLossOperands loss) {
  constexpr int kWide = kWideLayers<kWidth>;
  extern __shared__ __align__(16) std::byte memory[];
  const GroupMemory<T, kWidth, kNarrow> shared(memory, group.layers());
  shared.load(op, group.begin);
  __syncthreads();

  const WarpgroupPlace place;
  const SumsOfWarpgroup<kWidth> own(place.warpgroup);
  const int count = group.layers(), wide = shared.wide();
  WideSums<kWidth> sums[kWide];
  NarrowSums narrow_sums;

  for (unsigned tile = blockIdx.x; tile < tiles_of(op); tile += gridDim.x) {
    const std::int64_t first_of_tile = static_cast<std::int64_t>(tile) * kMlpTileRows,
                       first = first_of_tile + place.first_row();
    const int rows = place.rows_of(op, first);
    const int end_row = place.first_row() + rows;
    // h of the group's layers.
    load_group_rows(shared.h(0), op, group.h, op.sizes[group.begin], tile, place);
    place.publish();
    for (int i = 0; i + 1 < count; ++i) {
      hidden_layer(shared.h(i), shared.weight(i), shared.bias(i), shared.h(i + 1), place, end_row);
    }
    // g of its last layer.
    if (group.g != nullptr) {
      load_group_rows(shared.last_g(), op, group.g, op.sizes[group.end], tile, place);
    } else {
      store_gradient_of_loss(shared, op, loss, first_of_tile, end_row, place);
    }
    show_to_products();
    // dW, db and g_{l-1}, from the last layer to the first.
    const auto layer_back = [&](int i, const auto& g, const auto& weight, const auto& add_sums) {
      const bool is_first = i == 0;
      step_back(shared.h(i), g, weight, own, place,
                {.rows = end_row,
                 .has_relu = !is_first || group.begin > 0,
                 .is_needed = !is_first || group.below != nullptr},
                add_sums);
    };
    if constexpr (kNarrow) {
      layer_back(wide, shared.last_g(), shared.last_weight(), [&] {
        add_narrow<T>(narrow_sums, own, shared.last_g(), shared.h(wide), shared.ones());
      });
      pin(narrow_sums.weight);
      pin(narrow_sums.bias);
    }
#pragma unroll
    for (int i = kWide - 1; i >= 0; --i) {
      if (i >= wide) continue;
      layer_back(i, shared.h(i + 1), shared.weight(i),
                 [&] { add_wide<T>(sums[i], own, shared.h(i + 1), shared.h(i), shared.ones()); });
      pin(sums[i].weight);
      pin(sums[i].bias);
    }
    if (group.below != nullptr) {
      sync_warpgroup(place.warpgroup);
      store_group_rows(group.below, shared.h(0), op.sizes[group.begin], first, rows, place);
      sync_warpgroup(place.warpgroup);  // before the next rows take their place
    }
  }
  const auto each_sum_of_thread = [&](const auto& f) {
#pragma unroll
    for (int i = 0; i < kWide; ++i) {
      if (i < wide) sums[i].each(f);
    }
    if (kNarrow) narrow_sums.each(f);
  };
  if constexpr (own.kSplitsRows) {  // the first warpgroup adds the second one's sums to its own
    __syncthreads();
    float* place_of_sum = reinterpret_cast<float*>(shared.first) + computed_here(place.rank());
    if (place.warpgroup == 1) {
      each_sum_of_thread([&](float& sum) {
        *place_of_sum = sum;
        place_of_sum += kWarpgroupThreads;
      });
    }
    __syncthreads();
    if (place.warpgroup == 0) {
      each_sum_of_thread([&](float& sum) {
        sum += *place_of_sum;
        place_of_sum += kWarpgroupThreads;
      });
    }
  }
  // A warpgroup has the rows m of dW, or of the transposed dW of a narrow layer.
  float* part = group.parts + blockIdx.x * group.parameters + group.offset;
  const int first_m = place.warp * kBlock;
#pragma unroll
  for (int i = 0; i < kWide; ++i) {
    if (i >= wide) continue;
    const int in = op.sizes[group.begin + i], out = op.sizes[group.begin + i + 1];
    store_sums_of<kWidth>(sums[i].weight, part, first_m, out, in, in, 1);
    store_sums_of<8>(sums[i].bias, part + out * in, first_m, out, 1, 1, 0);
    part += out * (in + 1);
  }
  if constexpr (kNarrow) {
    const int in = op.sizes[group.end - 1], out = op.sizes[group.end];
    store_sums_of<kNarrowOutput>(narrow_sums.weight, part, first_m, in, 1, out, in);
    store_sums_of<kNarrowOutput>(narrow_sums.bias, part + out * in, first_m, 1, 0, out, 1);
  }
  if (loss.losses != nullptr && group.g == nullptr) {
    loss.sum.add_blocks(static_cast<std::int64_t>(blockIdx.x) * kMlpTileRows,
                        static_cast<std::int64_t>(gridDim.x) * kMlpTileRows);
  }
}

bool has_narrow_output(const MlpArrays& mlp) { return mlp.weights.back().size(0) <= kNarrowOutput; }

// The first layer of each group, from the last group to the first one, which begins with 0.
std::vector<int> begins_of_groups(const MlpArrays& mlp, int wide_layers) {
  std::vector<int> begins;
  int begin = static_cast<int>(mlp.weights.size()) - has_narrow_output(mlp);
  do {
    begin = std::max(begin - wide_layers, 0);
    begins.push_back(begin);
  } while (begin > 0);
  return begins;
}

// Calls f(T(), std::integral_constant<int, width>()).
void with_group_kernel(const MlpArrays& mlp, const auto& f) {
  const auto with_width = [&](auto element) {
    if (mlp_width(mlp) > 64) return f(element, std::integral_constant<int, 128>());
    f(element, std::integral_constant<int, 64>());
  };
  if (mlp.dtype() == DType::f16) return with_width(__half());
  with_width(__nv_bfloat16());
}

// The launches of a backward pass.
template <class T, int kWidth>
class GroupLaunches {
 public:
  GroupLaunches(const MlpArrays& mlp, const void* dy, const MlpLossOperands& loss)
      : mlp_(mlp),
        dy_(dy),
        loss_(loss),
        op_(mlp_operands(mlp)),
        launch_(mlp.x, "mlp"),
        begins_(begins_of_groups(mlp, kWideLayers<kWidth>)) {}

  void run(const NewMlpGradients& gradients) const {
    std::vector<Array> h(begins_.size());  // the input of each group; undefined for x
    for (std::size_t i = begins_.size() - 1; i > 0; --i) {
      h[i - 1] = rows_of(begins_[i - 1]);
      launch(group_forward<T, kWidth>, GroupMemory<T, kWidth, false>::bytes,
             {.begin = begins_[i],
              .end = begins_[i - 1],
              .h = data_of(h[i]),
              .below = h[i - 1].data()});
    }
    const int blocks = blocks_of_groups();
    const Array parts = Array::empty({blocks, gradients.parameters}, DType::f32, mlp_.x.device());
    Array g;
    for (std::size_t i = 0; i < begins_.size(); ++i) {
      const bool first = begins_[i] == 0;
      const Array below = first ? Array() : rows_of(begins_[i]);
      const MlpGroup group{.begin = begins_[i],
                           .end = i == 0 ? op_.layers : begins_[i - 1],
                           .h = data_of(h[i]),
                           .g = i == 0 ? dy_ : g.data(),
                           .below = first ? gradients.dx() : below.data(),
                           .parts = parts.data_as<float>(),
                           .parameters = gradients.parameters,
                           .offset = parameters_before(begins_[i])};
      if (i == 0 && has_narrow_output(mlp_)) {
        launch(layer_group<T, kWidth, true>, GroupMemory<T, kWidth, true>::bytes, group, loss_);
      } else {
        launch(layer_group<T, kWidth, false>, GroupMemory<T, kWidth, false>::bytes, group, loss_);
      }
      g = below;
    }
    sum_parts<T>
        <<<blocks_for(gradients.parameters, kMlpThreads), kMlpThreads, 0, launch_.stream()>>>(
            op_, parts.data_as<float>(), gradients.parameters, gradients.summed, blocks);
    launch_.check();
  }

 private:
  static const void* data_of(const Array& a) { return a.defined() ? a.data() : nullptr; }
  Array rows_of(int l) const {
    return Array::empty({op_.rows, op_.sizes[l]}, mlp_.dtype(), mlp_.x.device());
  }
  std::int64_t parameters_before(int layer) const {
    std::int64_t count = 0;
    for (int l = 0; l < layer; ++l) count += op_.sizes[l + 1] * (op_.sizes[l] + 1);
    return count;
  }
  int blocks_of_groups() const {
    return std::min(device_attribute(launch_, cudaDevAttrMultiProcessorCount),
                    static_cast<int>(blocks_for(op_.rows, kMlpTileRows)));
  }
  template <class... More>
  void launch(void (*kernel)(MlpOperands, MlpGroup, More...), std::size_t (*bytes_of)(int),
              const MlpGroup& group, const More&... more) const {
    const std::size_t bytes = bytes_of(group.layers());
    allow_shared_memory(launch_, reinterpret_cast<const void*>(kernel), bytes);
    kernel<<<static_cast<unsigned>(blocks_of_groups()), kMlpThreads, bytes, launch_.stream()>>>(
        op_, group, more...);
    launch_.check();
  }

  const MlpArrays& mlp_;
  const void* dy_;  // null: the gradient of the loss
  const MlpLossOperands& loss_;
  MlpOperands op_;
  Launch launch_;
  std::vector<int> begins_;
};

MlpGradients gradients_by_warpgroups(const MlpArrays& mlp, const void* dy,
                                     const MlpLossOperands& loss, bool with_dx) {
  const NewMlpGradients result(mlp, with_dx);
  with_group_kernel(mlp, [&]<class T, int kWidth>(T, std::integral_constant<int, kWidth>) {
    GroupLaunches<T, kWidth>(mlp, dy, loss).run(result);
  });
  return result.arrays;
}

}  // namespace

bool mlp_fits_warpgroups(const MlpArrays& mlp) {
  if (mlp.activation != MlpActivation::relu || mlp_width(mlp) <= 32) return false;
  const Launch launch(mlp.x, "mlp");
  return device_attribute(launch, cudaDevAttrComputeCapabilityMajor) == 9;
}

MlpGradients mlp_gradient_by_warpgroups(const MlpArrays& mlp, const Array& dy, bool with_dx) {
  return gradients_by_warpgroups(mlp, dy.data(), {}, with_dx);
}

MlpGradients mlp_loss_gradient_by_warpgroups(const MlpArrays& mlp, const MlpLoss& loss,
                                             const Array& dloss, bool with_dx) {
  return gradients_by_warpgroups(mlp, nullptr, MlpLossCall(mlp, loss, dloss).operands, with_dx);
}

}  // namespace halfgrad::detail
