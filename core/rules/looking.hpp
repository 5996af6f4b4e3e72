// What rules with kept points share (R19, R20): the lists that leaves have of the points in their
// cells, and young leaves that look among them for a split.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "budget.hpp"
#include "counts/streams.hpp"
#include "draws.hpp"
#include "kept/cells.hpp"
#include "kept/kept_pixels.hpp"
#include "kept/kept_points.hpp"
#include "kept/listed.hpp"
#include "kept/lists.hpp"
#include "rules/rule.hpp"
#include "rules/two_streams.hpp"
#include "split/candidate_scratch.hpp"
#include "split/look.hpp"

namespace riparian {

struct KeptSettings : TwoStreams::Settings {
    std::uint32_t kept_points = 0;  // W, above 0
    bool sparse = false;            // rows are kept as their entries that are not zero
    bool regrows = false;           // R21: false where β(0) is far above α(0)
};

// What a rule based on `Looking` must define. `Looking` has defaults for most of it.
template <class Rule, class Tree>
concept LookingRule =
    // Its settings say how many points are kept.
    std::derived_from<typename Rule::Settings, KeptSettings> &&
    requires(Tree& tree, const Tree& const_tree, typename Tree::Context& context,
             const typename Rule::Settings& settings, const Cell& cell,
             typename Tree::Record& record) {
        // Its record has the lists of each leaf, the number of draws without a split, and whether a
        // split was refused.
        { record.lists } -> std::same_as<PointLists&>;
        { record.leaves[0].structure } -> std::same_as<PointList&>;
        { record.leaves[0].estimation } -> std::same_as<PointList&>;
        { record.leaves[0].attempt } -> std::same_as<std::uint32_t&>;
        { record.full } -> std::same_as<bool&>;
        // Where a look draws, given its node and attempt (R13).
        {
            Rule::key_of_draws(const_tree, std::uint32_t{}, std::uint32_t{})
        } -> std::same_as<std::uint64_t>;
        // The structure points that have arrived in a leaf.
        { Rule::arrivals(const_tree, std::uint32_t{}) } -> std::same_as<std::uint32_t>;
        // The gain that a split must exceed.
        { Rule::min_gain(const_tree, settings) } -> std::same_as<double>;
        // What a leaf drops from its lists when it enters the fringe after this many points of the
        // stream.
        Rule::drop_lost(tree, std::uint32_t{}, std::uint64_t{});
        // A cell stays a leaf, so its lists are linked.
        Rule::rest(tree, std::uint32_t{}, cell, context);
        // When the lifetime of a leaf's children began (R12).
        {
            Rule::born_of_children(const_tree, std::uint32_t{}, context)
        } -> std::same_as<std::uint64_t>;
    };

template <class Rule>
struct Looking : RuleDefaults {
    template <class Space, class Target>
    using Shared = KeptPoints<Space, typename Target::Label>;
    template <class Tree>
    using LookResult = typename Look<typename Tree::Target::Tally>::Result;

    // A leaf that has entered the fringe and has not looked yet.
    struct Entered {
        std::uint32_t leaf;
        std::optional<Cell>
            cell;  // its points, whose links are not made yet; empty if it has its list
    };
    template <class Space, class Target>
    struct Scratch : CandidateScratch<Space, Target> {
        using Look = riparian::Look<typename Target::Tally>;

        CellPoints<typename Target::Label> structure, estimation;
        std::vector<std::uint32_t> split_points;
        std::vector<float> gathered;
        std::vector<typename Space::Point> rows;  // listed points, where they are stored
        std::vector<Entered> entered;             // the leaves that the last split let in
        std::vector<Entered> stack;               // the leaves that wait until those have looked
        Cell cell;                                // of the leaf that looks or splits
        Cell left, right;                         // of its children
        std::optional<typename Look::Values>
            cut_values;  // of its points, in the dimension of the split
        typename Target::Tally tally;
        Look look;
        typename Target::List list;
    };

