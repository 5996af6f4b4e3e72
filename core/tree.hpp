// BuildTree of Appendix A: nodes, the descent to a leaf, and splitting. A tree has three
// parameters: the feature space defines what can be measured on a point, the rule decides which
// points a leaf uses and when it splits, and the target is what is predicted.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>

#include "budget.hpp"
#include "draws.hpp"
#include "kernels/hot.hpp"
#include "leaf.hpp"
#include "memory/array.hpp"
#include "memory/pool.hpp"
#include "predicting/descent.hpp"
#include "predicting/key_tree.hpp"
#include "rules/rule.hpp"
#include "space/categories.hpp"
#include "space/feature_space.hpp"
#include "target/target.hpp"
#include "tree_totals.hpp"
#include "waiting_leaves.hpp"

namespace riparian {

struct TwoStreams;  // see rules/
class Neighbours;
template <class Rule>
struct Looking;
template <class Rule>
struct Regrowing;
template <class Rule>
struct KeepingOf;
template <class Rule>
struct GrowingOf;
template <class Rule, class Heads>
struct HeadedOf;
template <class Rule, class Heads>
struct EagerOf;

template <FeatureSpace Space, class Rule, Target TargetT>
class Tree {
public:
    using Target = TargetT;
    using Label = typename Target::Label;
    using Feature = typename Space::Feature;
    using Point = typename Space::Point;
    using Batch = typename Space::Batch;
    using Settings = typename Rule::Settings;
    using Context = riparian::Context<Space, Rule, Target>;
    using Candidates = riparian::Candidates<Space, typename Rule::template Evidence<Space, Target>>;
    using Leaf = riparian::Leaf<Candidates>;
    using Record = typename Rule::template Record<Target>;
    using Shared = typename Rule::template Shared<Space, Target>;
    using Waiting = WaitingLeaves<typename Target::Priority>;
    using State = TreeState<Space>;

    // A leaf is its own child on both sides, so a descent may overshoot.
    struct Node {
        Feature feature;
        float threshold;
        std::uint32_t child;  // the left one; the right one is the next
        std::uint32_t leaf;   // no_leaf for an inner node

        bool inner() const { return leaf == no_leaf; }
    };
    // The split of a leaf.
    struct Cut {
        Feature feature;
        float threshold;
        typename Target::G g;
    };

    static constexpr bool columns = Space::columns;
    static constexpr std::uint32_t no_leaf = std::numeric_limits<std::uint32_t>::max();

    // `planted`: the number of points that the forest had received before.
    Tree(std::uint64_t number, std::uint64_t planted, Context& context)
        : planted_(planted), record_(context.settings) {
        static_assert(SplitRule<Rule, Tree>);
        set_number(number, context.settings);
        plant_root();
        Rule::plant(*this, context);
    }

    // Restores a saved tree. Python has checked every link, length, index and sum that the core
    // relies on, and nothing else: numbers that learning could not have led to give wrong answers
    // but do no other harm.
    Tree(std::uint64_t number, const State& in, Context& context);

    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;
    ~Tree() {
        statistics_.leave_chunks();
        pool_.leave_chunks();
    }

    // Learns a batch whose first point is the t-th of the stream. If `weights` is null, all weights
    // are 1.
    void learn(const Batch& batch, const Label* labels, const double* weights, std::uint64_t t,
               Context& context) {
        record_.prefetch_for(batch.size());
        charge_.room_for = 0;  // the budget and the columns may have changed
        const std::size_t n = batch.size();
        bool looked_ahead = false;
        for (std::size_t first = 0; first < n;) {
            // A point that the rule learns ahead cannot be answered before it is learned.
            if (!looked_ahead && nodes_[0].inner() && !context.scratch.answers.asked()) {
                looked_ahead = true;
                first += Rule::grow_ahead(*this, labels + first, n - first, t + first, context);
            }
            const std::size_t some = std::min(std::max(together, n_leaves()), n - first);
            first += learn_some(batch, first, some, labels, weights, t + first, context);
        }
        received_ = t + n;
        trim();
        Rule::tidy(*this, context.settings);
    }

    // The least number of points that go down before the first of them is learned. While they do,
    // nodes stay in the caches. It is larger if there are many leaves, because few of them split
    // meanwhile.
    static constexpr std::size_t together = 256;

