// Heads (R25): the trees of a forest answer from cells of several sizes, and from what a leaf
// remembers (R27), and the forest trusts each of these heads by how well it has predicted. So every
// point judges the trees before they learn it, and votes in every node on its path.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "predicting/stops.hpp"
#include "rules/growing.hpp"
#include "rules/neighbours.hpp"
#include "target/heads.hpp"
#include "target/target.hpp"
#include "tree_totals.hpp"

namespace riparian {

// `Rule` is eager: see `EagerOf`, whose record has the nodes and the scores of a tree.
template <class Rule, class HeadKinds>
struct HeadedOf : GrowingOf<Rule> {
    using Base = GrowingOf<Rule>;
    using Kinds = HeadKinds;

    // The kept points, and what the forest trusts.
    template <class Space, class Target>
    struct Shared : Base::template Shared<Space, Target> {
        using Kept = Base::template Shared<Space, Target>;
        struct State {
            typename Kept::State kept;
            typename Target::template Heads<Kinds>::Trust::State evidence{};
            typename Target::Intervals::State levels{};
            typename Target::Following::State following{};
        };

        template <class Settings>
        Shared(const Settings& settings, const Space& space)
            : Kept(settings, space), intervals(settings.coverages), following(settings.lag) {}

        typename Target::template Heads<Kinds>::Trust trust;
        typename Target::Intervals intervals;
        typename Target::Following following;
        // The trees are a part of a forest: what they have said of each point is reported, so that
        // the parts can be added. T comes from outside.
        bool reports = false;
        std::vector<std::int64_t> reported;  // since the last time that it was taken
        // The intervals by which points are judged are given to the caller: both ends of each, in
        // the order of the coverages, as many as there are points since the last time.
        bool gives = false;
        std::vector<double> given;

        std::size_t bytes() const { return Kept::bytes() + following.bytes(); }
        State save() const {
            return {Kept::save(), trust.state(), intervals.state(), following.state()};
        }
        void restore(const State& state) {
            Kept::restore(state.kept);
            trust.restore(state.evidence);
            intervals.restore(state.levels);
            following.restore(state.following);
        }
    };

    // What the trees of a thread have said of each point of a block: for each head the sum of the
    // shares of the true class, and how many trees that was.
    template <class Space, class Target>
    struct Scratch : Base::template Scratch<Space, Target> {
        std::uint64_t first = 0;  // the number of the first point
        std::vector<std::int64_t> judged;
        std::vector<typename Target::Intervals::Standing>
            standings;               // the same for intervals (R28)
        std::size_t kept_parts = 0;  // of the standing of the last point, of all threads
        Neighbours neighbours;
        typename Target::Intervals::Neighbours of_tree;
        typename Target::Intervals::Distribution distribution;
        std::optional<double> leaf_error;  // of the tree that was asked last, if it judged
    };
    static constexpr std::size_t judged_width = Kinds::count + 1;

    // -- a point judges before it is learned (R25) -------------------------------------------

    static constexpr bool judges = true;
    template <class Tree>
    RIPARIAN_HOT static void judge(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                   typename Tree::Label y, typename Tree::Context& context) {
        auto& record = tree.record_;
        auto& scratch = context.scratch;
        scratch.leaf_error.reset();
        if (!context.settings.judging || record.nodes.points(0) == 0) return;
        std::int64_t* sums = scratch.judged.data() + (t - scratch.first) * judged_width;
        const auto shares = Rule::answer(tree, leaf, context.shared).shares(y);
        for (std::size_t j = 0; j < Kinds::count; ++j) sums[j] += shares[j];
        ++sums[Kinds::count];
        using Heads = typename Tree::Target::template Heads<Kinds>;
        scratch.leaf_error = Heads::error(shares[0], y, tree.known());
        if (!context.shared.intervals.empty()) stand(tree, leaf, t, y, context);
        if (!record.eager) return;
        for (std::size_t j = 0; j < n_sizes; ++j)
            record.scores[j] = Heads::faded_score(record.scores[j], shares[j], y, tree.known());
    }