    // R12, as in the paper; a leaf that enters is young.
    template <class Tree>
    static void fill_fringe(Tree& tree, std::uint32_t left, std::uint32_t right,
                            typename Tree::Context& context) {
        static_assert(LookingRule<Rule, Tree>);
        auto& scratch = context.scratch;
        const auto enter_and_look = [&](std::uint32_t leaf, std::optional<Cell> cell) {
            enter(tree, leaf, context.received);
            scratch.entered.push_back({leaf, cell});
        };
        if (!context.settings.bounded()) {
            enter_and_look(right, scratch.right);
            enter_and_look(left, scratch.left);
            return;
        }
        if (has_room_for_both(tree, context.settings)) {
            tree.totals_.activations += 2;
            enter_and_look(right, scratch.right);
            enter_and_look(left, scratch.left);
            return;
        }
        // Only leaves that wait have an ŝ.
        Rule::fill_statistics(tree, left, scratch.left, context);
        Rule::fill_statistics(tree, right, scratch.right, context);
        bool left_waits = true, right_waits = true;
        TwoStreams::let_enter(tree, left, right, context.settings, [&](std::uint32_t leaf) {
            if (leaf == left) {
                left_waits = false;
                enter_and_look(leaf, scratch.left);
            } else if (leaf == right) {
                right_waits = false;
                enter_and_look(leaf, scratch.right);
            } else {
                enter_and_look(leaf, std::nullopt);
            }
        });
        if (left_waits) Rule::rest(tree, left, scratch.left, context);
        if (right_waits) Rule::rest(tree, right, scratch.right, context);
    }

    // Whether no leaf waits and two may enter the fringe, in any order.
    template <class Tree>
    static bool has_room_for_both(Tree& tree, const KeptSettings& settings) {
        if (!tree.waiting_.empty() || tree.active_ + 2 > settings.fringe_size) return false;
        ++tree.active_;
        const bool has_room = Budget(tree, settings.budget).has_room();
        --tree.active_;
        return has_room;
    }

    // Keeps a block of points, then lets all trees learn it in parallel.
    template <class Forest>
    static void learn(Forest& forest, const typename Forest::Block& points, std::size_t workers) {
        const std::uint64_t kept = std::min<std::uint64_t>(forest.points_learned() + points.size(),
                                                           forest.settings().kept_points);
        // Every level needs one kept estimation point, or four arriving points.
        if (forest.settings().beta.size() < forest.deepest() + kept + points.size() / 4 + 2)
            throw std::logic_error("the schedules must reach as deep as the block can");
        forest.shared().add(points.batch, points.labels, points.weights, forest.points_learned());
        forest.learn_together(points, workers);
    }

    template <class Tree>
    static std::uint32_t attempt_of(const Tree& tree, std::uint32_t leaf) {
        return tree.record_.leaves[leaf].attempt;
    }

    // -- what a rule may define differently -------------------------------------------------------

    template <class Tree>
    static double min_gain(const Tree&, const KeptSettings& settings) {
        return settings.min_gain;
    }
    template <class Tree>
    static void drop_lost(Tree&, std::uint32_t, std::uint64_t) {}
    // Whether points of this stream are on the list that chooses splits.
    template <class Tree>
    static bool chooses(const Tree&, TwoStreams::Stream stream) {
        return stream == TwoStreams::Stream::structure;
    }
    template <class Tree>
    static void rest(Tree& tree, std::uint32_t, const Cell& cell, typename Tree::Context& context) {
        link(tree, cell, context);
    }

protected:
    // Called after a point was learned.
    template <class Tree>
    RIPARIAN_HOT static void stay_within_budget(Tree& tree, std::uint64_t t,
                                                typename Tree::Context& context) {
        Budget budget(tree, context.settings.budget);
        if (tree.record_.full) [[unlikely]] {
            tree.record_.full = false;
            if (tree.totals_.stopped_at == 0) budget.stop(t);
        } else if (budget.is_exceeded()) [[unlikely]] {
            budget.make_room(t);
        }
    }

    template <class Tree>
    static void enter(Tree& tree, std::uint32_t index, std::uint64_t received = 0) {
        Rule::drop_lost(tree, index, received);
        tree.record_.leaves[index].attempt = 0;
        tree.leaves_[index].next = 1;
        ++tree.active_;
    }

    // -- what a leaf lists ------------------------------------------------------------------------

    // R17: the weight of a kept point, as this tree received it.
    template <class Tree>
    static Weight weight_of(const Tree& tree, std::uint64_t t,
                            const typename Tree::Context& context) {
        const double weight = context.shared.weight(t);
        return weight == 1.0 ? 1 : tree.round_weight(weight, t, context.settings);
    }

