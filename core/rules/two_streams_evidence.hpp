// What the candidates of a leaf have seen in the paper's two streams, which are kept apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "counts/counts.hpp"
#include "split/best_split.hpp"

namespace riparian {

struct EvidenceArrays;  // see state.hpp
struct EvidenceReader;

// Structure points choose a split; estimation points allow it and become the children's histograms. `Gains`
// makes split checks cheap: `EntropySums` or `GainBounds`.
template <class Gains>
class TwoStreamsEvidence {
public:
    void prefetch_structure(const CandidateShape& shape, Class y) const {
        structure_.prefetch(shape, y);
        if (gains_.kept())
            gains_.prefetch(shape);
        else
            totals_.prefetch();  // a check will ask for them
    }
    void prefetch_estimation(const CandidateShape& shape, Class y) const {
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

    // What to expect of a leaf that sees so many points of each stream.
    static std::size_t bytes_for(const CandidateShape& shape, std::uint64_t points,
                                 Class n_classes) {
        return Pool::block_size(shape.counters()) +
               2 * StructureCounts::bytes_for(shape, points, n_classes);
    }

    RIPARIAN_HOT void add_structure(Pool& pool, const CandidateShape& shape,
                                    const std::uint64_t* bits, Class y, Weight n, Class n_classes,
                                    std::uint32_t split_points, CheckScratch& check) {
        structure_.add(pool, shape, bits, y, n, n_classes);
        if (gains_.kept()) gains_.add(pool, shape, structure_, bits, y, n, split_points, check);
    }

    RIPARIAN_HOT void add_estimation(Pool& pool, const CandidateShape& shape,
                                     const std::uint64_t* bits, Class y, Weight n,
                                     Class n_classes) {
        totals_.add(pool, shape, bits, n);
        estimation_.add(pool, shape, bits, y, n, n_classes);
        none_valid_ = false;
    }

    // The first points of a stream, all at once, if they may be kept (see `Counts::keep_first`).
    template <class SetBits>
    void keep_structure(Pool& pool, const CandidateShape& shape, std::span<const Class> labels,
                        SetBits&& set_bits) {
        structure_.keep_first(pool, shape, labels, set_bits);
    }
    template <class SetBits>
    void keep_estimation(Pool& pool, const CandidateShape& shape, std::span<const Class> labels,
                         SetBits&& set_bits) {
        estimation_.keep_first(pool, shape, labels, set_bits);
        totals_.count(pool, shape, estimation_.kept_bits(), labels.size());
        none_valid_ = false;
    }

    // So many points of a stream may be kept as they are; if they are more, those of one label can be
    // counted at once, before there are gains.
    static bool may_keep(const CandidateShape& shape, std::uint64_t points, Class n_classes) {
        return StructureCounts::may_keep(shape, points, n_classes);
    }
    void add_structure_counts(Pool& pool, const CandidateShape& shape, const std::uint64_t* counts,
                              Class y, Class n_classes) {
        structure_.add_counts(pool, shape, counts, y, n_classes);
    }
    void add_estimation_counts(Pool& pool, const CandidateShape& shape,
                               const std::uint64_t* counts, Class y, Class n_classes) {
        totals_.add_counts(pool, shape, counts);
        estimation_.add_counts(pool, shape, counts, y, n_classes);
        none_valid_ = false;
    }

    // The best valid candidate, if any is valid: the leaf can split.
    std::optional<Choice> best(const CandidateShape& shape, std::uint32_t split_points,
                               std::uint64_t alpha, CheckScratch& check) {
        // Two children of α points need 2α; and where none was valid, only an estimation point
        // makes one valid.
        if (none_valid_ || totals_.oldest(shape) / 2 < alpha) return std::nullopt;
        auto choice = best_split(shape, split_points, totals_, alpha, structure_, gains_, check);
        none_valid_ = !choice;
        return choice;
    }

    // A structure point was added, and a check would find no valid candidate with a gain above `min_gain`: known
    // for sure, and cheaply. Of a split point that lacks 2α, none is valid.
    RIPARIAN_HOT bool none_above(double min_gain, const CandidateShape& shape,
                                 std::uint32_t split_points, std::uint64_t alpha,
                                 const CheckScratch& check) const {
        const auto may_be_valid = [&](std::uint32_t j) {
            return totals_[shape.everyone(j)] / 2 >= alpha;
        };
        return gains_.kept() &&
               gains_.none_above(min_gain, shape, split_points, may_be_valid, check);
    }

    // A check was made and the leaf was left whole: make the next checks cheap.
    void keep_gains(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                    Class n_classes, CheckScratch& check) {
        if (gains_.kept()) return;
        structure_.count(pool, shape, n_classes);
        gains_.keep(pool, shape, structure_, split_points, check);
    }

    // visitor(label, how many of its points predict left of this candidate, how many right of it).
    template <class Visitor>
    void predicting_at(const CandidateShape& shape, std::uint32_t split_point, std::size_t i,
                       Visitor&& visitor) const {
        estimation_.labels_at(shape, split_point, i, visitor);
    }
    // No such label is as large.
    std::size_t predicting_classes(const CandidateShape& shape) const {
        return estimation_.classes(shape);
    }

    bool summed() const { return gains_.kept(); }
    void save(const CandidateShape& shape, std::uint32_t split_points, EvidenceArrays& out) const;
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points, bool summed,
                 EvidenceReader& in, CheckScratch& check);

private:
    bool none_valid_ = false;  // since the last estimation point
    EstimationTotals totals_;
    StructureCounts structure_;
    EstimationCounts estimation_;
    Gains gains_;
};

}  // namespace riparian
