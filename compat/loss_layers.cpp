#include <halfgrad/compat/loss_layers.h>

namespace halfgrad::nn::detail {

std::string option_text(const HingeEmbeddingLossOptions& options) {
  return text("margin=", options.margin());
}
std::string option_text(const CosineEmbeddingLossOptions& options) {
  return text("margin=", options.margin());
}
std::string option_text(const TripletMarginLossOptions& options) {
  return text("margin=", options.margin(), ", p=", options.p(), ", eps=", options.eps(),
              ", swap=", options.swap());
}
std::string option_text(const TripletMarginWithDistanceLossOptions& options) {
  return text("margin=", options.margin(), ", swap=", options.swap());
}

}  // namespace halfgrad::nn::detail

namespace halfgrad::enumtype {

kBatchMean::operator nn::KLDivLossArguments() const { return {.batch_mean = true}; }

}  // namespace halfgrad::enumtype
