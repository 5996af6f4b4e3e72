// The trees of a forest as plain arrays, which Python made from the forest at one moment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "space/categories.hpp"

namespace riparian::explain {

struct PlainTrees {
    // Per tree: the number of its root among all nodes.
    const std::int64_t* root;
    std::size_t n_trees;

    // Per node. A value <= threshold goes left; for a categorical feature, the category or the half
    // of the threshold does (R22). Everything else, including NaN, goes to the next node (R4).
    const std::int32_t* feature;  // -1 for a leaf
    const float* threshold;
    const bool* equals;  // whether the feature is categorical
    const std::int32_t* left;
    const double* weight;             // points below: the sum over the children
    const std::int64_t* leaf_number;  // among the leaves; not used for an inner node

    // Per leaf: where its values begin; one more entry for the end.
    const std::int64_t* value_begin;
    // Per value of a leaf; the values of other classes are 0.
    const std::int32_t* value_class;
    const double* value;

    std::size_t n_features, n_classes;

    bool is_leaf(std::int64_t node) const { return feature[node] < 0; }

    bool goes_left(std::int64_t node, float x) const {
        return equals[node] ? category_goes_left(x, threshold[node]) : x <= threshold[node];
    }

    std::int64_t leaf_of(std::size_t tree, const float* row) const {
        std::int64_t node = root[tree];
        while (!is_leaf(node)) node = left[node] + !goes_left(node, row[feature[node]]);
        return leaf_number[node];
    }
};

// Rows of float32.
struct Rows {
    const float* values;
    std::size_t count, width;

    const float* operator[](std::size_t i) const { return values + i * width; }
};

}  // namespace riparian::explain
