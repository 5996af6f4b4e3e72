// Trees that are rebuilt each time their points have doubled, while all points that a tree has
// received are kept (R21).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "budget.hpp"
#include "counts/streams.hpp"
#include "draws.hpp"
#include "kept/cells.hpp"
#include "kept/listed.hpp"
#include "rules/looking.hpp"
#include "rules/two_streams.hpp"
#include "tree_totals.hpp"

namespace riparian {

// What the record of such a tree contains.
struct Growth {
    std::uint64_t structure_arrivals = 0;
    // g: structure arrivals when the tree was last rebuilt; 0 if it was not.
    std::uint64_t growth = 0;
    std::uint64_t bound = 0;  // structure arrivals at which it is rebuilt
};

// What a rule based on `Regrowing` must define: how the leaves of a tree are removed.
template <class Rule, class Tree>
concept RegrowingRule =
    LookingRule<Rule, Tree> && std::derived_from<typename Tree::Record, Growth> &&
    requires(Tree& tree) { Rule::clear_leaves(tree); };

template <class Rule>
struct Regrowing : Looking<Rule> {
    using Base = Looking<Rule>;

    template <class Tree>
    static std::uint64_t key_of_draws(const Tree& tree, std::uint32_t node, std::uint32_t attempt) {
        const std::uint64_t first = tree.key_of_draws(node, attempt);
        return tree.record_.growth ? fold(first, tree.record_.growth) : first;
    }

protected:
    // Called when the root has split.
    template <class Tree>
    static void expect_growth(Tree& tree, const KeptSettings& settings) {
        if (tree.nodes_.size() != 3 || tree.record_.growth != 0) return;
        const std::uint64_t twice = 2 * tree.record_.structure_arrivals;
        const double u = uniform(key(settings.seed, tree.number_, bound_draw, 0));
        tree.record_.bound = twice + static_cast<std::uint64_t>(static_cast<double>(twice) * u);
    }

    // Counts a structure point that arrives, and returns whether the tree was rebuilt from all
    // points, including this one.
    template <class Tree>
    static bool is_rebuilt(Tree& tree, typename Tree::Context& context) {
        ++tree.record_.structure_arrivals;
        return is_due(tree, context) && rebuild(tree, context);
    }

    // A tree that is rebuilt within a block keeps nothing of its former state, so the points up to
    // there need not be learned. Returns how many of the next n points those are; they are already
    // kept. If the last growth among them would be in vain, the one before it may succeed.
    template <class Tree>
    static std::size_t grow_ahead(Tree& tree, const typename Tree::Label* labels, std::size_t n,
                                  std::uint64_t t, typename Tree::Context& context) {
        const Standing before = standing(tree, t);
        if (before.structure_arrivals + n < tree.record_.bound || tree.totals_.stopped_at != 0 ||
            tree.settled_ > 0 || !context.settings.regrows)
            return 0;
        const std::uint64_t bound = tree.record_.bound;
        const std::vector<Standing> growths = next_growths(tree, before, labels, n, context);
        for (auto next = growths.rbegin(); next != growths.rend(); ++next) {
            stand(tree, *next, context);
            if (cannot_stop(tree, context) && rebuild(tree, context)) return next->received - t;
        }
        stand(tree, before, context);
        tree.record_.bound = bound;
        return 0;
    }

    // Makes the cell that of a new root.
    template <class Tree>
    static typename Base::template LookResult<Tree> search_root(Tree& tree,
                                                                typename Tree::Context& context) {
        const auto& scratch = context.scratch;
        const std::uint64_t total =
            ListedEstimation{scratch.cell.estimation.count,
                             scratch.estimation.weights(scratch.cell.estimation)}
                .weight();
        const typename Base::Place root{0, 0, 0, total >= context.settings.beta[0]};
        return Base::can_succeed(tree, root, context)
                   ? Base::search(tree, root, context)
                   : Base::template LookResult<Tree>::passed_over();
    }

private:
    template <class Tree>
    static bool is_due(const Tree& tree, const typename Tree::Context& context) {
        return tree.record_.structure_arrivals >= tree.record_.bound && tree.nodes_[0].inner() &&
               context.received - tree.planted_ <= context.settings.kept_points &&
               context.settings.regrows && tree.totals_.stopped_at == 0;
    }