    // Makes the points that a leaf lists the cell.
    template <class Tree>
    static void read_cell(const Tree& tree, std::uint32_t index, typename Tree::Context& context) {
        auto& scratch = context.scratch;
        const auto& leaf = tree.record_.leaves[index];
        start_cells(context);
        scratch.cell = std::remove_cvref_t<decltype(scratch.structure)>::add(
            scratch.structure, scratch.estimation, [&](auto& of_structure, auto& of_estimation) {
                tree.record_.lists.read_both(leaf.structure, of_structure, leaf.estimation,
                                             of_estimation, context.received,
                                             [&](std::uint64_t t) { context.shared.prefetch(t); });
            });
        describe_structure(tree, context);
        describe_estimation(tree, context);
    }
    template <class Tree>
    static void read_structure(const Tree& tree, std::uint32_t index,
                               typename Tree::Context& context) {
        auto& scratch = context.scratch;
        start_cells(context);
        scratch.cell.structure = scratch.structure.add([&](std::vector<std::uint64_t>& ts) {
            tree.record_.lists.read(tree.record_.leaves[index].structure, context.received, ts);
        });
        describe_structure(tree, context);
    }
    // The points come without their labels, because a look must not know them.
    template <class Tree>
    static void read_estimation(const Tree& tree, std::uint32_t index,
                                typename Tree::Context& context) {
        auto& scratch = context.scratch;
        scratch.cell.estimation = scratch.estimation.add([&](std::vector<std::uint64_t>& ts) {
            tree.record_.lists.read(tree.record_.leaves[index].estimation, context.received, ts);
        });
        describe_estimation(tree, context);
    }

    // If no leaf waits, no cell is needed any more.
    template <class Context>
    static void start_cells(Context& context) {
        if (!context.scratch.stack.empty()) return;
        context.scratch.structure.clear();
        context.scratch.estimation.clear();
    }

    template <class Tree>
    static void describe_structure(const Tree& tree, typename Tree::Context& context) {
        auto& points = context.scratch.structure;
        const Run run = context.scratch.cell.structure;
        context.shared.labels(points.ts(run), points.labels(run));
        weigh(tree, points, run, context);
    }
    template <class Tree>
    static void describe_estimation(const Tree& tree, typename Tree::Context& context) {
        weigh(tree, context.scratch.estimation, context.scratch.cell.estimation, context);
    }
    template <class Tree, class Points>
    static void weigh(const Tree& tree, Points& points, const Run& run,
                      const typename Tree::Context& context) {
        if (!context.shared.weighted()) return;
        points.weigh(run, [&](std::uint64_t t) { return weight_of(tree, t, context); });
    }

    // Called when the cell is about to be split.
    template <class Context>
    static void label_estimation(Context& context) {
        auto& points = context.scratch.estimation;
        const Run run = context.scratch.cell.estimation;
        context.shared.labels(points.ts(run), points.labels(run));
    }

    template <class Context, class Cut>
    static void divide_cell(const Cut& cut, Context& context) {
        using Space = std::remove_cvref_t<decltype(context.space)>;
        auto& scratch = context.scratch;
        const auto divide = [&](auto& points, const Run& run, const float* values) {
            if (!values) {
                scratch.gathered.resize(run.count);
                context.shared.values(std::span(&cut.feature, 1), points.ts(run),
                                      scratch.gathered.data(), run.count);
                values = scratch.gathered.data();
            }
            return points.divide(run, values, cut.threshold, Space::equals(cut.feature));
        };
        const auto structure = divide(scratch.structure, scratch.cell.structure,
                                      scratch.cut_values ? scratch.cut_values->structure : nullptr);
        const auto estimation =
            divide(scratch.estimation, scratch.cell.estimation,
                   scratch.cut_values ? scratch.cut_values->estimation : nullptr);
        scratch.left = {structure.left, estimation.left};
        scratch.right = {structure.right, estimation.right};
    }

    template <class Leaf, class Context>
    static void set_lists(Leaf& leaf, const Cell& cell, const Context& context) {
        leaf.structure = PointLists::list_of(context.scratch.structure.ts(cell.structure));
        leaf.estimation = PointLists::list_of(context.scratch.estimation.ts(cell.estimation));
    }
    template <class Tree>
    static void link(Tree& tree, const Cell& cell, const typename Tree::Context& context) {
        tree.record_.lists.link(context.scratch.structure.ts(cell.structure));
        tree.record_.lists.link(context.scratch.estimation.ts(cell.estimation));
    }