    // Computes the node number of the leaf for each of up to `lanes` points.
    static constexpr std::size_t lanes = 32;
    using Lanes = std::array<std::uint32_t, lanes>;
    RIPARIAN_HOT void route(const Batch& batch, std::size_t first, std::size_t count,
                            Lanes& at) const {
        route(batch, first, count, at.data());
    }
    RIPARIAN_HOT void route(const Batch& batch, std::size_t first, std::size_t count,
                            std::uint32_t* at) const {
        switch (asks_) {
            case Asks::numbers:
                return route_all<Asks::numbers>(batch, first, count, at);
            case Asks::categories:
                return route_all<Asks::categories>(batch, first, count, at);
            case Asks::halves:
                return route_all<Asks::halves>(batch, first, count, at);
        }
    }

    // Laid out for many points, if no split tests for a category.
    bool asks_numbers() const { return asks_ == Asks::numbers; }
    void lay_out(KeyTree& out, std::size_t stride) const { out.lay_out(nodes_, stride); }
    void lay_out(KeyTree& out, std::size_t stride, const Stops& stops) const {
        out.lay_out(nodes_, stride, stops.at());
    }

    // Where rows may stop before their leaf (see rules/rule.hpp).
    static constexpr bool stops_early = Rule::stops_early;
    void find_stops(const Shared& shared, Stops& stops) const
        requires stops_early
    {
        Rule::find_stops(*this, shared, stops);
    }
    // The answer for rows that stop at a node; they may stop there or go on.
    decltype(auto) answer_of_node(std::uint32_t node, const Shared& shared) const {
        if constexpr (stops_early)
            return Rule::answer_of_node(*this, node, shared);
        else
            return answer_at(node, shared);
    }

    // What a prediction may read from a leaf: its statistics, unless the rule defines something
    // else.
    decltype(auto) answer_at(std::uint32_t node, const Shared& shared) const {
        return answer_of(leaf_at(node), shared);
    }
    std::uint32_t leaf_at(std::uint32_t node) const { return nodes_[node].leaf; }
    std::size_t n_leaves() const { return leaves_.size(); }
    decltype(auto) answer_of(std::uint32_t leaf, const Shared& shared) const {
        return Rule::answer(*this, leaf, shared);
    }
    void prefetch_leaf(std::uint32_t node) const { prefetch(&leaves_[nodes_[node].leaf]); }

    // Saves the tree as arrays (see state.hpp).
    State save() const;

    std::uint64_t number() const { return number_; }
    std::uint64_t planted() const { return planted_; }
    const Record& record() const { return record_; }
    // Returns Σ G over the splits in each column (R14): gain times structure points.
    const Array<typename Target::Importance>& importance() const { return importance_; }
    std::uint64_t depth() const { return depth_; }
    const TreeTotals& totals() const { return totals_; }

    TreeSizes sizes() const {
        return {.leaves = leaves_.size(),
                .active = active_,
                .node_bytes = nodes_.bytes() + importance_.bytes(),
                .leaf_bytes = leaves_.bytes() + record_.bytes(leaves_.size()) + statistics_.live(),
                .fringe_bytes = waiting_.bytes() + pool_.live()};
    }

    TreeStats stats() const {
        TreeStats stats{.totals = totals_, .sizes = sizes(), .depth = depth_};
        stats.held_bytes = statistics_.held() + pool_.held();
        for (const Leaf& leaf : leaves_) {
            if (!leaf.active()) continue;
            stats.young += leaf.young();
            stats.pure += leaf.estimation.total() > 0 && leaf.estimation.is_pure();
            stats.stuck += leaf.settled() && leaf.candidates->attempt() > 0;
        }
        return stats;
    }

private:
    friend Rule;
    friend RuleDefaults;
    friend TwoStreams;  // other rules use parts of it
    friend Looking<Rule>;
    friend Regrowing<Rule>;
    friend KeepingOf<Rule>;
    friend GrowingOf<Rule>;
    template <class R, class H>
    friend struct HeadedOf;
    template <class R, class H>
    friend struct EagerOf;
    friend Neighbours;
    friend Budget<Tree>;

    // -- the way down -----------------------------------------------------------------------------

    template <Asks asks>
    static std::uint32_t step(const Node& node, Point x) {
        const std::uint32_t right =
            Space::template goes_right<asks>(node.feature, node.threshold, x);
        return node.child + (right & node.leaf >> 31);  // the top bit is set only in no_leaf
    }

    static bool goes_left(const Node& node, float value) {
        return Space::equals(node.feature) ? category_goes_left(value, node.threshold)
                                           : value <= node.threshold;
    }

