// Numbers as the target (R26): a leaf holds sums, a tree answers with a mean, and a gain is what a
// split saves of the squared error.
#pragma once

#include <algorithm>
#include <cstdint>

#include "state_fields.hpp"
#include "target/numbers/answers.hpp"
#include "target/numbers/counts.hpp"
#include "target/numbers/errors.hpp"
#include "target/numbers/following.hpp"
#include "target/numbers/intervals.hpp"
#include "target/numbers/memories.hpp"
#include "target/numbers/scale.hpp"
#include "target/numbers/statistics.hpp"
#include "target/numbers/tally.hpp"
#include "target/target.hpp"
#include "tree_totals.hpp"

namespace riparian {

// ŝ of a waiting leaf (R12).
struct ErrorRate {
    double value = 0.0;

    friend bool operator<(const ErrorRate& a, const ErrorRate& b) { return a.value < b.value; }

    template <class State>
    void save(State& out) const {
        array<"waiting_error">(out).push_back(value);
    }
    struct Reader {
        riparian::Reader<double> value;

        template <class State>
        explicit Reader(const State& in) : value(array<"waiting_error">(in)) {}
        ErrorRate one() { return {value.one()}; }
    };
};

struct Numbers {
    using Label = Number;
    using Known = std::uint64_t;  // the scale of the stream
    using G = double;
    using Importance = double;
    using Statistics = NumberStatistics;
    using Priority = ErrorRate;
    template <class Stream>
    using Counts = NumberCounts<Stream>;
    using Bounds = NumberGains;
    using Sums = NumberGains;
    using Check = NumberCheck;
    using List = NumberList;
    using Tally = NumberTally;
    using Order = NumberOrder;
    using Voting = Averaging;
    using Memories = NumberMemories;
    using Errors = NumberErrors;
    template <class Kinds>
    using Heads = NumberHeads<Kinds>;
    using Intervals = NumberIntervals;
    using Following = NumberFollowing;

    static void meet(TreeTotals& totals, Number z) {
        totals.classes = std::max(totals.classes, Scale::of(z));
    }
    static std::uint64_t known(const TreeTotals& totals) { return totals.classes; }

    static NumberAnswer answer(const NumberStatistics& leaf, std::uint64_t scale) {
        return {leaf, scale};
    }

    // Squared errors of the leaf's answer per estimation point of the tree (R12).
    static ErrorRate priority(const NumberStatistics& leaf, std::uint64_t lifetime) {
        return {lifetime == 0 ? 0.0 : leaf.errors() / static_cast<double>(lifetime)};
    }

    static void add_importance(double& sum, double g) { sum += g; }
    template <class State>
    static auto& importances(State& state) {
        return array<"saved_error">(state);
    }
};

static_assert(Target<Numbers>);
static_assert(HeadedTarget<Numbers>);
static_assert(FadingTarget<Numbers>);

}  // namespace riparian
