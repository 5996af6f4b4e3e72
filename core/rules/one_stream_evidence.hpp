// What the candidates of a leaf have seen in the one stream of Saffari's forest (R18).
#pragma once

#include <cstdint>
#include <optional>

#include "counts/counts.hpp"
#include "split/best_split.hpp"

namespace riparian {

struct EvidenceArrays;  // see state.hpp
struct EvidenceReader;

// Every point counts once, for everything: no theorem speaks of this one.
class OneStreamEvidence {
public:
    void allocate(Pool&, const CandidateShape&) {}
    void release(Pool& pool, const CandidateShape& shape) {
        counts_.release(pool, shape);
        sums_.release(pool, shape);
    }

    RIPARIAN_HOT void add(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits,
                          Class y, Weight n, Class n_classes, std::uint32_t split_points,
                          CheckScratch& check) {
        counts_.add(pool, shape, bits, y, n, n_classes);
        if (sums_.kept()) sums_.add(pool, shape, counts_, bits, y, n, split_points, check);
    }

    std::optional<Choice> best(const CandidateShape& shape, std::uint32_t split_points,
                               CheckScratch& check) const {
        return best_split(shape, split_points, counts_, sums_, check);
    }

    void keep_gains(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                    Class n_classes, CheckScratch& check) {
        if (sums_.kept()) return;
        counts_.count(pool, shape, n_classes);
        sums_.keep(pool, shape, counts_, split_points, check);
    }

    template <class Visitor>
    void predicting_at(const CandidateShape& shape, std::uint32_t split_point, std::size_t i,
                       Visitor&& visitor) const {
        counts_.labels_at(shape, split_point, i, visitor);
    }
    std::size_t predicting_classes(const CandidateShape& shape) const {
        return counts_.classes(shape);
    }

    bool summed() const { return sums_.kept(); }
    void save(const CandidateShape& shape, std::uint32_t split_points, EvidenceArrays& out) const;
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points, bool summed,
                 EvidenceReader& in, CheckScratch& check);

private:
    SharedCounts counts_;
    EntropySums sums_;
};

}  // namespace riparian
