// BuildTree of Appendix A, with the bounded fringe; and the tree of Saffari's forest (R18), which shares
// all of it but the streams and the rule that says when to split.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "memory/array.hpp"
#include "waiting_leaves.hpp"
#include "leaf.hpp"

namespace riparian {

inline constexpr std::uint64_t unbounded = std::numeric_limits<std::uint64_t>::max();

// The parameters of a forest as its trees need them; all of them were checked at the Python door.
struct Settings {
    std::uint64_t seed = 0;
    std::uint32_t split_points = 0;    // m
    double min_gain = 0;               // τ
    std::uint64_t structure_cut = 0;   // a uniform's 53 bits below this: structure stream (R1)
    std::uint64_t ignore_cut = 0;      // below this: ignored
    std::uint64_t fringe_size = 0;     // active leaves per tree; the largest number: no bound
    std::uint64_t budget = 0;          // bytes of a tree; the largest number: no bound
    std::vector<std::uint64_t> alpha;  // α(d), for every depth that the next block can reach
    std::vector<std::uint64_t> beta;   // β(d)

    // Of Saffari's forest alone (R18).
    std::uint64_t min_samples = 0;  // weight that a leaf needs to split
    std::uint64_t max_depth = 0;    // leaves there do not split
    bool range_thresholds = false;  // uniform in the range of the first m points, not those points
    std::uint64_t replace_after = unbounded;  // a tree of more points may be replaced
    Rate bagging;                             // 1: how often a tree takes a point, on average

    bool bounded() const { return fringe_size != unbounded || budget != unbounded; }
};

struct TreeStats {
    std::uint64_t structure_points = 0, estimation_points = 0, ignored_points = 0;
    std::uint64_t should_splits = 0, must_splits = 0;
    std::uint64_t leaves = 0, active = 0, pure = 0, stuck = 0, depth = 0;
    std::uint64_t activations = 0, refreshes = 0, evictions = 0;
    std::uint64_t stopped_at = 0;  // the point after which it stopped to grow for want of memory
    std::uint64_t node_bytes = 0, leaf_bytes = 0, fringe_bytes = 0;
    std::uint64_t held_bytes = 0;  // by the pools, with blocks that wait to be used again
};

// Which points a tree hears, and when a leaf splits.
enum class Rule : std::uint8_t {
    two_streams,  // the paper's (R1, R6, R8)
    one_stream,   // Saffari's (R18)
};

template <FeatureSpace Space, Rule rule>
class Tree {
public:
    using Evidence = std::conditional_t<rule == Rule::two_streams, TwoStreams, OneStream>;
    using Feature = typename Space::Feature;
    using Point = typename Space::Point;
    using Batch = typename Space::Batch;
    using State = TreeState<Space>;

    // A node that is a leaf is its own child, and both ways lead there: a descent may overshoot.
    struct Node {
        Feature feature;
        float threshold;
        std::uint32_t child;  // the left one; the right one lies beside it
        std::uint32_t leaf;   // no_leaf for an inner node

        bool inner() const { return leaf == no_leaf; }
    };
    static constexpr std::uint32_t no_leaf = std::numeric_limits<std::uint32_t>::max();

    Tree(std::uint64_t number, std::uint64_t planted, const Settings& settings, const Space& space,
         Scratch<Space>& scratch)
        : number_(number) {
        if constexpr (rule == Rule::one_stream) bag_.planted = planted;
        nodes_.push_back({Feature{}, 0.0f, 0, 0});
        leaves_.push_back({});
        if (rule == Rule::two_streams || settings.max_depth > 0)
            activate(0, 0, settings, space, scratch);
    }

