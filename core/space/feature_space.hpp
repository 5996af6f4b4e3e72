// The feature space defines what a point is, what can be measured on it, and how a leaf draws its
// candidate features. The tree is generic over it. There are two: the columns of a matrix, and
// depth images, where there are infinitely many features and each leaf draws its own (section 5.3).
#pragma once

#include <concepts>
#include <cstddef>
#include <vector>

#include "draws.hpp"
#include "shuffle.hpp"
#include "space/categories.hpp"

namespace riparian {

template <class Space>
concept FeatureSpace =
    requires(const Space& space, const typename Space::Batch& batch,
             typename Space::Feature feature, typename Space::Point point, Draws& draws,
             Shuffle& shuffle, std::vector<typename Space::Feature>& drawn, float* values) {
        { batch.point(std::size_t{}) } -> std::same_as<typename Space::Point>;
        { batch.size() } -> std::same_as<std::size_t>;
        { Space::columns } -> std::convertible_to<bool>;
        { Space::value(feature, point) } -> std::same_as<float>;
        { Space::equals(feature) } -> std::same_as<bool>;  // whether it is categorical (R22)
        {
            Space::template goes_right<Asks::numbers>(feature, float{}, point)
        };  // at a threshold (R4),
        { Space::template goes_right<Asks::halves>(feature, float{}, point) };  // or category (R22)
        { Space::saved(feature) } -> std::same_as<typename Space::Feature>;    // as arrays have it,
        { space.restored(feature) } -> std::same_as<typename Space::Feature>;  // and back
        { Space::project(&feature, std::size_t{}, point, values) };  // on several features at once
        // Replaces `drawn` with the features of a new leaf (R2).
        { space.draw(draws, shuffle, drawn) };
    };

}  // namespace riparian
