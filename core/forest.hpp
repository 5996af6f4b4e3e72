// The forest: trees side by side, learned in parallel, read while they learn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/hot.hpp"
#include "predicting/tile.hpp"
#include "state.hpp"
#include "threads.hpp"

namespace riparian {

// Points with their labels. `weights` may be null: all one.
template <class Batch, class Label>
struct LabelledBlock {
    Batch batch;
    const Label* labels;
    const double* weights;

    std::size_t size() const { return batch.size(); }
    LabelledBlock slice(std::size_t first, std::size_t count) const {
        return {batch.slice(first, count), labels + first, weights ? weights + first : nullptr};
    }
};

template <FeatureSpace Space, class Rule, Target TargetT>
class Forest {
public:
    using SpaceType = Space;
    using Target = TargetT;
    using Batch = typename Space::Batch;
    using Block = LabelledBlock<Batch, typename Target::Label>;
    using Tree = riparian::Tree<Space, Rule, Target>;
    using Order = typename Target::Order;
    using Voting = typename Target::Voting;
    using Shared = typename Rule::template Shared<Space, Target>;
    using State = TreeState<Space>;
    using Settings = typename Rule::Settings;
    using SharedState = typename Shared::State;

    // A reader sees all trees after the same point: the lock is held for this many at the most.
    static constexpr std::size_t block = 4096;

    // Trees `first_tree`, `first_tree` + 1, ... of a forest that may have more, elsewhere.
    Forest(std::size_t n_trees, std::uint64_t first_tree, Settings settings, Space space)
        : settings_(std::move(settings)), space_(std::move(space)), shared_(settings_, space_) {
        scratch_.push_back(std::make_unique<Scratch>());
        for (std::size_t i = 0; i < n_trees; ++i) trees_.push_back(plant(first_tree + i));
    }

    // The forest that was saved after this many points.
    Forest(std::uint64_t first_tree, Settings settings, Space space, std::uint64_t points,
           const std::vector<State>& trees, const SharedState& shared)
        : settings_(std::move(settings)),
          space_(std::move(space)),
          shared_(settings_, space_),
          points_(points) {
        scratch_.push_back(std::make_unique<Scratch>());
        shared_.restore(shared);
        auto context = context_of(0);
        for (std::size_t i = 0; i < trees.size(); ++i)
            trees_.push_back(std::make_unique<Tree>(first_tree + i, trees[i], context));
    }

    // Learn up to a block of points. The schedules reach as deep as the trees can get by it.
    void learn(const Block& points, std::size_t workers) {
        if (points.size() > block) throw std::logic_error("a block holds at most 4096 points");
        static_assert(ForestRule<Rule, Forest>);
        const auto lock = lock_->write();
        workers = worthwhile(workers, points.size() * trees_.size());
        while (scratch_.size() < workers) scratch_.push_back(std::make_unique<Scratch>());
        Rule::learn(*this, points, workers);
    }

    // Before the first point of a label that the order does not have.
    void set_order(Order order) {
        const auto lock = lock_->write();
        order_ = std::move(order);
    }
    // For every depth that the next block can reach.
    void set_schedules(std::vector<std::uint64_t> alpha, std::vector<std::uint64_t> beta) {
        const auto lock = lock_->write();
        settings_.alpha = std::move(alpha);
        settings_.beta = std::move(beta);
    }
    void set_space(Space space) {
        const auto lock = lock_->write();
        space_ = std::move(space);
        shared_.widen(space_);
    }
    // Bytes that a tree may hold.
    void set_budget(std::uint64_t budget) {
        const auto lock = lock_->write();
        settings_.budget = budget;
    }

    // R11, for up to a block of points: sums of shares over the trees, and how many trees did not
    // abstain. `make(outputs)` gives room: a pair of pointers, to one row per point with a column
    // per output, and to one number per point.
    template <class Make>
    void predict_sums(const Batch& batch, Voting voting, std::size_t workers, Make&& make) {
        const auto lock = lock_->read();
        const auto [sums, voters] = make(order_.outputs());
        sum_answers(batch, voting, workers, [&](std::size_t i, const std::int64_t* row) {
            order_.write_sums(row, sums + i * order_.outputs());
            voters[i] = order_.voters(row);
        });
    }

    // The same, divided: of classes, probabilities. `make(outputs)` gives room.
    template <class Make>
    void predict(const Batch& batch, Voting voting, std::size_t workers, Make&& make) {
        const auto lock = lock_->read();
        double* out = make(order_.outputs());
        sum_answers(batch, voting, workers, [&](std::size_t i, const std::int64_t* row) {
            order_.write(row, out + i * order_.outputs());
        });
    }

