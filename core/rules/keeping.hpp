// The paper's two streams with kept points (R19 to R21): a leaf lists the kept points in its cell.
// A young leaf looks among them for a split. Once one of them is lost, the leaf settles and counts
// as in the paper. While no point of the stream is lost, a tree is rebuilt each time its points
// have doubled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "budget.hpp"
#include "counts/streams.hpp"
#include "draws.hpp"
#include "kept/cells.hpp"
#include "kept/lists.hpp"
#include "memory/array.hpp"
#include "rules/looking.hpp"
#include "rules/regrowth.hpp"
#include "rules/two_streams.hpp"
#include "settings.hpp"

namespace riparian {

// What a leaf has in addition to its statistics and candidates.
struct ListedLeaf {
    PointList structure, estimation;
    std::uint32_t attempt = 0;  // while young: the number of draws without a split
};

// What the rule records about a tree.
template <class Leaf>
struct KeepingRecord : Growth, RecordDefaults {
    explicit KeepingRecord(const KeptSettings& settings) : lists(settings.kept_points) {}

    Array<Leaf> leaves;  // parallel to the leaves of the tree
    PointLists lists;
    std::uint64_t lost_estimation = 0;  // weight of the estimation points that are no longer kept
    bool full = false;                  // whether a split was refused for lack of memory

    static std::size_t bytes(std::size_t n_leaves) { return Array<Leaf>::bytes(n_leaves); }
    void trim() { leaves.trim(); }
    void prefetch_for(std::size_t points) const { lists.prefetch(points); }
    void prefetch(std::uint32_t leaf) const {
        riparian::prefetch(&leaves[leaf]);
        riparian::prefetch(&leaves[leaf].attempt);
    }
};

// What the rules whose leaves settle have in common: `Keeping` and `Eager`.
template <class Rule>
struct KeepingOf : Regrowing<Rule> {
    using Base = Regrowing<Rule>;
    using typename Base::Entered;
    using Settings = KeptSettings;
    // Settled leaves start with what they list: all their split points have seen the same points,
    // and bounds hold for long, however many candidates there are.
    template <class Space, class Target>
    using Evidence = TwoStreamsEvidence<Target, typename Target::Bounds>;
    using Stream = TwoStreams::Stream;

    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context&) {
        tree.record_.leaves.push_back({});
        enter(tree, 0);
    }

    using Base::grow_ahead;

    // Counts the point that is no longer kept as lost, with the weight that the tree received.
    template <class Tree>
    RIPARIAN_HOT static void arrive(Tree& tree, std::uint64_t t, std::uint64_t stream_key,
                                    typename Tree::Context& context) {
        if (t < tree.planted_ + context.settings.kept_points) return;
        const std::uint64_t lost = t - context.settings.kept_points;
        if (TwoStreams::stream_of(fold(stream_key, lost), context.settings) == Stream::estimation)
            tree.record_.lost_estimation += weight_of(tree, lost, context);
    }

    template <class Tree>
    RIPARIAN_HOT static void receive(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                     std::uint64_t draw, typename Tree::Point x,
                                     typename Tree::Label y, Weight n,
                                     typename Tree::Context& context) {
        switch (TwoStreams::stream_of(draw, context.settings)) {
            case Stream::structure:
                learn_structure(tree, leaf, t, x, y, n, context);
                break;
            case Stream::estimation:
                learn_estimation(tree, leaf, t, x, y, n, context);
                break;
            case Stream::ignored:
                tree.totals_.ignored_points += n;
        }
        stay_within_budget(tree, t, context);
    }

    template <class Tree>
    RIPARIAN_HOT static void prefetch(const Tree& tree, std::uint32_t leaf, std::uint64_t draw,
                                      typename Tree::Label y,
                                      const typename Tree::Context& context) {
        TwoStreams::prefetch(tree, leaf, draw, y, context);
    }

    // Divides the list of a leaf between its children, in order. The children of a young leaf start
    // with the statistics of their lists. These are computed, and the lists linked, once a child
    // has looked or waits.
    template <class Tree>
    static void inherit(Tree& tree, std::uint32_t left, std::uint32_t right,
                        const typename Tree::Cut& cut, bool was_young,
                        typename Tree::Context& context) {
        auto& scratch = context.scratch;
        auto& record = tree.record_;
        expect_growth(tree, context.settings);
        if (!was_young) {
            read_cell(tree, left, context);
            label_estimation(context);
            scratch.cut_values.reset();
        }
        record.leaves.push_back({});
        divide_cell(cut, context);
        record.leaves[left] = {};
        set_lists(record.leaves[left], scratch.left, context);
        set_lists(record.leaves[right], scratch.right, context);
    }

