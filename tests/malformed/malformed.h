#pragma once

#include <string>
#include <vector>

#include <halfgrad/files/format_error.h>

#include "../bytes.h"

namespace halfgrad::tests {

/// A file that its reader must refuse, and how.
struct Malformed {
  std::string name;
  Bytes file;
  files::FormatCode code;
  std::string message = {};  ///< part of it
};

}  // namespace halfgrad::tests
