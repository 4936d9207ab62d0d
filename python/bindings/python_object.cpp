#include <halfgrad/python/bindings/python_object.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include <halfgrad/core/fail.h>

namespace halfgrad::python {

struct PythonObject::Holder {
  explicit Holder(nb::object held) : object(std::move(held)) {
    const std::lock_guard lock(mutex());
    all().insert(this);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    {
      const std::lock_guard lock(mutex());
      all().erase(this);
    }
    if (!object.is_valid()) return;
    const nb::gil_scoped_acquire lock;
    if (lock.is_valid()) {
      object.reset();
    } else {
      object.release();
    }
  }

  // Never destroyed: static objects may hold functions of Python.
  static std::set<Holder*>& all() {
    static auto* const holders = new std::set<Holder*>;
    return *holders;
  }
  static std::mutex& mutex() {
    static auto* const instance = new std::mutex;
    return *instance;
  }

  nb::object object;
};

PythonObject::PythonObject(nb::object object)
    : holder_(std::make_shared<Holder>(std::move(object))) {}

nb::object PythonObject::get() const {
  if (holder_->object.is_valid()) return holder_->object;
  detail::fail<std::runtime_error>("halfgrad",
                                   "expected a call before Python's exit, got one after it");
}

void PythonObject::drop_all() {
  std::vector<nb::object> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(Holder::mutex());
  for (Holder* const holder : Holder::all()) dropped.push_back(std::move(holder->object));
}

void PythonObject::drop_at_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&PythonObject::drop_all));
}

}  // namespace halfgrad::python