    // The tree that was saved. The arrays are those of a tree: Python has checked every link, length
    // and count.
    Tree(std::uint64_t number, const State& in, const Settings& settings, Scratch<Space>& scratch);

    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    // Learn a batch whose first point is the t-th of the stream. `weights` may be null: all one.
    void learn(const Batch& batch, const Class* labels, const double* weights, std::uint64_t t,
               const Settings& settings, const Space& space, const std::vector<std::uint32_t>& rank,
               Scratch<Space>& scratch) {
        for (std::size_t first = 0; first < batch.size(); first += lanes) {
            const std::size_t count = std::min(lanes, batch.size() - first);
            learn_lanes(batch, first, count, labels, weights, t + first, settings, space, rank,
                        scratch);
        }
        if constexpr (rule == Rule::two_streams)
            if (settings.budget != unbounded) tidy(settings);
    }

    // R18: the share of the points it was not given that it would have got wrong.
    double out_of_bag_error() const {
        const auto [planted, left_out, errors] = bag_;
        return left_out ? static_cast<double>(errors) / static_cast<double>(left_out) : 0.0;
    }
    std::uint64_t number() const { return number_; }
    std::uint64_t planted() const { return bag_.planted; }

    // The node number of the leaf of each of up to `lanes` points.
    static constexpr std::size_t lanes = 32;
    using Lanes = std::array<std::uint32_t, lanes>;
    RIPARIAN_HOT void route(const Batch& batch, std::size_t first, std::size_t count,
                            Lanes& at) const {
        std::size_t i = 0;
        for (; i + 8 <= count; i += 8) route_together<8>(batch, first + i, at.data() + i);
        for (; i < count; ++i) route_together<1>(batch, first + i, at.data() + i);
    }

    // All that predicting may see of a leaf.
    const EstimationHistogram& histogram_at(std::uint32_t node) const {
        return leaves_[nodes_[node].leaf].estimation;
    }

    // The tree as arrays, and back (see state.hpp).
    State save() const;

    // Σ G over the splits in each column (R14): gain times structure points.
    const Array<std::int64_t>& importance() const { return importance_; }
    std::uint64_t depth() const { return depth_; }

    TreeStats stats() const {
        TreeStats stats = counters_;
        stats.leaves = leaves_.size();
        stats.active = active_;
        stats.depth = depth_;
        stats.activations = fringe_.activations();
        stats.refreshes = fringe_.refreshes();
        stats.node_bytes = nodes_.bytes() + importance_.bytes();
        stats.leaf_bytes = leaves_.bytes() + histograms_.live();
        stats.fringe_bytes = fringe_.bytes() + pool_.live();
        stats.held_bytes = histograms_.held() + pool_.held();
        for (const auto& leaf : leaves_) {
            if (!leaf.active()) continue;
            stats.pure += leaf.estimation.total() > 0 && leaf.estimation.errors() == 0;
            stats.stuck += leaf.candidates->attempt() > 0;
        }
        return stats;
    }

private:
    enum class Stream : std::uint8_t { structure, estimation, ignored };

    static std::uint32_t step(const Node& node, Point x) {
        const std::uint32_t right = !(Space::value(node.feature, x) <= node.threshold);  // R4
        return node.child + (right & node.leaf >> 31);  // only no_leaf has the top bit
    }

    // Several points descend side by side, without a branch, so that one waits for memory while
    // another computes; a point that has arrived stays. Two steps a look: looking costs too.
    template <std::size_t N>
    RIPARIAN_HOT void route_together(const Batch& batch, std::size_t first,
                                     std::uint32_t* out) const {
        const Node* nodes = nodes_.data();
        std::array<Point, N> x;
        std::array<std::uint32_t, N> at{};
        for (std::size_t i = 0; i < N; ++i) x[i] = batch.point(first + i);
        std::uint32_t moving;
        do {
            moving = 0;
            for (std::size_t i = 0; i < N; ++i) at[i] = step(nodes[at[i]], x[i]);
            for (std::size_t i = 0; i < N; ++i) {
                const std::uint32_t next = step(nodes[at[i]], x[i]);
                moving |= next ^ at[i];
                at[i] = next;
            }
        } while (moving);
        std::copy_n(at.begin(), N, out);
    }

