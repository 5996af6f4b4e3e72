// A tree as flat arrays: what Python looks at. Leaves come in the order of their nodes; what has
// varying length (dimensions, split points) lies end to end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tree.hpp"

namespace riparian {

template <class Space>
struct TreeArrays {
    // Per node, in order of creation. An inner node has a child, a leaf has 0.
    std::vector<typename Space::Feature> feature;
    std::vector<float> threshold;
    std::vector<std::uint32_t> child;  // the left one; the right one is the next

    // Per leaf.
    std::vector<std::uint32_t> leaf_node, leaf_depth;
    std::vector<std::uint64_t> leaf_born;
    std::vector<std::uint8_t> leaf_active;
    std::vector<std::uint64_t> histogram;  // times classes

    // Per active leaf, in the order of the leaves.
    std::vector<std::uint32_t> attempt, dims, split_points;
    std::vector<std::uint64_t> received;
    std::vector<typename Space::Feature> candidate_dims;  // times dims
    std::vector<std::uint64_t> split_point_born;          // times split points
    std::vector<float> split_threshold;                   // times dims times split points
    // Counts left of each candidate and, after the last dimension, of all points that each split
    // point has seen: times (dims + 1) times split points times classes.
    std::vector<std::uint64_t> structure, estimation;
};

template <class Space, class Stream>
void append_counts(const Candidates<Space>& candidates, const Counts<Stream>& counts,
                   std::size_t n_classes, std::vector<std::uint64_t>& out) {
    const CandidateShape& shape = candidates.shape();
    for (std::size_t d = 0; d <= shape.dims; ++d)
        for (std::size_t j = 0; j < candidates.split_points(); ++j) {
            const std::size_t first = out.size();
            out.resize(first + n_classes);
            counts.labels_at(shape, d * shape.split_points + j,
                             [&](Class y, std::uint64_t n) { out[first + y] += n; });
        }
}

template <class Space>
void append_candidates(const Candidates<Space>& candidates, std::size_t n_classes,
                       TreeArrays<Space>& out) {
    const CandidateShape& shape = candidates.shape();
    const std::uint32_t split_points = candidates.split_points();
    out.attempt.push_back(candidates.attempt());
    out.dims.push_back(shape.dims);
    out.split_points.push_back(split_points);
    out.received.push_back(candidates.received());
    out.candidate_dims.insert(out.candidate_dims.end(), candidates.features(),
                              candidates.features() + shape.dims);
    for (std::uint32_t j = 0; j < split_points; ++j)
        out.split_point_born.push_back(candidates.born(j));
    for (std::uint32_t d = 0; d < shape.dims; ++d)
        for (std::uint32_t j = 0; j < split_points; ++j)
            out.split_threshold.push_back(candidates.threshold(d * shape.split_points + j));
    append_counts(candidates, candidates.structure(), n_classes, out.structure);
    append_counts(candidates, candidates.estimation(), n_classes, out.estimation);
}

template <class Space>
TreeArrays<Space> to_arrays(const Tree<Space>& tree, std::size_t n_classes) {
    TreeArrays<Space> out;
    for (const auto& node : tree.nodes()) {
        out.feature.push_back(node.feature);
        out.threshold.push_back(node.threshold);
        out.child.push_back(node.inner() ? node.child : 0);
    }
    std::vector<const Leaf<Space>*> leaves;
    for (const auto& leaf : tree.leaves()) leaves.push_back(&leaf);
    std::sort(leaves.begin(), leaves.end(),
              [](const auto* a, const auto* b) { return a->node < b->node; });
    for (const auto* leaf : leaves) {
        out.leaf_node.push_back(leaf->node);
        out.leaf_depth.push_back(leaf->depth);
        out.leaf_born.push_back(leaf->born);
        out.leaf_active.push_back(leaf->active());
        for (std::size_t y = 0; y < n_classes; ++y)
            out.histogram.push_back(leaf->estimation[static_cast<Class>(y)]);
        if (leaf->active()) append_candidates(*leaf->candidates, n_classes, out);
    }
    return out;
}

}  // namespace riparian
