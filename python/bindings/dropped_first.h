#pragma once

#include <halfgrad/python/bindings/python_object.h>

namespace halfgrad::python {

/// Work of another thread that may call Python's functions: it ends before these are dropped.
class DroppedFirst : public DroppedAtExit {};

}  // namespace halfgrad::python
