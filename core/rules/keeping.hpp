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

    // The points of one stream that a leaf lists.
    struct Listed {
        std::vector<std::uint64_t> ts;
        std::vector<Class> labels;
        std::vector<Weight> weights;  // empty: all 1
    };
    template <class Space>
    struct Scratch : CandidateScratch<Space> {
        Listed structure, estimation;
        std::vector<std::uint32_t> split_points;
        std::vector<float> gathered;
        std::vector<std::uint64_t> room;
        std::vector<std::uint32_t> entered;  // the fringe, and have not looked yet
        std::vector<std::uint32_t> stack;
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
    // the histogram of what they list.
    template <class Tree>
    static void inherit(Tree& tree, std::uint32_t left, std::uint32_t right,
                        const typename Tree::Cut& cut, bool was_young,
                        typename Tree::Context& context) {
        auto& scratch = context.scratch;
        Record& record = tree.record_;
        if (tree.nodes_.size() == 3 && record.growth == 0) set_first_bound(tree, context.settings);
        record.leaves.push_back({});
        const ListedLeaf parent = record.leaves[left];
        record.leaves[left] = {};

        record.lists.read(parent.structure, context.received, scratch.structure.ts);
        const auto structure = divided(scratch.structure.ts, cut, context);
        record.leaves[left].structure = record.lists.chain(structure.left);
        record.leaves[right].structure = record.lists.chain(structure.right);

        record.lists.read(parent.estimation, context.received, scratch.estimation.ts);
        const auto estimation = divided(scratch.estimation.ts, cut, context);
        record.leaves[left].estimation = record.lists.chain(estimation.left);
        record.leaves[right].estimation = record.lists.chain(estimation.right);
        if (!was_young) return;
        fill_histogram(tree, left, estimation.left, context);
        fill_histogram(tree, right, estimation.right, context);
    }

    // R12, as in the paper; who enters is young.
    template <class Tree>
    static void fill_fringe(Tree& tree, std::uint32_t left, std::uint32_t right,
                            typename Tree::Context& context) {
        const auto enter_and_look = [&](std::uint32_t leaf) {
            enter(tree, leaf, context.received);
            context.scratch.entered.push_back(leaf);
        };
        if (!context.settings.bounded()) {
            enter_and_look(left);
            enter_and_look(right);
            return;
        }
        for (const std::uint32_t leaf : {left, right}) tree.wait(leaf);
        const Budget budget(tree, context.settings.budget);
        while (tree.active_ < context.settings.fringe_size && !tree.waiting_.empty() &&
               budget.has_room())
            enter_and_look(tree.take_waiting());
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
                look(tree, index, context);
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

    template <class Tree>
    static void read(const Tree& tree, const PointList& list, Listed& out,
                     const typename Tree::Context& context) {
        tree.record_.lists.read(list, context.received, out.ts);
        describe(tree, out, context);
    }

    // The labels and weights of the points.
    template <class Tree>
    static void describe(const Tree& tree, Listed& out, const typename Tree::Context& context) {
        context.shared.labels(out.ts, out.labels);
        out.weights.clear();
        if (!context.shared.weighted()) return;
        for (const std::uint64_t t : out.ts) out.weights.push_back(weight_of(tree, t, context));
    }

    struct Sides {
        std::span<const std::uint64_t> left, right;
    };
    template <class Context, class Cut>
    static Sides divided(std::span<std::uint64_t> ts, const Cut& cut, Context& context) {
        auto& scratch = context.scratch;
        scratch.gathered.resize(ts.size());
        context.shared.values(std::span(&cut.feature, 1), ts, scratch.gathered.data(), ts.size());
        const std::size_t left = divide(ts, scratch.gathered.data(), cut.threshold, scratch.room);
        return {ts.first(left), ts.subspan(left)};
    }

    template <class Tree>
    static void fill_histogram(Tree& tree, std::uint32_t index, std::span<const std::uint64_t> ts,
                               const typename Tree::Context& context) {
        EstimationHistogram& histogram = tree.leaves_[index].estimation;
        for (const std::uint64_t t : ts)
            histogram.add(tree.histograms_, context.shared.label(t), weight_of(tree, t, context));
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

    // The best valid split of the points in the scratch. Of estimation points it is handed numbers and
    // weights, never labels.
    template <class Tree>
    static LookResult search(const Tree& tree, const Place& place,
                             typename Tree::Context& context) {
        const Settings& settings = context.settings;
        auto& scratch = context.scratch;
        // A look that cannot succeed is passed over: it counts as one that lacked points.
        const LookResult passed_over{.any_valid = true, .best = std::nullopt};
        const std::uint64_t alpha = settings.alpha[place.depth];
        const ListedEstimation estimation{scratch.estimation.ts.size(), scratch.estimation.weights};
        if (scratch.structure.ts.size() < 2 || estimation.weight() / 2 < alpha) return passed_over;
        scratch.tally.set(scratch.structure.labels, scratch.structure.weights);
        if (!place.must && !look_can_succeed(scratch.tally, settings.min_gain)) return passed_over;
        Draws draws = draws_of(tree, place.node, place.attempt, settings);
        context.space.draw(draws, scratch.drawn);
        draw_split_points(draws, static_cast<std::uint32_t>(scratch.structure.ts.size()),
                          settings.split_points, scratch.split_points);
        const auto above = place.must ? std::nullopt : std::optional(settings.min_gain);
        const ListedValues values(context.shared, scratch.structure.ts, scratch.estimation.ts);
        return scratch.look.search(std::span<const typename Tree::Feature>(scratch.drawn),
                                   std::span<const std::uint32_t>(scratch.split_points),
                                   scratch.tally, estimation, values, alpha, above);
    }

    template <class Tree>
    static void look(Tree& tree, std::uint32_t index, typename Tree::Context& context) {
        const Settings& settings = context.settings;
        typename Tree::Leaf& leaf = tree.leaves_[index];
        ListedLeaf& listed = tree.record_.leaves[index];
        const auto n = static_cast<std::uint32_t>(listed.structure.count);
        // Most looks lack estimation points, and that is cheap to see.
        const bool lacks_points =
            n < 2 || (!context.shared.weighted() &&
                      listed.estimation.count / 2 < settings.alpha[leaf.depth]);
        if (!lacks_points) {
            read(tree, listed.structure, context.scratch.structure, context);
            read(tree, listed.estimation, context.scratch.estimation, context);
            const bool must = leaf.estimation.total() >= settings.beta[leaf.depth];
            const LookResult result =
                search(tree, {leaf.node, listed.attempt, leaf.depth, must}, context);
            if (result.best && split_young(tree, index, *result.best, context)) return;
            if (!result.any_valid) ++listed.attempt;
        }
        leaf.next = std::max(n + 1, static_cast<std::uint32_t>((13 * std::uint64_t{n} + 9) / 10));
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
            std::sort(entered.begin(), entered.end(), [&](std::uint32_t a, std::uint32_t b) {
                return tree.leaves_[a].node > tree.leaves_[b].node;
            });
            stack.insert(stack.end(), entered.begin(), entered.end());
            entered.clear();
            const std::uint32_t leaf = stack.back();
            stack.pop_back();
            look(tree, leaf, context);
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
        read(tree, listed.structure, scratch.structure, context);
        read(tree, listed.estimation, scratch.estimation, context);
        Draws draws = draws_of(tree, tree.leaves_[index].node, attempt, context.settings);
        context.space.draw(draws, scratch.drawn);
        draw_split_points(draws, static_cast<std::uint32_t>(scratch.structure.ts.size()),
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
        const auto gather = [&](const Listed& listed) {
            scratch.gathered.resize(dims * listed.ts.size());
            context.shared.values(std::span<const typename Tree::Feature>(scratch.drawn), listed.ts,
                                  scratch.gathered.data(), listed.ts.size());
        };
        const auto project = [&](const Listed& listed, std::size_t i) {
            scratch.values.resize(std::max(scratch.values.size(), dims));
            for (std::size_t d = 0; d < dims; ++d)
                scratch.values[d] = scratch.gathered[d * listed.ts.size() + i];
        };
        const auto weight = [](const Listed& listed, std::size_t i) {
            return listed.weights.empty() ? Weight{1} : listed.weights[i];
        };
        const Listed &structure = scratch.structure, &estimation = scratch.estimation;
        gather(structure);
        for (const std::uint32_t i : scratch.split_points) {
            project(structure, i);
            candidates.add_split_point(tree.record_.lost_estimation, scratch);
        }
        for (std::size_t i = 0; i < structure.ts.size(); ++i) {
            project(structure, i);
            candidates.count_structure(tree.pool_, structure.labels[i], weight(structure, i),
                                       tree.n_classes(), scratch);
        }
        gather(estimation);
        for (std::size_t i = 0; i < estimation.ts.size(); ++i) {
            project(estimation, i);
            candidates.count_estimation(tree.pool_, estimation.labels[i], weight(estimation, i),
                                        tree.n_classes(), scratch);
        }
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
        const Listed& estimation = context.scratch.estimation;
        const std::uint64_t total =
            ListedEstimation{estimation.ts.size(), estimation.weights}.weight();
        const LookResult result =
            search(tree, {0, 0, 0, total >= context.settings.beta[0]}, context);
        if (!result.best) {
            record.growth = old_growth;
            return false;
        }
        tree.fell();
        tree.plant_root();
        record.leaves.clear();
        record.leaves.push_back({});
        record.leaves[0].structure = record.lists.chain(context.scratch.structure.ts);
        record.leaves[0].estimation = record.lists.chain(estimation.ts);
        fill_histogram(tree, 0, estimation.ts, context);
        enter(tree, 0, context.received);
        split_young(tree, 0, *result.best, context);
        let_all_look_that_entered(tree, context);
        return true;
    }

    template <class Tree>
    static void list_all(const Tree& tree, typename Tree::Context& context) {
        auto& scratch = context.scratch;
        scratch.structure.ts.clear();
        scratch.estimation.ts.clear();
        const std::uint64_t stream_key = key(context.settings.seed, tree.number_, stream_draw);
        for (std::uint64_t t = 0; t < context.received; ++t) {
            const Stream stream = TwoStreams::stream_of(fold(stream_key, t), context.settings);
            if (stream == Stream::ignored || weight_of(tree, t, context) == 0) continue;
            (stream == Stream::structure ? scratch.structure : scratch.estimation).ts.push_back(t);
        }
        describe(tree, scratch.structure, context);
        describe(tree, scratch.estimation, context);
    }
};

}  // namespace riparian
