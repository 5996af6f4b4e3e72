// The paper's two streams, with kept points (R19 to R21): a leaf lists the points at hand in its cell. A
// young leaf looks among them for a split; once it has lost one of them it settles, and counts as the
// paper has it. While no point of the stream is lost, a tree is grown anew each time its points have
// doubled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "budget.hpp"
#include "counts/histogram.hpp"
#include "counts/labels.hpp"
#include "draws.hpp"
#include "kept/cells.hpp"
#include "kept/kept_pixels.hpp"
#include "kept/kept_points.hpp"
#include "kept/listed.hpp"
#include "kept/lists.hpp"
#include "memory/array.hpp"
#include "rules/two_streams.hpp"
#include "settings.hpp"
#include "split/candidate_scratch.hpp"
#include "split/look.hpp"
#include "split/split_points.hpp"

namespace riparian {

struct Keeping {
    struct Settings : TwoStreams::Settings {
        std::uint32_t kept_points = 0;  // W, above 0
        bool sparse = false;            // rows are kept as their entries that are not zero
        bool regrows = false;           // R21: off where β(0) is far above α(0)
    };
    using Evidence = TwoStreamsEvidence;
    using Stream = TwoStreams::Stream;

    // What a leaf has beside its histogram and candidates.
    struct ListedLeaf {
        PointList structure, estimation;
        std::uint32_t attempt = 0;  // while young: times it drew in vain
    };

    struct Record {
        explicit Record(const Settings& settings) : lists(settings.kept_points) {}

        Array<ListedLeaf> leaves;  // side by side with the leaves of the tree
        PointLists lists;
        std::uint64_t structure_arrivals = 0;
        std::uint64_t growth =
            0;  // g: structure arrivals when the tree was grown; 0: from the start
        std::uint64_t bound = 0;            // structure arrivals at which it is grown anew
        std::uint64_t lost_estimation = 0;  // weight of the estimation points that are not at hand
        bool full = false;                  // a split was refused for want of memory

        static std::size_t bytes(std::size_t n_leaves) {
            return Array<ListedLeaf>::bytes(n_leaves);
        }
    };

    template <class Space>
    using Shared = KeptPoints<Space>;

    // A leaf that is in the fringe and has not looked yet.
    struct Entered {
        std::uint32_t leaf;
        std::optional<Cell>
            cell;  // its points, whose links are not made yet; none: it has its list
    };
    template <class Space>
    struct Scratch : CandidateScratch<Space> {
        CellPoints structure, estimation;
        std::vector<std::uint32_t> split_points;
        std::vector<float> gathered;
        std::vector<Entered> entered;            // those that the last split let in,
        std::vector<Entered> stack;              // and those that wait for them to have looked
        Cell cell;                               // of the leaf that looks or splits,
        Cell left, right;                        // and of its children
        std::optional<Look::Values> cut_values;  // of its points, in the dimension of the split
        StructureTally tally;
        Look look;
    };

    static KeptPoints<Columns> shared(const Settings& settings, const Columns& space) {
        return {settings.kept_points, space.n_dims(), settings.sparse ? Rows::sparse : Rows::dense};
    }
    static KeptPoints<DepthDifferences> shared(const Settings& settings, const DepthDifferences&) {
        return KeptPoints<DepthDifferences>(settings.kept_points);
    }

    // The kept points as arrays.
    template <class Space>
    using SharedState = decltype(std::declval<const KeptPoints<Space>&>().save());
    template <class Space>
    static void restore_shared(KeptPoints<Space>& kept, const SharedState<Space>& state) {
        kept.restore(state);
    }
    // Columns have joined: they are missing in the points that are there.
    static void widen(KeptPoints<Columns>& kept, const Columns& space) {
        kept.set_columns(space.n_dims());
    }
    static void widen(KeptPoints<DepthDifferences>&, const DepthDifferences&) {}

    template <class Tree>
    static void plant(Tree& tree, typename Tree::Context&) {
        tree.record_.leaves.push_back({});
        enter(tree, 0);
    }