    // What a tree has received up to some point of a block.
    struct Standing {
        std::uint64_t received;  // points of the stream
        std::uint64_t structure_arrivals;
        TreeTotals totals;
    };
    template <class Tree>
    static Standing standing(const Tree& tree, std::uint64_t received) {
        return {received, tree.record_.structure_arrivals, tree.totals_};
    }
    template <class Tree>
    static void stand(Tree& tree, const Standing& at, typename Tree::Context& context) {
        context.received = at.received;
        tree.record_.structure_arrivals = at.structure_arrivals;
        tree.totals_ = at.totals;
    }

    // Returns where the tree is due to be rebuilt among the next n points, which are counted as if
    // they were learned.
    template <class Tree>
    static std::vector<Standing> next_growths(const Tree& tree, Standing at,
                                              const typename Tree::Label* labels, std::size_t n,
                                              const typename Tree::Context& context) {
        using Stream = TwoStreams::Stream;
        std::vector<Standing> growths;
        std::uint64_t bound = tree.record_.bound;
        const std::uint64_t stream_key = key(context.settings.seed, tree.number_, stream_draw);
        const std::uint64_t end = tree.planted_ + context.settings.kept_points;
        for (std::size_t i = 0; i < n && at.received < end; ++i) {
            const std::uint64_t t = at.received++;
            Tree::Target::meet(at.totals, labels[i]);
            const Weight weight = Base::weight_of(tree, t, context);
            if (weight == 0) continue;
            switch (TwoStreams::stream_of(fold(stream_key, t), context.settings)) {
                case Stream::structure:
                    at.totals.structure_points += weight;
                    if (++at.structure_arrivals >= bound) {
                        bound = 2 * at.structure_arrivals;
                        growths.push_back(at);
                    }
                    break;
                case Stream::estimation:
                    at.totals.estimation_points += weight;
                    break;
                case Stream::ignored:
                    at.totals.ignored_points += weight;
            }
        }
        return growths;
    }

    // A bound that holds however the tree grows: every leaf but a lone root holds a point.
    template <class Tree>
    static bool cannot_stop(Tree& tree, const typename Tree::Context& context) {
        return Budget(tree, context.settings.budget)
            .has_room_for_leaves(tree.totals_.estimation_points + 1, context.space);
    }

    // All points of the tree become the list of a new root. If it does not split, the old tree
    // stays.
    template <class Tree>
    static bool rebuild(Tree& tree, typename Tree::Context& context) {
        static_assert(RegrowingRule<Rule, Tree>);
        auto& record = tree.record_;
        const std::uint64_t old_growth = record.growth;
        record.bound = 2 * record.structure_arrivals;
        record.growth = record.structure_arrivals;
        list_all(tree, context);
        const auto result = Rule::search_root(tree, context);
        auto& scratch = context.scratch;
        if (!result.best) {
            record.growth = old_growth;
            return false;
        }
        Rule::clear_leaves(tree);
        tree.fell();
        tree.plant_root();
        record.leaves.push_back({});
        Base::set_lists(record.leaves[0], scratch.cell, context);
        Base::label_estimation(context);
        Rule::fill_statistics(tree, 0, scratch.cell, context);
        Base::enter(tree, 0, context.received);
        if (!Base::split_young(tree, 0, *result.best, context))
            Rule::rest(tree, 0, scratch.cell, context);
        Base::let_all_look_that_entered(tree, context);
        return true;
    }

    // Since the tree was planted.
    template <class Tree>
    static void list_all(const Tree& tree, typename Tree::Context& context) {
        using Stream = TwoStreams::Stream;
        auto& scratch = context.scratch;
        Base::start_cells(context);
        const std::uint64_t stream_key = key(context.settings.seed, tree.number_, stream_draw);
        scratch.cell.structure = scratch.structure.add([&](std::vector<std::uint64_t>& structure) {
            const auto list_both = [&](std::vector<std::uint64_t>& estimation) {
                for (std::uint64_t t = tree.planted_; t < context.received; ++t) {
                    const Stream stream =
                        TwoStreams::stream_of(fold(stream_key, t), context.settings);
                    if (stream == Stream::ignored || Base::weight_of(tree, t, context) == 0)
                        continue;
                    (Rule::chooses(tree, stream) ? structure : estimation).push_back(t);
                }
            };
            scratch.cell.estimation = scratch.estimation.add(list_both);
        });
        Base::describe_structure(tree, context);
        Base::describe_estimation(tree, context);
    }
};

}  // namespace riparian
