// Which split: the valid candidate with the largest information gain (R6, R7, R9). Nothing here can
// be handed the labels of estimation points: validity is asked of EstimationTotals, gains of
// StructureCounts (or, in Saffari's forest, of the counts of its one stream).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "counts/counts.hpp"
#include "split/entropy.hpp"
#include "split/entropy_sums.hpp"
#include "split/few_labels.hpp"

namespace riparian {

struct Choice {
    std::uint32_t candidate;
    std::uint64_t g;  // G (R14)
    double gain;
};

// The same quantities straight from kept points, for the valid candidates alone. Both are few, so each candidate
// asks each point.
template <class Stream>
void sum_entropies_of_kept(const CandidateShape& shape, const Counts<Stream>& structure,
                           CheckScratch& check) {
    const auto& F = EntropyTable::get();
    const FewLabels labels(structure.kept_labels());
    // Of each label: how many are on the left, and 2^16 times how many in all.
    std::array<std::uint32_t, FewLabels::most> counts;
    for (std::size_t v = 0; v < check.valid.size(); ++v) {
        const auto [i, j] = check.valid[v];
        std::fill_n(counts.begin(), labels.size(), 0);
        structure.for_each_kept(
            shape, j, i, [&](std::size_t p, std::uint64_t on_left, std::uint64_t met) {
                counts[labels[p]] += static_cast<std::uint32_t>(on_left | met << 16);
            });
        std::uint64_t g = 0;
        std::uint32_t sum = 0;
        for (std::size_t k = 0; k < labels.size(); ++k) {
            const std::uint32_t left = counts[k] & 0xFFFF, all = counts[k] >> 16;
            g += F(left) + F(all - left) - F(all);
            sum += counts[k];
        }
        const std::uint32_t left = sum & 0xFFFF, all = sum >> 16;
        check.g[v] = g + F(all) - F(left) - F(all - left);
        check.every_point[j] = all;
    }
}

// The same straight from the counts.
template <class Stream>
void sum_entropies(const CandidateShape& shape, const Counts<Stream>& structure,
                   CheckScratch& check) {
    const auto& F = EntropyTable::get();
    check.left.assign(check.valid.size(), 0);
    check.g.assign(check.valid.size(), 0);
    check.every_g.assign(shape.split_points, 0);
    check.every_point.assign(shape.split_points, 0);
    structure.for_each_row(shape, check.pool, [&](const auto* row) {
        const auto* everyone = row + shape.candidates();
        for (std::size_t v = 0; v < check.valid.size(); ++v) {
            const auto [i, j] = check.valid[v];
            const std::uint64_t left = row[i], all = everyone[j];
            check.g[v] += F(left) + F(all - left);
            check.left[v] += left;
        }
        for (std::uint32_t j = 0; j < shape.split_points; ++j) {
            check.every_g[j] -= F(everyone[j]);
            check.every_point[j] += everyone[j];
        }
    });
    for (std::size_t v = 0; v < check.valid.size(); ++v) {
        const std::uint32_t j = check.valid[v].split_point;
        const std::uint64_t points = check.every_point[j], left = check.left[v];
        check.g[v] += F(points) + check.every_g[j] - F(left) - F(points - left);
    }
}

// Keep the sums from now on; the counts that they follow from must be counts, not points.
template <class Stream>
void keep(EntropySums& sums, Counts<Stream>& counts, Pool& pool, const CandidateShape& shape,
          std::uint32_t split_points, Class n_classes, CheckScratch& check) {
    if (sums.kept()) return;
    counts.count(pool, shape, n_classes);
    sums.build(pool, shape, counts, split_points, check.pool);
}

// BestSplit: of the valid candidates the one with the largest gain; among equals the last created,
// by split point, then in the order in which the dimensions were drawn (R9).
template <class Stream>
std::optional<Choice> best_of_valid(const CandidateShape& shape, const Counts<Stream>& counts,
                                    const EntropySums& sums, CheckScratch& check) {
    if (check.valid.empty()) return std::nullopt;
    if (check.g.size() < check.valid.size()) check.g.resize(check.valid.size());
    if (check.every_point.size() < shape.split_points) check.every_point.resize(shape.split_points);
    if (sums.kept())
        sums.read(shape, check);
    else if (!counts.counted() && counts.kept_labels().size() <= FewLabels::most)
        sum_entropies_of_kept(shape, counts, check);
    else
        sum_entropies(shape, counts, check);

    std::optional<Choice> best;
    std::uint32_t best_point = 0;
    for (std::size_t v = 0; v < check.valid.size(); ++v) {
        const auto [i, j] = check.valid[v];
        const double this_gain = gain(check.g[v], check.every_point[j]);
        if (!best || this_gain > best->gain || (this_gain == best->gain && j >= best_point)) {
            best = Choice{i, check.g[v], this_gain};
            best_point = j;
        }
    }
    return best;
}

// The paper's: estimation points make a candidate valid, structure points tell its gain.
inline std::optional<Choice> best_split(const CandidateShape& shape,
                                        std::uint32_t split_points,
                                        const EstimationTotals& estimation, std::uint64_t alpha,
                                        const StructureCounts& structure, const EntropySums& sums,
                                        CheckScratch& check) {
    check.valid = estimation.valid(shape, split_points, alpha, check.room);
    return best_of_valid(shape, structure, sums, check);
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