    void learn_lanes(const Batch& batch, std::size_t first, std::size_t count, const Class* labels,
                     const double* weights, std::uint64_t t, const Settings& settings,
                     const Space& space, const std::vector<std::uint32_t>& rank,
                     Scratch<Space>& scratch) {
        Lanes at;
        route(batch, first, count, at);
        const std::uint64_t stream_key = key(settings.seed, number_, stream_draw);
        for (std::size_t i = 0; i < count; ++i) prefetch(&leaves_[nodes_[at[i]].leaf]);
        for (std::size_t i = 0; i < count; ++i) {
            const Leaf<Space, Evidence>& leaf = leaves_[nodes_[at[i]].leaf];
            leaf.estimation.prefetch();
            if (leaf.active()) leaf.candidates->prefetch();
        }
        for (std::size_t i = 0; i < count; ++i) {
            // Counted before anything else, so that batches and weights do not matter.
            n_classes_ = std::max(n_classes_, labels[first + i] + 1);
            const Weight n =
                weights ? round_weight(weights[first + i], t + i, settings) : Weight{1};
            if (n == 0) continue;
            const std::uint64_t draw = fold(stream_key, t + i);
            const Point x = batch.point(first + i);
            std::uint32_t node = at[i];
            while (nodes_[node].inner()) node = step(nodes_[node], x);  // it has split meanwhile
            const std::uint32_t leaf = nodes_[node].leaf;
            if constexpr (rule == Rule::two_streams) {
                receive(draw, leaf, x, labels[first + i], n, settings, space, scratch);
                if (crowded(settings)) [[unlikely]]
                    make_room(t + i, settings);
            } else {
                take_or_leave(draw, leaf, x, labels[first + i], n, settings, space, rank, scratch);
            }
        }
    }

    // -- the paper's two streams ------------------------------------------------------------------

    RIPARIAN_HOT void receive(std::uint64_t draw, std::uint32_t leaf, Point x, Class y, Weight n,
                              const Settings& settings, const Space& space,
                              Scratch<Space>& scratch) {
        switch (stream_of(draw, settings)) {
            case Stream::structure:
                return learn_structure(leaf, x, y, n, settings, space, scratch);
            case Stream::estimation:
                return learn_estimation(leaf, x, y, n, scratch);
            case Stream::ignored:
                counters_.ignored_points += n;
        }
    }

    // R1: one uniform a point and tree.
    static Stream stream_of(std::uint64_t word, const Settings& settings) {
        const std::uint64_t u = word >> 11;
        if (u < settings.structure_cut) return Stream::structure;
        return u < settings.ignore_cut ? Stream::ignored : Stream::estimation;
    }

    // R17: up with the probability of the fraction.
    Weight round_weight(double weight, std::uint64_t t, const Settings& settings) const {
        const auto whole = static_cast<Weight>(weight);
        const double u = uniform(key(settings.seed, number_, weight_draw, t));
        return whole + (u < weight - static_cast<double>(whole));
    }

    RIPARIAN_HOT void learn_estimation(std::uint32_t index, Point x, Class y, Weight n,
                                       Scratch<Space>& scratch) {
        counters_.estimation_points += n;
        Leaf<Space, Evidence>& leaf = leaves_[index];
        const std::uint64_t errors = leaf.estimation.errors();
        leaf.estimation.add(histograms_, y, n);
        if (leaf.active())
            leaf.candidates->observe_estimation(pool_, x, y, n, n_classes_, scratch);
        else if (leaf.estimation.errors() > errors)
            fringe_.raise(leaf.place, s_hat(index), moved());
    }

