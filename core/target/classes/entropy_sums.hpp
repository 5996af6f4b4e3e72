// G of every candidate of a leaf, kept up to date, so that split checks are cheap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "counts/estimation_totals.hpp"
#include "target/classes/best_split.hpp"
#include "target/classes/counts.hpp"
#include "target/classes/entropy.hpp"
#include "target/classes/sum_entropies.hpp"

namespace riparian {

// G of every candidate, updated point by point. It is derived from the counts. A leaf keeps it from
// the first split check that did not split it, so that each later check only compares the
// candidates, however many classes there are.
//
// G has a part that all candidates of a split point share, F(N) - Σ_k F(n_k), and a part of each
// candidate, Σ_k F(n'_k) + F(n''_k) - F(n') - F(n''). A point changes two terms of each.
class EntropySums {
public:
    bool kept() const { return sums_ != nullptr; }

    void prefetch(const CandidateShape& shape) const {
        if (!kept()) return;
        riparian::prefetch(sums_, shape.counters() * sizeof sums_[0]);
        left_.prefetch(0, shape.counters());
    }

    template <class Stream>
    void keep(Pool& pool, const CandidateShape& shape, const ClassCounts<Stream>& structure,
              std::uint32_t split_points_so_far, CheckScratch& check) {
        sums_ = pool.allocate_array<std::uint64_t>(shape.counters());
        std::fill_n(sums_, shape.counters(), 0);
        left_.allocate(pool, shape.counters());
        structure.for_each_row(shape, check.pool, [&](const auto* row) {
            left_.fit(pool, left_[shape.everyone(0)] + row[shape.everyone(0)]);
            left_.add_all(0, row, shape.counters());
            add_terms(shape, row, split_points_so_far, false);
        });
        left_.visit([&](const auto* left) { add_terms(shape, left, split_points_so_far, true); });
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

    // Call this after n copies of a structure point of label y were added to the counts. It leaves
    // the largest G of any candidate, for each split point, in `check`.
    template <class Stream>
    void add(Pool& pool, const CandidateShape& shape, const ClassCounts<Stream>& structure,
             const std::uint64_t* bits, Class y, Weight n, std::uint32_t split_points_so_far,
             CheckScratch& check) {
        left_.add_bits(pool, 0, bits, shape.counters(), n, shape.everyone(0));
        const std::uint64_t points = left_[shape.everyone(0)];  // no other count is larger
        check.make_room(shape);
        structure.with_row(shape, y, [&](const auto* row) {
            left_.visit([&](const auto* left) {
                follow(shape, row, left, points, bits, n, split_points_so_far,
                       check.largest.data());
            });
        });
    }

    // Whether it is certain that no candidate, valid or not, has a gain above `min_gain`. It may
    // return false although that is so. Call it after a point was added, with the `largest` of that
    // call.
    template <class MayBeValid>
    bool none_above(double min_gain, const CandidateShape& shape, std::uint32_t split_points_so_far,
                    MayBeValid&&, const CheckScratch& check) const {
        if (left_[shape.everyone(0)] > most_points_unwrapped) return false;
        return left_.visit([&](const auto* left) {
            const auto* points = left + shape.candidates();
            bool above = false;
            for (std::size_t j = 0; j < split_points_so_far; ++j)
                above |= check.largest[j] >= least_g(min_gain, points[j]);
            return !above;
        });
    }

    // Returns the best valid candidate: estimation points make a candidate valid, structure points
    // give its gain.
    std::optional<Choice<std::uint64_t>> best(const CandidateShape& shape,
                                              std::uint32_t split_points,
                                              const EstimationTotals& estimation,
                                              std::uint64_t alpha, const StructureCounts& structure,
                                              CheckScratch& check) const {
        check.valid = estimation.valid(shape, split_points, alpha, check.room);
        return best_of_valid(shape, structure, *this, check);
    }

    // The same over all candidates: each is valid (R18).
    std::optional<Choice<std::uint64_t>> best_of_all(const CandidateShape& shape,
                                                     std::uint32_t split_points,
                                                     const SharedCounts& counts,
                                                     CheckScratch& check) const {
        check.room.clear();
        for (std::uint32_t d = 0; d < shape.dims; ++d)
            for (std::uint32_t j = 0; j < split_points; ++j)
                check.room.push_back({d * shape.split_points + j, j});
        check.valid = check.room;
        return best_of_valid(shape, counts, *this, check);
    }

    // Restores the sums from saved counts.
    template <class Stream>
    void restore(Pool& pool, const CandidateShape& shape, const ClassCounts<Stream>& structure,
                 std::uint32_t split_points, CheckScratch& check) {
        keep(pool, shape, structure, split_points, check);
    }

    // Writes the present G of the valid candidates, and N, into `check`.
    template <class Stream>
    void work_out(const CandidateShape& shape, const ClassCounts<Stream>& structure,
                  CheckScratch& check) const {
        const auto for_each_valid = [valid = check.valid](auto&& visitor) {
            for (const auto [i, j] : valid) visitor(i, j);
        };
        if (!kept()) {
            if (structure.counted() || structure.kept_labels().size() > FewLabels::most)
                return sum_entropies(shape, structure, for_each_valid, check);
            return sum_entropies_of_kept(shape, structure, check.valid, check);
        }
        check.make_room(shape);
        for (std::uint32_t j = 0; j < shape.split_points; ++j)
            check.every_point[j] = left_[shape.everyone(j)];
        for_each_valid([&](std::size_t i, std::size_t j) {
            check.g[i] = sums_[i] + sums_[shape.everyone(j)];
        });
    }

private:
    // Adds to G what the points of a label, or all points, contribute if left[i] of them are left
    // of candidate i. If `less`, it is subtracted.
    template <class Count>
    void add_terms(const CandidateShape& shape, const Count* left, std::size_t split_points,
                   bool less) {
        const auto& F = EntropyTable::get();
        const Count* everyone = left + shape.candidates();
        if constexpr (sizeof(Count) == 1)
            if (are_few(shape, everyone[0]))
                return kernels().start_few(sums_, left, shape.dims, shape.split_points,
                                           split_points, F.few_terms(), less);
        const std::uint64_t sign = less ? ~std::uint64_t{0} : 1;
        for (std::size_t first = 0; first < shape.candidates(); first += shape.split_points)
            for (std::size_t j = 0; j < split_points; ++j) {
                const std::uint64_t on_left = left[first + j];
                sums_[first + j] += sign * (F(on_left) + F(everyone[j] - on_left));
            }
        for (std::size_t j = 0; j < split_points; ++j)
            sums_[shape.everyone(j)] -= sign * F(everyone[j]);
    }

    template <class Row, class Left>
    RIPARIAN_HOT void follow(const CandidateShape& shape, const Row* row, const Left* left,
                             std::uint64_t points, const std::uint64_t* bits, Weight n,
                             std::size_t split_points, std::int64_t* largest) {
        const auto& F = EntropyTable::get();
        if constexpr (sizeof(Row) == 1 && sizeof(Left) == 1)
            if (n == 1 && are_few(shape, points)) [[likely]]
                return kernels().follow_few(sums_, row, left, bits, shape.dims, shape.split_points,
                                            split_points, F.few_steps(), largest);
        if (n == 1 && points < EntropyTable::size)
            follow(shape, row, left, bits, split_points, largest,
                   [steps = F.last_steps()](std::uint64_t now) { return steps[now]; });
        else
            follow(shape, row, left, bits, split_points, largest,
                   [&](std::uint64_t now) { return F(now) - F(now - n); });
    }

    // `step(n)` is the amount by which F(n) has grown. Everything wraps alike, so the order does
    // not matter. The side of a point is random, so there is no branch on it.
    template <class Row, class Left, class Step>
    void follow(const CandidateShape& shape, const Row* row, const Left* left,
                const std::uint64_t* bits, std::size_t split_points, std::int64_t* largest,
                Step&& step) {
        const Row* row_everyone = row + shape.candidates();
        const Left* everyone = left + shape.candidates();
        std::fill_n(largest, split_points, std::numeric_limits<std::int64_t>::min());
        for (std::uint32_t d = 0; d < shape.dims; ++d) {
            const std::size_t first = std::size_t{d} * shape.split_points;
            for (std::size_t j = 0; j < split_points; ++j) {
                const std::size_t i = first + j;
                const std::uint64_t right =
                    (bits[i / 64] >> (i % 64) & 1) - 1;  // all bits, or none
                const auto on_its_side = [right](std::uint64_t on_left, std::uint64_t in_all) {
                    return (on_left ^ right) - right + (in_all & right);
                };
                sums_[i] += step(on_its_side(row[i], row_everyone[j])) -
                            step(on_its_side(left[i], everyone[j]));
                largest[j] = std::max(largest[j], static_cast<std::int64_t>(sums_[i]));
            }
        }
        for (std::size_t j = 0; j < split_points; ++j) {
            std::uint64_t& shared = sums_[shape.everyone(j)];
            shared += step(everyone[j]) - step(row_everyone[j]);
            largest[j] = static_cast<std::int64_t>(static_cast<std::uint64_t>(largest[j]) + shared);
        }
    }

    // A candidate's own part of G; at the places of all points, the shared part.
    std::uint64_t* sums_ = nullptr;
    Counters left_;  // n' of a candidate; at the places of all points, N
};

}  // namespace riparian
