// The forest: trees that are learned in parallel, and can be read while they learn.
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
#include "predicting/tile_neighbours.hpp"
#include "rules/neighbours.hpp"
#include "state.hpp"
#include "threads.hpp"

namespace riparian {

// Points with their labels. If `weights` is null, all weights are 1.
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

// The error of every call after learning has failed in the middle of a block.
class BrokenForest : public std::runtime_error {
public:
    BrokenForest()
        : std::runtime_error(
              "this forest failed while it was learning (most likely memory ran out), so it holds "
              "part of a batch and cannot be used any more; load its last snapshot, or start again "
              "with fit") {}
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

    // Readers see all trees after the same point, so the lock is held for at most this many points.
    static constexpr std::size_t block = 4096;

    // The trees with the numbers `first_tree`, `first_tree` + 1, ... of a forest that may have more
    // trees elsewhere.
    Forest(std::size_t n_trees, std::uint64_t first_tree, Settings settings, Space space)
        : settings_(std::move(settings)), space_(std::move(space)), shared_(settings_, space_) {
        scratch_.push_back(std::make_unique<Scratch>());
        for (std::size_t i = 0; i < n_trees; ++i) trees_.push_back(plant(first_tree + i));
    }

    // Restores a forest that was saved after this many points.
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

    // Learns up to a block of points. The schedules must cover every depth that the trees can reach
    // by its end.
    void learn(const Block& points, std::size_t workers) {
        if (points.size() > block) throw std::logic_error("a block holds at most 4096 points");
        static_assert(ForestRule<Rule, Forest>);
        const auto lock = write();
        workers = prepared(workers, points.size());
        whole_ = false;  // an exception from here on leaves some trees behind the others
        Rule::learn(*this, points, workers);
        whole_ = true;
    }

    // The same, and writes what the forest would have answered to each point just before it: `out`
    // has a row per point and a column per output. The row of a point for which all trees abstain
    // is not changed.
    void predict_then_learn(const Block& points, Voting voting, std::size_t workers, double* out) {
        const auto lock = write();
        whole_ = false;
        const std::size_t outputs = order_.outputs();
        const bool together = Rule::answers_add_up(voting);
        const std::size_t most = together ? most_answers() : 1;
        for (std::size_t first = 0; first < points.size(); first += most) {
            const Block some = points.slice(first, std::min(most, points.size() - first));
            const auto answer = [&](std::size_t i, const std::int64_t* row) {
                if (order_.voters(row)) order_.write(row, out + (first + i) * outputs);
            };
            if (together)
                learn_answering(some, voting, prepared(workers, some.size()), answer);
            else {
                sum_answers(some.batch, voting, 1, answer);
                Rule::learn(*this, some, 1);
            }
        }
        whole_ = true;
    }

    // Whether all trees have learned the same points. If not, every other call fails.
    bool whole() {
        const auto lock = lock_->read();
        return whole_;
    }
    // Marks the forest as broken, because the caller has failed with part of a batch learned.
    void give_up() {
        const auto lock = lock_->write();
        whole_ = false;
    }

    // Must be called before the first point of a label that the order does not know.
    void set_order(Order order) {
        const auto lock = write();
        order_ = std::move(order);
    }
    // Sets α and β for every depth that the next block can reach.
    void set_schedules(std::vector<std::uint64_t> alpha, std::vector<std::uint64_t> beta) {
        const auto lock = write();
        settings_.alpha = std::move(alpha);
        settings_.beta = std::move(beta);
    }
    void set_space(Space space) {
        const auto lock = write();
        space_ = std::move(space);
        shared_.widen(space_);
    }
    // Sets the number of bytes that a tree may hold.
    void set_budget(std::uint64_t budget) {
        const auto lock = write();
        settings_.budget = budget;
    }

    // Computes R11 for up to a block of points: sums of shares over the trees, and how many trees
    // did not abstain. `make(outputs)` returns two pointers to memory for the result: one row per
    // point with a column per output, and one number per point.
    template <class Make>
    void predict_sums(const Batch& batch, Voting voting, std::size_t workers, Make&& make) {
        const auto lock = read();
        const auto [sums, voters] = make(order_.outputs());
        sum_answers(batch, voting, workers, [&](std::size_t i, const std::int64_t* row) {
            order_.write_sums(row, sums + i * order_.outputs());
            voters[i] = order_.voters(row);
        });
    }

