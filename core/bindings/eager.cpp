// The bindings of the rule that is eager, then honest, and of what the forest trusts.
#include "rules/eager.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/bound_forest.hpp"
#include "bindings/heads.hpp"
#include "bindings/rules.hpp"
#include "target/classes.hpp"
#include "target/numbers.hpp"

namespace riparian {
namespace {

Eager::Settings eager(const TwoStreams::Settings& two_streams, std::uint32_t kept_points,
                      bool sparse, const std::vector<double>& coverages, std::uint64_t lag) {
    return {{two_streams, kept_points, sparse, true}, true, coverages, lag};
}

using Sums = nb::ndarray<const std::int64_t, nb::shape<-1, -1>, nb::c_contig>;

// Calls work(the kinds of the heads): those by size, or memories too.
template <class Work>
auto with_kinds(std::size_t heads, Work&& work) {
    return heads == HeadsWithMemories::count ? work(HeadsWithMemories{}) : work(HeadsBySize{});
}

// Returns T after these points, given the sums of all trees.
std::vector<double> judged(const std::vector<double>& evidence, const Sums& sums) {
    return with_kinds(sums.shape(1) - 1, [&](auto kinds) {
        using Kinds = decltype(kinds);
        ClassHeadTrust<Kinds> trust;
        auto state = trust.state();
        const std::vector<double> following = take_trust(evidence, state);
        trust.restore(state);
        for (std::size_t i = 0; i < sums.shape(0); ++i) {
            const std::int64_t* point = sums.data() + i * (Kinds::count + 1);
            trust.judge(point, point[Kinds::count], 0, 0);
        }
        return joined(trust.state(), following);
    });
}

// The same for numbers, given the targets of the points, the scale before the first of them, and
// for which point after the last one the answers are (R29).
std::vector<double> judged_numbers(const std::vector<double>& evidence, const Sums& sums,
                                   const Array1<Number>& targets, std::uint64_t scale,
                                   std::uint64_t lag) {
    return with_kinds(sums.shape(1) - 1, [&](auto kinds) {
        using Kinds = decltype(kinds);
        NumberTrust<Kinds> trust;
        NumberFollowing following(lag);
        auto state = trust.state();
        following.restore(take_trust(evidence, state));
        trust.restore(state);
        for (std::size_t i = 0; i < sums.shape(0); ++i) {
            const std::int64_t* point = sums.data() + i * (Kinds::count + 1);
            const std::int64_t voters = point[Kinds::count];
            const Number target = targets.data()[i];
            if (following.on() && voters != 0) {
                trust.weigh();
                following.judge(target, trust.answer(point, voters, scale));
            }
            trust.judge(point, voters, target, scale);
            scale = std::max(scale, Scale::of(target));
        }
        return joined(trust.state(), following.state());
    });
}

// Returns the weights of this many heads that follow from T, in units of 2^-12.
std::vector<std::int64_t> weights_of(const std::vector<double>& evidence, std::size_t heads) {
    return with_kinds(heads, [&](auto kinds) {
        ClassHeadTrust<decltype(kinds)> trust;
        auto state = trust.state();
        take_trust(evidence, state);
        trust.restore(state);
        return std::vector<std::int64_t>(trust.weights().begin(), trust.weights().end());
    });
}

// Returns the parts of a correction, given what follows the last target (R29).
CorrectionParts correction_of(const std::vector<double>& state, std::uint64_t lag) {
    NumberFollowing following(lag);
    following.restore(state);
    return parts_of(following.correction());
}

}  // namespace

void bind_eager(nb::module_& m) {
    nb::class_<Eager::Settings>(m, "EagerSettings");
    m.def("eager", &eager, "two_streams"_a, "kept_points"_a, "sparse"_a, "coverages"_a, "lag"_a);
    m.def("judged", &judged, "evidence"_a, "sums"_a);
    m.def("weights_of", &weights_of, "evidence"_a, "heads"_a);
    m.def("judged_numbers", &judged_numbers, "evidence"_a, "sums"_a, "targets"_a, "scale"_a,
          "lag"_a);
    m.def("correction_of", &correction_of, "following"_a, "lag"_a);
    m.attr("following_sums") = NumberFollowing::n_sums;
    bind_headed<Columns, Eager, Classes>(m, "ColumnEager");
    bind_headed<DepthDifferences, Eager, Classes>(m, "DepthEager");
    bind_headed<Columns, Eager, Numbers>(m, "ColumnEagerNumbers");
}

}  // namespace riparian
