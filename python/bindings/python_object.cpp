#include <halfgrad/python/bindings/python_object.h>

#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/dropped_first.h>

namespace halfgrad::python {
namespace {

/// All objects to drop. Never destroyed: static objects may hold functions of Python.
struct Registry {
  std::mutex mutex;
  std::map<const DroppedAtExit*, std::weak_ptr<DroppedAtExit>> objects;
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

/// Takes all objects out of the registry, those that are dropped first in front.
std::vector<std::shared_ptr<DroppedAtExit>> take_all() {
  std::vector<std::shared_ptr<DroppedAtExit>> first, others;
  const std::lock_guard lock(registry().mutex);
  for (const auto& [address, object] : std::exchange(registry().objects, {})) {
    const auto alive = object.lock();
    const bool is_first = std::dynamic_pointer_cast<DroppedFirst>(alive) != nullptr;
    if (alive != nullptr) (is_first ? first : others).push_back(alive);
  }
  first.insert(first.end(), others.begin(), others.end());
  return first;
}

void drop_all() {
  for (auto objects = take_all(); !objects.empty(); objects = take_all()) {
    for (const auto& object : objects) object->drop();
  }
}

[[noreturn]] void refuse_after_exit() {
  detail::fail<std::runtime_error>("halfgrad",
                                   "expected a call before Python's exit, got one after it");
}

}  // namespace

void DroppedAtExit::add(const std::shared_ptr<DroppedAtExit>& object) {
  const std::lock_guard lock(registry().mutex);
  auto& objects = registry().objects;
  // Forgets objects that have ended.
  if (objects.size() % 64 == 0) {
    std::erase_if(objects, [](const auto& entry) { return entry.second.expired(); });
  }
  objects[object.get()] = object;
}

void DroppedAtExit::begin(nb::module_& module) {
  module.def("_drop_all", &drop_all);
  nb::module_::import_("atexit").attr("register")(module.attr("_drop_all"));
}

struct PythonObject::Holder final : DroppedAtExit {
  explicit Holder(nb::object held) : object(std::move(held)) {}
  ~Holder() override {
    if (!object.is_valid()) return;
    const nb::gil_scoped_acquire lock;
    if (lock.is_valid()) {
      object.reset();
    } else {
      object.release();
    }
  }
  void drop() override { object.reset(); }

  nb::object object;
};

PythonObject::PythonObject(nb::object object)
    : holder_(std::make_shared<Holder>(std::move(object))) {
  DroppedAtExit::add(holder_);
}

nb::object PythonObject::get() const {
  if (!holder_->object.is_valid()) refuse_after_exit();
  return holder_->object;
}

PythonLock::PythonLock() {
  if (!lock_.is_valid()) refuse_after_exit();
}

}  // namespace halfgrad::python
