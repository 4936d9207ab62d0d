#include <halfgrad/compat/own_optimizer.h>

#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

Tensor scalar(double value) { return full({}, value, dtype(kDouble)); }

std::string group_name(std::size_t index) { return "param_groups." + std::to_string(index); }

}  // namespace

void write_value(serialize::OutputArchive& archive, const std::string& name, const Tensor& value) {
  if (value.defined()) archive.write(name, value);
}
void write_value(serialize::OutputArchive& archive, const std::string& name, double value) {
  archive.write(name, scalar(value));
}
void write_value(serialize::OutputArchive& archive, const std::string& name, std::int64_t value) {
  archive.write(name, full({}, Scalar(value), dtype(kLong)));
}
void write_value(serialize::OutputArchive& archive, const std::string& name,
                 const std::tuple<double, double>& value) {
  archive.write(name, stack({scalar(std::get<0>(value)), scalar(std::get<1>(value))}));
}

void read_value(serialize::InputArchive& archive, const std::string& name, Tensor& value) {
  archive.try_read(name, value);
}
void read_value(serialize::InputArchive& archive, const std::string& name, double& value) {
  Tensor saved;
  archive.read(name, saved);
  value = saved.item<double>();
}
void read_value(serialize::InputArchive& archive, const std::string& name, std::int64_t& value) {
  Tensor saved;
  archive.read(name, saved);
  value = saved.item<std::int64_t>();
}
void read_value(serialize::InputArchive& archive, const std::string& name, bool& value) {
  Tensor saved;
  archive.read(name, saved);
  value = saved.item<double>() != 0;
}
void read_value(serialize::InputArchive& archive, const std::string& name,
                std::tuple<double, double>& value) {
  Tensor saved;
  archive.read(name, saved);
  value = {saved[0].item<double>(), saved[1].item<double>()};
}

// The file holds "param_groups.0.size", "param_groups.0.options.lr", "state.0.momentum" and so on.
void write_groups(serialize::OutputArchive& archive, const optim::Optimizer& optimizer) {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    const optim::ParamGroup& group = optimizer.param_groups()[i];
    archive.write(group_name(i) + ".size", full({}, std::ssize(group.params), dtype(kLong)));
    serialize::OutputArchive options;
    if (group.own_options) std::as_const(*group.own_options.get()).serialize(options);
    archive.write(group_name(i) + ".options", options);
    for (const Tensor& param : group.params) {
      const std::string name = "state." + std::to_string(index++);
      const auto found = optimizer.state().find(param.unsafeGetTensorImpl());
      if (found == optimizer.state().end()) continue;
      serialize::OutputArchive state;
      std::as_const(*found->second).serialize(state);
      archive.write(name, state);
    }
  }
}

void read_groups(serialize::InputArchive& archive, optim::Optimizer& optimizer) {
  std::vector<optim::ParamGroup>& groups = optimizer.param_groups();
  Tensor size;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    size = Tensor();
    const bool exists = archive.try_read(group_name(i) + ".size", size);
    const auto count = exists ? size.item<std::int64_t>() : 0;
    if (!exists || count != std::ssize(groups[i].params)) {
      fail(optimizer.name(), "expected {} parameters in group {}, got {}", groups[i].params.size(),
           i, count);
    }
  }
  size = Tensor();
  if (archive.try_read(group_name(groups.size()) + ".size", size)) {
    fail(optimizer.name(), "expected a state of {} parameter groups, got more", groups.size());
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    serialize::InputArchive options;
    if (archive.try_read(group_name(i) + ".options", options) && groups[i].own_options) {
      groups[i].own_options->serialize(options);
    }
  }
}

}  // namespace halfgrad::detail