    // What each tree answers; one row per point.
    void predict_trees(const Batch& batch, typename Order::TreeAnswer* out) {
        const auto lock = lock_->read();
        for_each_leaf(batch, [&](std::size_t point, std::size_t tree, std::uint32_t node) {
            out[point * trees_.size() + tree] =
                order_.tree_answer(trees_[tree]->answer_at(node, shared_));
        });
    }

    // The node number of each point's leaf in each tree; one row per point.
    void apply(const Batch& batch, std::int64_t* out) {
        const auto lock = lock_->read();
        for_each_leaf(batch, [&](std::size_t point, std::size_t tree, std::uint32_t node) {
            out[point * trees_.size() + tree] = node;
        });
    }

    // Whether points judge the heads before they are learned (R25): not if they were learned
    // before.
    void set_judging(bool judging) {
        const auto lock = lock_->write();
        settings_.judging = judging;
    }

    std::vector<TreeStats> stats() {
        const auto lock = lock_->read();
        std::vector<TreeStats> all;
        for (const auto& tree : trees_) all.push_back(tree->stats());
        return all;
    }

    // Of all trees together.
    TreeSizes sizes() {
        const auto lock = lock_->read();
        TreeSizes sum;
        for (const auto& tree : trees_) {
            const TreeSizes sizes = tree->sizes();
            for (const auto& [name, size] : size_names) sum.*size += sizes.*size;
        }
        return sum;
    }

    // Bytes of the largest tree.
    std::uint64_t largest_tree() {
        const auto lock = lock_->read();
        std::uint64_t largest = 0;
        for (const auto& tree : trees_) {
            const TreeSizes sizes = tree->sizes();
            largest = std::max(largest, sizes.node_bytes + sizes.leaf_bytes + sizes.fringe_bytes);
        }
        return largest;
    }

    // Around a fork: no thread learns or reads in between, so the child finds a whole forest. The
    // lock knows its thread by a number that is another one in the child, which therefore takes a
    // new one.
    void hold() { held_ = lock_->write(); }
    void let_go() { held_.unlock(); }
    void let_go_in_child() {
        held_.release();
        static_cast<void>(lock_.release());
        lock_ = std::make_unique<FairLock>();
    }

    // visitor(points, trees, what they share): all of them after the same point.
    template <class Visitor>
    void visit(Visitor&& visitor) {
        const auto lock = lock_->read();
        visitor(points_, trees_, shared_);
    }

    std::uint64_t depth() {
        const auto lock = lock_->read();
        return deepest();
    }
    std::uint64_t points() {
        const auto lock = lock_->read();
        return points_;
    }
    std::size_t n_trees() const { return trees_.size(); }
    std::size_t outputs() {
        const auto lock = lock_->read();
        return order_.outputs();
    }

private:
    friend Rule;
    friend RuleDefaults;
    friend Looking<Rule>;
    using Scratch = typename Rule::template Scratch<Space, Target>;

    // -- for the rule, which has the lock ---------------------------------------------------------

    const Settings& settings() const { return settings_; }
    auto& shared() { return shared_; }
    auto& trees() { return trees_; }
    auto& scratch() { return scratch_; }
    std::uint64_t points_learned() const { return points_; }

    std::unique_ptr<Tree> plant(std::uint64_t number) {
        auto context = context_of(0);
        return std::make_unique<Tree>(number, points_, context);
    }

    void learn_together(const Block& points, std::size_t workers) {
        Tile<Space> tile{points.batch};
        if (points.size() >= Tree::together) tile.make_keys(trees_.size());
        parallel(workers, trees_.size(), [&](std::size_t worker, std::size_t i) {
            auto context = context_of(worker);
            if (tile.keys) context.keys = &*tile.keys;
            trees_[i]->learn(points.batch, points.labels, points.weights, points_, context);
        });
        points_ += points.size();
    }

    std::uint64_t deepest() const {
        std::uint64_t depth = 0;
        for (const auto& tree : trees_) depth = std::max(depth, tree->depth());
        return depth;
    }

    // ---------------------------------------------------------------------------------------------

    typename Tree::Context context_of(std::size_t worker) {
        return {settings_, space_, order_, shared_, *scratch_[worker]};
    }

    // Points whose sums stay in the cache while tree after tree adds to them, and rows in the next
    // one.
    std::size_t tile_size(const Batch& batch) const {
        std::size_t most = (1 << 19) / (8 * order_.row_width());
        if constexpr (Space::columns)
            most = std::min(most, (1 << 21) / (4 * (batch.columns() + 1)));
        return std::clamp<std::size_t>(most, 64, block);
    }

