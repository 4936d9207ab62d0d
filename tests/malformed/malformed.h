#pragma once

#include <string>
#include <vector>

#include <halfgrad/files/format_error.h>

#include "../bytes.h"

namespace halfgrad::tests {

/// A file that its reader must refuse, with the expected error.
struct Malformed {
  std::string name;
  Bytes file;
  files::FormatCode code;
  std::string message = {};  ///< a part of the expected message
};

}  // namespace halfgrad::tests
