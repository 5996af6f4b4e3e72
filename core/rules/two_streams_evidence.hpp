// What the candidates of a leaf have seen in the paper's two streams, which are kept apart.
#pragma once

#include <cstdint>
#include <optional>

#include "counts/counts.hpp"
#include "split/best_split.hpp"

namespace riparian {

struct EvidenceArrays;  // see state.hpp
struct EvidenceReader;

// Structure points choose a split; estimation points allow it and become the children's histograms.
class TwoStreamsEvidence {
public:
    void prefetch() const { totals_.prefetch(); }
    void allocate(Pool& pool, const CandidateShape& shape) { totals_.allocate(pool, shape); }
    void release(Pool& pool, const CandidateShape& shape) {
        totals_.release(pool);
        structure_.release(pool, shape);
        estimation_.release(pool, shape);
        sums_.release(pool, shape);
    }
    void move_to(Pool& pool, const CandidateShape& shape) {
        totals_.move_to(pool);
        structure_.move_to(pool, shape);
        estimation_.move_to(pool, shape);
        sums_.move_to(pool, shape);
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
        if (sums_.kept())
            sums_.add(pool, shape, structure_, bits, y, n, split_points, check.largest);
    }

    RIPARIAN_HOT void add_estimation(Pool& pool, const CandidateShape& shape,
                                     const std::uint64_t* bits, Class y, Weight n,
                                     Class n_classes) {
        totals_.add(pool, shape, bits, n);
        estimation_.add(pool, shape, bits, y, n, n_classes);
        none_valid_ = false;
    }

    // So many points of a stream may be kept as they are; if they are more, those of one label can be
    // counted at once, before there are sums.
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
        auto choice = best_split(shape, split_points, totals_, alpha, structure_, sums_, check);
        none_valid_ = !choice;
        return choice;
    }

    // A structure point was added, and a check would find no gain above `min_gain`: known for sure, and cheaply.
    bool none_above(double min_gain, const CandidateShape& shape, const CheckScratch& check) const {
        return sums_.kept() && sums_.none_above(min_gain, shape, check.largest);
    }

    // A check was made and the leaf was left whole: make the next checks cheap.
    void keep_sums(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                   Class n_classes, CheckScratch& check) {
        keep(sums_, structure_, pool, shape, split_points, n_classes, check);
    }

    // visitor(label, how many of its points predict left of this candidate, how many right of it).
    template <class Visitor>
    void predicting_at(const CandidateShape& shape, std::uint32_t split_point, std::size_t i,
                       Visitor&& visitor) const {
        estimation_.labels_at(shape, split_point, i, visitor);
    }

    bool summed() const { return sums_.kept(); }
    void save(const CandidateShape& shape, std::uint32_t split_points, EvidenceArrays& out) const;
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points, bool summed,
                 EvidenceReader& in, Pool& scratch);

private:
    bool none_valid_ = false;  // since the last estimation point
    EstimationTotals totals_;
    StructureCounts structure_;
    EstimationCounts estimation_;
    EntropySums sums_;
};

}  // namespace riparian