    template <class Tree, class Visitor>
    static void visit_points(const Tree& tree, std::uint64_t first, std::uint64_t last,
                             const typename Tree::Context& context, Visitor&& visitor);
    // The kept points go down the tree again (see state.hpp).
    template <class Tree, class Listed>
    static void list_points(Tree& tree, std::uint64_t first, typename Tree::Context& context,
                            Listed&& listed);

    // Makes the statistics, unless the leaf has them. A leaf that splits at its first look never
    // predicts, so it needs none.
    template <class Tree>
    static void fill_statistics(Tree& tree, std::uint32_t index, const Cell& cell,
                                typename Tree::Context& context) {
        if (tree.leaves_[index].estimation.total() > 0) return;
        auto& points = context.scratch.estimation;
        tree.leaves_[index].estimation.fill(tree.statistics_, points.labels(cell.estimation),
                                            points.weights(cell.estimation), context.scratch.check);
    }

    // -- a young leaf looks (R20) -----------------------------------------------------------------

    // Where a look draws: the node, and how often it did so before.
    struct Place {
        std::uint32_t node, attempt, depth;
        bool must;  // whether the leaf holds β(d)
    };

    // The cell's structure points, if a look at them can succeed.
    template <class Tree>
    static bool can_succeed(const Tree& tree, const Place& place, typename Tree::Context& context) {
        auto& scratch = context.scratch;
        const Run run = scratch.cell.structure;
        if (run.count < 2) return false;
        scratch.tally.set(scratch.structure.labels(run), scratch.structure.weights(run));
        return place.must || scratch.tally.can_succeed(Rule::min_gain(tree, context.settings));
    }

    // Draws which of the cell's structure points become thresholds: m of them, or all if there are
    // fewer.
    template <class Context>
    static void draw_split_points(Draws& draws, Context& context) {
        auto& scratch = context.scratch;
        const auto n = static_cast<std::uint32_t>(scratch.cell.structure.count);
        scratch.shuffle.draw(draws, n, std::min(n, context.settings.split_points),
                             scratch.split_points);
    }

    // Returns the best valid split of the cell, whose tally is set. It receives numbers and weights
    // of estimation points, never labels.
    template <class Tree>
    static LookResult<Tree> search(const Tree& tree, const Place& place,
                                   typename Tree::Context& context) {
        const auto& settings = context.settings;
        auto& scratch = context.scratch;
        const auto estimation = scratch.estimation.ts(scratch.cell.estimation);
        const std::uint64_t alpha = settings.alpha[place.depth];
        const ListedEstimation listed{estimation.size(),
                                      scratch.estimation.weights(scratch.cell.estimation)};
        if (listed.weight() / 2 < alpha) return LookResult<Tree>::passed_over();
        const double min_gain = Rule::min_gain(tree, settings);
        const auto above = place.must ? std::nullopt : std::optional(min_gain);
        const std::uint64_t start = draw_candidates(tree, place.node, place.attempt, context);
        return search_among(start, estimation, listed, alpha, above, context);
    }

    // Draws dimensions, then split points; returns the key of the draws.
    template <class Tree>
    static std::uint64_t draw_candidates(const Tree& tree, std::uint32_t node,
                                         std::uint32_t attempt, typename Tree::Context& context) {
        auto& scratch = context.scratch;
        const std::uint64_t start = Rule::key_of_draws(tree, node, attempt);
        Draws draws(start);
        context.space.draw(draws, scratch.shuffle, scratch.drawn);
        draw_split_points(draws, context);
        return start;
    }

    // Returns the best of the candidates just drawn. A candidate is valid with at least α of these
    // points on both sides.
    template <class Context>
    static auto search_among(std::uint64_t start, std::span<const std::uint64_t> counted,
                             const ListedEstimation& listed, std::uint64_t alpha,
                             std::optional<double> above, Context& context) {
        using Space = std::remove_cvref_t<decltype(context.space)>;
        auto& scratch = context.scratch;
        const ListedValues values(context.shared, scratch.structure.ts(scratch.cell.structure),
                                  counted, start);
        const auto result =
            scratch.look.search(std::span<const typename Space::Feature>(scratch.drawn),
                                std::span<const std::uint32_t>(scratch.split_points), scratch.tally,
                                listed, values, alpha, above);
        if (result.best) scratch.cut_values = scratch.look.values_of_best();
        return result;
    }

