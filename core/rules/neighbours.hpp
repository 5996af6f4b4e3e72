// The neighbours of a point in a tree (R28): the kept points that vote in the smallest cell around
// it which lists enough of them. Lists hang on leaves, so a cell is read leaf by leaf.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kept/lists.hpp"

namespace riparian {

class Neighbours {
public:
    static constexpr std::size_t enough = 4;

    // Adds the targets and weights of the neighbours of a point that falls into a leaf to `out`,
    // once the tree has received this many points of the stream.
    template <class Tree, class Found>
    void read(const Tree& tree, std::uint32_t leaf, std::uint64_t received,
              const typename Tree::Shared& shared, const typename Tree::Settings& settings,
              Found& out) {
        const auto& votes = tree.record_.nodes;
        std::uint32_t node = tree.leaves_[leaf].node;
        const auto add = [&](std::uint64_t t) {
            out.targets.push_back(shared.label(t));
            if (shared.weighted())
                out.weights.push_back(tree.round_weight(shared.weight(t), t, settings));
            return true;
        };
        read_cell(tree, node, received, add);
        while (node != 0 && out.targets.size() < enough) {
            const std::uint32_t parent = votes[node].parent;
            const std::uint32_t left = tree.nodes_[parent].child;
            read_cell(tree, left + (node == left), received, add);
            node = parent;
        }
    }

private:
    // All leaves below a node. Eager points vote whatever their coin; of honest ones only the
    // estimation points do.
    template <class Tree, class Visitor>
    void read_cell(const Tree& tree, std::uint32_t top, std::uint64_t received, Visitor& visitor) {
        const auto& record = tree.record_;
        stack_.assign(1, top);
        while (!stack_.empty()) {
            const auto& node = tree.nodes_[stack_.back()];
            stack_.pop_back();
            if (node.inner()) {
                stack_.push_back(node.child + 1);
                stack_.push_back(node.child);
                continue;
            }
            const auto& listed = record.leaves[node.leaf];
            record.lists.walk(record.eager ? listed.structure : listed.estimation, received,
                              visitor);
        }
    }

    std::vector<std::uint32_t> stack_;
};

}  // namespace riparian
