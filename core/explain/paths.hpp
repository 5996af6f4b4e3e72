// The paths of a tree: for each leaf, the features that are asked on the way, each once.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "explain/plain_trees.hpp"

namespace riparian::explain {

// All tests of one feature on a path. Together they ask whether it is in (above, up_to].
struct Step {
    std::uint32_t feature;
    float above = -std::numeric_limits<float>::infinity();
    float up_to = std::numeric_limits<float>::infinity();
    bool turns_left = false;  // somewhere, which a missing value never does (R4)
    double share = 1.0;       // of the points that came there, those that the tests let pass
};

struct Path {
    std::size_t begin, end;  // its steps
    std::int64_t leaf;

    std::size_t size() const { return end - begin; }
};

// All paths of one tree. The memory is used again for the next one.
class Paths {
public:
    explicit Paths(std::size_t n_features) : place_(n_features, none) {}

    void read(const PlainTrees& trees, std::size_t tree) {
        steps_.clear();
        paths_.clear();
        edges_.clear();
        std::vector<Visit> stack{{trees.root[tree], 0, {}}};
        while (!stack.empty()) {
            const Visit visit = stack.back();
            stack.pop_back();
            edges_.resize(visit.depth);
            if (visit.depth) edges_.back() = visit.edge;
            if (trees.is_leaf(visit.node))
                add_path(trees.leaf_number[visit.node]);
            else
                for (const bool right : {true, false})
                    stack.push_back({trees.left[visit.node] + right, visit.depth + 1,
                                     edge(trees, visit.node, right)});
        }
    }

    const std::vector<Path>& all() const { return paths_; }
    const Step* steps(const Path& path) const { return steps_.data() + path.begin; }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    struct Edge {
        std::uint32_t feature;
        float threshold;
        bool right;
        double share;
    };
    struct Visit {
        std::int64_t node;
        std::size_t depth;
        Edge edge;
    };

    static Edge edge(const PlainTrees& trees, std::int64_t node, bool right) {
        return {static_cast<std::uint32_t>(trees.feature[node]), trees.threshold[node], right,
                trees.weight[trees.left[node] + right] / trees.weight[node]};
    }

    void add_path(std::int64_t leaf) {
        const std::size_t begin = steps_.size();
        for (const Edge& edge : edges_) {
            if (place_[edge.feature] == none) {
                place_[edge.feature] = steps_.size();
                steps_.push_back({edge.feature});
            }
            Step& step = steps_[place_[edge.feature]];
            step.share *= edge.share;
            if (edge.right) {
                step.above = std::max(step.above, edge.threshold);
            } else {
                step.up_to = std::min(step.up_to, edge.threshold);
                step.turns_left = true;
            }
        }
        for (std::size_t i = begin; i < steps_.size(); ++i) place_[steps_[i].feature] = none;
        paths_.push_back({begin, steps_.size(), leaf});
    }

    std::vector<Step> steps_;  // of all paths, end to end
    std::vector<Path> paths_;
    std::vector<Edge> edges_;         // from the root to where we are
    std::vector<std::size_t> place_;  // per feature, while a path is made: its step
};

}  // namespace riparian::explain