    template <Asks asks>
    RIPARIAN_HOT void route_all(const Batch& batch, std::size_t first, std::size_t count,
                                std::uint32_t* at) const {
        std::size_t i = 0;
        for (; i + 8 <= count; i += 8) route_together<8, asks>(batch, first + i, at + i);
        for (; i < count; ++i) route_together<1, asks>(batch, first + i, at + i);
    }

    // Several points descend side by side, without a branch, so that one waits for memory while
    // another is computed. A point that has arrived stays. Two steps are made between two checks,
    // because a check has a cost as well.
    template <std::size_t N, Asks asks>
    RIPARIAN_HOT void route_together(const Batch& batch, std::size_t first,
                                     std::uint32_t* out) const {
        const Node* nodes = nodes_.data();
        std::array<Point, N> x;
        std::array<std::uint32_t, N> at{};
        for (std::size_t i = 0; i < N; ++i) x[i] = batch.point(first + i);
        std::uint32_t moving;
        do {
            moving = 0;
            for (std::size_t i = 0; i < N; ++i) at[i] = step<asks>(nodes[at[i]], x[i]);
            for (std::size_t i = 0; i < N; ++i) {
                const std::uint32_t next = step<asks>(nodes[at[i]], x[i]);
                moving |= next ^ at[i];
                at[i] = next;
            }
        } while (moving);
        std::copy_n(at.begin(), N, out);
    }

    // Continues the descent of a point from a leaf that has split.
    std::uint32_t leaf_below(std::uint32_t node, Point x) const {
        while (nodes_[node].inner())
            node = asks_numbers() ? step<Asks::numbers>(nodes_[node], x)
                                  : step<Asks::halves>(nodes_[node], x);
        return nodes_[node].leaf;
    }

    // -- learning ---------------------------------------------------------------------------------

    // Prefetches what later points will need this many points ahead, one stage after the other: an
    // access to memory takes as long as learning a point, or longer.
    static constexpr std::size_t leaves_ahead = 12, candidates_ahead = 8, counts_ahead = 4;

    // Less than this is in the caches in any case.
    static constexpr std::size_t second_cache = std::size_t{1} << 19;

    // Returns how many points were learned: all, unless the tree was rebuilt or replaced. Then the
    // others must go down again.
    std::size_t learn_some(const Batch& batch, std::size_t first, std::size_t count,
                           const Label* labels, const double* weights, std::uint64_t t,
                           Context& context) {
        Descent& descent = context.scratch.descent;
        descent.go_down(*this, batch, context.keys, first, count);
        const std::uint32_t* at = descent.nodes();
        // The leaves of the points. If one has split when its point arrives, its left child has
        // taken its place.
        const std::uint32_t* leaves = descent.leaves();
        const std::uint64_t felled = felled_;
        const std::uint64_t stream_key = key(context.settings.seed, number_, stream_draw);
        const bool is_near = pool_.live() < second_cache;
        auto& answers = context.scratch.answers;
        const auto ask_for_leaf = [&](std::size_t i) {
            if (i >= count) return;
            prefetch(&leaves_[leaves[i]]);
            record_.prefetch(leaves[i]);
        };
        const auto ask_for_candidates = [&](std::size_t i) {
            if (i >= count) return;
            const Leaf& leaf = leaves_[leaves[i]];
            leaf.estimation.prefetch();
            if (leaf.settled()) leaf.candidates->prefetch();
        };
        const auto ask_for_counts = [&](std::size_t i) {
            if (i >= count || is_near) return;
            Rule::prefetch(*this, leaves[i], fold(stream_key, t + i), labels[first + i], context);
        };
        typename Rule::PathsAhead paths;
        for (std::size_t i = 0; i < leaves_ahead; ++i) ask_for_leaf(i);
        for (std::size_t i = 0; i < candidates_ahead; ++i) ask_for_candidates(i);
        for (std::size_t i = 0; i < counts_ahead; ++i) ask_for_counts(i);
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (Rule::judges) {
                paths.climb(*this);
                if (i + paths.points < count) paths.start(*this, at[i + paths.points]);
            }
            ask_for_leaf(i + leaves_ahead);
            ask_for_candidates(i + candidates_ahead);
            ask_for_counts(i + counts_ahead);
            if (Rule::judges || answers.asked()) {
                const std::uint32_t its = leaves_[leaves[i]].node == at[i]
                                              ? leaves[i]
                                              : leaf_below(at[i], batch.point(first + i));
                if constexpr (Rule::judges)
                    Rule::judge(*this, its, t + i, labels[first + i], context);
                if (answers.asked()) Rule::add_answer(*this, its, answers.row(t + i), context);
            }
            context.received = t + i + 1;
            Rule::arrive(*this, t + i, stream_key, context);
            // Counted before anything else, so that batches and weights do not matter.
            Target::meet(totals_, labels[first + i]);
            const Weight n =
                weights ? round_weight(weights[first + i], t + i, context.settings) : Weight{1};
            if (n == 0) continue;
            const Point x = batch.point(first + i);
            std::uint32_t leaf = leaves[i];
            // A leaf that has split has left its place, and that cache line is nearer than the line
            // of its node.
            if (leaves_[leaf].node != at[i]) leaf = leaf_below(at[i], x);
            Rule::receive(*this, leaf, t + i, fold(stream_key, t + i), x, labels[first + i], n,
                          context);
            if (felled != felled_) [[unlikely]]
                return i + 1;
        }
        return count;
    }