    // work(tile, number of its first point), on threads.
    template <class Work>
    void in_tiles(const Batch& batch, std::size_t workers, Work&& work) const {
        const std::size_t points =
            std::min(tile_size(batch), (batch.size() + workers - 1) / workers);
        const std::size_t tiles = points ? (batch.size() + points - 1) / points : 0;
        parallel(workers, tiles, [&](std::size_t, std::size_t i) {
            const std::size_t first = i * points;
            work(batch.slice(first, std::min(points, batch.size() - first)), first);
        });
    }

    template <class Visitor>
    void for_each_leaf(const Batch& batch, Visitor&& visitor) const {
        typename Tree::Lanes at;
        for (std::size_t first = 0; first < batch.size(); first += at.size()) {
            const std::size_t count = std::min(at.size(), batch.size() - first);
            for (std::size_t tree = 0; tree < trees_.size(); ++tree) {
                trees_[tree]->route(batch, first, count, at);
                for (std::size_t i = 0; i < count; ++i) visitor(first + i, tree, at[i]);
            }
        }
    }

    // visitor(point, its row of sums over the trees).
    //
    // Threads share out the trees, because some work is done once for a tree and a tile; or, where
    // there are few trees, the points.
    template <class Visitor>
    void sum_answers(const Batch& batch, Voting voting, std::size_t workers,
                     Visitor&& visitor) const {
        workers = worthwhile(workers, batch.size() * trees_.size());
        const bool by_trees = trees_.size() >= 4 * workers;
        in_tiles(batch, by_trees ? 1 : workers, [&](const Batch& points, std::size_t first) {
            sum_tile(points, voting, by_trees ? workers : 1,
                     [&](std::size_t i, const std::int64_t* row) { visitor(first + i, row); });
        });
    }

    template <class Visitor>
    void sum_tile(const Batch& points, Voting voting, std::size_t workers,
                  Visitor&& visitor) const {
        Tile<Space> tile{points};
        const auto by_leaf = [&](const auto& tree) { return 2 * tree->n_leaves() <= tile.size(); };
        if (std::any_of(trees_.begin(), trees_.end(), by_leaf)) tile.make_keys(trees_.size());
        const std::size_t width = order_.row_width();
        std::vector<TilePart<Space>> parts;
        for (std::size_t worker = 0; worker < workers; ++worker) parts.emplace_back(tile, width);
        parallel(workers, trees_.size(), [&](std::size_t worker, std::size_t i) {
            if (by_leaf(trees_[i]))
                add_by_leaf(*trees_[i], parts[worker], tile.size(), voting);
            else
                add_by_point(*trees_[i], points, voting, parts[worker].sums.data());
        });
        std::vector<std::int64_t>& sums = parts[0].sums;
        for (std::size_t worker = 1; worker < workers; ++worker)
            for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += parts[worker].sums[i];
        for (std::size_t i = 0; i < tile.size(); ++i) visitor(i, sums.data() + i * width);
    }

    // Many points: what a leaf answers is worked out once.
    void add_by_leaf(const Tree& tree, TilePart<Space>& part, std::size_t n_points,
                     Voting voting) const {
        const std::size_t n_leaves = tree.n_leaves();
        part.answers.work_out(n_leaves, order_.row_width(),
                              [&](std::uint32_t leaf, std::int64_t* row) {
                                  if (leaf + 8 < n_leaves)
                                      tree.answer_of(leaf + 8, shared_).prefetch();
                                  order_.add(tree.answer_of(leaf, shared_), voting, row);
                              });
        part.answers.add_to(part.sums.data(), part.leaves(tree), n_points);
    }

    void add_by_point(const Tree& tree, const Batch& batch, Voting voting,
                      std::int64_t* sums) const {
        const std::size_t width = order_.row_width();
        typename Tree::Lanes at;
        for (std::size_t first = 0; first < batch.size(); first += at.size()) {
            const std::size_t n = std::min(at.size(), batch.size() - first);
            tree.route(batch, first, n, at);
            for (std::size_t i = 0; i < n; ++i) tree.prefetch_leaf(at[i]);
            for (std::size_t i = 0; i < n; ++i) tree.answer_at(at[i], shared_).prefetch();
            for (std::size_t i = 0; i < n; ++i)
                order_.add(tree.answer_at(at[i], shared_), voting, sums + (first + i) * width);
        }
    }

    std::unique_ptr<FairLock> lock_ = std::make_unique<FairLock>();
    std::unique_lock<std::shared_mutex> held_;  // during a fork
    Settings settings_;
    Space space_;
    Shared shared_;             // what all trees read
    std::uint64_t points_ = 0;  // t: points of positive weight received
    Order order_;               // what is known about labels
    std::vector<std::unique_ptr<Tree>> trees_;
    std::vector<std::unique_ptr<Scratch>> scratch_;  // one per thread
};

}  // namespace riparian
