// Small forests of every rule and feature space, and a stream for each, for the tests in C++.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "rules/adaptive.hpp"
#include "rules/eager.hpp"
#include "rules/keeping.hpp"
#include "rules/one_stream.hpp"
#include "rules/two_streams.hpp"
#include "space/columns.hpp"
#include "space/depth.hpp"
#include "target/classes.hpp"
#include "target/numbers.hpp"

namespace riparian::testing {

inline constexpr std::size_t dims = 4, classes = 3;
inline constexpr std::int32_t side = 16;  // of an image
inline const Rate two{2, std::exp(-1.0), 1.0};

// The labels of a stream: classes, and numbers near them. Weights are whole numbers, so that every
// tree receives the same.
struct Labels {
    std::vector<Class> labels;
    std::vector<Number> numbers;
    std::vector<double> weights;

    explicit Labels(std::size_t n) : labels(n) {
        for (std::size_t i = 0; i < n; ++i)
            weights.push_back(static_cast<double>(1 + key(8, i) % 3));
    }
    void make_numbers() {
        for (std::size_t i = 0; i < labels.size(); ++i)
            numbers.push_back(3.0 * labels[i] + uniform(key(7, i)));
    }
    template <class Target>
    const typename Target::Label* of() const {
        if constexpr (std::same_as<Target, Numbers>)
            return numbers.data();
        else
            return labels.data();
    }
};

// What a stream has besides points and labels, or a forest of numbers besides answers (R28, R29).
// The column is there from the second block on.
enum class Extras : std::uint8_t { none, weights_and_a_late_column, intervals_that_follow };

// Points of a stream and their labels, which a few splits can tell apart.
template <class Space>
struct Stream;

template <>
struct Stream<Columns> : Labels {
    explicit Stream(std::size_t n, bool turned = false, std::uint32_t columns = dims)
        : Labels(n), columns(columns) {
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t d = 0; d < columns; ++d)
                values.push_back(static_cast<float>(uniform(key(1, i * dims + d))));
            const bool high = values[i * columns] > 0.5f;
            labels[i] = high != turned ? static_cast<Class>(key(2, i) % 2) : 2;
        }
        make_numbers();
    }
    Columns space() const { return Columns(columns, HowMany(two)); }
    Matrix batch() const { return {values.data(), labels.size(), columns}; }

    std::uint32_t columns;
    std::vector<float> values;
};

template <>
struct Stream<DepthDifferences> : Labels {
    explicit Stream(std::size_t n, bool turned = false)
        : Labels(n), image(side * side), pixels(3 * n) {
        for (std::size_t i = 0; i < image.size(); ++i)
            image[i] = 1.0f + static_cast<float>(uniform(key(3, i / 8)));
        for (std::size_t i = 0; i < n; ++i) {
            pixels[3 * i + 1] = static_cast<std::int32_t>(key(4, i) % side);
            pixels[3 * i + 2] = static_cast<std::int32_t>(key(5, i) % side);
            labels[i] = (pixels[3 * i + 1] > side / 2) != turned ? key(6, i) % 2 : 2;
        }
        make_numbers();
    }
    DepthDifferences space() const { return DepthDifferences(4.0, HowMany(two)); }
    Pixels batch() const { return {image.data(), side, side, pixels.data(), labels.size(), 10.0f}; }

    std::vector<float> image;
    std::vector<std::int32_t> pixels;
};

// The stream as it is in the first block.
template <class Space>
Stream<Space> early(std::size_t n, Extras extras) {
    if constexpr (Space::columns)
        if (extras == Extras::weights_and_a_late_column) return Stream<Space>(n, false, dims - 1);
    return Stream<Space>(n);
}

inline void set_two_streams(TwoStreams::Settings& s, std::uint64_t budget) {
    s.seed = 7;
    s.split_points = 5;
    s.min_gain = 0.01;
    s.structure_cut = s.ignore_cut = std::uint64_t{1} << 52;
    s.fringe_size = 20;
    s.budget = budget;
    s.alpha.assign(1 << 15, 2);  // deeper than a block can reach
    s.beta.assign(1 << 15, 50);
}

// `kept` of the last points, if the rule keeps points.
template <class Rule>
typename Rule::Settings settings(std::size_t trees, std::uint64_t budget, std::uint32_t kept,
                                 Extras extras) {
    typename Rule::Settings s;
    if constexpr (std::derived_from<typename Rule::Settings, TwoStreams::Settings>)
        set_two_streams(s, budget);
    if constexpr (std::derived_from<typename Rule::Settings, KeptSettings>) {
        s.kept_points = kept;
        s.regrows = true;
    }
    if constexpr (requires { s.coverages; })
        if (extras == Extras::intervals_that_follow) {
            s.coverages = {0.5, 0.9};
            s.lag = 2;
        }
    if constexpr (std::same_as<Rule, Adaptive>) {
        s.n_trees = trees;
        s.drift_confidence = 0.3;
    }
    if constexpr (std::same_as<Rule, OneStream>) {
        s.seed = 7;
        s.split_points = 5;
        s.min_gain = 0.01;
        s.min_samples = 10;
        s.max_depth = 20;
        s.replace_after = 100;
        s.bagging = {1, std::exp(-1.0), 1.0};
    }
    return s;
}

// What a forest must know of its labels beforehand, and how trees vote.
template <class Forest>
void name_classes(Forest& forest) {
    if constexpr (std::same_as<typename Forest::Target, Classes>)
        forest.set_order({{0, 1, 2}, classes});
}
template <class Target>
inline constexpr auto average = Target::Voting::average;

template <class Space, class Rule, class Target = Classes>
Forest<Space, Rule, Target> forest(std::size_t trees, std::uint64_t budget, std::uint32_t kept,
                                   const Space& space, Extras extras) {
    Forest<Space, Rule, Target> made(trees, 0, settings<Rule>(trees, budget, kept, extras), space);
    name_classes(made);
    return made;
}

// Whether a forest can learn intervals.
template <class Forest>
inline constexpr bool learns_intervals =
    has_intervals<typename Forest::Target> &&
    requires(typename Forest::Shared& shared) { shared.intervals; };

// From now on, the intervals by which points are judged are given; none if there are none.
template <class Forest>
void give_intervals(Forest& forest) {
    if constexpr (learns_intervals<Forest>)
        forest.change_shared([](auto& shared) { shared.gives = !shared.intervals.empty(); });
}

// Returns these.
template <class Forest>
std::vector<double> take_given(Forest& forest) {
    std::vector<double> given;
    if constexpr (learns_intervals<Forest>)
        forest.change_shared([&](auto& shared) {
            shared.gives = false;
            std::swap(given, shared.given);
        });
    return given;
}

// Both ends of the interval of each coverage around each point.
template <class Forest>
std::vector<double> intervals(Forest& forest, const typename Forest::Batch& batch,
                              std::size_t workers) {
    std::vector<double> ends;
    if constexpr (learns_intervals<Forest>) {
        using Distribution = typename Forest::Target::Intervals::Distribution;
        ends.resize(4 * batch.size());
        forest.template predict_distributions<Distribution>(
            batch, workers,
            [&](std::size_t i, Distribution& distribution, const auto& moved, const auto& shared) {
                std::vector<double> given;
                shared.intervals.give(distribution, moved, shared.trust.error(), given);
                std::copy(given.begin(), given.end(), ends.data() + 4 * i);
            });
    }
    return ends;
}

}  // namespace riparian::testing
