#include <algorithm>
#include <unordered_map>

#include <halfgrad/emulator/runtime/streams/graph_exec.h>

namespace halfgrad::emulator {
namespace {

using Steps = std::vector<std::uint32_t>;

/// Adds the nodes of a graph whose roots follow `entry`. Returns the graph's last steps,
/// which every node after the graph depends on.
Steps add_steps(LaunchPlan& plan, const Graph& graph, const Steps& entry) {
  std::unordered_map<const GraphNode*, Steps> exits;
  Steps result;
  for (GraphNode* node : topological_order(graph)) {
    Steps dependencies = node->dependencies.empty() ? entry : Steps{};
    for (const GraphEdge& edge : node->dependencies) {
      const Steps& exit = exits.at(edge.from);
      dependencies.insert(dependencies.end(), exit.begin(), exit.end());
    }
    std::sort(dependencies.begin(), dependencies.end());
    dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
    if (node->child != nullptr && node->enabled) {
      exits[node] = add_steps(plan, *node->child, dependencies);
    } else {
      exits[node] = {static_cast<std::uint32_t>(plan.steps.size())};
      plan.steps.push_back({node, std::move(dependencies), 0});
    }
    if (node->dependents.empty()) {
      result.insert(result.end(), exits[node].begin(), exits[node].end());
    }
  }
  return graph.nodes.empty() ? entry : result;
}

/// Puts each step into a branch whose last step comes before it, or into another one. A vector
/// clock counts how many steps of each branch come before a step.
void assign_branches(LaunchPlan& plan) {
  std::vector<std::vector<std::uint32_t>> clocks(plan.steps.size());
  std::vector<std::uint32_t> sizes;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    LaunchPlan::Step& step = plan.steps[i];
    std::vector<std::uint32_t>& clock = clocks[i];
    clock.resize(sizes.size());
    for (const std::uint32_t d : step.dependencies) {
      for (std::size_t b = 0; b < clocks[d].size(); ++b)
        clock[b] = std::max(clock[b], clocks[d][b]);
    }
    const auto follows = [&](std::uint32_t branch) { return clock[branch] == sizes[branch]; };
    std::uint32_t branch = 0;
    while (branch < sizes.size() && !follows(branch)) ++branch;
    for (const std::uint32_t d : step.dependencies) {
      if (follows(plan.steps[d].branch)) {
        branch = plan.steps[d].branch;
        break;
      }
    }
    if (branch == sizes.size()) {
      sizes.push_back(0);
      clock.push_back(0);
    }
    step.branch = branch;
    clock[branch] = ++sizes[branch];
  }
  plan.branches = static_cast<std::uint32_t>(sizes.size());
}

bool gives_work(cudaGraphNodeType type) {
  return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
         type == cudaGraphNodeTypeMemset;
}

void count_work(LaunchPlan& plan) {
  std::vector<std::uint32_t> chains;  // the longest that ends with each step
  for (const LaunchPlan::Step& step : plan.steps) {
    const std::uint32_t own = gives_work(step.node->type) && step.node->enabled ? 1 : 0;
    std::uint32_t before = 0;
    for (const std::uint32_t d : step.dependencies) before = std::max(before, chains[d]);
    chains.push_back(before + own);
    plan.work += own;
    plan.longest_chain = std::max(plan.longest_chain, chains.back());
  }
}

}  // namespace

LaunchPlan plan_launch(const Graph& graph) {
  LaunchPlan plan;
  add_steps(plan, graph, {});
  assign_branches(plan);
  count_work(plan);
  std::vector<bool> is_followed(plan.steps.size());
  for (const LaunchPlan::Step& step : plan.steps) {
    for (const std::uint32_t d : step.dependencies) is_followed[d] = true;
  }
  for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
    if (!is_followed[i]) plan.last.push_back(i);
  }
  return plan;
}

}  // namespace halfgrad::emulator