    void learn_structure(std::uint32_t index, Point x, Class y, Weight n, const Settings& settings,
                         const Space& space, Scratch<Space>& scratch) {
        counters_.structure_points += n;
        Leaf<Space, Evidence>& leaf = leaves_[index];
        if (!leaf.active()) return;  // R6
        Candidates<Space, Evidence>& candidates = *leaf.candidates;
        candidates.observe_structure(pool_, x, y, n, n_classes_, counters_.estimation_points,
                                     scratch);
        const std::uint64_t beta = settings.beta[leaf.depth];
        // Most points change nothing, and that is cheap to see: neither should the leaf split, nor
        // must it, nor has it waited long enough to look elsewhere (it has received no more than
        // its total).
        if (leaf.estimation.total() < beta && candidates.none_above(settings.min_gain, scratch))
            return;
        if (const auto best = candidates.best(settings.alpha[leaf.depth], scratch)) {
            if (best->gain > settings.min_gain) {
                ++counters_.should_splits;
                split(index, *best, settings, space, scratch);
            } else if (leaf.estimation.total() >= beta) {
                ++counters_.must_splits;
                split(index, *best, settings, space, scratch);
            } else {
                candidates.keep_sums(pool_, n_classes_, scratch);
            }
        } else if (candidates.received() / 2 >= beta) {  // R8: ties, most likely; look elsewhere
            const std::uint32_t attempt = candidates.attempt() + 1;
            deactivate(leaf);
            activate(index, attempt, settings, space, scratch);
        }
    }

    // -- Saffari's one stream ---------------------------------------------------------------------

    // R18: a tree takes a point Poisson(1) times; the others, if it may be replaced, test it.
    RIPARIAN_HOT void take_or_leave(std::uint64_t draw, std::uint32_t index, Point x, Class y,
                                    Weight n, const Settings& settings, const Space& space,
                                    const std::vector<std::uint32_t>& rank,
                                    Scratch<Space>& scratch) {
        Leaf<Space, Evidence>& leaf = leaves_[index];
        const Weight taken = n * Draws(draw).poisson(settings.bagging);
        if (taken == 0) {
            counters_.ignored_points += n;
            if (settings.replace_after == unbounded || leaf.estimation.total() == 0) return;
            bag_.left_out += n;
            bag_.errors += leaf.estimation.argmax(rank) != y ? n : 0;
            return;
        }
        counters_.estimation_points += taken;
        leaf.estimation.add(histograms_, y, taken);
        if (leaf.active()) grow(index, x, y, taken, settings, space, scratch);
    }

    void grow(std::uint32_t index, Point x, Class y, Weight n, const Settings& settings,
              const Space& space, Scratch<Space>& scratch) {
        Leaf<Space, Evidence>& leaf = leaves_[index];
        auto& candidates = *leaf.candidates;
        std::optional<Draws> range;
        if (settings.range_thresholds)
            range = Draws(key(settings.seed, number_, threshold_draw, leaf.node));
        candidates.observe(pool_, x, y, n, n_classes_, counters_.estimation_points, range, scratch);
        if (leaf.estimation.total() < settings.min_samples) return;
        const auto best = candidates.best_of_all(scratch);
        if (best && best->gain > settings.min_gain) {
            ++counters_.should_splits;
            split(index, *best, settings, space, scratch);
        } else if (best) {
            candidates.keep_sums(pool_, n_classes_, scratch);
        }
    }

    // -- splitting --------------------------------------------------------------------------------

    // R10; the left child takes the parent's place among the leaves.
    void split(std::uint32_t index, const Choice& choice, const Settings& settings,
               const Space& space, Scratch<Space>& scratch) {
        const std::uint32_t candidate = choice.candidate;
        const auto first = static_cast<std::uint32_t>(nodes_.size());
        if (first >= no_leaf / 2) throw std::length_error("a tree holds at most 2^31 nodes");
        const auto right_index = static_cast<std::uint32_t>(leaves_.size());
        leaves_.push_back({});
        Leaf<Space, Evidence>& parent = leaves_[index];
        const Candidates<Space, Evidence>& candidates = *parent.candidates;
        Leaf<Space, Evidence> left, right;
        candidates.fill_children(histograms_, candidate, left.estimation, right.estimation,
                                 scratch);
        left.node = first;
        right.node = first + 1;
        left.depth = right.depth = parent.depth + 1;
        left.born = right.born = candidates.born(candidate);
        depth_ = std::max<std::uint64_t>(depth_, left.depth);
        if constexpr (Space::columns) add_importance(candidates.feature(candidate), choice.g);

        nodes_.push_back({Feature{}, 0.0f, first, index});
        nodes_.push_back({Feature{}, 0.0f, first + 1, right_index});
        nodes_[parent.node] = {candidates.feature(candidate), candidates.threshold(candidate),
                               first, no_leaf};
        deactivate(parent);
        parent.estimation.release(histograms_);
        leaves_[index] = left;
        leaves_[right_index] = right;
        fill_fringe(index, right_index, settings, space, scratch);
    }

