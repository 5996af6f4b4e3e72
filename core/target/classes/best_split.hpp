// Which split: the valid candidate with the largest information gain (R6, R7, R9). No function here
// can receive the labels of estimation points: EstimationTotals decide what is valid, and gains are
// those of StructureCounts (or, in Saffari's forest, of the counts of its one stream). GainBounds
// and EntropySums use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "target/classes/check_scratch.hpp"
#include "target/classes/counts.hpp"
#include "target/classes/entropy.hpp"

namespace riparian {

// BestSplit: returns the valid candidate with the largest gain; among equals the last created, by
// split point, then in the order in which the dimensions were drawn (R9). There is no branch on
// which is better, since it would be mispredicted too often.
template <class Stream, class Gains>
std::optional<Choice<std::uint64_t>> best_of_valid(const CandidateShape& shape,
                                                   const ClassCounts<Stream>& counts, Gains& gains,
                                                   CheckScratch& check) {
    if (check.valid.empty()) return std::nullopt;
    gains.work_out(shape, counts, check);
    // If no point was counted yet (R18), there are no gains.
    Choice<std::uint64_t> choice{check.valid[0].number, 0,
                                 -std::numeric_limits<double>::infinity()};
    std::uint32_t split_point = 0;
    for (const auto [i, j] : check.valid) {
        const double this_gain = gain(check.g[i], check.every_point[j]);
        const bool is_better =
            static_cast<int>(this_gain > choice.gain) |
            (static_cast<int>(this_gain == choice.gain) & static_cast<int>(j >= split_point));
        choice.gain = is_better ? this_gain : choice.gain;
        choice.candidate = is_better ? i : choice.candidate;
        split_point = is_better ? j : split_point;
    }
    choice.g = check.g[choice.candidate];
    return choice;
}

// The same for a leaf that has seen few points. `left` contains the estimation points left of each
// candidate.
template <class Gains>
std::optional<Choice<std::uint64_t>> best_of_few(const CandidateShape& shape,
                                                 std::uint32_t split_points,
                                                 const std::uint8_t* left, std::uint64_t alpha,
                                                 std::span<const std::uint8_t* const> rows,
                                                 Gains& gains, CheckScratch& check) {
    check.make_room(shape);
    const BestOfFew best = kernels().best_of_few(
        rows.data(), rows.size(), left, shape.dims, shape.split_points, split_points,
        static_cast<std::uint32_t>(std::min<std::uint64_t>(alpha, 256)),
        EntropyTable::get().few_terms(), check.largest.data(), check.every_point.data());
    gains.found_largest(shape, check);
    if (best.number == no_candidate) return std::nullopt;
    const auto g = static_cast<std::uint64_t>(std::int64_t{best.g});
    return Choice<std::uint64_t>{best.number, g, gain(g, static_cast<std::uint64_t>(best.points))};
}

}  // namespace riparian