    // The point that is not at hand any more: what the tree had received of it counts as lost.
    template <class Tree>
    RIPARIAN_HOT static void arrive(Tree& tree, std::uint64_t t, std::uint64_t stream_key,
                                    typename Tree::Context& context) {
        if (t < context.settings.kept_points) return;
        const std::uint64_t lost = t - context.settings.kept_points;
        if (TwoStreams::stream_of(fold(stream_key, lost), context.settings) == Stream::estimation)
            tree.record_.lost_estimation += weight_of(tree, lost, context);
    }

    template <class Tree>
    RIPARIAN_HOT static void receive(Tree& tree, std::uint32_t leaf, std::uint64_t t,
                                     std::uint64_t draw, typename Tree::Point x, Class y, Weight n,
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
        Budget budget(tree, context.settings.budget);
        if (tree.record_.full) [[unlikely]] {
            tree.record_.full = false;
            if (tree.totals_.stopped_at == 0) budget.stop(t);
        } else if (budget.is_exceeded()) [[unlikely]] {
            budget.make_room(t);
        }
    }

    // The list of a leaf is divided between its children, in order. Those of a young leaf start with
    // the histogram of what they list. A child's points are linked once it has looked or waits.
    template <class Tree>
    static void inherit(Tree& tree, std::uint32_t left, std::uint32_t right,
                        const typename Tree::Cut& cut, bool was_young,
                        typename Tree::Context& context) {
        auto& scratch = context.scratch;
        Record& record = tree.record_;
        if (tree.nodes_.size() == 3 && record.growth == 0) set_first_bound(tree, context.settings);
        if (!was_young) {
            read_cell(tree, left, context);
            label_estimation(context);
            scratch.cut_values.reset();
        }
        record.leaves.push_back({});
        divide_cell(cut, context);
        record.leaves[left] = list_of(scratch.left, context);
        record.leaves[right] = list_of(scratch.right, context);
        if (!was_young) return;
        fill_histogram(tree, left, scratch.left, context);
        fill_histogram(tree, right, scratch.right, context);
    }

    // R12, as in the paper; who enters is young.
    template <class Tree>
    static void fill_fringe(Tree& tree, std::uint32_t left, std::uint32_t right,
                            typename Tree::Context& context) {
        auto& scratch = context.scratch;
        const auto enter_and_look = [&](std::uint32_t leaf, std::optional<Cell> cell) {
            enter(tree, leaf, context.received);
            scratch.entered.push_back({leaf, cell});
        };
        if (!context.settings.bounded()) {
            enter_and_look(left, scratch.left);
            enter_and_look(right, scratch.right);
            return;
        }
        for (const std::uint32_t leaf : {left, right}) tree.wait(leaf);
        bool left_waits = true, right_waits = true;
        const Budget budget(tree, context.settings.budget);
        while (tree.active_ < context.settings.fringe_size && !tree.waiting_.empty() &&
               budget.has_room()) {
            const std::uint32_t leaf = tree.take_waiting();
            if (leaf == left) {
                left_waits = false;
                enter_and_look(leaf, scratch.left);
            } else if (leaf == right) {
                right_waits = false;
                enter_and_look(leaf, scratch.right);
            } else {
                enter_and_look(leaf, std::nullopt);
            }
        }
        if (left_waits) link(tree, scratch.left, context);
        if (right_waits) link(tree, scratch.right, context);
    }

    template <class Tree>
    static void settled(Tree& tree, std::uint32_t leaf, typename Tree::Context& context) {
        TwoStreams::settled(tree, leaf, context);
    }
    template <class Tree>
    static void tidy(Tree& tree, const Settings& settings) {
        TwoStreams::tidy(tree, settings);
    }

    // A block of points is kept, then learned by all trees side by side.
    template <class Forest>
    static void learn(Forest& forest, const typename Forest::Block& points, std::size_t workers) {
        const std::uint64_t at_hand = std::min<std::uint64_t>(
            forest.points_learned() + points.size(), forest.settings().kept_points);
        // Every level takes an estimation point that is at hand, or four points that arrive.
        if (forest.settings().beta.size() < forest.deepest() + at_hand + points.size() / 4 + 2)
            throw std::logic_error("the schedules must reach as deep as the block can");
        forest.shared().add(points.batch, points.labels, points.weights, forest.points_learned());
        forest.learn_together(points, workers);
    }

