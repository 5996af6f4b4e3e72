// How many estimation points each candidate has seen, without their labels. Only this may decide
// whether a split is valid.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "counts/counters.hpp"
#include "counts/streams.hpp"
#include "kernels/kernels.hpp"

namespace riparian {

// N^e of the left child of every candidate, which decides which candidates are valid (R6).
class EstimationTotals {
public:
    void move_to(Pool& pool) { left_.move_to(pool); }
    void prefetch() const { left_.prefetch(0, left_.size()); }
    void allocate(Pool& pool, const CandidateShape& shape) {
        left_.allocate(pool, shape.counters());
    }
    void release(Pool& pool) { left_.release(pool); }

    RIPARIAN_HOT void add(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits,
                          Weight n) {
        left_.add_bits(pool, 0, bits, left_.size(), n, shape.everyone(0));
    }

    // Adds the first points, all at once.
    void count(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits,
               std::size_t points) {
        left_.count_bits(pool, bits, shape.words(), points);
    }

    // Adds several points at once, given their weight left of each candidate.
    void add_counts(Pool& pool, const CandidateShape& shape, const std::uint64_t* left) {
        left_.fit(pool, oldest(shape) + left[shape.everyone(0)]);
        left_.add_all(0, left, left_.size());
    }

    // Computes the totals from the counts of the same points by a target.
    template <class EstimationCounts>
    void restore(Pool& pool, const CandidateShape& shape, const EstimationCounts& estimation) {
        estimation.add_to(pool, shape, left_);
    }

    // Returns what the first split point has seen. No candidate has seen more.
    std::uint64_t oldest(const CandidateShape& shape) const { return left_[shape.everyone(0)]; }

    std::uint64_t operator[](std::size_t i) const { return left_[i]; }

    // Returns all totals, if they have one byte each.
    const std::uint8_t* in_bytes() const { return left_.in_bytes(); }

    // Returns the valid candidates of the split points so far, which have at least α points on both
    // sides. They are stored in `room`.
    std::span<const Candidate> valid(const CandidateShape& shape, std::uint32_t split_points,
                                     std::uint64_t alpha, std::vector<Candidate>& room) const {
        if (room.size() < shape.candidates() + 8) room.resize(shape.candidates() + 8);
        const std::size_t n_valid = left_.visit([&](const auto* left) {
            return find_valid(left, shape, split_points, alpha, room.data());
        });
        return {room.data(), n_valid};
    }

private:
    static std::size_t find_valid(const std::uint8_t* left, const CandidateShape& shape,
                                  std::uint32_t split_points, std::uint64_t alpha,
                                  Candidate* valid) {
        if (alpha > std::numeric_limits<std::uint8_t>::max()) return 0;
        if (shape.split_points > 16)
            return find_valid<std::uint8_t>(left, shape, split_points, alpha, valid);
        return kernels().find_valid(left, shape.dims, shape.split_points, split_points,
                                    static_cast<std::uint8_t>(alpha), valid);
    }
    // There is no branch on whether a candidate is valid, since it would be mispredicted too often.
    template <class Count>
    static std::size_t find_valid(const Count* left, const CandidateShape& shape,
                                  std::uint32_t split_points, std::uint64_t alpha,
                                  Candidate* valid) {
        const Count* everyone = left + shape.candidates();
        Candidate* end = valid;
        for (std::uint32_t first = 0; first < shape.candidates(); first += shape.split_points)
            for (std::uint32_t j = 0; j < split_points; ++j) {
                const std::uint32_t i = first + j;
                *end = {i, j};
                end += static_cast<int>(left[i] >= alpha) &
                       static_cast<int>(std::uint64_t{everyone[j]} - left[i] >= alpha);
            }
        return static_cast<std::size_t>(end - valid);
    }

    Counters left_;
};

}  // namespace riparian
