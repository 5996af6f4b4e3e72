// Eager, then honest (R24): while every point of the stream is kept, a point plays both roles in a
// tree. It chooses splits and votes in every node on its path. At the turn, when the first point is
// lost, the lists are divided by role, and the rule with kept points goes on. How a cell grows is
// in growing.hpp, and how trees answer in headed.hpp.
//
// A rule that is made of `EagerOf` says which heads there are; `Eager` has those by size.
//
// Eager points are the one kind that may both choose and vote. A list of them is the list of
// structure points, since it chooses; that it votes too is said here and nowhere else.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "counts/streams.hpp"
#include "kept/cells.hpp"
#include "kept/lists.hpp"
#include "memory/array.hpp"
#include "memory/pool.hpp"
#include "rules/headed.hpp"
#include "rules/keeping.hpp"
#include "rules/looking.hpp"
#include "rules/node_votes.hpp"
#include "rules/two_streams.hpp"
#include "target/heads.hpp"
#include "target/target.hpp"
#include "tree_totals.hpp"

namespace riparian {

template <class Rule, class HeadKinds>
struct EagerOf : HeadedOf<Rule, HeadKinds> {
    using Base = HeadedOf<Rule, HeadKinds>;
    using typename Base::Entered;
    using typename Base::Kinds;
    using typename Base::Stream;
    struct Settings : KeptSettings {
        bool judging = true;                 // points judge the heads before they are learned
        std::vector<double> coverages = {};  // of the intervals that are learned (R28)
        std::uint64_t lag = 0;               // 0: answers do not follow the last target (R29)
    };

    struct ListedLeaf : riparian::ListedLeaf {
        std::uint32_t spared = 0;         // levels above it that do not count for α and β
        std::uint64_t eager_votes = 0;    // weight of them, at most; once honest
        std::uint64_t eager_counted = 0;  // of those that its candidates began with
    };

    // What it records of the phases of a tree.
    struct Phases {
        std::uint64_t structure_votes = 0;  // V: the weight of structure points that have voted
        bool eager = true;
        std::uint64_t eager_points = 0;  // T: earlier points were learned eagerly; 0 while eager
        std::uint64_t eager_nodes = 0;   // that existed at the turn; 0 before it
        std::uint32_t floor = 1;         // points on either side of an eager split
        PerSize<double> scores{};        // s_j: how well each head has done, while eager
    };
    template <HeadsOf<Kinds> Target>
    struct Record : KeepingRecord<ListedLeaf>, Phases {
        using KeepingRecord<ListedLeaf>::KeepingRecord;
        using Kept = KeepingRecord<ListedLeaf>;

        NodeVotes<typename Target::Statistics> nodes;

        static std::size_t bytes(std::size_t n_leaves) {
            return Kept::bytes(n_leaves) + decltype(nodes)::charge(2 * n_leaves - 1);
        }
        static std::size_t bytes_per_leaf(typename Target::Known known) {
            return Target::Statistics::charge(known);  // there are as many inner nodes, less one
        }
        void move_to(Pool& pool) { nodes.move_to(pool); }
        void trim() {
            Kept::trim();
            nodes.trim();
        }
        // Of an empty tree, whatever there was before.
        void forget() {
            static_cast<Growth&>(*this) = {};
            static_cast<Phases&>(*this) = {};
            this->lost_estimation = 0;
        }
    };

    // Every point judges the tree as it is when it comes, so none is learned ahead.
    using RuleDefaults::grow_ahead;

    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context& context) {
        tree.record_.nodes.plant();
        Base::plant(tree, context);
    }

    // -- receiving a point -------------------------------------------------------------------

    template <class Tree>
    RIPARIAN_HOT static void arrive(Tree& tree, std::uint64_t t, std::uint64_t stream_key,
                                    typename Tree::Context& context) {
        if (t == tree.planted_ + context.settings.kept_points) turn(tree, stream_key, context);
        Base::arrive(tree, t, stream_key, context);
    }

    template <class Tree>
    RIPARIAN_HOT static void receive(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                     std::uint64_t draw, typename Tree::Point x,
                                     typename Tree::Label y, Weight n,
                                     typename Tree::Context& context) {
        const Stream stream = TwoStreams::stream_of(draw, context.settings);
        if (!tree.record_.eager || stream == Stream::ignored)
            return Base::receive(tree, leaf, t, draw, x, y, n, context);
        learn_eagerly(tree, leaf, t, stream, y, n, context);
        stay_within_budget(tree, t, context);
    }

