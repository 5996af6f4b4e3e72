// A cell of an eager tree (R24) grows as deep as it can in one loop.
//
// Most leaves of such a tree list a few points, so that what a split costs besides its look is most
// of the time. Where no leaf can have to wait for a place in the fringe, looks and splits follow
// one another here, and nothing is asked twice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "budget.hpp"
#include "kept/cells.hpp"
#include "kept/lists.hpp"
#include "rules/keeping.hpp"
#include "split/look.hpp"
#include "split/thresholds.hpp"

namespace riparian {

// `Rule` is eager: see `EagerOf`, whose record has the nodes and the floor of a tree.
template <class Rule>
struct GrowingOf : KeepingOf<Rule> {
    using Base = KeepingOf<Rule>;
    using typename Base::Entered;
    template <class Tree>
    using LookResult = typename Base::template LookResult<Tree>;

    // A leaf that has not looked yet, and its points.
    struct GrowingLeaf {
        std::uint32_t leaf;
        Run run;
    };

    template <class Space, class Target>
    struct Scratch : Base::template Scratch<Space, Target> {
        std::vector<GrowingLeaf> growing;
        std::vector<float> all_values;  // of a look in one pass
    };

protected:
    using Base::arrivals;
    using Base::divide_cell;
    using Base::draw_candidates;
    using Base::expect_growth;
    using Base::next_look;
    using Base::read_structure;
    using Base::rest;
    using Base::search_among;
    using Base::split_young;

    // An eager leaf looks.
    template <class Tree>
    static void look_and_grow(Tree& tree, const Entered& entered, typename Tree::Context& context) {
        const bool can = can_look(tree, entered.leaf);
        if (can && has_room_to_grow(tree, entered.leaf, context)) {
            if (!entered.cell) read_structure(tree, entered.leaf, context);
            return grow(
                tree,
                {entered.leaf, (entered.cell ? *entered.cell : context.scratch.cell).structure},
                context);
        }
        if (can && look_eagerly(tree, entered, context)) return;
        if (entered.cell) rest(tree, entered.leaf, *entered.cell, context);
    }

    // Whatever becomes of the points that a leaf lists: no leaf will have to wait.
    template <class Tree>
    static bool has_room_to_grow(Tree& tree, std::uint32_t index,
                                 const typename Tree::Context& context) {
        if constexpr (Rule::remembers)
            return false;  // memories follow where leaves split one by one
        const auto& settings = context.settings;
        if (!settings.bounded()) return true;
        const std::size_t most = arrivals(tree, index);
        return tree.waiting_.empty() && tree.active_ + most <= settings.fringe_size &&
               Budget(tree, settings.budget)
                   .has_room_to_grow(tree.leaves_.size() + most, context.space);
    }

    // What looks and splits one after the other would do. In order of node number, each leaf as
    // deep as it goes.
    template <class Tree>
    static void grow(Tree& tree, const GrowingLeaf& top, typename Tree::Context& context) {
        auto& scratch = context.scratch;
        auto& growing = scratch.growing;
        growing.assign(1, top);
        while (!growing.empty()) {
            const auto [index, run] = growing.back();
            growing.pop_back();
            scratch.cell = {run, {}};
            auto& attempt = tree.record_.leaves[index].attempt;
            const auto result = search_eagerly(tree, tree.leaves_[index].node, attempt, context);
            if (result.best) {
                split_eagerly(tree, index, *result.best, context);
            } else {
                ++attempt;
                tree.leaves_[index].next = next_look(static_cast<std::uint32_t>(run.count));
                tree.record_.lists.link(scratch.structure.ts(run));
            }
        }
    }

    // The cell of a leaf is divided. The parts that can look will do so, the left one first.
    template <class Tree>
    static void split_eagerly(Tree& tree, std::uint32_t index,
                              const LookChoice<typename Tree::Target::G>& choice,
                              typename Tree::Context& context) {
        auto& record = tree.record_;
        auto& scratch = context.scratch;
        const typename Tree::Cut cut{scratch.drawn[choice.feature], choice.threshold, choice.g};
        divide_cell(cut, context);
        const std::uint32_t node = tree.leaves_[index].node, below = tree.leaves_[index].depth + 1;
        const auto right = static_cast<std::uint32_t>(tree.leaves_.size());
        const std::uint32_t first = tree.split_node(node, cut, below, index, right);
        ++tree.active_;
        ++tree.totals_.should_splits;
        if (context.settings.bounded()) tree.totals_.activations += 2;
        auto& votes = record.nodes.split(node, tree.leaves_[index].estimation);
        tree.leaves_.emplace_back();
        record.leaves.emplace_back();
        const auto become = [&](std::uint32_t leaf_index, std::uint32_t its_node, const Run& run) {
            typename Tree::Leaf& leaf = tree.leaves_[leaf_index];
            leaf = {};
            leaf.estimation.fill(tree.statistics_, scratch.structure.labels(run),
                                 scratch.structure.weights(run), scratch.check);
            leaf.node = its_node;
            leaf.depth = below;
            leaf.next = 1;
            record.leaves[leaf_index].structure = PointLists::list_of(scratch.structure.ts(run));
            record.leaves[leaf_index].attempt = 0;
            votes.points[its_node % 2] = run.count;
        };
        become(index, first, scratch.left.structure);
        become(right, first + 1, scratch.right.structure);
        expect_growth(tree, context.settings);
        const auto go_on = [&](const GrowingLeaf& child) {
            if (can_look(tree, child.leaf))
                scratch.growing.push_back(child);
            else
                record.lists.link(scratch.structure.ts(child.run));
        };
        go_on({right, scratch.right.structure});
        go_on({index, scratch.left.structure});
    }

    template <class Tree>
    static bool can_look(const Tree& tree, std::uint32_t index) {
        const typename Tree::Leaf& leaf = tree.leaves_[index];
        const std::uint32_t enough = std::max({2u, 2 * tree.record_.floor, leaf.next});
        return arrivals(tree, index) >= enough && !leaf.estimation.is_pure();
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
        auto& scratch = context.scratch;
        auto& points = scratch.structure;
        const Run run = scratch.cell.structure;
        const std::uint32_t floor = tree.record_.floor;
        scratch.tally.set(points.labels(run), points.weights(run));
        const std::uint64_t start = draw_candidates(tree, node, attempt, context);
        if (scratch.tally.chooses_at_once(scratch.drawn.size()) && !any_equals(context))
            return choose_at_once<Tree>(points.ts(run), floor, context);
        return search_among(start, points.ts(run), ListedEstimation{run.count}, floor, std::nullopt,
                            context);
    }

    template <class Context>
    static bool any_equals(const Context& context) {
        using Space = std::remove_cvref_t<decltype(context.space)>;
        const auto& drawn = context.scratch.drawn;
        return std::any_of(drawn.begin(), drawn.end(),
                           [](const auto& feature) { return Space::equals(feature); });
    }

    template <class Tree>
    static LookResult<Tree> choose_at_once(std::span<const std::uint64_t> ts, std::uint32_t floor,
                                           typename Tree::Context& context) {
        auto& scratch = context.scratch;
        const std::size_t stride = padded(ts.size()), features = scratch.drawn.size();
        make_room(scratch.all_values, features * stride);
        float* values = scratch.all_values.data();
        context.shared.values(std::span<const typename Tree::Feature>(scratch.drawn), ts, values,
                              stride);
        const auto best =
            scratch.tally.choose_at_once(values, stride, features, scratch.split_points, floor);
        if (best) scratch.cut_values = {values + best->feature * stride, nullptr};
        return {true, best};
    }
};

}  // namespace riparian