    // The same, divided: for classes, probabilities. `make(outputs)` returns memory for them.
    template <class Make>
    void predict(const Batch& batch, Voting voting, std::size_t workers, Make&& make) {
        const auto lock = read();
        double* out = make(order_.outputs());
        sum_answers(batch, voting, workers, [&](std::size_t i, const std::int64_t* row) {
            Rule::write(order_, row, shared_, out + i * order_.outputs());
        });
    }

    // Returns what each tree answers, one row per point.
    void predict_trees(const Batch& batch, typename Order::TreeAnswer* out) {
        const auto lock = read();
        for_each_leaf(batch, [&](std::size_t point, std::size_t tree, std::uint32_t node) {
            out[point * trees_.size() + tree] =
                order_.tree_answer(trees_[tree]->answer_at(node, shared_));
        });
    }

    // R28: visitor(point, the distribution near it, how its targets move with the answer, what the
    // trees share), on threads.
    template <class Distribution, class Visitor>
    void predict_distributions(const Batch& batch, std::size_t workers, Visitor&& visitor) {
        const auto lock = read();
        workers = worthwhile(workers, 16 * batch.size() * trees_.size());
        in_tiles(batch, workers, TileNeighbours<Target>::most_points(trees_.size()),
                 [&](const Batch& points, std::size_t first) {
                     std::vector<double> plain(points.size());
                     if (shared_.following.on())
                         sum_tile(points, Voting{}, 1, [&](std::size_t i, const std::int64_t* row) {
                             order_.write(row, &plain[i]);
                         });
                     TileNeighbours<Target> near(points.size(), trees_.size());
                     find_neighbours(points, near);
                     Distribution distribution;
                     for (std::size_t i = 0; i < points.size(); ++i) {
                         near.distribute(i, distribution);
                         visitor(first + i, distribution,
                                 shared_.following.correction().around(plain[i]), shared_);
                     }
                 });
    }

    // Returns the node number of each point's leaf in each tree, one row per point.
    void apply(const Batch& batch, std::int64_t* out) {
        const auto lock = read();
        for_each_leaf(batch, [&](std::size_t point, std::size_t tree, std::uint32_t node) {
            out[point * trees_.size() + tree] = node;
        });
    }

    // Sets whether points judge the heads before they are learned (R25). Points that were learned
    // before do not.
    void set_judging(bool judging) {
        const auto lock = write();
        settings_.judging = judging;
    }

    std::vector<TreeStats> stats() {
        const auto lock = read();
        std::vector<TreeStats> all;
        for (const auto& tree : trees_) all.push_back(tree->stats());
        return all;
    }

    // Totals over all trees.
    TreeSizes sizes() {
        const auto lock = read();
        TreeSizes sum;
        for (const auto& tree : trees_) {
            const TreeSizes sizes = tree->sizes();
            for (const auto& [name, size] : size_names) sum.*size += sizes.*size;
        }
        return sum;
    }

    // Returns the bytes of the largest tree.
    std::uint64_t largest_tree() {
        const auto lock = read();
        std::uint64_t largest = 0;
        for (const auto& tree : trees_) {
            const TreeSizes sizes = tree->sizes();
            largest = std::max(largest, sizes.node_bytes + sizes.leaf_bytes + sizes.fringe_bytes);
        }
        return largest;
    }

    // Called around a fork: no thread learns or reads in between, so the child has a whole forest.
    // The lock identifies its thread by a number that is different in the child, so the child takes
    // a new lock.
    void hold() { held_ = lock_->write(); }
    void let_go() { held_.unlock(); }
    void let_go_in_child() {
        held_.release();
        static_cast<void>(lock_.release());
        lock_ = std::make_unique<FairLock>();
    }

    // Calls visitor(points, trees, shared) with all of them after the same point.
    template <class Visitor>
    void visit(Visitor&& visitor) {
        const auto lock = read();
        visitor(points_, trees_, shared_);
    }

    // Calls changer(shared) while no tree learns or answers.
    template <class Changer>
    void change_shared(Changer&& changer) {
        const auto lock = lock_->write();
        changer(shared_);
    }

    std::uint64_t depth() {
        const auto lock = read();
        return deepest();
    }
    std::uint64_t points() {
        const auto lock = read();
        return points_;
    }
    std::size_t n_trees() const { return trees_.size(); }
    std::size_t outputs() {
        const auto lock = read();
        return order_.outputs();
    }

private:
    friend Rule;
    friend RuleDefaults;
    friend Looking<Rule>;
    template <class R, class H>
    friend struct HeadedOf;
    using Scratch = typename Rule::template Scratch<Space, Target>;

