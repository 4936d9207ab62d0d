#include <halfgrad/compat/optim_options.h>

#include <map>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/type_name.h>

namespace halfgrad::optim {

NamedOptions& NamedOptions::operator=(const NamedOptions& other) {
  if (this != &other) group() = other.with(std::move(group().params));
  return *this;
}

ParamGroup NamedOptions::with(std::vector<Tensor> params) const {
  ParamGroup result = group();
  result.params = std::move(params);
  return result;
}

void GroupOptions::refuse_cast(const std::type_info& expected) const {
  const OptimizerOptions* const own = group_->own_options.get();
  halfgrad::detail::fail(
      "options", "expected the group of an optimizer with {}, got {}",
      halfgrad::detail::class_name(expected),
      own != nullptr ? halfgrad::detail::class_name(typeid(*own)) : "another optimizer's");
}

// A cast gives a reference, so the views are kept: one for each group and kind of options, until
// the thread ends.
template <class Options>
Options& GroupOptions::view(const char* name, bool has_options) const {
  if (!has_options) {
    detail::fail("options", "expected the group of an optimizer with {}, got another optimizer's",
                 name);
  }
  thread_local std::map<const ParamGroup*, Options> views;
  Options& options = views.try_emplace(group_, Options(*group_->lr)).first->second;
  options.view_of_ = group_;
  return options;
}

GroupOptions::operator SGDOptions&() const {
  return view<SGDOptions>("SGDOptions", group_->dampening.has_value());
}
GroupOptions::operator AdamOptions&() const {
  return view<AdamOptions>("AdamOptions", group_->amsgrad.has_value());
}
GroupOptions::operator AdamWOptions&() const {
  return view<AdamWOptions>("AdamWOptions", group_->amsgrad.has_value());
}
GroupOptions::operator RMSpropOptions&() const {
  return view<RMSpropOptions>("RMSpropOptions", group_->centered.has_value());
}
GroupOptions::operator AdagradOptions&() const {
  return view<AdagradOptions>("AdagradOptions", group_->initial_accumulator_value.has_value());
}

}  // namespace halfgrad::optim
