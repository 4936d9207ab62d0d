#pragma once

#include <string>
#include <vector>

#include "engine.h"

/// The pictures of chapter 3.

/// The graph of the loss, with values forward and gradients backward.
std::string draw_graph();

/// sin(3 x) and the network's answers on 65 points of [-1, 1], before and after training.
std::string draw_fit(const engine::Matrix& before, const engine::Matrix& after);

std::string draw_losses(const std::vector<double>& losses);