    // Takes the lock and returns it; throws if the forest is broken.
    auto read() {
        auto lock = lock_->read();
        if (!whole_) throw BrokenForest();
        return lock;
    }
    auto write() {
        auto lock = lock_->write();
        if (!whole_) throw BrokenForest();
        return lock;
    }

    // -- for the rule, which holds the lock -------------------------------------------------------

    const Settings& settings() const { return settings_; }
    auto& shared() { return shared_; }
    auto& trees() { return trees_; }
    auto& scratch() { return scratch_; }
    const Order& order() const { return order_; }
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
        if (scratch_[0]->answers.asked())
            for (std::size_t worker = 1; worker < workers; ++worker)
                scratch_[0]->answers.take(scratch_[worker]->answers);
        points_ += points.size();
    }

    std::uint64_t deepest() const {
        std::uint64_t depth = 0;
        for (const auto& tree : trees_) depth = std::max(depth, tree->depth());
        return depth;
    }

    // ---------------------------------------------------------------------------------------------

    // Returns as many workers as are useful, each with its scratch memory.
    std::size_t prepared(std::size_t workers, std::size_t points) {
        workers = worthwhile(workers, points * trees_.size());
        while (scratch_.size() < workers) scratch_.push_back(std::make_unique<Scratch>());
        return workers;
    }

    // The number of points whose answers stay in the cache while tree after tree adds to them.
    std::size_t most_answers() const {
        return std::clamp<std::size_t>((1 << 20) / (8 * Rule::answer_width(order_)), 256, block);
    }

    // Calls visitor(point, sums), with the sums over the trees as they were before the point.
    template <class Visitor>
    void learn_answering(const Block& points, Voting voting, std::size_t workers,
                         Visitor&& visitor) {
        struct Ending {
            std::vector<std::unique_ptr<Scratch>>& scratch;
            ~Ending() {
                for (auto& each : scratch) each->answers.end();
            }
        } const ending{scratch_};
        const std::uint64_t first = points_;
        for (auto& each : scratch_)
            each->answers.begin(voting, first, points.size(), Rule::answer_width(order_));
        Rule::learn(*this, points, workers);
        for (std::size_t i = 0; i < points.size(); ++i)
            visitor(i, scratch_[0]->answers.row(first + i));
    }

    typename Tree::Context context_of(std::size_t worker) {
        return {settings_, space_, order_, shared_, *scratch_[worker]};
    }

    // Returns how many points to take at a time: their sums stay in the nearest cache while tree
    // after tree adds to them, and their rows in the next one.
    std::size_t tile_size(const Batch& batch) const {
        std::size_t most = (1 << 19) / (8 * order_.row_width());
        if constexpr (Space::columns)
            most = std::min(most, (1 << 21) / (4 * (batch.columns() + 1)));
        return std::clamp<std::size_t>(most, 64, block);
    }

