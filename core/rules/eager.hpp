// Eager, then honest (R24): while every point of the stream is kept, a point plays both roles in a
// tree. It chooses splits and votes in every node on its path. At the turn, when the first point is
// lost, the lists are divided by role, and the rule with kept points goes on. Trees answer from
// cells of several sizes, which the forest trusts by how well each has predicted (R25).
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
#include "rules/keeping.hpp"
#include "rules/looking.hpp"
#include "rules/two_streams.hpp"
#include "target/heads.hpp"
#include "target/target.hpp"

namespace riparian {

struct Eager : KeepingOf<Eager> {
    using Base = KeepingOf<Eager>;
    struct Settings : KeptSettings {
        bool judging = true;  // points judge the heads before they are learned
    };

    struct ListedLeaf : riparian::ListedLeaf {
        std::uint32_t spared = 0;         // levels above it that do not count for α and β
        std::uint64_t eager_votes = 0;    // weight of them, at the most; once honest
        std::uint64_t eager_counted = 0;  // of those that its candidates began with
    };

    // Of every node, since heads answer from inner nodes, too.
    template <class Target>
    struct NodeVotes {
        typename Target::Statistics estimation;  // of an inner node; a leaf has its own
        std::uint64_t points = 0;                // that have voted, whatever their weights
        std::uint32_t parent = 0;                // the root is its own
    };

    template <HeadedTarget Target>
    struct Record : KeepingRecord<ListedLeaf> {
        using KeepingRecord<ListedLeaf>::KeepingRecord;
        using Kept = KeepingRecord<ListedLeaf>;

        Array<NodeVotes<Target>> nodes;     // side by side with the nodes of the tree
        std::uint64_t structure_votes = 0;  // V: the weight of structure points that have voted
        bool eager = true;
        std::uint32_t floor = 1;   // points on either side of an eager split
        PerHead<double> scores{};  // s_j: how well each head has done, while eager

        static std::size_t bytes(std::size_t n_leaves) {
            return Kept::bytes(n_leaves) + Array<NodeVotes<Target>>::bytes(2 * n_leaves - 1);
        }
        static std::size_t bytes_per_leaf(typename Target::Known known) {
            return Target::Statistics::charge(known);  // there are as many inner nodes, less one
        }
        void move_to(Pool& pool) {
            for (auto& node : nodes) node.estimation.move_to(pool);
        }
        void trim() {
            Kept::trim();
            nodes.trim();
        }
    };

    // The kept points, and what the forest trusts.
    template <class Space, class Target>
    struct Shared : Base::Shared<Space, Target> {
        using Kept = Base::Shared<Space, Target>;
        using Kept::Kept;
        struct State {
            typename Kept::State kept;
            PerHead<double> evidence{};
        };

        typename Target::Heads::Trust trust;

        State save() const { return {Kept::save(), trust.evidence()}; }
        void restore(const State& state) {
            Kept::restore(state.kept);
            trust.restore(state.evidence);
        }
    };

    // What the trees of a thread have said of each point of a block: for each head the sum of the
    // shares of the true class, and how many trees that was.
    template <class Space, class Target>
    struct Scratch : Base::Scratch<Space, Target> {
        std::uint64_t first = 0;  // the number of the first point
        std::vector<std::int64_t> judged;
    };
    static constexpr std::size_t judged_width = n_heads + 1;

    // Every point judges the tree as it is when it comes, so none is learned ahead.
    using RuleDefaults::grow_ahead;

    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context& context) {
        tree.record_.nodes.push_back({});
        Base::plant(tree, context);
    }

    // -- a point judges before it is learned (R25) -------------------------------------------

    static constexpr bool judges = true;
    template <class Tree>
    RIPARIAN_HOT static void judge(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                   typename Tree::Label y, typename Tree::Context& context) {
        auto& record = tree.record_;
        if (!context.settings.judging || record.nodes[0].points == 0) return;
        auto& scratch = context.scratch;
        std::int64_t* sums = scratch.judged.data() + (t - scratch.first) * judged_width;
        const auto heads = heads_of(tree, leaf);
        PerHead<std::int64_t> shares;
        for (std::size_t j = 0; j < n_heads; ++j) {
            shares[j] = j > 0 && heads[j] == heads[j - 1]
                            ? shares[j - 1]
                            : Tree::Target::Heads::share(*heads[j], y);
            sums[j] += shares[j];
        }
        ++sums[n_heads];
        if (!record.eager) return;
        for (std::size_t j = 0; j < n_heads; ++j)
            record.scores[j] = faded(record.scores[j], static_cast<double>(shares[j]) / head_share);
    }