    // E: structure points have voted as well, while eager.
    template <class Tree>
    static std::uint64_t votes(const Tree& tree) {
        return tree.totals_.estimation_points + tree.record_.structure_votes;
    }
    template <class Tree>
    static std::uint32_t schedule_depth(const Tree& tree, std::uint32_t leaf) {
        return tree.leaves_[leaf].depth - tree.record_.leaves[leaf].spared;
    }

    // -- where a leaf splits -----------------------------------------------------------------

    // Its votes stay in the node.
    template <class Tree>
    static void vacate(Tree& tree, typename Tree::Leaf& leaf) {
        tree.record_.nodes.split(leaf.node, leaf.estimation);
    }

    template <class Tree>
    static void inherit(Tree& tree, std::uint32_t left, std::uint32_t right,
                        const typename Tree::Cut& cut, bool was_young,
                        typename Tree::Context& context) {
        auto& record = tree.record_;
        const ListedLeaf parent = record.leaves[left];
        Base::inherit(tree, left, right, cut, was_young, context);
        auto& nodes = record.nodes;
        const auto& scratch = context.scratch;
        for (const auto& [index, cell] : {std::pair(left, scratch.left), {right, scratch.right}}) {
            record.leaves[index].spared = parent.spared;
            const typename Tree::Leaf& leaf = tree.leaves_[index];
            if (was_young) {
                Rule::fill_statistics(tree, index, cell, context);
                continue;
            }
            // Candidates count weights, not points.
            const std::uint64_t total = leaf.estimation.total();
            nodes.points(leaf.node) = std::min(total, nodes.points(nodes.parent(leaf.node)));
            record.leaves[index].eager_votes = std::min(total, parent.eager_counted);
        }
    }

    template <class Tree>
    static void fill_statistics(Tree& tree, std::uint32_t index, const Cell& cell,
                                typename Tree::Context& context) {
        typename Tree::Leaf& leaf = tree.leaves_[index];
        if (leaf.estimation.total() > 0) return;
        auto& record = tree.record_;
        auto& scratch = context.scratch;
        auto& points = record.eager ? scratch.structure : scratch.estimation;
        const Run run = record.eager ? cell.structure : cell.estimation;
        leaf.estimation.fill(tree.statistics_, points.labels(run), points.weights(run),
                             scratch.check);
        record.nodes.points(leaf.node) = run.count;
        if (!record.eager) record.leaves[index].eager_votes = eager_weight(tree, points, run);
    }

    template <class Tree>
    static void clear_leaves(Tree& tree) {
        auto& nodes = tree.record_.nodes;
        nodes.clear(tree.statistics_);
        nodes.plant();
        Base::clear_leaves(tree);
    }

    // -- a look ------------------------------------------------------------------------------

    template <class Tree>
    static bool chooses(const Tree& tree, Stream stream) {
        return tree.record_.eager || stream == Stream::structure;
    }
    // While eager, the best valid candidate is taken whatever its gain.
    template <class Tree>
    static double min_gain(const Tree& tree, const KeptSettings& settings) {
        return tree.record_.eager ? -std::numeric_limits<double>::infinity() : settings.min_gain;
    }
    template <class Tree>
    static std::uint64_t born_of_children(const Tree& tree, std::uint32_t index,
                                          const typename Tree::Context& context) {
        if (tree.record_.eager) return 0;
        return tree.record_.structure_votes + Base::born_of_children(tree, index, context);
    }

    // -- as arrays, and back -----------------------------------------------------------------

    template <class Tree>
    static void save(const Tree& tree, typename Tree::State& out);
    template <class Tree>
    static void restore(Tree& tree, const typename Tree::State& in,
                        typename Tree::Context& context);

protected:
    friend Looking<Rule>;
    friend Regrowing<Rule>;
    friend KeepingOf<Rule>;
    friend GrowingOf<Rule>;
    using Base::enter;
    using Base::is_rebuilt;
    using Base::let_all_look_that_entered;
    using Base::search_eagerly;
    using Base::stay_within_budget;
    template <class Tree>
    using LookResult = typename Base::template LookResult<Tree>;

private:
    template <class Tree>
    RIPARIAN_HOT static void learn_eagerly(Tree& tree, std::uint32_t index, std::uint64_t t,
                                           Stream stream, typename Tree::Label y, Weight n,
                                           typename Tree::Context& context) {
        auto& record = tree.record_;
        if (stream == Stream::structure) {
            tree.totals_.structure_points += n;
            record.structure_votes += n;
        } else {
            tree.totals_.estimation_points += n;
        }
        if (is_rebuilt(tree, context)) return;
        record.lists.push(record.leaves[index].structure, t);
        typename Tree::Leaf& leaf = tree.leaves_[index];
        const auto errors = leaf.estimation.errors();
        leaf.estimation.add(tree.statistics_, y, n);
        Rule::voted(tree, index, y, n);
        if (leaf.young()) {
            look(tree, {index, std::nullopt}, context);
            let_all_look_that_entered(tree, context);
        } else if (!leaf.settled() && leaf.estimation.errors() > errors) {
            tree.waiting_.raise(leaf.place, tree.s_hat(index), tree.moved());
        }
    }