    // Arrivals, growth and bound; of active leaves, when they look and whether they have lost a point.
    // The lists follow from the points at hand.
    template <class Tree>
    static void save(const Tree& tree, typename Tree::State& out);
    template <class Tree>
    static void restore(Tree& tree, const typename Tree::State& in,
                        typename Tree::Context& context);
    template <class Tree>
    static std::uint32_t attempt_of(const Tree& tree, std::uint32_t leaf) {
        return tree.record_.leaves[leaf].attempt;
    }
    template <class Tree>
    static bool has_lost(const Tree& tree, std::uint32_t leaf) {
        return has_lost(tree, leaf, tree.received_);
    }

private:
    // -- receiving a point --------------------------------------------------------------------------

    template <class Tree>
    RIPARIAN_HOT static void learn_estimation(Tree& tree, std::uint32_t index, std::uint64_t t,
                                              typename Tree::Point x, Class y, Weight n,
                                              typename Tree::Context& context) {
        tree.totals_.estimation_points += n;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        const std::uint64_t errors = leaf.estimation.errors();
        leaf.estimation.add(tree.histograms_, y, n);
        tree.record_.lists.push(tree.record_.leaves[index].estimation, t);
        if (leaf.settled())
            leaf.candidates->observe_estimation(tree.pool_, x, y, n, tree.n_classes(),
                                                context.scratch);
        else if (!leaf.young() && leaf.estimation.errors() > errors)
            tree.waiting_.raise(leaf.place, tree.s_hat(index), tree.moved());
    }

    template <class Tree>
    static void learn_structure(Tree& tree, std::uint32_t index, std::uint64_t t,
                                typename Tree::Point x, Class y, Weight n,
                                typename Tree::Context& context) {
        Record& record = tree.record_;
        tree.totals_.structure_points += n;
        ++record.structure_arrivals;
        if (is_due(tree, context) && grow_anew(tree, context)) return;
        record.lists.push(record.leaves[index].structure, t);
        const typename Tree::Leaf& leaf = tree.leaves_[index];
        if (leaf.settled()) {
            leaf.candidates->observe_structure(tree.pool_, x, y, n, tree.n_classes(),
                                               tree.totals_.estimation_points, context.scratch);
            check(tree, index, context);
        } else if (leaf.young()) {
            if (has_lost(tree, index, context.received)) {
                settle(tree, index, record.leaves[index].attempt, context);
                check(tree, index, context);
            } else if (record.leaves[index].structure.count >= leaf.next) {
                look(tree, {index, std::nullopt}, context);
            }
        }
        let_all_look_that_entered(tree, context);
    }

    // Whether a listed point is not at hand any more.
    template <class Tree>
    static bool has_lost(const Tree& tree, std::uint32_t index, std::uint64_t received) {
        const ListedLeaf& leaf = tree.record_.leaves[index];
        return tree.record_.lists.has_lost(leaf.structure, received) ||
               tree.record_.lists.has_lost(leaf.estimation, received);
    }

    template <class Tree>
    static void enter(Tree& tree, std::uint32_t index, std::uint64_t received = 0) {
        ListedLeaf& leaf = tree.record_.leaves[index];
        tree.record_.lists.drop_lost(leaf.structure, received);
        tree.record_.lists.drop_lost(leaf.estimation, received);
        leaf.attempt = 0;
        tree.leaves_[index].next = 1;
        ++tree.active_;
    }

    template <class Tree>
    static void list_again(Tree& tree, typename Tree::Context& context);

    // -- what a leaf lists ----------------------------------------------------------------------------

    // R17: of a point at hand, as this tree has received it.
    template <class Tree>
    static Weight weight_of(const Tree& tree, std::uint64_t t,
                            const typename Tree::Context& context) {
        const double weight = context.shared.weight(t);
        return weight == 1.0 ? 1 : tree.round_weight(weight, t, context.settings);
    }

