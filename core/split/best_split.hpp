// Which split: the valid candidate with the largest information gain (R6, R7, R9). Nothing here can
// be handed the labels of estimation points: validity is asked of EstimationTotals, gains of
// StructureCounts (or, in Saffari's forest, of the counts of its one stream).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "counts/counts.hpp"
#include "split/entropy.hpp"
#include "split/entropy_sums.hpp"
#include "split/sum_entropies.hpp"

namespace riparian {

struct Choice {
    std::uint32_t candidate;
    std::uint64_t g;  // G (R14)
    double gain;
};

// BestSplit: of the valid candidates the one with the largest gain; among equals the last created,
// by split point, then in the order in which the dimensions were drawn (R9). No branch asks which is better: it
// would be guessed wrong too often.
template <class Stream, class Gains>
std::optional<Choice> best_of_valid(const CandidateShape& shape, const Counts<Stream>& counts,
                                    Gains& gains, CheckScratch& check) {
    if (check.valid.empty()) return std::nullopt;
    gains.work_out(shape, counts, check);
    // Where no point was counted yet (R18), there are no gains.
    Choice choice{check.valid[0].number, 0, -std::numeric_limits<double>::infinity()};
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

// The same where the leaf has seen few points. `left` are the estimation points left of each candidate.
template <class Gains>
std::optional<Choice> best_of_few(const CandidateShape& shape, std::uint32_t split_points,
                                  const std::uint8_t* left, std::uint64_t alpha,
                                  std::span<const std::uint8_t* const> rows, Gains& gains,
                                  CheckScratch& check) {
    check.make_room(shape);
    const BestOfFew best = kernels().best_of_few(
        rows.data(), rows.size(), left, shape.dims, shape.split_points, split_points,
        static_cast<std::uint32_t>(std::min<std::uint64_t>(alpha, 256)),
        EntropyTable::get().few_terms(), check.largest.data(), check.every_point.data());
    gains.found_largest(shape, check);
    if (best.number == no_candidate) return std::nullopt;
    const auto g = static_cast<std::uint64_t>(std::int64_t{best.g});
    return Choice{best.number, g, gain(g, static_cast<std::uint64_t>(best.points))};
}

// The paper's: estimation points make a candidate valid, structure points tell its gain.
template <class Gains>
std::optional<Choice> best_split(const CandidateShape& shape, std::uint32_t split_points,
                                 const EstimationTotals& estimation, std::uint64_t alpha,
                                 const StructureCounts& structure, Gains& gains,
                                 CheckScratch& check) {
    if constexpr (requires { gains.found_largest(shape, check); })
        if (const std::uint8_t* left = estimation.in_bytes();
            left && gains.has_seen_few(shape, structure))
            if (const auto rows = structure.rows_in_bytes(shape, check.counters, check.rows);
                !rows.empty())
                return best_of_few(shape, split_points, left, alpha, rows, gains, check);
    check.valid = estimation.valid(shape, split_points, alpha, check.room);
    return best_of_valid(shape, structure, gains, check);
}

// Saffari's: every candidate is valid (R18).
inline std::optional<Choice> best_split(const CandidateShape& shape, std::uint32_t split_points,
                                        const SharedCounts& counts, const EntropySums& sums,
                                        CheckScratch& check) {
    check.room.clear();
    for (std::uint32_t d = 0; d < shape.dims; ++d)
        for (std::uint32_t j = 0; j < split_points; ++j)
            check.room.push_back({d * shape.split_points + j, j});
    check.valid = check.room;
    return best_of_valid(shape, counts, sums, check);
}

}  // namespace riparian
