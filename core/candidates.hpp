// Which split: the valid candidate with the largest information gain (R6, R7, R9). Nothing here can
// be handed the labels of estimation points: validity is asked of EstimationTotals, gains of
// StructureCounts (or, in Saffari's forest, of the counts of its one stream).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "counts.hpp"
#include "entropy.hpp"

namespace riparian {

struct Choice {
    std::uint32_t candidate;
    std::uint64_t g;  // G (R14)
    double gain;
};

// What one split check needs besides the leaf: kept by a thread, so that a check allocates nothing.
struct CheckScratch {
    std::vector<std::uint32_t> valid;        // the valid candidates
    std::vector<std::uint64_t> sums;         // for each of these, Σ_k F(n'_k) + F(n''_k)
    std::vector<std::uint64_t> left;         // and n', its structure points on the left
    std::vector<std::uint64_t> every_sum;    // for each split point, Σ_k F(n_k)
    std::vector<std::uint64_t> every_point;  // and N, the structure points it has seen
    Pool pool;                               // counters made from kept points
};

// Σ F of every candidate, brought up to date point by point. It is derived from StructureCounts; a
// leaf keeps it from the first split check that left it whole, so that each later check costs no
// more than a look at every candidate, however many classes there are.
class EntropySums {
public:
    bool kept() const { return sums_ != nullptr; }

    template <class Stream>
    void build(Pool& pool, const CandidateShape& shape, const Counts<Stream>& structure,
               Pool& scratch) {
        sums_ = pool.allocate_array<std::uint64_t>(shape.counters());
        std::fill_n(sums_, shape.counters(), 0);
        left_.allocate(pool, shape.counters());
        structure.for_each_row(shape, scratch, [&](const auto* row) {
            const auto& F = EntropyTable::get();
            const auto* everyone = row + shape.candidates();
            left_.fit(pool, left_[shape.everyone(0)] + everyone[0]);
            std::size_t i = 0;
            for (std::uint32_t d = 0; d < shape.dims; ++d)
                for (std::uint32_t j = 0; j < shape.split_points; ++j, ++i) {
                    sums_[i] += F(row[i]) + F(std::uint64_t{everyone[j]} - row[i]);
                    left_.add(i, row[i]);
                }
            for (std::uint32_t j = 0; j < shape.split_points; ++j, ++i) {
                sums_[i] += F(row[i]);
                left_.add(i, row[i]);
            }
        });
    }

    void move_to(Pool& pool, const CandidateShape& shape) {
        if (!kept()) return;
        auto* moved = pool.allocate_array<std::uint64_t>(shape.counters());
        std::copy_n(sums_, shape.counters(), moved);
        sums_ = moved;
        left_.move_to(pool);
    }

    void release(Pool& pool, const CandidateShape& shape) {
        if (!kept()) return;
        pool.release_array(sums_, shape.counters());
        left_.release(pool);
        sums_ = nullptr;
    }

    // A structure point of label y was added to the counts, n copies of it.
    template <class Stream>
    void add(Pool& pool, const CandidateShape& shape, const Counts<Stream>& structure,
             const std::uint64_t* bits, Class y, Weight n, std::uint32_t split_points_so_far) {
        left_.fit(pool, left_[shape.everyone(0)] + n);
        left_.add_bits(0, bits, shape.counters(), n);
        structure.with_row(shape, y, [&](const auto* row) {
            const auto& F = EntropyTable::get();
            const auto* everyone = row + shape.candidates();
            for (std::uint32_t d = 0; d < shape.dims; ++d) {
                const std::size_t first = std::size_t{d} * shape.split_points;
                for (std::uint32_t j = 0; j < split_points_so_far; ++j) {
                    const std::size_t i = first + j;
                    const bool left = bits[i / 64] >> (i % 64) & 1;
                    const std::uint64_t now = left ? row[i] : std::uint64_t{everyone[j]} - row[i];
                    sums_[i] += F(now) - F(now - n);
                }
            }
            for (std::uint32_t j = 0; j < split_points_so_far; ++j)
                sums_[shape.everyone(j)] += F(everyone[j]) - F(everyone[j] - n);
        });
    }