    template <class Tree>
    static void look(Tree& tree, const Entered& entered, typename Tree::Context& context) {
        const auto& settings = context.settings;
        const std::uint32_t index = entered.leaf;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        auto& listed = tree.record_.leaves[index];
        const std::uint32_t n = Rule::arrivals(tree, index);
        const std::uint32_t depth = tree.schedule_depth(index);
        // Most looks lack estimation points, which is cheap to detect.
        const bool lacks_points = n < 2 || (!context.shared.weighted() &&
                                            listed.estimation.count / 2 < settings.alpha[depth]);
        if (!lacks_points) {
            const bool must = total_of(leaf, entered, context) >= settings.beta[depth];
            const Place place{leaf.node, listed.attempt, depth, must};
            const auto result = look_at_cell(tree, entered, place, context);
            if (result.best) {
                if (!entered.cell) label_estimation(context);
                if (split_young(tree, index, *result.best, context)) return;
            }
            if (!result.any_valid) ++listed.attempt;
        }
        leaf.next = next_look(n);
        if (!entered.cell) return;
        Rule::fill_statistics(tree, index, *entered.cell, context);
        Rule::rest(tree, index, *entered.cell, context);
    }

    // The next look after one at n points.
    static std::uint32_t next_look(std::uint32_t n) {
        return std::max(n + 1, static_cast<std::uint32_t>((13 * std::uint64_t{n} + 9) / 10));
    }

    // Uses the statistics that the leaf has or would have.
    template <class Leaf, class Context>
    static std::uint64_t total_of(const Leaf& leaf, const Entered& entered, Context& context) {
        if (leaf.estimation.total() > 0 || !entered.cell) return leaf.estimation.total();
        const Run run = entered.cell->estimation;
        return ListedEstimation{run.count, context.scratch.estimation.weights(run)}.weight();
    }

    // Reads the list only as far as it is needed.
    template <class Tree>
    static LookResult<Tree> look_at_cell(const Tree& tree, const Entered& entered,
                                         const Place& place, typename Tree::Context& context) {
        if (entered.cell)
            context.scratch.cell = *entered.cell;
        else
            read_structure(tree, entered.leaf, context);
        if (!can_succeed(tree, place, context)) return LookResult<Tree>::passed_over();
        if (!entered.cell) read_estimation(tree, entered.leaf, context);
        return search(tree, place, context);
    }

    // Returns whether there was memory for the split.
    // If there was none, the tree stops growing after it has learned the point.
    template <class Tree>
    static bool has_room_for(Tree& tree, const typename Tree::Feature& feature,
                             const typename Tree::Context& context) {
        if (Budget(tree, context.settings.budget).can_split(feature)) return true;
        tree.record_.full = true;
        return false;
    }

    template <class Tree>
    static bool split_young(Tree& tree, std::uint32_t index,
                            const LookChoice<typename Tree::Target::G>& choice,
                            typename Tree::Context& context) {
        if (!has_room_for(tree, context.scratch.drawn[choice.feature], context)) return false;
        if (choice.gain > Rule::min_gain(tree, context.settings))
            ++tree.totals_.should_splits;
        else
            ++tree.totals_.must_splits;
        typename Tree::Leaf left, right;
        left.born = right.born = Rule::born_of_children(tree, index, context);
        tree.split(index, {context.scratch.drawn[choice.feature], choice.threshold, choice.g}, left,
                   right, context);
        return true;
    }

    // Leaves look in order of node number, each as deep as it goes: leaves that enter meanwhile
    // look first. The order in which they entered cannot be used, because ŝ depends on labels, and
    // labels must not number nodes.
    template <class Tree>
    RIPARIAN_HOT static void let_all_look_that_entered(Tree& tree,
                                                       typename Tree::Context& context) {
        if (!context.scratch.entered.empty())
            let_them_look(tree, context);  // for most points, no leaf looks
    }
    template <class Tree>
    static void let_them_look(Tree& tree, typename Tree::Context& context) {
        auto& entered = context.scratch.entered;
        auto& stack = context.scratch.stack;
        while (!stack.empty() || !entered.empty()) {
            const auto is_later = [&](const Entered& a, const Entered& b) {
                return tree.leaves_[a.leaf].node > tree.leaves_[b.leaf].node;
            };
            if (!std::is_sorted(entered.begin(), entered.end(), is_later))
                std::sort(entered.begin(), entered.end(), is_later);
            for (const Entered& leaf : entered) stack.push_back(leaf);
            entered.clear();
            const Entered next = stack.back();
            stack.pop_back();
            Rule::look(tree, next, context);
        }
    }
};

}  // namespace riparian
