// Which split: the valid candidate with the largest information gain (R6, R7, R9). Nothing here can
// be handed the labels of estimation points: validity is asked of EstimationTotals, gains of
// StructureCounts (or, in Saffari's forest, of the counts of its one stream).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

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

// Whether a candidate gains at least as much as another of its split point. They have seen the same points, so G
// tells, without a division, unless there are so many that gains are rounded to the same number.
inline bool gains_as_much(std::uint64_t g, std::uint64_t other, std::uint64_t points) {
    if (points > most_points_exact) [[unlikely]]
        return gain(g, points) >= gain(other, points);
    return static_cast<std::int64_t>(g) >= static_cast<std::int64_t>(other);
}

inline constexpr std::uint64_t least_of_all = std::uint64_t{1} << 63;  // G is signed

// Of the best of each split point.
inline std::optional<Choice> best_of_split_points(std::uint32_t split_points,
                                                  const CheckScratch& check) {
    std::optional<Choice> choice;
    for (std::uint32_t j = 0; j < split_points; ++j) {
        if (check.best[j] == no_candidate) continue;
        const double this_gain = gain(check.best_g[j], check.every_point[j]);
        if (!choice || this_gain >= choice->gain)
            choice = Choice{check.best[j], check.best_g[j], this_gain};
    }
    return choice;
}

// BestSplit: of the valid candidates the one with the largest gain; among equals the last created,
// by split point, then in the order in which the dimensions were drawn (R9).
template <class Stream, class Gains>
std::optional<Choice> best_of_valid(const CandidateShape& shape, const Counts<Stream>& counts,
                                    Gains& gains, CheckScratch& check) {
    if (check.valid.empty()) return std::nullopt;
    gains.work_out(shape, counts, check);
    std::vector<std::uint32_t>& best = check.best;
    best.assign(shape.split_points, no_candidate);
    check.best_g.assign(shape.split_points, least_of_all);
    for (const auto [i, j] : check.valid) {
        // A select, not a branch, which would be guessed wrong too often.
        const std::uint64_t g = check.g[i], other = check.best_g[j];
        const bool is_better = gains_as_much(g, other, check.every_point[j]);
        best[j] = is_better ? i : best[j];
        check.best_g[j] = is_better ? g : other;
    }
    return best_of_split_points(shape.split_points, check);
}

// The same where the leaf has seen few points. `left` are the estimation points left of each candidate.
inline std::optional<Choice> best_of_few(const CandidateShape& shape, std::uint32_t split_points,
                                         const std::uint8_t* left, std::uint64_t alpha,
                                         CheckScratch& check) {
    check.best.resize(shape.split_points);
    check.best_g.resize(shape.split_points);
    kernels().best_of_few(check.few_sums.data(), left, shape.dims, shape.split_points,
                          static_cast<std::uint32_t>(std::min<std::uint64_t>(alpha, 256)),
                          check.best.data(), check.best_g.data());
    return best_of_split_points(split_points, check);
}

// The paper's: estimation points make a candidate valid, structure points tell its gain.
template <class Gains>
std::optional<Choice> best_split(const CandidateShape& shape, std::uint32_t split_points,
                                 const EstimationTotals& estimation, std::uint64_t alpha,
                                 const StructureCounts& structure, Gains& gains,
                                 CheckScratch& check) {
    if constexpr (requires { gains.work_out_few(shape, structure, check); })
        if (const std::uint8_t* left = estimation.narrow())
            if (gains.work_out_few(shape, structure, check))
                return best_of_few(shape, split_points, left, alpha, check);
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