    void read(const CandidateShape& shape, CheckScratch& check) const {
        for (std::size_t v = 0; v < check.valid.size(); ++v) {
            check.sums[v] = sums_[check.valid[v]];
            check.left[v] = left_[check.valid[v]];
        }
        for (std::uint32_t j = 0; j < shape.split_points; ++j) {
            check.every_sum[j] = sums_[shape.everyone(j)];
            check.every_point[j] = left_[shape.everyone(j)];
        }
    }

private:
    std::uint64_t* sums_ = nullptr;  // a candidate's Σ_k F(n'_k) + F(n''_k); everyone's Σ_k F(n_k)
    Counters left_;                  // a candidate's n'; everyone's N
};

// The same quantities straight from the counts, for the valid candidates alone.
template <class Stream>
void sum_entropies(const CandidateShape& shape, const Counts<Stream>& structure,
                   CheckScratch& check) {
    structure.for_each_row(shape, check.pool, [&](const auto* row) {
        const auto& F = EntropyTable::get();
        const auto* everyone = row + shape.candidates();
        for (std::size_t v = 0; v < check.valid.size(); ++v) {
            const std::uint32_t i = check.valid[v];
            const std::uint64_t left = row[i], all = everyone[i % shape.split_points];
            check.sums[v] += F(left) + F(all - left);
            check.left[v] += left;
        }
        for (std::uint32_t j = 0; j < shape.split_points; ++j) {
            check.every_sum[j] += F(everyone[j]);
            check.every_point[j] += everyone[j];
        }
    });
}

// Keep the sums from now on; the counts that they follow from must be counts, not points.
template <class Stream>
void keep(EntropySums& sums, Counts<Stream>& counts, Pool& pool, const CandidateShape& shape,
          Class n_classes, CheckScratch& check) {
    if (sums.kept()) return;
    counts.count(pool, shape, n_classes);
    sums.build(pool, shape, counts, check.pool);
}

// BestSplit: of the valid candidates the one with the largest gain; among equals the last created,
// by split point, then in the order in which the dimensions were drawn (R9).
template <class Stream>
std::optional<Choice> best_of_valid(const CandidateShape& shape, const Counts<Stream>& counts,
                                    const EntropySums& sums, CheckScratch& check) {
    if (check.valid.empty()) return std::nullopt;
    check.sums.assign(check.valid.size(), 0);
    check.left.assign(check.valid.size(), 0);
    check.every_sum.assign(shape.split_points, 0);
    check.every_point.assign(shape.split_points, 0);
    if (sums.kept())
        sums.read(shape, check);
    else
        sum_entropies(shape, counts, check);

    const auto& F = EntropyTable::get();
    std::optional<Choice> best;
    std::uint32_t best_point = 0;
    for (std::size_t v = 0; v < check.valid.size(); ++v) {
        const std::uint32_t i = check.valid[v], j = i % shape.split_points;
        const std::uint64_t points = check.every_point[j], left = check.left[v];
        const std::uint64_t g =
            F(points) - check.every_sum[j] - F(left) - F(points - left) + check.sums[v];
        const double this_gain = gain(g, points);
        if (!best || this_gain > best->gain || (this_gain == best->gain && j >= best_point)) {
            best = Choice{i, g, this_gain};
            best_point = j;
        }
    }
    return best;
}

// The paper's: estimation points make a candidate valid, structure points tell its gain.
inline std::optional<Choice> best_split(const CandidateShape& shape,
                                        const EstimationTotals& estimation, std::uint64_t alpha,
                                        const StructureCounts& structure, const EntropySums& sums,
                                        CheckScratch& check) {
    estimation.valid(shape, alpha, check.valid);
    return best_of_valid(shape, structure, sums, check);
}

// Saffari's: every candidate is valid (R18).
inline std::optional<Choice> best_split(const CandidateShape& shape, std::uint32_t split_points,
                                        const SharedCounts& counts, const EntropySums& sums,
                                        CheckScratch& check) {
    check.valid.clear();
    for (std::uint32_t d = 0; d < shape.dims; ++d)
        for (std::uint32_t j = 0; j < split_points; ++j)
            check.valid.push_back(d * shape.split_points + j);
    return best_of_valid(shape, counts, sums, check);
}

}  // namespace riparian
