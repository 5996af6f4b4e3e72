// Trees that are grown anew each time their points have doubled, while all that a tree has received is at
// hand (R21).
#pragma once

#include <cstdint>
#include <vector>

#include "draws.hpp"
#include "kept/cells.hpp"
#include "kept/listed.hpp"
#include "rules/looking.hpp"
#include "rules/two_streams.hpp"

namespace riparian {

// What the record of such a tree has.
struct Growth {
    std::uint64_t structure_arrivals = 0;
    std::uint64_t growth = 0;  // g: structure arrivals when the tree was grown; 0: from the start
    std::uint64_t bound = 0;   // structure arrivals at which it is grown anew
    bool growing = false;      // just now
};

// A rule that is made of this also says how the leaves of a tree give way (`clear_leaves`).
template <class Rule>
struct Regrowing : Looking<Rule> {
protected:
    using Base = Looking<Rule>;

    // Once its root has split.
    template <class Tree>
    static void expect_growth(Tree& tree, const KeptSettings& settings) {
        if (tree.nodes_.size() != 3 || tree.record_.growth != 0) return;
        const std::uint64_t twice = 2 * tree.record_.structure_arrivals;
        const double u = uniform(key(settings.seed, tree.number_, bound_draw, 0));
        tree.record_.bound = twice + static_cast<std::uint64_t>(static_cast<double>(twice) * u);
    }

    // A structure point arrives: whether the tree was grown anew from all points, this one included.
    template <class Tree>
    static bool is_grown_anew(Tree& tree, typename Tree::Context& context) {
        ++tree.record_.structure_arrivals;
        if (!is_due(tree, context)) return false;
        tree.record_.growing = true;
        const bool grown = grow_anew(tree, context);
        tree.record_.growing = false;
        return grown;
    }

    template <class Tree>
    static std::uint64_t key_of_draws(const Tree& tree, std::uint32_t node, std::uint32_t attempt,
                                      const KeptSettings& settings) {
        const std::uint64_t first = key(settings.seed, tree.number_, leaf_draw, node, attempt);
        return tree.record_.growth ? fold(first, tree.record_.growth) : first;
    }

private:
    template <class Tree>
    static bool is_due(const Tree& tree, const typename Tree::Context& context) {
        return tree.record_.structure_arrivals >= tree.record_.bound && tree.nodes_[0].inner() &&
               context.received - tree.planted_ <= context.settings.kept_points &&
               context.settings.regrows && tree.totals_.stopped_at == 0;
    }

    // All its points are the list of a new root. If that does not split, the old tree stays.
    template <class Tree>
    static bool grow_anew(Tree& tree, typename Tree::Context& context) {
        auto& record = tree.record_;
        const std::uint64_t old_growth = record.growth;
        record.bound = 2 * record.structure_arrivals;
        record.growth = record.structure_arrivals;
        list_all(tree, context);
        auto& scratch = context.scratch;
        const std::uint64_t total =
            ListedEstimation{scratch.cell.estimation.count,
                             scratch.estimation.weights(scratch.cell.estimation)}
                .weight();
        const typename Base::Place root{0, 0, 0, total >= context.settings.beta[0]};
        const LookResult result = Base::can_succeed(tree, root, context)
                                      ? Base::search(tree, root, context)
                                      : Base::passed_over;
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
        Base::fill_histogram(tree, 0, scratch.cell, context);
        Base::enter(tree, 0, context.received);
        if (!Base::split_young(tree, 0, *result.best, context))
            Rule::rest(tree, 0, scratch.cell, context);
        Base::let_all_look_that_entered(tree, context);
        return true;
    }

    // Since it was planted.
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
                    (stream == Stream::structure ? structure : estimation).push_back(t);
                }
            };
            scratch.cell.estimation = scratch.estimation.add(list_both);
        });
        Base::describe_structure(tree, context);
        Base::describe_estimation(tree, context);
    }
};

}  // namespace riparian