    // The points that a leaf lists become the cell.
    template <class Tree>
    static void read_cell(const Tree& tree, std::uint32_t index, typename Tree::Context& context) {
        read_structure(tree, index, context);
        read_estimation(tree, index, context);
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
    // Without their labels: a look must not know them.
    template <class Tree>
    static void read_estimation(const Tree& tree, std::uint32_t index,
                                typename Tree::Context& context) {
        auto& scratch = context.scratch;
        scratch.cell.estimation = scratch.estimation.add([&](std::vector<std::uint64_t>& ts) {
            tree.record_.lists.read(tree.record_.leaves[index].estimation, context.received, ts);
        });
        describe_estimation(tree, context);
    }

    // Where nobody waits, all cells are done with.
    template <class Context>
    static void start_cells(Context& context) {
        if (!context.scratch.stack.empty()) return;
        context.scratch.structure.clear();
        context.scratch.estimation.clear();
    }

    template <class Tree>
    static void describe_structure(const Tree& tree, typename Tree::Context& context) {
        CellPoints& points = context.scratch.structure;
        const Run run = context.scratch.cell.structure;
        context.shared.labels(points.ts(run), points.labels(run));
        weigh(tree, points, run, context);
    }
    template <class Tree>
    static void describe_estimation(const Tree& tree, typename Tree::Context& context) {
        weigh(tree, context.scratch.estimation, context.scratch.cell.estimation, context);
    }
    template <class Tree>
    static void weigh(const Tree& tree, CellPoints& points, const Run& run,
                      const typename Tree::Context& context) {
        if (!context.shared.weighted()) return;
        points.weigh(run, [&](std::uint64_t t) { return weight_of(tree, t, context); });
    }

    // Once the cell is to be split.
    template <class Context>
    static void label_estimation(Context& context) {
        CellPoints& points = context.scratch.estimation;
        const Run run = context.scratch.cell.estimation;
        context.shared.labels(points.ts(run), points.labels(run));
    }

    template <class Context, class Cut>
    static void divide_cell(const Cut& cut, Context& context) {
        auto& scratch = context.scratch;
        const auto divide = [&](CellPoints& points, const Run& run, const float* values) {
            if (!values) {
                scratch.gathered.resize(run.count);
                context.shared.values(std::span(&cut.feature, 1), points.ts(run),
                                      scratch.gathered.data(), run.count);
                values = scratch.gathered.data();
            }
            return points.divide(run, values, cut.threshold);
        };
        const auto structure = divide(scratch.structure, scratch.cell.structure,
                                      scratch.cut_values ? scratch.cut_values->structure : nullptr);
        const auto estimation =
            divide(scratch.estimation, scratch.cell.estimation,
                   scratch.cut_values ? scratch.cut_values->estimation : nullptr);
        scratch.left = {structure.left, estimation.left};
        scratch.right = {structure.right, estimation.right};
    }

    template <class Context>
    static ListedLeaf list_of(const Cell& cell, const Context& context) {
        return {PointLists::list_of(context.scratch.structure.ts(cell.structure)),
                PointLists::list_of(context.scratch.estimation.ts(cell.estimation)), 0};
    }
    template <class Tree>
    static void link(Tree& tree, const Cell& cell, const typename Tree::Context& context) {
        tree.record_.lists.link(context.scratch.structure.ts(cell.structure));
        tree.record_.lists.link(context.scratch.estimation.ts(cell.estimation));
    }

    template <class Tree>
    static void fill_histogram(Tree& tree, std::uint32_t index, const Cell& cell,
                               typename Tree::Context& context) {
        EstimationHistogram& histogram = tree.leaves_[index].estimation;
        CellPoints& points = context.scratch.estimation;
        const auto labels = points.labels(cell.estimation);
        const auto weights = points.weights(cell.estimation);
        for (std::size_t i = 0; i < labels.size(); ++i)
            histogram.add(tree.histograms_, labels[i], weights.empty() ? Weight{1} : weights[i]);
    }

    // -- a young leaf looks (R20) -------------------------------------------------------------------

    // Where a look draws: the node and how often it did so before.
    struct Place {
        std::uint32_t node, attempt, depth;
        bool must;  // the leaf holds β(d)
    };

    template <class Tree>
    static Draws draws_of(const Tree& tree, std::uint32_t node, std::uint32_t attempt,
                          const Settings& settings) {
        const std::uint64_t start = key(settings.seed, tree.number_, leaf_draw, node, attempt);
        return Draws(tree.record_.growth ? fold(start, tree.record_.growth) : start);
    }

    // A look that cannot succeed is passed over: it counts as one that lacked points.
    static constexpr LookResult passed_over{.any_valid = true, .best = std::nullopt};

    // The cell's structure points: whether a look at them can succeed.
    template <class Context>
    static bool can_succeed(const Place& place, Context& context) {
        auto& scratch = context.scratch;
        const Run run = scratch.cell.structure;
        if (run.count < 2) return false;
        scratch.tally.set(scratch.structure.labels(run), scratch.structure.weights(run));
        return place.must || look_can_succeed(scratch.tally, context.settings.min_gain);
    }

    // The best valid split of the cell, whose tally is set. Of estimation points it is handed numbers
    // and weights, never labels.
    template <class Tree>
    static LookResult search(const Tree& tree, const Place& place,
                             typename Tree::Context& context) {
        const Settings& settings = context.settings;
        auto& scratch = context.scratch;
        const auto structure = scratch.structure.ts(scratch.cell.structure);
        const auto estimation = scratch.estimation.ts(scratch.cell.estimation);
        const std::uint64_t alpha = settings.alpha[place.depth];
        const ListedEstimation listed{estimation.size(),
                                      scratch.estimation.weights(scratch.cell.estimation)};
        if (listed.weight() / 2 < alpha) return passed_over;
        Draws draws = draws_of(tree, place.node, place.attempt, settings);
        context.space.draw(draws, scratch.drawn);
        draw_split_points(draws, static_cast<std::uint32_t>(structure.size()),
                          settings.split_points, scratch.split_points);
        const auto above = place.must ? std::nullopt : std::optional(settings.min_gain);
        const ListedValues values(context.shared, structure, estimation);
        return scratch.look.search(std::span<const typename Tree::Feature>(scratch.drawn),
                                   std::span<const std::uint32_t>(scratch.split_points),
                                   scratch.tally, listed, values, alpha, above);
    }

    template <class Tree>
    static void look(Tree& tree, const Entered& entered, typename Tree::Context& context) {
        const Settings& settings = context.settings;
        const std::uint32_t index = entered.leaf;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        ListedLeaf& listed = tree.record_.leaves[index];
        const auto n = static_cast<std::uint32_t>(listed.structure.count);
        // Most looks lack estimation points, and that is cheap to see.
        const bool lacks_points =
            n < 2 || (!context.shared.weighted() &&
                      listed.estimation.count / 2 < settings.alpha[leaf.depth]);
        if (!lacks_points) {
            const bool must = leaf.estimation.total() >= settings.beta[leaf.depth];
            const Place place{leaf.node, listed.attempt, leaf.depth, must};
            const LookResult result = look_at_cell(tree, entered, place, context);
            if (result.best) {
                if (!entered.cell) label_estimation(context);
                if (split_young(tree, index, *result.best, context)) return;
            }
            if (!result.any_valid) ++listed.attempt;
        }
        leaf.next = std::max(n + 1, static_cast<std::uint32_t>((13 * std::uint64_t{n} + 9) / 10));
        if (entered.cell) link(tree, *entered.cell, context);
    }

    // Its list is read as far as it is needed.
    template <class Tree>
    static LookResult look_at_cell(const Tree& tree, const Entered& entered, const Place& place,
                                   typename Tree::Context& context) {
        if (entered.cell)
            context.scratch.cell = *entered.cell;
        else
            read_structure(tree, entered.leaf, context);
        if (!can_succeed(place, context)) return passed_over;
        if (!entered.cell) read_estimation(tree, entered.leaf, context);
        return search(tree, place, context);
    }

    // Whether there was room for it.
    // If not, the tree stops growing once it has learned the point.
    template <class Tree>
    static bool has_room_for(Tree& tree, const typename Tree::Feature& feature,
                             const typename Tree::Context& context) {
        if (Budget(tree, context.settings.budget).can_split(feature)) return true;
        tree.record_.full = true;
        return false;
    }

    template <class Tree>
    static bool split_young(Tree& tree, std::uint32_t index, const LookChoice& choice,
                            typename Tree::Context& context) {
        if (!has_room_for(tree, context.scratch.drawn[choice.feature], context)) return false;
        if (choice.gain > context.settings.min_gain)
            ++tree.totals_.should_splits;
        else
            ++tree.totals_.must_splits;
        context.scratch.cut_values = context.scratch.look.values_of(choice.feature);
        typename Tree::Leaf left, right;
        left.born = right.born = tree.record_.lost_estimation;
        tree.split(index, {context.scratch.drawn[choice.feature], choice.threshold, choice.g}, left,
                   right, context);
        return true;
    }

    // In order of node number, each as deep as it goes: what enters on the way looks first. The order
    // in which they entered will not do: ŝ knows labels, which must not number nodes.
    template <class Tree>
    static void let_all_look_that_entered(Tree& tree, typename Tree::Context& context) {
        auto& entered = context.scratch.entered;
        auto& stack = context.scratch.stack;
        while (!stack.empty() || !entered.empty()) {
            std::sort(entered.begin(), entered.end(), [&](const Entered& a, const Entered& b) {
                return tree.leaves_[a.leaf].node > tree.leaves_[b.leaf].node;
            });
            stack.insert(stack.end(), entered.begin(), entered.end());
            entered.clear();
            const Entered next = stack.back();
            stack.pop_back();
            look(tree, next, context);
        }
    }

    // -- a settled leaf counts ------------------------------------------------------------------------

    // Candidates from its list become its own.
    template <class Tree>
    static void settle(Tree& tree, std::uint32_t index, std::uint32_t attempt,
                       typename Tree::Context& context) {
        auto& scratch = context.scratch;
        ListedLeaf& listed = tree.record_.leaves[index];
        tree.record_.lists.drop_lost(listed.structure, context.received);
        tree.record_.lists.drop_lost(listed.estimation, context.received);
        tree.leaves_[index].next = 0;
        read_cell(tree, index, context);
        label_estimation(context);
        Draws draws = draws_of(tree, tree.leaves_[index].node, attempt, context.settings);
        context.space.draw(draws, scratch.drawn);
        draw_split_points(draws, static_cast<std::uint32_t>(scratch.cell.structure.count),
                          context.settings.split_points, scratch.split_points);
        tree.settle(index, attempt, context);
        count_list(tree, *tree.leaves_[index].candidates, context);
    }

    // Every candidate counts every listed point at hand, of both streams.
    template <class Tree>
    static void count_list(Tree& tree, typename Tree::Candidates& candidates,
                           typename Tree::Context& context) {
        auto& scratch = context.scratch;
        const std::size_t dims = scratch.drawn.size();
        const auto gather = [&](const CellPoints& points, const Run& run) {
            scratch.gathered.resize(dims * run.count);
            context.shared.values(std::span<const typename Tree::Feature>(scratch.drawn),
                                  points.ts(run), scratch.gathered.data(), run.count);
        };
        const auto project = [&](const Run& run, std::size_t i) {
            scratch.values.resize(std::max(scratch.values.size(), dims));
            for (std::size_t d = 0; d < dims; ++d)
                scratch.values[d] = scratch.gathered[d * run.count + i];
        };
        const auto count = [&](CellPoints& points, const Run& run, auto&& counted) {
            const auto labels = points.labels(run);
            const auto weights = points.weights(run);
            for (std::size_t i = 0; i < run.count; ++i) {
                project(run, i);
                counted(labels[i], weights.empty() ? Weight{1} : weights[i]);
            }
        };
        const auto [structure, estimation] = scratch.cell;
        gather(scratch.structure, structure);
        for (const std::uint32_t i : scratch.split_points) {
            project(structure, i);
            candidates.add_split_point(tree.record_.lost_estimation, scratch);
        }
        count(scratch.structure, structure, [&](Class y, Weight n) {
            candidates.count_structure(tree.pool_, y, n, tree.n_classes(), scratch);
        });
        gather(scratch.estimation, estimation);
        count(scratch.estimation, estimation, [&](Class y, Weight n) {
            candidates.count_estimation(tree.pool_, y, n, tree.n_classes(), scratch);
        });
    }

    template <class Tree>
    static void check(Tree& tree, std::uint32_t index, typename Tree::Context& context) {
        const auto redraw = [&](std::uint32_t attempt) {
            tree.unsettle(tree.leaves_[index]);
            settle(tree, index, attempt, context);
            tree.leaves_[index].candidates->forget_received();
        };
        const auto may_split = [&](const typename Tree::Feature& feature) {
            return has_room_for(tree, feature, context);
        };
        TwoStreams::check(tree, index, context, redraw, may_split);
    }

    // -- regrowth (R21) -----------------------------------------------------------------------------

    template <class Tree>
    static void set_first_bound(Tree& tree, const Settings& settings) {
        const std::uint64_t twice = 2 * tree.record_.structure_arrivals;
        const double u = uniform(key(settings.seed, tree.number_, bound_draw, 0));
        tree.record_.bound = twice + static_cast<std::uint64_t>(static_cast<double>(twice) * u);
    }

    template <class Tree>
    static bool is_due(const Tree& tree, const typename Tree::Context& context) {
        return tree.record_.structure_arrivals >= tree.record_.bound && tree.nodes_[0].inner() &&
               context.received <= context.settings.kept_points && context.settings.regrows &&
               tree.totals_.stopped_at == 0;
    }

    // All points at hand are the list of a new root. If that does not split, the old tree stays.
    template <class Tree>
    static bool grow_anew(Tree& tree, typename Tree::Context& context) {
        Record& record = tree.record_;
        const std::uint64_t old_growth = record.growth;
        record.bound = 2 * record.structure_arrivals;
        record.growth = record.structure_arrivals;
        list_all(tree, context);
        auto& scratch = context.scratch;
        const std::uint64_t total =
            ListedEstimation{scratch.cell.estimation.count,
                             scratch.estimation.weights(scratch.cell.estimation)}
                .weight();
        const Place root{0, 0, 0, total >= context.settings.beta[0]};
        const LookResult result =
            can_succeed(root, context) ? search(tree, root, context) : passed_over;
        if (!result.best) {
            record.growth = old_growth;
            return false;
        }
        tree.fell();
        tree.plant_root();
        record.leaves.clear();
        record.leaves.push_back(list_of(scratch.cell, context));
        label_estimation(context);
        fill_histogram(tree, 0, scratch.cell, context);
        enter(tree, 0, context.received);
        if (!split_young(tree, 0, *result.best, context)) link(tree, scratch.cell, context);
        let_all_look_that_entered(tree, context);
        return true;
    }

    template <class Tree>
    static void list_all(const Tree& tree, typename Tree::Context& context) {
        auto& scratch = context.scratch;
        start_cells(context);
        const std::uint64_t stream_key = key(context.settings.seed, tree.number_, stream_draw);
        scratch.cell.structure = scratch.structure.add([&](std::vector<std::uint64_t>& structure) {
            const auto list_both = [&](std::vector<std::uint64_t>& estimation) {
                for (std::uint64_t t = 0; t < context.received; ++t) {
                    const Stream stream =
                        TwoStreams::stream_of(fold(stream_key, t), context.settings);
                    if (stream == Stream::ignored || weight_of(tree, t, context) == 0) continue;
                    (stream == Stream::structure ? structure : estimation).push_back(t);
                }
            };
            scratch.cell.estimation = scratch.estimation.add(list_both);
        });
        describe_structure(tree, context);
        describe_estimation(tree, context);
    }
};

}  // namespace riparian