    // R17: rounds up with the probability of the fraction.
    Weight round_weight(double weight, std::uint64_t t, const Settings& settings) const {
        const auto whole = static_cast<Weight>(weight);
        const double u = uniform(key(settings.seed, number_, weight_draw, t));
        return whole + (u < weight - static_cast<double>(whole));
    }

    // Returns the key of the draws of a node's leaf that has drawn `attempt` times before (R13).
    std::uint64_t key_of_draws(std::uint32_t node, std::uint64_t attempt) const {
        return fold(fold(leaf_key_, node), attempt);
    }

    // The depth, for α and β.
    std::uint32_t schedule_depth(std::uint32_t leaf) const {
        return Rule::schedule_depth(*this, leaf);
    }

    // What is known about the labels that have arrived.
    typename Target::Known known() const { return Target::known(totals_); }

    void set_number(std::uint64_t number, const Settings& settings) {
        number_ = number;
        leaf_key_ = key(settings.seed, number, leaf_draw);
    }

    // -- splitting --------------------------------------------------------------------------------

    // R10: splits by a candidate, whose estimation counts become those of the children.
    void split(std::uint32_t index, const Choice<typename Target::G>& choice, Context& context) {
        const Candidates& candidates = *leaves_[index].candidates;
        const std::uint32_t candidate = choice.candidate;
        Leaf left, right;
        candidates.fill_children(statistics_, candidate, left.estimation, right.estimation,
                                 context.scratch.check);
        left.born = right.born = candidates.born(candidate);
        split(index, {candidates.feature(candidate), candidates.threshold(candidate), choice.g},
              left, right, context);
    }

    // The left child takes the parent's place among the leaves.
    void split(std::uint32_t index, const Cut& cut, Leaf left, Leaf right, Context& context) {
        const auto right_index = static_cast<std::uint32_t>(leaves_.size());
        leaves_.push_back({});
        Leaf& parent = leaves_[index];
        left.depth = right.depth = parent.depth + 1;
        left.node = split_node(parent.node, cut, left.depth, index, right_index);
        right.node = left.node + 1;
        const bool was_young = parent.young();
        deactivate(parent);
        Rule::vacate(*this, parent);
        leaves_[index] = left;
        leaves_[right_index] = right;
        Rule::inherit(*this, index, right_index, cut, was_young, context);
        Rule::fill_fringe(*this, index, right_index, context);
    }

    // Makes a node an inner node above the nodes of these two leaves, and returns the node of the
    // left one.
    std::uint32_t split_node(std::uint32_t node, const Cut& cut, std::uint32_t depth_below,
                             std::uint32_t left, std::uint32_t right) {
        const auto first = static_cast<std::uint32_t>(nodes_.size());
        if (first >= no_leaf / 2) throw std::length_error("a tree holds at most 2^31 nodes");
        depth_ = std::max(depth_, depth_below);
        if constexpr (Space::columns) add_importance(Space::column(cut.feature), cut.g);
        learn_to_ask(cut.feature, cut.threshold);
        nodes_.push_back({Feature{}, 0.0f, first, left});
        nodes_.push_back({Feature{}, 0.0f, first + 1, right});
        nodes_[node] = {cut.feature, cut.threshold, first, no_leaf};
        return first;
    }

    // Records what this split tests.
    void learn_to_ask(const Feature& feature, float threshold) {
        if (!Space::equals(feature)) return;
        asks_ = std::max(asks_, threshold < 0 ? Asks::halves : Asks::categories);
    }

    void plant_root() {
        nodes_.push_back({Feature{}, 0.0f, 0, 0});
        leaves_.push_back({});
    }

