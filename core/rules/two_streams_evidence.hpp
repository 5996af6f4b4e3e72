// What the candidates of a leaf have counted in the paper's two streams, which are kept apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "counts/estimation_totals.hpp"
#include "counts/streams.hpp"
#include "kernels/hot.hpp"
#include "memory/pool.hpp"

namespace riparian {

// Structure points choose a split; estimation points allow it and become the statistics of the
// children. `Gains` makes split checks cheap: the target's `Sums` or `Bounds`.
template <class TargetT, class Gains>
class TwoStreamsEvidence {
public:
    using Target = TargetT;
    using Label = typename Target::Label;
    using Known = typename Target::Known;
    using Check = typename Target::Check;
    using Row = typename Target::List::Row;
    using StructureCounts = typename Target::template Counts<Structure>;
    using EstimationCounts = typename Target::template Counts<Estimation>;

    void prefetch_structure(const CandidateShape& shape, Label y) const {
        structure_.prefetch(shape, y);
        if (gains_.kept())
            gains_.prefetch(shape);
        else
            totals_.prefetch();  // a check will need them
    }
    void prefetch_estimation(const CandidateShape& shape, Label y) const {
        totals_.prefetch();
        estimation_.prefetch(shape, y);
    }
    void allocate(Pool& pool, const CandidateShape& shape) { totals_.allocate(pool, shape); }
    void release(Pool& pool, const CandidateShape& shape) {
        totals_.release(pool);
        structure_.release(pool, shape);
        estimation_.release(pool, shape);
        gains_.release(pool, shape);
    }
    void move_to(Pool& pool, const CandidateShape& shape) {
        totals_.move_to(pool);
        structure_.move_to(pool, shape);
        estimation_.move_to(pool, shape);
        gains_.move_to(pool, shape);
    }

    // The bytes to expect for a leaf that sees this many points of each stream.
    static std::size_t bytes_for(const CandidateShape& shape, std::uint64_t points, Known known) {
        return Pool::block_size(shape.counters()) +
               2 * StructureCounts::bytes_for(shape, points, known);
    }

    RIPARIAN_HOT void add_structure(Pool& pool, const CandidateShape& shape,
                                    const std::uint64_t* bits, Label y, Weight n, Known known,
                                    std::uint32_t split_points, Check& check) {
        structure_.add(pool, shape, bits, y, n, known);
        if (gains_.kept()) gains_.add(pool, shape, structure_, bits, y, n, split_points, check);
    }

    RIPARIAN_HOT void add_estimation(Pool& pool, const CandidateShape& shape,
                                     const std::uint64_t* bits, Label y, Weight n, Known known) {
        totals_.add(pool, shape, bits, n);
        estimation_.add(pool, shape, bits, y, n, known);
        none_valid_ = false;
    }

    // Adds the first points of a stream, all at once, if they may be kept.
    template <class SetBits>
    void keep_structure(Pool& pool, const CandidateShape& shape, std::span<const Label> labels,
                        SetBits&& set_bits) {
        structure_.keep_first(pool, shape, labels, set_bits);
    }
    template <class SetBits>
    void keep_estimation(Pool& pool, const CandidateShape& shape, std::span<const Label> labels,
                         SetBits&& set_bits) {
        estimation_.keep_first(pool, shape, labels, set_bits);
        totals_.count(pool, shape, estimation_.kept_bits(), labels.size());
        none_valid_ = false;
    }

    // Whether this many points of a stream may be kept as they are. If there are more, they can be
    // counted row by row, before there are gains.
    static constexpr bool keeps_points = StructureCounts::keeps_points;
    static bool may_keep(const CandidateShape& shape, std::uint64_t points, Known known) {
        if constexpr (keeps_points)
            return StructureCounts::may_keep(shape, points, known);
        else
            return false;
    }
    void add_structure_row(Pool& pool, const CandidateShape& shape, const Row& row, Known known) {
        structure_.add_row(pool, shape, row, known);
    }
    void add_estimation_row(Pool& pool, const CandidateShape& shape, const Row& row, Known known) {
        totals_.add_counts(pool, shape, row.left);
        estimation_.add_row(pool, shape, row, known);
        none_valid_ = false;
    }

    // Returns the best valid candidate, if there is one: then the leaf can split.
    std::optional<Choice<typename Target::G>> best(const CandidateShape& shape,
                                                   std::uint32_t split_points, std::uint64_t alpha,
                                                   Check& check) {
        // Two children of α points need 2α. If no candidate was valid, only an estimation point can
        // make one valid.
        if (none_valid_ || totals_.oldest(shape) / 2 < alpha) return std::nullopt;
        auto choice = gains_.best(shape, split_points, totals_, alpha, structure_, check);
        none_valid_ = !choice;
        return choice;
    }

    // Returns whether it is certain, and cheap to see, that a check would find no valid candidate
    // with a gain above `min_gain`, after a structure point was added. No candidate of a split
    // point with fewer than 2α points is valid.
    RIPARIAN_HOT bool none_above(double min_gain, const CandidateShape& shape,
                                 std::uint32_t split_points, std::uint64_t alpha,
                                 const Check& check) const {
        const auto may_be_valid = [&](std::uint32_t j) {
            return totals_[shape.everyone(j)] / 2 >= alpha;
        };
        return gains_.kept() &&
               gains_.none_above(min_gain, shape, split_points, may_be_valid, check);
    }

    // A check was made and the leaf did not split: makes the next checks cheap.
    void keep_gains(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                    Known known, Check& check) {
        if (gains_.kept()) return;
        structure_.count(pool, shape, known);
        gains_.keep(pool, shape, structure_, split_points, check);
    }

    // The children of a candidate start with its estimation counts (R10).
    void fill_children(Pool& pool, const CandidateShape& shape, std::uint32_t candidate,
                       typename Target::Statistics& left, typename Target::Statistics& right,
                       Check& check) const {
        estimation_.fill_children(pool, shape, candidate, left, right, check);
    }

    bool summed() const { return gains_.kept(); }
    template <class State>
    void save(const CandidateShape& shape, std::uint32_t split_points, State& out) const {
        structure_.save(shape, split_points, out);
        estimation_.save(shape, split_points, out);
    }
    // For a young leaf, which has no evidence.
    template <class State>
    static void save_none(State& out) {
        StructureCounts::save_none(out);
        EstimationCounts::save_none(out);
    }

    struct Reader {
        typename StructureCounts::Reader structure;
        typename EstimationCounts::Reader estimation;

        template <class State>
        explicit Reader(const State& in) : structure(in), estimation(in) {}
        void skip() {
            structure.skip();
            estimation.skip();
        }
    };
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points, bool summed,
                 Reader& in, Check& check) {
        structure_.restore(pool, shape, split_points, in.structure);
        estimation_.restore(pool, shape, split_points, in.estimation);
        totals_.restore(pool, shape, estimation_);
        if (summed) gains_.restore(pool, shape, structure_, split_points, check);
    }

private:
    bool none_valid_ = false;  // no candidate was valid since the last estimation point
    EstimationTotals totals_;
    StructureCounts structure_;
    EstimationCounts estimation_;
    Gains gains_;
};

}  // namespace riparian