    // R28: where a point stands among its neighbours in this tree.
    template <class Tree>
    RIPARIAN_HOT static void stand(const Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                   typename Tree::Label y, typename Tree::Context& context) {
        if constexpr (has_intervals<typename Tree::Target>) {
            auto& scratch = context.scratch;
            scratch.of_tree.clear();
            scratch.neighbours.read(tree, leaf, t, context.shared, context.settings,
                                    scratch.of_tree);
            auto& standing = scratch.standings[t - scratch.first];
            if (keeps_parts(context.shared))
                standing.keep(scratch.of_tree);
            else
                standing.add(scratch.of_tree, y);
        }
    }

    // The paths of points that will soon arrive. To judge and to vote is to climb, and each step
    // would wait for a node that is in no near cache; so the nodes are asked for before, one level
    // for each point that is learned.
    class PathsAhead {
    public:
        static constexpr std::size_t points = 9;  // from its leaf on, before it arrives

        template <class Tree>
        RIPARIAN_HOT void climb(const Tree& tree) {
            for (std::uint32_t& node : at_) {
                const auto& pair = tree.record_.nodes.around(node);
                pair.above.prefetch();
                node = pair.parent;
                tree.record_.nodes.prefetch(node);
            }
        }
        template <class Tree>
        RIPARIAN_HOT void start(const Tree& tree, std::uint32_t leaf_node) {
            at_[next_++ % at_.size()] = leaf_node;
            tree.record_.nodes.prefetch(leaf_node);
        }

    private:
        std::array<std::uint32_t, points - 1> at_{};
        std::size_t next_ = 0;
    };

    template <class Forest>
    static void learn(Forest& forest, const typename Forest::Block& points, std::size_t workers) {
        for (std::size_t first = 0, n; first < points.size(); first += n) {
            n = std::min(points.size() - first, points_at_a_time(forest));
            learn_some(forest, points.slice(first, n), workers);
        }
    }

    // T, the levels of intervals, and what follows the last target go on point by point, in order,
    // from sums of integers: batches and threads change nothing.
    template <class Forest>
    static void learn_some(Forest& forest, const typename Forest::Block& points,
                           std::size_t workers) {
        const bool judging = forest.settings().judging;
        auto& scratches = forest.scratch();
        for (auto& scratch : scratches) {
            scratch->first = forest.points_learned();
            scratch->judged.assign(judging ? points.size() * judged_width : 0, 0);
            if (!forest.shared().intervals.empty())
                scratch->standings.assign(judging ? points.size() : 0, {});
        }
        TreeTotals before = forest.trees()[0]->totals();
        Base::learn(forest, points, workers);
        std::vector<std::int64_t>& sums = scratches[0]->judged;
        for (std::size_t worker = 1; worker < scratches.size(); ++worker)
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += scratches[worker]->judged[i];
        if (forest.shared().reports) return report(forest.shared().reported, sums, points.size());
        if (!judging) return;
        auto& trust = forest.shared().trust;
        auto& answers = scratches[0]->answers;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const std::int64_t* shares = sums.data() + i * judged_width;
            if (answers.asked() || forest.shared().following.on()) trust.weigh();
            if (answers.asked())
                forest.order().mix_heads(trust.weights(), answers.row(scratches[0]->first + i));
            judge_answer(forest, i, shares, points.labels[i], Forest::Target::known(before));
            trust.judge(shares, shares[Kinds::count], points.labels[i],
                        Forest::Target::known(before));
            Forest::Target::meet(before, points.labels[i]);
        }
        trust.weigh();
    }

    template <class Tree>
    static typename Tree::Target::template Heads<Kinds> answer(
        const Tree& tree, std::uint32_t leaf, const typename Tree::Shared& shared) {
        return {nodes_of_all_heads(tree, leaf), Rule::memories(tree, leaf), shared.trust,
                tree.known()};
    }
    // Of the rows that stop at a node, from the heads that have a weight. The first one is asked in
    // any case, since it says whether the tree abstains.
    template <class Tree>
    static typename Tree::Target::template Heads<Kinds> answer_of_node(
        const Tree& tree, std::uint32_t node, const typename Tree::Shared& shared) {
        const auto& weights = shared.trust.weights();
        const auto has_weight = [&](std::size_t j) { return j == 0 || weights[j] != 0; };
        return {nodes_of_heads(tree, node, has_weight), nullptr, shared.trust, tree.known()};
    }