    // Removes everything that was grown and keeps what the tree has received. The tree is about to
    // grow again, so its arrays keep their memory until the block is learned.
    void fell() {
        for (Leaf& leaf : leaves_) {
            if (leaf.active()) deactivate(leaf);
            leaf.estimation.release(statistics_);
        }
        statistics_.restart();
        pool_.restart();
        leaves_.restart();
        nodes_.restart();
        waiting_.clear();
        importance_.restart();
        totals_.should_splits = totals_.must_splits = 0;
        totals_.activations = totals_.refreshes = 0;
        depth_ = 0;
        ++felled_;
    }

    void trim() {
        leaves_.trim();
        nodes_.trim();
        importance_.trim();
        record_.trim();
    }

    // Returns the bytes that a split in this feature would add to the importances.
    std::size_t growth_of_importance(const Feature& feature) const {
        if constexpr (Space::columns)
            return decltype(importance_)::bytes(std::max<std::size_t>(
                       importance_.size(), std::size_t{Space::column(feature)} + 1)) -
                   importance_.bytes();
        else
            return 0;
    }

    // Returns the bytes that splits in all columns would add.
    std::size_t growth_of_all_importances(const Space& space) const {
        if constexpr (Space::columns)
            return decltype(importance_)::bytes(
                       std::max<std::size_t>(importance_.size(), space.n_dims())) -
                   importance_.bytes();
        else
            return 0;
    }

    void add_importance(std::size_t column, const typename Target::G& g) {
        if (column >= importance_.size()) importance_.resize(column + 1);
        Target::add_importance(importance_[column], g);
    }

    // -- entering and leaving the fringe ----------------------------------------------------------

    // SelectCandidateSplitDimensions; the draws are those of the node (R13).
    void activate(std::uint32_t index, std::uint32_t attempt, Context& context) {
        Draws draws(key_of_draws(leaves_[index].node, attempt));
        context.space.draw(draws, context.scratch.shuffle, context.scratch.drawn);
        ++active_;
        settle(index, attempt, context);
    }

    // Gives the leaf candidates in the dimensions just drawn.
    void settle(std::uint32_t index, std::uint32_t attempt, Context& context) {
        leaves_[index].candidates =
            Candidates::make(pool_, context.scratch.drawn, context.settings.split_points, attempt);
        ++settled_;
        Rule::settled(*this, index, context);
    }

    void unsettle(Leaf& leaf) {
        planned_ -= leaf.candidates->planned();
        leaf.candidates->release(pool_);
        leaf.candidates = nullptr;
        --settled_;
    }

    void deactivate(Leaf& leaf) {
        if (leaf.settled()) unsettle(leaf);
        leaf.next = 0;
        --active_;
    }

    // R12: the leaf waits with the others; the one with the largest ŝ enters first.
    void wait(std::uint32_t leaf) {
        waiting_.push({s_hat(leaf), leaves_[leaf].node, leaf}, moved());
    }
    std::uint32_t take_waiting() {
        ++totals_.activations;
        return waiting_.take(
            totals_.refreshes, [this](std::uint32_t leaf) { return s_hat(leaf); }, moved());
    }

    typename Target::Priority s_hat(std::uint32_t index) const {
        const Leaf& leaf = leaves_[index];
        return Target::priority(leaf.estimation, Rule::votes(*this) - leaf.born);
    }

    auto moved() {
        return [this](std::uint32_t leaf, std::size_t place) {
            leaves_[leaf].place = static_cast<std::uint32_t>(place);
        };
    }

    std::uint64_t number_;        // among all trees that this forest has had
    std::uint64_t leaf_key_;      // of the draws of its leaves
    std::uint64_t planted_;       // points that the forest had received before this tree
    std::uint64_t received_ = 0;  // points that the forest has received
    Pool statistics_;             // of all leaves
    Pool pool_;                   // of active leaves only
    Array<Node> nodes_;           // in order of creation; siblings side by side
    Array<Leaf> leaves_;          // in no particular order
    Waiting waiting_;             // the leaves that wait for a place in the fringe
    std::uint64_t active_ = 0;    // leaves in the fringe,
    std::uint64_t settled_ = 0;   // and those of them that have candidates
    std::uint64_t planned_ = 0;   // bytes set aside for the active leaves, with a budget
    std::uint64_t felled_ = 0;    // the number of times that the tree was rebuilt
    std::uint32_t depth_ = 0;     // of the deepest leaf
    Asks asks_ = Asks::numbers;   // what splits test
    TreeTotals totals_;           // points and splits so far
    Array<typename Target::Importance> importance_;
    mutable ChargeOfLeaves<typename Target::Known> charge_;  // as it was last worked out
    [[no_unique_address]] Record record_;
};

}  // namespace riparian