    template <class Tree>
    static void settled(Tree& tree, std::uint32_t leaf, typename Tree::Context& context) {
        TwoStreams::settled(tree, leaf, context);
    }
    template <class Tree>
    static void tidy(Tree& tree, const Settings& settings) {
        TwoStreams::tidy(tree, settings);
    }

    // Saves arrivals, growth and bound and, for active leaves, when they look and whether they have
    // lost a point. The lists follow from the kept points.
    template <class Tree>
    static void save(const Tree& tree, typename Tree::State& out);
    template <class Tree>
    static void restore(Tree& tree, const typename Tree::State& in,
                        typename Tree::Context& context);
    template <class Tree>
    static bool has_lost(const Tree& tree, std::uint32_t leaf) {
        return has_lost(tree, leaf, tree.received_);
    }

    // -- a look -----------------------------------------------------------------------------------

    template <class Tree>
    static std::uint32_t arrivals(const Tree& tree, std::uint32_t leaf) {
        return static_cast<std::uint32_t>(tree.record_.leaves[leaf].structure.count);
    }
    template <class Tree>
    static void clear_leaves(Tree& tree) {
        tree.record_.leaves.restart();
    }
    template <class Tree>
    static void drop_lost(Tree& tree, std::uint32_t index, std::uint64_t received) {
        auto& listed = tree.record_.leaves[index];
        tree.record_.lists.drop_lost(listed.structure, received);
        tree.record_.lists.drop_lost(listed.estimation, received);
    }
    template <class Tree>
    static std::uint64_t born_of_children(const Tree& tree, std::uint32_t,
                                          const typename Tree::Context&) {
        return tree.record_.lost_estimation;
    }

    // An estimation point has voted in a leaf.
    template <class Tree>
    RIPARIAN_HOT static void voted(Tree&, std::uint32_t, typename Tree::Label, Weight) {}

protected:
    friend Looking<Rule>;
    friend Regrowing<Rule>;
    using Base::divide_cell;
    using Base::draw_split_points;
    using Base::enter;
    using Base::expect_growth;
    using Base::has_room_for;
    using Base::is_rebuilt;
    using Base::key_of_draws;
    using Base::label_estimation;
    using Base::let_all_look_that_entered;
    using Base::list_points;
    using Base::look;
    using Base::read_cell;
    using Base::set_lists;
    using Base::stay_within_budget;
    using Base::visit_points;
    using Base::weight_of;

    // -- receiving a point ------------------------------------------------------------------------

    template <class Tree>
    RIPARIAN_HOT static void learn_estimation(Tree& tree, std::uint32_t index, std::uint64_t t,
                                              typename Tree::Point x, typename Tree::Label y,
                                              Weight n, typename Tree::Context& context) {
        tree.totals_.estimation_points += n;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        const auto errors = leaf.estimation.errors();
        leaf.estimation.add(tree.statistics_, y, n);
        Rule::voted(tree, index, y, n);
        tree.record_.lists.push(tree.record_.leaves[index].estimation, t);
        if (leaf.settled())
            leaf.candidates->observe_estimation(tree.pool_, x, y, n, tree.known(), context.scratch);
        else if (!leaf.young() && leaf.estimation.errors() > errors)
            tree.waiting_.raise(leaf.place, tree.s_hat(index), tree.moved());
    }

    template <class Tree>
    static void learn_structure(Tree& tree, std::uint32_t index, std::uint64_t t,
                                typename Tree::Point x, typename Tree::Label y, Weight n,
                                typename Tree::Context& context) {
        auto& record = tree.record_;
        tree.totals_.structure_points += n;
        if (is_rebuilt(tree, context)) return;
        record.lists.push(record.leaves[index].structure, t);
        const typename Tree::Leaf& leaf = tree.leaves_[index];
        if (leaf.settled()) {
            leaf.candidates->observe_structure(tree.pool_, x, y, n, tree.known(), Rule::votes(tree),
                                               context.scratch);
            check(tree, index, context);
        } else if (leaf.young()) {
            if (has_lost(tree, index, context.received)) {
                Rule::settle(tree, index, record.leaves[index].attempt, context);
                check(tree, index, context);
            } else if (record.leaves[index].structure.count >= leaf.next) {
                look(tree, {index, std::nullopt}, context);
            }
        }
        let_all_look_that_entered(tree, context);
    }

