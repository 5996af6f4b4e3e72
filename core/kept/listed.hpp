// What a look may read of the points that a leaf lists: values of both streams, but no label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kept/kept_points.hpp"
#include "space/categories.hpp"

namespace riparian {

template <FeatureSpace Space, class Label>
class ListedValues {
public:
    // Takes the numbers of the points in order of time, and the key of the draws of the look.
    ListedValues(const KeptPoints<Space, Label>& kept, std::span<const std::uint64_t> structure,
                 std::span<const std::uint64_t> estimation, std::uint64_t key_of_draws)
        : kept_(kept),
          structure_(structure),
          estimation_(estimation),
          key_of_draws_(key_of_draws) {}

    // Sets out[d * stride + i] to the value of the i-th listed point for feature d.
    void structure(std::span<const typename Space::Feature> features, float* out,
                   std::size_t stride) const {
        kept_.values(features, structure_, out, stride);
    }
    void estimation(std::span<const typename Space::Feature> features, float* out,
                    std::size_t stride) const {
        kept_.values(features, estimation_, out, stride);
    }

    // Each listed point is of both streams (R24).
    bool are_of_one_list() const { return structure_.data() == estimation_.data(); }

    static bool equals(const typename Space::Feature& feature) { return Space::equals(feature); }
    // For a categorical feature.
    std::uint64_t halves(const typename Space::Feature& feature) const {
        if constexpr (Space::columns)
            return key_of_halves(key_of_draws_, Space::column(feature));
        else
            return 0;
    }

private:
    const KeptPoints<Space, Label>& kept_;
    std::span<const std::uint64_t> structure_, estimation_;
    std::uint64_t key_of_draws_;
};

}  // namespace riparian