    // T follows point by point, in order, from sums of integers: batches and threads change
    // nothing.
    template <class Forest>
    static void learn(Forest& forest, const typename Forest::Block& points, std::size_t workers) {
        const bool judging = forest.settings().judging;
        auto& scratches = forest.scratch();
        for (auto& scratch : scratches) {
            scratch->first = forest.points_learned();
            scratch->judged.assign(judging ? points.size() * judged_width : 0, 0);
        }
        Base::learn(forest, points, workers);
        if (!judging) return;
        std::vector<std::int64_t>& sums = scratches[0]->judged;
        for (std::size_t worker = 1; worker < scratches.size(); ++worker)
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += scratches[worker]->judged[i];
        auto& trust = forest.shared().trust;
        for (std::size_t i = 0; i < sums.size(); i += judged_width)
            trust.judge(sums.data() + i, sums[i + n_heads]);
        trust.weigh();
    }

    template <class Tree>
    static typename Tree::Target::Heads answer(const Tree& tree, std::uint32_t leaf,
                                               const typename Tree::Shared& shared) {
        return {heads_of(tree, leaf), shared.trust};
    }

    // -- receiving a point -------------------------------------------------------------------

    template <class Tree>
    RIPARIAN_HOT static void arrive(Tree& tree, std::uint64_t t, std::uint64_t stream_key,
                                    typename Tree::Context& context) {
        if (t == context.settings.kept_points) turn(tree, stream_key, context);
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

    template <class Tree>
    RIPARIAN_HOT static void prefetch(const Tree& tree, std::uint32_t leaf, std::uint64_t draw,
                                      typename Tree::Label y,
                                      const typename Tree::Context& context) {
        TwoStreams::prefetch(tree, leaf, draw, y, context);
    }

    // A vote in a leaf is one in every node above it.
    template <class Tree>
    RIPARIAN_HOT static void voted(Tree& tree, std::uint32_t leaf, typename Tree::Label y,
                                   Weight n) {
        auto& nodes = tree.record_.nodes;
        std::uint32_t node = tree.leaves_[leaf].node;
        ++nodes[node].points;
        while (node != 0) {
            node = nodes[node].parent;
            nodes[node].estimation.add(tree.statistics_, y, n);
            ++nodes[node].points;
        }
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
        auto& nodes = tree.record_.nodes;
        nodes[leaf.node].estimation = leaf.estimation;
        for (int child = 0; child < 2; ++child) nodes.push_back({{}, 0, leaf.node});
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
                fill_statistics(tree, index, cell, context);
                continue;
            }
            // Candidates count weights, not points.
            const std::uint64_t total = leaf.estimation.total();
            nodes[leaf.node].points = std::min(total, nodes[nodes[leaf.node].parent].points);
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
        record.nodes[leaf.node].points = run.count;
        if (!record.eager)
            record.leaves[index].eager_votes = eager_weight(points, run, context.settings);
    }

    template <class Tree>
    static void clear_leaves(Tree& tree) {
        auto& nodes = tree.record_.nodes;
        for (auto& node : nodes) node.estimation.release(tree.statistics_);
        nodes.restart();
        nodes.push_back({});
        Base::clear_leaves(tree);
    }

    // -- a look ------------------------------------------------------------------------------

    template <class Tree>
    static bool chooses(const Tree& tree, Stream stream) {
        return tree.record_.eager || stream == Stream::structure;
    }
    // While eager, the best valid candidate is taken whatever its gain.
    template <class Tree>
    static double min_gain(const Tree& tree, std::size_t, const KeptSettings& settings) {
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

private:
    friend Looking<Eager>;
    friend Regrowing<Eager>;
    friend KeepingOf<Eager>;

    // For each size the deepest node that holds as many votes, or else the root.
    template <class Tree>
    static auto heads_of(const Tree& tree, std::uint32_t leaf) {
        using Statistics = typename Tree::Target::Statistics;
        const auto& nodes = tree.record_.nodes;
        PerHead<const Statistics*> heads;
        std::uint32_t node = tree.leaves_[leaf].node;
        const Statistics* votes = &tree.leaves_[leaf].estimation;
        for (std::size_t j = 0; j < n_heads; ++j) {
            while (node != 0 && nodes[node].points < head_sizes[j]) {
                node = nodes[node].parent;
                votes = &nodes[node].estimation;
            }
            heads[j] = votes;
        }
        return heads;
    }

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
        voted(tree, index, y, n);
        if (leaf.young()) {
            look(tree, {index, std::nullopt}, context);
            let_all_look_that_entered(tree, context);
        } else if (!leaf.settled() && leaf.estimation.errors() > errors) {
            tree.waiting_.raise(leaf.place, tree.s_hat(index), tree.moved());
        }
    }

