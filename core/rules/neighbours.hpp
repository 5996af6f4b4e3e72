// The neighbours of a point in a tree (R28): the kept points that vote in the smallest cell around
// it which lists enough of them. Lists hang on leaves, so a cell is read leaf by leaf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "counts/streams.hpp"
#include "kept/lists.hpp"
#include "predicting/stops.hpp"

namespace riparian {

class Neighbours {
public:
    static constexpr std::uint64_t enough = 4;

    // Adds the targets and weights of the neighbours of a point that falls into a leaf to `out`,
    // once the tree has received this many points of the stream.
    template <class Tree, class Found>
    void read(const Tree& tree, std::uint32_t leaf, std::uint64_t received,
              const typename Tree::Shared& shared, const typename Tree::Settings& settings,
              Found& out) {
        const auto& votes = tree.record_.nodes;
        std::uint32_t node = tree.leaves_[leaf].node;
        read_cell(tree, node, received, shared, settings, out);
        while (node != 0 && out.count() < enough) {
            const std::uint32_t parent = votes.parent(node);
            const std::uint32_t left = tree.nodes_[parent].child;
            read_cell(tree, left + (node == left), received, shared, settings, out);
            node = parent;
        }
    }

    // Finds the cells that points can have their neighbours in, for many points.
    template <class Tree>
    void find_cells(const Tree& tree, std::uint64_t received, Stops& cells) {
        const auto& votes = tree.record_.nodes;
        listed_.assign(tree.nodes_.size(), 0);
        for (auto node = static_cast<std::uint32_t>(listed_.size());
             node-- > 0;) {  // children come after their parent
            if (!tree.nodes_[node].inner())
                listed_[node] = few_listed(tree, tree.nodes_[node].leaf, received);
            if (node != 0) listed_[votes.parent(node)] += listed_[node];
        }
        cells.find(
            listed_.size(), [&](std::uint32_t node) { return votes.parent(node); },
            [&](std::uint32_t node) { return listed_[node] >= enough; },
            [&](std::uint32_t node) { return tree.nodes_[node].inner(); });
    }

    // Adds the points that vote in the leaves below a node.
    template <class Tree, class Found>
    void read_cell(const Tree& tree, std::uint32_t top, std::uint64_t received,
                   const typename Tree::Shared& shared, const typename Tree::Settings& settings,
                   Found& out) {
        stack_.assign(1, top);
        while (!stack_.empty()) {
            const auto& node = tree.nodes_[stack_.back()];
            stack_.pop_back();
            if (node.inner()) {
                stack_.push_back(node.child + 1);
                stack_.push_back(node.child);
                continue;
            }
            read_leaf(tree, node.leaf, received, shared, settings, out);
        }
    }

private:
    // Eager points vote whatever their coin; of honest ones only the estimation points do.
    template <class Tree>
    static const PointList& voters(const Tree& tree, std::uint32_t leaf) {
        const auto& listed = tree.record_.leaves[leaf];
        return tree.record_.eager ? listed.structure : listed.estimation;
    }

    // While a tree is eager, a leaf lists the points that have voted in it, and no others.
    template <class Tree, class Found>
    static void read_leaf(const Tree& tree, std::uint32_t leaf, std::uint64_t received,
                          const typename Tree::Shared& shared,
                          const typename Tree::Settings& settings, Found& out) {
        const PointList& list = voters(tree, leaf);
        if (list.count > enough && tree.record_.eager && !shared.weighted()) {
            const auto& votes = tree.leaves_[leaf].estimation;
            if (votes.is_pure()) return out.add(votes.same(), 1, list.count);
        }
        tree.record_.lists.walk(list, received, [&](std::uint64_t t) {
            out.add(shared.label(t), shared.weighted()
                                         ? tree.round_weight(shared.weight(t), t, settings)
                                         : Weight{1});
            return true;
        });
    }

    // How many points a leaf lists that vote; `enough` stands for more.
    template <class Tree>
    static std::uint64_t few_listed(const Tree& tree, std::uint32_t leaf, std::uint64_t received) {
        const PointList& list = voters(tree, leaf);
        if (!tree.record_.lists.has_lost(list, received)) return std::min(list.count, enough);
        std::uint64_t count = 0;
        tree.record_.lists.walk(list, received, [&](std::uint64_t) { return ++count < enough; });
        return count;
    }

    std::vector<std::uint32_t> stack_;
    std::vector<std::uint64_t> listed_;  // by node
};

}  // namespace riparian
