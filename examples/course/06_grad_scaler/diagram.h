#pragma once

#include <string>

/// The states of a GradScaler with a growth interval of 4, and its transitions, as SVG.
std::string state_diagram();