    template <class Tree>
    static void look(Tree& tree, const Entered& entered, typename Tree::Context& context) {
        if (!tree.record_.eager) return Base::look(tree, entered, context);
        if (can_look(tree, entered.leaf) && look_eagerly(tree, entered, context)) return;
        if (entered.cell) rest(tree, entered.leaf, *entered.cell, context);
    }

    template <class Tree>
    static bool can_look(const Tree& tree, std::uint32_t index) {
        const typename Tree::Leaf& leaf = tree.leaves_[index];
        const std::uint32_t enough = std::max({2u, 2 * tree.record_.floor, leaf.next});
        return arrivals(tree, index) >= enough && leaf.estimation.errors() > 0;
    }

    // Whether the leaf has split.
    template <class Tree>
    static bool look_eagerly(Tree& tree, const Entered& entered, typename Tree::Context& context) {
        typename Tree::Leaf& leaf = tree.leaves_[entered.leaf];
        auto& listed = tree.record_.leaves[entered.leaf];
        if (entered.cell)
            context.scratch.cell = *entered.cell;
        else
            read_structure(tree, entered.leaf, context);
        context.scratch.cell.estimation = {};
        const auto result = search_eagerly(tree, leaf.node, listed.attempt, context);
        if (result.best && split_young(tree, entered.leaf, *result.best, context)) return true;
        if (!result.best) ++listed.attempt;
        leaf.next = next_look(arrivals(tree, entered.leaf));
        return false;
    }

    // The best split of the cell with enough points, not weights, on either side.
    template <class Tree>
    static LookResult<Tree> search_eagerly(const Tree& tree, std::uint32_t node,
                                           std::uint32_t attempt, typename Tree::Context& context) {
        auto& points = context.scratch.structure;
        const Run run = context.scratch.cell.structure;
        context.scratch.tally.set(points.labels(run), points.weights(run));
        return search_among(tree, Place{node, attempt, 0, true}, points.ts(run),
                            ListedEstimation{run.count}, tree.record_.floor, std::nullopt, context);
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
        const auto deepest = static_cast<std::uint32_t>(std::bit_width(kept_points - 1));
        std::vector<std::uint64_t> listed, structure, estimation;
        for (std::uint32_t i = 0; i < tree.leaves_.size(); ++i) {
            auto& leaf = record.leaves[i];
            listed.clear();
            structure.clear();
            estimation.clear();
            record.lists.read(leaf.structure, kept_points, listed, unbounded);
            for (const std::uint64_t t : listed) {
                const Stream stream = TwoStreams::stream_of(fold(stream_key, t), context.settings);
                (stream == Stream::structure ? structure : estimation).push_back(t);
            }
            leaf.structure = PointLists::list_of(structure);
            leaf.estimation = PointLists::list_of(estimation);
            record.lists.link(structure);
            record.lists.link(estimation);
            const std::uint32_t depth = tree.leaves_[i].depth;
            leaf.spared = depth - std::min(depth, deepest);
            leaf.eager_votes = tree.leaves_[i].estimation.total();
        }
        record.eager = false;
    }

    template <class Tree>
    static void settle(Tree& tree, std::uint32_t index, std::uint32_t attempt,
                       typename Tree::Context& context) {
        Base::settle(tree, index, attempt, context);
        const auto& scratch = context.scratch;
        tree.record_.leaves[index].eager_counted =
            eager_weight(scratch.estimation, scratch.cell.estimation, context.settings);
    }

    // Of the points that were learned before the turn.
    template <class Points>
    static std::uint64_t eager_weight(const Points& points, const Run& run,
                                      const KeptSettings& settings) {
        const auto ts = points.ts(run);
        const auto weights = points.weights(run);
        const auto first_honest = std::lower_bound(ts.begin(), ts.end(), settings.kept_points);
        const auto eager = static_cast<std::size_t>(first_honest - ts.begin());
        return ListedEstimation{eager, weights.empty() ? weights : weights.first(eager)}.weight();
    }
};

}  // namespace riparian