    // Whether a listed point is no longer kept.
    template <class Tree>
    static bool has_lost(const Tree& tree, std::uint32_t index, std::uint64_t received) {
        const auto& leaf = tree.record_.leaves[index];
        return tree.record_.lists.has_lost(leaf.structure, received) ||
               tree.record_.lists.has_lost(leaf.estimation, received);
    }

    template <class Tree>
    static void list_again(Tree& tree, typename Tree::Context& context);

    // -- a settled leaf counts --------------------------------------------------------------------

    // Makes candidates from the list of the leaf.
    template <class Tree>
    static void settle(Tree& tree, std::uint32_t index, std::uint32_t attempt,
                       typename Tree::Context& context) {
        auto& scratch = context.scratch;
        tree.leaves_[index].next = 0;
        read_cell(tree, index, context);
        set_lists(tree.record_.leaves[index], scratch.cell, context);  // without the lost points
        label_estimation(context);
        Draws draws(key_of_draws(tree, tree.leaves_[index].node, attempt));
        context.space.draw(draws, scratch.shuffle, scratch.drawn);
        draw_split_points(draws, context);
        tree.settle(index, attempt, context);
        count_list(tree, *tree.leaves_[index].candidates, context);
    }

    // Every candidate counts every kept point on the lists of both streams.
    template <class Tree>
    static void count_list(Tree& tree, typename Tree::Candidates& candidates,
                           typename Tree::Context& context) {
        auto& scratch = context.scratch;
        const auto& kept = context.shared;
        constexpr bool in_rows = std::remove_cvref_t<decltype(kept)>::in_rows;
        const std::span<const typename Tree::Feature> features(scratch.drawn);
        const auto [structure, estimation] = scratch.cell;
        const auto known = tree.known();
        scratch.values.resize(std::max(scratch.values.size(), features.size()));
        // Calls visitor(point, scratch) where the point is stored, or visitor(scratch) with the
        // point projected.
        const auto at = [&](std::uint64_t t, auto&& visitor) {
            if constexpr (in_rows)
                if (const typename Tree::Point x = kept.point(t)) return visitor(x, scratch);
            kept.project(features, t, scratch.values.data());
            visitor(scratch);
        };
        // Calls counted(labels, rows) if the list is short and its points are stored as rows,
        // counted(list, values) if it is long, and otherwise counted(label, weight, [point,]
        // scratch) for each point.
        const auto count = [&](auto& points, const Run& run, auto&& counted) {
            const auto ts = points.ts(run);
            const auto labels = points.labels(run);
            const auto weights = points.weights(run);
            if constexpr (in_rows && Tree::Candidates::keeps_points)
                if (weights.empty() && candidates.may_keep(run.count, known) &&
                    kept.points(ts, scratch.rows))
                    return counted(std::span<const typename Tree::Label>(labels),
                                   scratch.rows.data());
            if (scratch.list.set(labels, weights) &&
                candidates.may_count_at_once(scratch.list, known)) {
                const std::size_t stride = Tree::Target::List::stride(run.count);
                scratch.gathered.resize(features.size() * stride);
                kept.values(features, ts, scratch.gathered.data(), stride);
                return counted(scratch.list, std::span(scratch.gathered));
            }
            for (std::size_t i = 0; i < run.count; ++i)
                at(ts[i], [&](auto&&... point) {
                    counted(labels[i], weights.empty() ? Weight{1} : weights[i], point...);
                });
        };
        const std::uint64_t born = Rule::born_of_children(tree, 0, context);
        for (const std::uint32_t i : scratch.split_points)
            at(scratch.structure.ts(structure)[i],
               [&](auto&&... point) { candidates.add_split_point(born, point...); });
        count(scratch.structure, structure,
              [&](auto&&... points) { candidates.count_structure(tree.pool_, known, points...); });
        count(scratch.estimation, estimation,
              [&](auto&&... points) { candidates.count_estimation(tree.pool_, known, points...); });
    }

    template <class Tree>
    static void check(Tree& tree, std::uint32_t index, typename Tree::Context& context) {
        const auto redraw = [&](std::uint32_t attempt) {
            tree.unsettle(tree.leaves_[index]);
            Rule::settle(tree, index, attempt, context);
            tree.leaves_[index].candidates->forget_received();
        };
        const auto may_split = [&](const typename Tree::Feature& feature) {
            return has_room_for(tree, feature, context);
        };
        TwoStreams::check(tree, index, context, redraw, may_split);
    }
};

struct Keeping : KeepingOf<Keeping> {
    using ListedLeaf = riparian::ListedLeaf;
    template <class Target>
    struct Record : KeepingRecord<ListedLeaf> {
        using KeepingRecord::KeepingRecord;
    };
};

}  // namespace riparian
