// What the candidates of a leaf have counted in the one stream of Saffari's forest (R18).
#pragma once

#include <cstdint>
#include <optional>

#include "counts/candidate.hpp"
#include "counts/candidate_shape.hpp"
#include "counts/streams.hpp"
#include "kernels/hot.hpp"
#include "memory/pool.hpp"

namespace riparian {

// Every point counts once, for everything; no theorem covers this rule.
template <class TargetT>
class OneStreamEvidence {
public:
    using Target = TargetT;
    using Label = typename Target::Label;
    using Known = typename Target::Known;
    using Check = typename Target::Check;
    using Counts = typename Target::template Counts<Shared>;

    void allocate(Pool&, const CandidateShape&) {}
    void release(Pool& pool, const CandidateShape& shape) {
        counts_.release(pool, shape);
        sums_.release(pool, shape);
    }

    RIPARIAN_HOT void add(Pool& pool, const CandidateShape& shape, const std::uint64_t* bits,
                          Label y, Weight n, Known known, std::uint32_t split_points,
                          Check& check) {
        counts_.add(pool, shape, bits, y, n, known);
        if (sums_.kept()) sums_.add(pool, shape, counts_, bits, y, n, split_points, check);
    }

    std::optional<Choice<typename Target::G>> best(const CandidateShape& shape,
                                                   std::uint32_t split_points, Check& check) const {
        return sums_.best_of_all(shape, split_points, counts_, check);
    }

    void keep_gains(Pool& pool, const CandidateShape& shape, std::uint32_t split_points,
                    Known known, Check& check) {
        if (sums_.kept()) return;
        counts_.count(pool, shape, known);
        sums_.keep(pool, shape, counts_, split_points, check);
    }

    void fill_children(Pool& pool, const CandidateShape& shape, std::uint32_t candidate,
                       typename Target::Statistics& left, typename Target::Statistics& right,
                       Check& check) const {
        counts_.fill_children(pool, shape, candidate, left, right, check);
    }

    bool summed() const { return sums_.kept(); }
    template <class State>
    void save(const CandidateShape& shape, std::uint32_t split_points, State& out) const {
        counts_.save(shape, split_points, out);
    }
    template <class State>
    static void save_none(State& out) {
        Counts::save_none(out);
    }
    using Reader = typename Counts::Reader;
    void restore(Pool& pool, const CandidateShape& shape, std::uint32_t split_points, bool summed,
                 Reader& in, Check& check) {
        counts_.restore(pool, shape, split_points, in);
        if (summed) sums_.restore(pool, shape, counts_, split_points, check);
    }

private:
    Counts counts_;
    typename Target::Sums sums_;
};

}  // namespace riparian