    void add_importance(std::size_t column, std::uint64_t g) {
        if (column >= importance_.size()) importance_.resize(column + 1);
        // Unsigned, so that it may wrap like G itself.
        importance_[column] =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(importance_[column]) + g);
    }

    // R12: the two new leaves wait with the others, and while there is room, the one with the
    // largest ŝ enters. Without a bound both enter at once, and nobody ever waits.
    void fill_fringe(std::uint32_t left, std::uint32_t right, const Settings& settings,
                     const Space& space, Scratch<Space>& scratch) {
        if constexpr (rule == Rule::one_stream) {
            if (leaves_[left].depth >= settings.max_depth) return;
            activate(left, 0, settings, space, scratch);
            activate(right, 0, settings, space, scratch);
            return;
        }
        if (!settings.bounded()) {
            activate(left, 0, settings, space, scratch);
            activate(right, 0, settings, space, scratch);
            return;
        }
        for (const std::uint32_t leaf : {left, right}) wait(leaf);
        while (active_ < settings.fringe_size && !fringe_.empty() && has_room(settings))
            activate(take(), 0, settings, space, scratch);
    }

    std::uint32_t take() {
        return fringe_.take([this](std::uint32_t leaf) { return s_hat(leaf); }, moved());
    }

    void wait(std::uint32_t leaf) {
        fringe_.push({s_hat(leaf), leaves_[leaf].node, leaf}, moved());
    }

    // -- a budget of memory -----------------------------------------------------------------------
    //
    // What a tree is charged: its arrays, a histogram of four bytes a class for every leaf, so that
    // counts can widen and classes arrive late, and what its active leaves hold.

    std::uint64_t charge() const {
        return charge_of_leaves(leaves_.size(), fringe_.size()) + pool_.live();
    }

    std::uint64_t charge_of_leaves(std::size_t leaves, std::size_t waiting) const {
        return Array<Node>::bytes(2 * leaves - 1) + Array<Leaf<Space, Evidence>>::bytes(leaves) +
               leaves * Pool::block_size(4 * std::size_t{n_classes_}) + Fringe::bytes(waiting) +
               importance_.bytes();
    }

    // One more active leaf, of the size planned on average, fits with what is planned for all.
    bool has_room(const Settings& settings) const {
        if (settings.budget == unbounded) return true;
        const std::uint64_t one = active_ ? planned_ / active_ : 0;
        return charge_of_leaves(leaves_.size(), fringe_.size()) +
                   std::max<std::uint64_t>(planned_, pool_.live()) + one <=
               settings.budget;
    }

    bool crowded(const Settings& settings) const {
        return settings.budget != unbounded && counters_.stopped_at == 0 &&
               (charge() > settings.budget || active_ == 0);
    }

    // The active leaves with the smallest ŝ, the youngest first among equals, become inactive until
    // a sixteenth of what the fringe may have is free.
    void make_room(std::uint64_t t, const Settings& settings) {
        std::vector<std::uint32_t> active;
        for (std::uint32_t i = 0; i < leaves_.size(); ++i)
            if (leaves_[i].active()) active.push_back(i);
        std::sort(active.begin(), active.end(), [this](std::uint32_t a, std::uint32_t b) {
            const Ratio s_a = s_hat(a), s_b = s_hat(b);
            if (s_a < s_b || s_b < s_a) return s_a < s_b;
            return leaves_[a].node > leaves_[b].node;
        });
        const std::uint64_t leaves = charge_of_leaves(leaves_.size(), fringe_.size());
        const std::uint64_t spare =
            settings.budget > leaves ? (settings.budget - leaves) / 16 : std::uint64_t{0};
        for (const std::uint32_t leaf : active) {
            if (charge() + (active_ > 1 ? spare : 0) <= settings.budget) break;
            deactivate(leaves_[leaf]);
            wait(leaf);
            ++counters_.evictions;
        }
        // Not even one leaf can collect what it takes to split: the tree has stopped to grow, and
        // goes on learning in its leaves.
        if (active_ == 0) counters_.stopped_at = t + 1;
    }