    // Calls work(tile, number of its first point) on threads.
    template <class Work>
    void in_tiles(const Batch& batch, std::size_t workers, std::size_t most, Work&& work) const {
        const std::size_t points = std::min(most, (batch.size() + workers - 1) / workers);
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

    // Calls visitor(point, sums over the trees).
    //
    // Threads divide the trees, because some work is done once per tree and tile. If there are few
    // trees, they divide the points.
    template <class Visitor>
    void sum_answers(const Batch& batch, Voting voting, std::size_t workers,
                     Visitor&& visitor) const {
        workers = worthwhile(workers, batch.size() * trees_.size());
        const bool by_trees = trees_.size() >= 4 * workers;
        in_tiles(batch, by_trees ? 1 : workers, tile_size(batch),
                 [&](const Batch& points, std::size_t first) {
                     sum_tile(
                         points, voting, by_trees ? workers : 1,
                         [&](std::size_t i, const std::int64_t* row) { visitor(first + i, row); });
                 });
    }

    template <class Visitor>
    void sum_tile(const Batch& points, Voting voting, std::size_t workers,
                  Visitor&& visitor) const {
        Tile<Space> tile{points};
        // A tree whose rows stop early may have far fewer answers than leaves.
        const std::size_t leaves_per_row = Tree::stops_early ? 4 : 1;
        const auto by_leaf = [&](const auto& tree) {
            return 2 * tree->n_leaves() <= leaves_per_row * tile.size();
        };
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

    // For many points, the answer of each leaf is computed once.
    void add_by_leaf(const Tree& tree, TilePart<Space>& part, std::size_t n_points,
                     Voting voting) const {
        if constexpr (Tree::stops_early) return add_by_stop(tree, part, n_points, voting);
        const std::size_t n_leaves = tree.n_leaves();
        part.answers.work_out(n_leaves, order_.row_width(),
                              [&](std::uint32_t leaf, std::int64_t* row) {
                                  if (leaf + 8 < n_leaves)
                                      tree.answer_of(leaf + 8, shared_).prefetch();
                                  order_.add(tree.answer_of(leaf, shared_), voting, row);
                              });
        part.answers.add_to(part.sums.data(), part.leaves(tree), n_points);
    }

    // The same, with nodes that answer instead of leaves.
    void add_by_stop(const Tree& tree, TilePart<Space>& part, std::size_t n_points,
                     Voting voting) const {
        tree.find_stops(shared_, part.stops);
        const auto& nodes = part.stops.nodes();
        const std::uint32_t* stops = part.stops_of_points(tree);
        if (2 * nodes.size() <= n_points) {
            const auto add = [&](std::uint32_t stop, std::int64_t* row) {
                order_.add(tree.answer_of_node(nodes[stop], shared_), voting, row);
            };
            part.answers.work_out(nodes.size(), order_.row_width(), add);
            return part.answers.add_to(part.sums.data(), stops, n_points);
        }
        const std::size_t width = order_.row_width();
        for (std::size_t i = 0; i < n_points; ++i)
            order_.add(tree.answer_of_node(nodes[stops[i]], shared_), voting,
                       part.sums.data() + i * width);
    }

    void add_by_point(const Tree& tree, const Batch& batch, Voting voting,
                      std::int64_t* sums) const {
        const std::size_t width = order_.row_width();
        typename Tree::Lanes at;
        for (std::size_t first = 0; first < batch.size(); first += at.size()) {
            const std::size_t n = std::min(at.size(), batch.size() - first);
            tree.route(batch, first, n, at);
            for (std::size_t i = 0; i < n; ++i) tree.prefetch_leaf(at[i]);
            for (std::size_t i = 0; i < n; ++i) tree.answer_of_node(at[i], shared_).prefetch();
            for (std::size_t i = 0; i < n; ++i)
                order_.add(tree.answer_of_node(at[i], shared_), voting, sums + (first + i) * width);
        }
    }

    // R28: of many points the smallest cells are found beforehand, and each is read once.
    void find_neighbours(const Batch& points, TileNeighbours<Target>& near) const {
        const auto by_cell = [&](const auto& tree) {
            return tree->n_leaves() <= 4 * points.size();
        };
        Tile<Space> tile{points};
        if (std::any_of(trees_.begin(), trees_.end(), by_cell)) tile.make_keys(trees_.size());
        TilePart<Space> part(tile, 0);
        Neighbours neighbours;
        for (std::size_t i = 0; i < trees_.size(); ++i) {
            const Tree& tree = *trees_[i];
            near.begin_tree();
            if (by_cell(trees_[i])) {
                neighbours.find_cells(tree, points_, part.stops);
                for (const std::uint32_t node : part.stops.nodes())
                    near.add_cell([&](auto& out) {
                        neighbours.read_cell(tree, node, points_, shared_, settings_, out);
                    });
                near.set(i, part.stops_of_points(tree));
            } else {
                const std::uint32_t* leaves = part.leaves(tree);
                for (std::size_t point = 0; point < points.size(); ++point)
                    near.add_cell([&](auto& out) {
                        neighbours.read(tree, leaves[point], points_, shared_, settings_, out);
                    });
                near.set(i);
            }
        }
    }

    std::unique_ptr<FairLock> lock_ = std::make_unique<FairLock>();
    std::unique_lock<std::shared_mutex> held_;  // during a fork
    bool whole_ = true;                         // whether all trees have learned the same points
    Settings settings_;
    Space space_;
    Shared shared_;             // what all trees read
    std::uint64_t points_ = 0;  // t: points of positive weight received
    Order order_;               // what is known about labels
    std::vector<std::unique_ptr<Tree>> trees_;
    std::vector<std::unique_ptr<Scratch>> scratch_;  // one per thread
};

}  // namespace riparian
