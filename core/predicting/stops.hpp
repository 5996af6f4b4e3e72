// Nodes at which rows may stop on their way down a tree, because nothing below changes the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace riparian {

// Each stop has a number and a node that answers. Stops are added node by node, in order of
// creation.
class Stops {
public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    // Rows stop at the deepest node on their way that holds enough, and at the root if none does.
    template <class Parent, class IsEnough, class IsInner>
    void find(std::size_t n_nodes, Parent&& parent_of, IsEnough&& is_enough, IsInner&& is_inner) {
        begin(n_nodes);
        for (std::uint32_t node = 0; node < n_nodes; ++node) {
            const std::uint32_t parent = parent_of(node);
            if (node != 0 && at_[parent] != none)
                follow(node, parent);
            else if (node != 0 && !is_enough(node))
                stop(node, parent);
            else if (!is_inner(node))
                stop(node, node);
        }
    }

    const std::vector<std::uint32_t>& at() const {
        return at_;
    }  // per node: the number of the answer, or none
    const std::vector<std::uint32_t>& nodes() const { return nodes_; }  // per answer: the node

private:
    void begin(std::size_t n_nodes) {
        at_.assign(n_nodes, none);
        answer_of_node_.assign(n_nodes, none);
        nodes_.clear();
    }
    // Rows that reach `node` stop there, and the answer is that of `answering`, which is that node
    // or an ancestor.
    void stop(std::uint32_t node, std::uint32_t answering) {
        std::uint32_t& answer = answer_of_node_[answering];
        if (answer == none) {
            answer = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back(answering);
        }
        at_[node] = answer;
    }
    // Nodes below a stop belong to the same stop, for rows that have already gone on to their leaf.
    void follow(std::uint32_t node, std::uint32_t parent) { at_[node] = at_[parent]; }

    std::vector<std::uint32_t> at_, answer_of_node_, nodes_;
};

}  // namespace riparian
