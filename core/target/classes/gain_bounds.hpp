// An upper bound of the gain of every candidate of a leaf, so that most split checks are cheap.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "counts/estimation_totals.hpp"
#include "target/classes/best_split.hpp"
#include "target/classes/counts.hpp"
#include "target/classes/entropy.hpp"
#include "target/classes/sum_entropies.hpp"

namespace riparian {

// For each split point, an upper bound of G (R14) of its candidates. A leaf keeps it from the first
// split check that did not split it.
//
// G is F(N) - Σ_k F(n_k), which the candidates of a split point share, minus what remains of it
// after the points are divided. A structure point never lowers what remains, so G grows by no more
// than the shared part. To follow that part takes two terms of F per split point instead of four
// per candidate. If a bound does not show that no candidate gains enough, G itself is computed from
// the counts, and the bound starts again from there.
class GainBounds {
public:
    bool kept() const { return bounds_ != nullptr; }

    void prefetch(const CandidateShape& shape) const {
        if (!kept()) return;
        riparian::prefetch(bounds_, shape.split_points * sizeof bounds_[0]);
        points_.prefetch(shape.everyone(0), 1);
    }

    // Starts from the results of `work_out`.
    void keep(Pool& pool, const CandidateShape& shape, const StructureCounts&, std::uint32_t,
              const CheckScratch& check) {
        bounds_ = allocate(pool, shape);
        points_.allocate(pool, shape.counters());
        points_.fit(pool, check.every_point[0]);
        points_.add_all(shape.everyone(0), check.every_point.data(), shape.split_points);
        tighten(shape, check);
    }

    // Returns the best valid candidate: estimation points make a candidate valid, structure points
    // give its gain.
    std::optional<Choice<std::uint64_t>> best(const CandidateShape& shape,
                                              std::uint32_t split_points,
                                              const EstimationTotals& estimation,
                                              std::uint64_t alpha, const StructureCounts& structure,
                                              CheckScratch& check) {
        if (const std::uint8_t* left = estimation.in_bytes();
            left && has_seen_few(shape, structure))
            if (const auto rows = structure.rows_in_bytes(shape, check.counters, check.rows);
                !rows.empty())
                return best_of_few(shape, split_points, left, alpha, rows, *this, check);
        check.valid = estimation.valid(shape, split_points, alpha, check.room);
        return best_of_valid(shape, structure, *this, check);
    }

    // Restores the bounds from saved counts.
    void restore(Pool& pool, const CandidateShape& shape, const StructureCounts& structure,
                 std::uint32_t split_points, CheckScratch& check) {
        work_out(shape, structure, check);
        keep(pool, shape, structure, split_points, check);
    }

    // Writes the present G of all candidates, and N, into `check`: the bounds start from there.
    void work_out(const CandidateShape& shape, const StructureCounts& structure,
                  CheckScratch& check) {
        const std::size_t candidates = shape.candidates(), m = shape.split_points;
        const auto for_each = [=](auto&& visitor) {
            for (std::size_t first = 0; first < candidates; first += m)
                for (std::size_t j = 0; j < m; ++j) visitor(first + j, j);
        };
        sum_entropies(shape, structure, for_each, check);
        find_largest(shape, check);
        found_largest(shape, check);
    }

    bool has_seen_few(const CandidateShape& shape, const StructureCounts& structure) const {
        return are_few(shape, points_of(shape, structure));
    }
    // The largest present G of each split point is in `check`.
    void found_largest(const CandidateShape& shape, const CheckScratch& check) {
        if (kept()) tighten(shape, check);
    }

    void move_to(Pool& pool, const CandidateShape& shape) {
        if (!kept()) return;
        std::uint64_t* moved = allocate(pool, shape);
        std::copy_n(bounds_, shape.split_points, moved);
        bounds_ = moved;
        points_.move_to(pool);
    }

    void release(Pool& pool, const CandidateShape& shape) {
        if (!kept()) return;
        pool.release(bounds_, bytes(shape), charged(shape));
        points_.release(pool);
        bounds_ = nullptr;
    }

    // Call this after n copies of a structure point of label y were added to the counts.
    RIPARIAN_HOT void add(Pool& pool, const CandidateShape& shape, const StructureCounts& structure,
                          const std::uint64_t*, Class y, Weight n,
                          std::uint32_t split_points_so_far, CheckScratch& check) {
        const auto& F = EntropyTable::get();
        const std::uint64_t points = points_[shape.everyone(0)] + n;  // no other count is larger
        const std::uint8_t* const row = structure.row_in_bytes(shape, y);
        check.few_now = n == 1 && row && are_few(shape, points);
        if (check.few_now) [[likely]]
            return kernels().grow_few(bounds_, points_.in_bytes() + shape.everyone(0),
                                      row + shape.everyone(0), split_points_so_far, F.few_steps(),
                                      rounding, check.bounds_now.data(), check.points_now.data());
        points_.fit(pool, points);
        if (n == 1 && points < EntropyTable::size) [[likely]]
            grow(shape, structure, y, n, split_points_so_far,
                 [steps = F.last_steps()](std::uint64_t now) { return steps[now]; });
        else
            grow(shape, structure, y, n, split_points_so_far,
                 [&](std::uint64_t now) { return F(now) - F(now - n); });
    }