    template <class Tree>
    static void look(Tree& tree, const Entered& entered, typename Tree::Context& context) {
        tree.record_.eager ? Base::look_and_grow(tree, entered, context)
                           : Base::look(tree, entered, context);
    }

    // Of a new root, with the floor of the head that the tree has answered best with.
    template <class Tree>
    static LookResult<Tree> search_root(Tree& tree, typename Tree::Context& context) {
        auto& record = tree.record_;
        const auto best = std::max_element(record.scores.begin(), record.scores.end());
        const auto size = static_cast<std::uint32_t>(
            head_sizes[static_cast<std::size_t>(best - record.scores.begin())]);
        const std::uint32_t floor = std::exchange(record.floor, std::max(1u, size / 16));
        auto& points = context.scratch.structure;
        const auto labels = points.labels(context.scratch.cell.structure);
        const bool is_pure = std::all_of(labels.begin(), labels.end(),
                                         [&](const auto& label) { return label == labels[0]; });
        LookResult<Tree> result;
        if (labels.size() >= std::max(2u, 2 * record.floor) && !is_pure)
            result = search_eagerly(tree, 0, 0, context);
        if (!result.best) record.floor = floor;
        return result;
    }

    // -- the turn ----------------------------------------------------------------------------

    // The lists are divided by role, and no leaf is too deep for α to be reached. The arriving
    // point has not been listed; point 0 is, so that its leaf knows that it is lost.
    template <class Tree>
    static void turn(Tree& tree, std::uint64_t stream_key, typename Tree::Context& context) {
        auto& record = tree.record_;
        const std::uint32_t kept_points = context.settings.kept_points;
        std::vector<std::uint64_t> listed, structure, estimation;
        for (std::uint32_t i = 0; i < tree.leaves_.size(); ++i) {
            auto& leaf = record.leaves[i];
            listed.clear();
            structure.clear();
            estimation.clear();
            record.lists.read(leaf.structure, kept_points, listed);
            for (const std::uint64_t t : listed) {
                const Stream stream = TwoStreams::stream_of(fold(stream_key, t), context.settings);
                (stream == Stream::structure ? structure : estimation).push_back(t);
            }
            leaf.structure = PointLists::list_of(structure);
            leaf.estimation = PointLists::list_of(estimation);
            record.lists.link(structure);
            record.lists.link(estimation);
        }
        become_honest(tree, tree.planted_ + kept_points);
    }

    // T is the number of the first point that is learned honestly.
    template <class Tree>
    static void become_honest(Tree& tree, std::uint64_t first_honest) {
        auto& record = tree.record_;
        const auto deepest =
            static_cast<std::uint32_t>(std::bit_width(first_honest - tree.planted_ - 1));
        for (std::uint32_t i = 0; i < tree.leaves_.size(); ++i) {
            auto& leaf = record.leaves[i];
            const std::uint32_t depth = tree.leaves_[i].depth;
            leaf.spared = depth - std::min(depth, deepest);
            leaf.eager_votes = tree.leaves_[i].estimation.total();
        }
        record.eager = false;
        record.eager_points = first_honest;
        record.eager_nodes = tree.nodes_.size();
    }

    template <class Tree>
    static void settle(Tree& tree, std::uint32_t index, std::uint32_t attempt,
                       typename Tree::Context& context) {
        Base::settle(tree, index, attempt, context);
        const auto& scratch = context.scratch;
        tree.record_.leaves[index].eager_counted =
            eager_weight(tree, scratch.estimation, scratch.cell.estimation);
    }

    // Of the points that were learned before the turn.
    template <class Tree, class Points>
    static std::uint64_t eager_weight(const Tree& tree, const Points& points, const Run& run) {
        const auto ts = points.ts(run);
        const auto weights = points.weights(run);
        const auto first_honest = std::lower_bound(ts.begin(), ts.end(), tree.record_.eager_points);
        const auto eager = static_cast<std::size_t>(first_honest - ts.begin());
        return ListedEstimation{eager, weights.empty() ? weights : weights.first(eager)}.weight();
    }
};

struct Eager : EagerOf<Eager, HeadsBySize> {};

}  // namespace riparian
