// The paths of a tree: for each leaf, the features that are tested on the way, each once.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "explain/plain_trees.hpp"

namespace riparian::explain {

// All tests of one feature on a path. Together they test whether a number is in (above, up_to]. For
// categories, there is a list of tests.
struct Step {
    std::uint32_t feature;
    bool categorical = false;  // R22
    bool turns_left = false;   // at some node, which a missing value never does (R4); for numbers
    float above = -std::numeric_limits<float>::infinity();
    float up_to = std::numeric_limits<float>::infinity();
    double share = 1.0;  // of the points that arrived there, the share that passes the tests
};

// The turn that a category must take at a step, at a test for a category or for a half.
struct Turn {
    std::size_t step;  // of its path
    float threshold;
    bool right;
};

struct Path {
    std::span<const Step> steps;
    std::span<const Turn> turns;
    std::int64_t leaf;

    std::size_t size() const { return steps.size(); }
};

// All paths of one tree. The memory is reused for the next tree.
class Paths {
public:
    explicit Paths(std::size_t n_features) : place_(n_features, none) {}

    void read(const PlainTrees& trees, std::size_t tree) {
        steps_.clear();
        turns_.clear();
        ends_.clear();
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

    std::size_t size() const { return ends_.size(); }
    Path operator[](std::size_t i) const {
        const End begin = i ? ends_[i - 1] : End{0, 0, 0}, end = ends_[i];
        return {std::span(steps_).subspan(begin.steps, end.steps - begin.steps),
                std::span(turns_).subspan(begin.turns, end.turns - begin.turns), end.leaf};
    }

private:
    static constexpr std::size_t none = ~std::size_t{0};

    struct Edge {
        std::uint32_t feature;
        float threshold;
        bool equals, right;
        double share;
    };
    struct End {  // the end of a path among the steps and turns
        std::size_t steps, turns;
        std::int64_t leaf;
    };
    struct Visit {
        std::int64_t node;
        std::size_t depth;
        Edge edge;
    };

    static Edge edge(const PlainTrees& trees, std::int64_t node, bool right) {
        return {static_cast<std::uint32_t>(trees.feature[node]), trees.threshold[node],
                trees.equals[node], right,
                trees.weight[trees.left[node] + right] / trees.weight[node]};
    }

    void add_path(std::int64_t leaf) {
        const std::size_t begin = steps_.size();
        for (const Edge& edge : edges_) {
            if (place_[edge.feature] == none) {
                place_[edge.feature] = steps_.size();
                steps_.push_back({edge.feature, edge.equals});
            }
            const std::size_t place = place_[edge.feature];
            steps_[place].share *= edge.share;
            if (edge.equals)
                turns_.push_back({place - begin, edge.threshold, edge.right});
            else
                ask_number(steps_[place], edge);
        }
        for (std::size_t i = begin; i < steps_.size(); ++i) place_[steps_[i].feature] = none;
        ends_.push_back({steps_.size(), turns_.size(), leaf});
    }

    static void ask_number(Step& step, const Edge& edge) {
        if (edge.right) {
            step.above = std::max(step.above, edge.threshold);
        } else {
            step.up_to = std::min(step.up_to, edge.threshold);
            step.turns_left = true;
        }
    }

    std::vector<Step> steps_;         // of all paths, end to end
    std::vector<Turn> turns_;         // the same
    std::vector<End> ends_;           // of the paths
    std::vector<Edge> edges_;         // from the root to the current node
    std::vector<std::size_t> place_;  // per feature, while a path is built: its step
};

}  // namespace riparian::explain