    // Memories are those of leaves.
    static constexpr bool remembers = Kinds::count > n_sizes;
    static constexpr bool stops_early = !remembers;
    // Trust is nearly all in one size of cell or two, so the smallest of them decides where a row
    // may stop: in the deepest node that is large enough for it. On noise that is a fraction of the
    // leaves, and each is asked once.
    template <class Tree>
    static void find_stops(const Tree& tree, const typename Tree::Shared& shared, Stops& stops) {
        const auto& weights = shared.trust.weights();
        const auto smallest = static_cast<std::size_t>(
            std::find_if(weights.begin(), weights.end(), [](auto w) { return w != 0; }) -
            weights.begin());
        const std::uint64_t enough = head_sizes[smallest];
        const auto& nodes = tree.record_.nodes;
        stops.find(
            tree.nodes_.size(), [&](std::uint32_t node) { return nodes.parent(node); },
            [&](std::uint32_t node) { return nodes.points(node) >= enough; },
            [&](std::uint32_t node) { return tree.nodes_[node].inner(); });
    }

    template <class Tree>
    static std::nullptr_t memories(const Tree&, std::uint32_t) {
        return nullptr;
    }

    // One row per head, to be mixed once the trust as of the point is known.
    template <class Tree>
    static void add_answer(const Tree& tree, std::uint32_t leaf, std::int64_t* rows,
                           const typename Tree::Context& context) {
        context.order.add_heads(Rule::answer(tree, leaf, context.shared), rows);
    }
    template <class Order>
    static std::size_t answer_width(const Order& order) {
        return Kinds::count * order.row_width();
    }
    template <class Order, class Shared>
    static void write(const Order& order, const std::int64_t* row, const Shared& shared,
                      double* out) {
        order.write(row, out);
        if (shared.following.on() && order.voters(row)) shared.following.correct(out);
    }
    // Of a majority, the vote of a tree depends on the trust, and so on the other trees.
    template <class Voting>
    static bool answers_add_up(Voting voting) {
        return voting == Voting::average;
    }

    // A vote in a leaf is one in every node above it.
    template <class Tree>
    RIPARIAN_HOT static void voted(Tree& tree, std::uint32_t leaf, typename Tree::Label y,
                                   Weight n) {
        auto& nodes = tree.record_.nodes;
        std::uint32_t node = tree.leaves_[leaf].node;
        for (;;) {
            auto& pair = nodes.around(node);
            ++pair.points[node % 2];
            if (node == 0) return;
            pair.above.add(tree.statistics_, y, n);
            node = pair.parent;
        }
    }

private:
    // What the trees answered to point i of the block, of which each thread knows a part: intervals
    // are judged by it (R28), and the answers that come follow it (R29).
    template <class Forest>
    static void judge_answer(Forest& forest, std::size_t i, const std::int64_t* shares,
                             typename Forest::Target::Label y,
                             typename Forest::Target::Known known) {
        if constexpr (has_intervals<typename Forest::Target>) {
            auto& shared = forest.shared();
            const std::int64_t voters = shares[Kinds::count];
            const bool follows = shared.following.on() && voters != 0;
            const double plain = follows ? shared.trust.answer(shares, voters, known) : 0.0;
            const auto moved = shared.following.correction().around(plain);
            auto& answers = forest.scratch()[0]->answers;
            if (follows && answers.asked())
                forest.order().set(moved.answer, answers.row(forest.scratch()[0]->first + i));
            if (!shared.intervals.empty()) judge_intervals(forest, i, y, moved);
            if (follows) shared.following.judge(y, plain);
        }
    }

    template <class Forest, class Moved>
    static void judge_intervals(Forest& forest, std::size_t i, typename Forest::Target::Label y,
                                const Moved& moved) {
        auto& shared = forest.shared();
        auto& scratches = forest.scratch();
        auto& standing = scratches[0]->standings[i];
        std::size_t parts = 0;
        auto& distribution = scratches[0]->distribution;
        distribution.clear();
        for (auto& scratch : scratches) {
            auto& theirs = scratch->standings[i];
            parts += theirs.kept.size();
            if (shared.gives) distribution.add(theirs.kept);
            theirs.settle(y, moved);
            if (&theirs != &standing) standing.add(theirs);
        }
        scratches[0]->kept_parts = parts;
        if (shared.gives)
            shared.intervals.give(distribution, moved, shared.trust.error(), shared.given);
        shared.intervals.judge(standing, y, shared.trust.error());
    }

