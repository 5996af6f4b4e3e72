// Classes as the target: a label is one of finitely many classes, a leaf has a histogram, and gains
// are information gains in integers (R14).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "state_fields.hpp"
#include "target/classes/counts.hpp"
#include "target/classes/entropy_sums.hpp"
#include "target/classes/gain_bounds.hpp"
#include "target/classes/heads.hpp"
#include "target/classes/histogram.hpp"
#include "target/classes/labels.hpp"
#include "target/classes/long_list.hpp"
#include "target/classes/memories.hpp"
#include "target/classes/order.hpp"
#include "target/classes/ratio.hpp"
#include "target/classes/sum_entropies.hpp"
#include "target/classes/tally.hpp"
#include "target/target.hpp"
#include "tree_totals.hpp"

namespace riparian {

struct Classes {
    using Label = Class;
    using Known = Class;  // how many classes have arrived
    using G = std::uint64_t;
    using Importance = std::int64_t;
    using Statistics = EstimationHistogram;
    using Priority = Ratio;
    template <class Stream>
    using Counts = ClassCounts<Stream>;
    using Bounds = GainBounds;
    using Sums = EntropySums;
    using Check = CheckScratch;
    using List = LongList;
    using Tally = ClassTally;
    using Order = ClassOrder;
    using Voting = riparian::Voting;
    using Memories = ClassMemories;
    using Errors = ClassErrors;
    template <class Kinds>
    using Heads = ClassHeads<Kinds>;
    using Intervals = NoIntervals;
    using Following = NoFollowing;

    static void meet(TreeTotals& totals, Class y) {
        totals.classes = std::max<std::uint64_t>(totals.classes, y + 1);
    }
    static Class known(const TreeTotals& totals) { return static_cast<Class>(totals.classes); }

    static const EstimationHistogram& answer(const EstimationHistogram& leaf, Class) {
        return leaf;
    }

    // Errors of the leaf's answer per estimation point of the tree (R12).
    static Ratio priority(const EstimationHistogram& leaf, std::uint64_t lifetime) {
        return lifetime == 0 ? Ratio{0, 1} : Ratio{leaf.errors(), lifetime};
    }

    // Unsigned, so that it may wrap as G does.
    static void add_importance(std::int64_t& sum, std::uint64_t g) {
        sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + g);
    }
    template <class State>
    static auto& importances(State& state) {
        return array<"importance">(state);
    }
};

static_assert(Target<Classes>);
static_assert(OneStreamTarget<Classes>);
static_assert(FadingTarget<Classes>);
static_assert(HeadedTarget<Classes>);

}  // namespace riparian