    // Whether it is certain that no candidate of the split points for which `may_be_valid(j)` holds
    // has a gain above `min_gain`. It may return false although that is so. Call it after a point
    // was added, with the result of that in `check`.
    template <class MayBeValid>
    RIPARIAN_HOT bool none_above(double min_gain, const CandidateShape& shape,
                                 std::uint32_t split_points_so_far, MayBeValid&& may_be_valid,
                                 const CheckScratch& check) const {
        if (check.few_now && min_gain < most_gain) [[likely]] {
            std::uint32_t above =
                kernels().which_above(check.bounds_now.data(), check.points_now.data(),
                                      split_points_so_far, least_g_of_point(min_gain));
            for (; above; above &= above - 1)
                if (may_be_valid(static_cast<std::uint32_t>(std::countr_zero(above)))) return false;
            return true;
        }
        if (points_[shape.everyone(0)] > most_points) return false;
        return points_.visit([&, bounds = bounds_](const auto* points) {
            const auto* of_all = points + shape.candidates();
            std::uint64_t all = 0;
            std::int64_t least = 0;
            for (std::uint32_t j = 0; j < split_points_so_far; ++j) {
                if (of_all[j] != all) {
                    all = of_all[j];
                    least = least_g(min_gain, all);
                }
                if (static_cast<std::int64_t>(bounds[j]) >= least && may_be_valid(j)) return false;
            }
            return true;
        });
    }

private:
    // The charge of a tree must not depend on how its checks are made, so it counts a number per
    // counter, as sums need, although there is only one per split point.
    static std::size_t bytes(const CandidateShape& shape) {
        return shape.split_points * sizeof(std::uint64_t);
    }
    static std::size_t charged(const CandidateShape& shape) {
        return shape.counters() * sizeof(std::uint64_t);
    }
    static std::uint64_t* allocate(Pool& pool, const CandidateShape& shape) {
        return static_cast<std::uint64_t*>(pool.allocate(bytes(shape), charged(shape)));
    }

    // step(now) is the amount by which F has grown with the n points.
    template <class Step>
    RIPARIAN_HOT void grow(const CandidateShape& shape, const StructureCounts& structure, Class y,
                           Weight n, std::uint32_t split_points_so_far, Step step) {
        structure.with_row(shape, y, [&](const auto* row) {
            const auto* of_label = row + shape.candidates();
            // By value, because the compiler assumes that a one-byte counter may alias anything.
            points_.visit([=, first = shape.everyone(0), bounds = bounds_](auto* points) {
                using Count = std::remove_reference_t<decltype(points[0])>;
                Count* of_all = points + first;
                for (std::uint32_t j = 0; j < split_points_so_far; ++j) {
                    const auto all = static_cast<Count>(of_all[j] + n);
                    of_all[j] = all;
                    bounds[j] += step(all) - step(of_label[j]) + rounding;
                }
            });
        });
    }

    void tighten(const CandidateShape& shape, const CheckScratch& check) {
        std::copy_n(check.largest.data(), shape.split_points, bounds_);
    }

    static void find_largest(const CandidateShape& shape, CheckScratch& check) {
        const std::uint64_t* const g = check.g.data();
        std::int64_t* const largest = check.largest.data();
        const std::size_t m = shape.split_points;
        std::fill_n(largest, m, 0);
        for (std::size_t first = 0; first < shape.candidates(); first += m)
            for (std::size_t j = 0; j < m; ++j)
                largest[j] = std::max(largest[j], static_cast<std::int64_t>(g[first + j]));
    }

    // Returns what the first split point has seen, if it is known.
    std::uint64_t points_of(const CandidateShape& shape, const StructureCounts& structure) const {
        if (kept()) return points_[shape.everyone(0)];
        return structure.counted() ? ~std::uint64_t{0} : structure.kept_labels().size();
    }

    // A candidate's own part changes by two differences of F: four numbers that are each less than
    // a unit from the exact value as long as float64 has bits for them. With more points the
    // bounds, which may wrap, are not used.
    static constexpr std::uint32_t rounding = 4;
    static constexpr std::uint64_t most_points = std::uint64_t{1} << 24;

    // In bits: no gain is as large, and G of it would fit.
    static constexpr double most_gain = 0x1p20;

    std::uint64_t* bounds_ = nullptr;  // one per split point
    Counters points_;                  // at the places of all points: N of each split point
};

}  // namespace riparian