    // Intervals that follow the last target, or are given, need all neighbours of a point when it
    // is judged. So a block is cut where these would be too many.
    template <class Shared>
    static bool keeps_parts(const Shared& shared) {
        return !shared.intervals.empty() && (shared.following.on() || shared.gives);
    }
    template <class Forest>
    static std::size_t points_at_a_time(Forest& forest) {
        const auto& shared = forest.shared();
        if (!keeps_parts(shared)) return Forest::block;
        constexpr std::size_t most_parts = 1 << 18;
        return std::clamp<std::size_t>(most_parts / (forest.scratch()[0]->kept_parts + 1), 1, 256);
    }

    // Points that judge nothing have no voters, so T stays.
    static void report(std::vector<std::int64_t>& reported, const std::vector<std::int64_t>& sums,
                       std::size_t points) {
        const std::size_t end = reported.size() + points * judged_width;
        reported.insert(reported.end(), sums.begin(), sums.end());
        reported.resize(end);
    }

    // For each size the deepest node from this leaf on upward that holds as many votes, or else the
    // root. Where a head is reached cannot be guessed, so the only branch is the end of the climb.
    template <class Tree>
    RIPARIAN_HOT static auto nodes_of_all_heads(const Tree& tree, std::uint32_t leaf) {
        const auto& nodes = tree.record_.nodes;
        using Pair = std::remove_cvref_t<decltype(nodes.around(0))>;
        // Around the last node below which, itself included, no more heads than these have an
        // answer. Votes can grow on the way down: a leaf that had settled lists more points than it
        // counted.
        std::array<const Pair*, n_sizes + 1> around{};
        std::uint32_t answered = 0;
        for (std::uint32_t node = tree.leaves_[leaf].node;;) {
            const Pair& pair = nodes.around(node);
            answered = std::max(answered, heads_of(pair.points[node % 2]));
            if (node == 0) break;
            around[answered] = &pair;
            if (answered == n_sizes) break;
            node = pair.parent;
        }
        PerSize<const typename Tree::Target::Statistics*> heads;
        const auto* votes = &tree.leaves_[leaf].estimation;
        for (std::size_t j = 0; j < n_sizes; ++j) {
            votes = around[j] ? &around[j]->above : votes;
            heads[j] = votes;
        }
        return heads;
    }
    // How many heads can ask a node with this many votes.
    static std::uint32_t heads_of(std::uint64_t votes) {
        static_assert(head_sizes == PerSize<std::uint64_t>{1, 4, 16, 64, 256});
        return std::min(static_cast<std::uint32_t>(std::bit_width(2 * votes + 1)) / 2,
                        static_cast<std::uint32_t>(n_sizes));
    }

    // For each size that is asked for the deepest node from this one on upward that holds as many
    // votes, or else the root. In place of the others stands that of the one before.
    template <class Tree, class IsAsked>
    RIPARIAN_HOT static auto nodes_of_heads(const Tree& tree, std::uint32_t node,
                                            IsAsked&& is_asked) {
        using Statistics = typename Tree::Target::Statistics;
        const auto& nodes = tree.record_.nodes;
        PerSize<const Statistics*> heads;
        const std::uint32_t leaf = tree.nodes_[node].leaf;
        const Statistics* votes = tree.nodes_[node].inner()
                                      ? &nodes.around(tree.nodes_[node].child).above
                                      : &tree.leaves_[leaf].estimation;
        for (std::size_t j = 0; j < n_sizes; ++j) {
            while (is_asked(j) && node != 0 && nodes.points(node) < head_sizes[j]) {
                votes = &nodes.around(node).above;
                node = nodes.parent(node);
            }
            heads[j] = votes;
        }
        return heads;
    }
};

}  // namespace riparian
