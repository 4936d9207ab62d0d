#pragma once

#include <string>
#include <vector>

#include <halfgrad/amp/inspector/op_log.h>

/// The calls of a forward pass as boxes, coloured by the dtype in which they ran, with the casts
/// that autocast made for them, as SVG.
std::string draw_flow(const std::vector<halfgrad::amp::OpRecord>& records);