    // Blocks of sizes that are not asked for any more pile up as the fringe makes way for leaves:
    // when they are more than a thirty-second of the budget, everybody moves to a new pool. It
    // changes nothing but where things lie.
    void tidy(const Settings& settings) {
        const std::size_t waste = settings.budget / 32 + 4096;
        if (histograms_.held() > histograms_.live() + waste) {
            Pool fresh;
            for (Leaf<Space, Evidence>& leaf : leaves_) leaf.estimation.move_to(fresh);
            histograms_.swap(fresh);
        }
        if (pool_.held() > pool_.live() + waste) {
            Pool fresh;
            for (Leaf<Space, Evidence>& leaf : leaves_)
                if (leaf.active()) leaf.candidates = leaf.candidates->moved_to(fresh);
            pool_.swap(fresh);
        }
    }

    // SelectCandidateSplitDimensions; the draws are the node's own (R13).
    void activate(std::uint32_t index, std::uint32_t attempt, const Settings& settings,
                  const Space& space, Scratch<Space>& scratch) {
        Leaf<Space, Evidence>& leaf = leaves_[index];
        Draws draws(key(settings.seed, number_, leaf_draw, leaf.node, attempt));
        space.draw(draws, scratch.drawn);
        leaf.candidates =
            Candidates<Space, Evidence>::make(pool_, scratch.drawn, settings.split_points, attempt);
        if constexpr (rule == Rule::two_streams)
            if (settings.budget != unbounded) plan(leaf, settings);
        ++active_;
    }

    void plan(const Leaf<Space, Evidence>& leaf, const Settings& settings) {
        const bool told = leaf.depth < settings.alpha.size();  // not yet of the root
        leaf.candidates->plan(told ? settings.alpha[leaf.depth] : 1, n_classes_);
        planned_ += leaf.candidates->planned();
    }

    void deactivate(Leaf<Space, Evidence>& leaf) {
        planned_ -= leaf.candidates->planned();
        leaf.candidates->release(pool_);
        leaf.candidates = nullptr;
        --active_;
    }

    Ratio s_hat(std::uint32_t index) const {
        const Leaf<Space, Evidence>& leaf = leaves_[index];
        const std::uint64_t lifetime = counters_.estimation_points - leaf.born;
        return lifetime == 0 ? Ratio{0, 1} : Ratio{leaf.estimation.errors(), lifetime};
    }

    auto moved() {
        return [this](std::uint32_t leaf, std::size_t place) {
            leaves_[leaf].place = static_cast<std::uint32_t>(place);
        };
    }

    std::uint64_t number_;
    Pool histograms_;                      // what inactive leaves have too
    Pool pool_;                            // what only active leaves have
    Array<Node> nodes_;                    // in order of creation; siblings side by side
    Array<Leaf<Space, Evidence>> leaves_;  // in no order
    Fringe fringe_;                        // who waits
    std::uint64_t active_ = 0;
    std::uint64_t planned_ = 0;  // bytes set aside for the active leaves, with a budget
    std::uint64_t depth_ = 0;    // of the deepest leaf
    Class n_classes_ = 0;        // that have arrived
    TreeStats counters_;         // points and splits so far
    Array<std::int64_t> importance_;

    // What a tree that may be replaced is judged by (R18).
    struct Bag {
        std::uint64_t planted = 0;   // points that the forest had received before
        std::uint64_t left_out = 0;  // points that it was not given
        std::uint64_t errors = 0;    // those that it would have got wrong
    };
    struct Nothing {};
    [[no_unique_address]] std::conditional_t<rule == Rule::one_stream, Bag, Nothing> bag_;
};

}  // namespace riparian
