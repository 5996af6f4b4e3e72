// The forest: trees side by side, learned in parallel, read while they learn.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "state.hpp"

namespace riparian {

// Runs work(worker, item) for every item, on up to `workers` threads. Threads live for one call:
// there is nothing to be lost in a fork.
template <class Work>
void parallel(std::size_t workers, std::size_t items, Work&& work) {
    workers = std::min(workers, items);
    if (workers <= 1) {
        for (std::size_t item = 0; item < items; ++item) work(std::size_t{0}, item);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failed;
    const auto run = [&](std::size_t worker) {
        try {
            for (std::size_t item; (item = next++) < items;) work(worker, item);
        } catch (...) {
            const std::lock_guard lock(failed);
            failure = std::current_exception();
            next = items;
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back(run, worker);
    run(0);
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// Many readers or one writer, in the order of their coming: neither starves the other.
class FairLock {
public:
    std::shared_lock<std::shared_mutex> read() {
        const std::lock_guard queue(queue_);
        return std::shared_lock(state_);
    }
    std::unique_lock<std::shared_mutex> write() {
        const std::lock_guard queue(queue_);
        return std::unique_lock(state_);
    }

private:
    std::mutex queue_;
    std::shared_mutex state_;
};

enum class Voting { average, majority };

template <FeatureSpace Space, Rule rule>
class Forest {
public:
    using Batch = typename Space::Batch;
    using Tree = riparian::Tree<Space, rule>;
    using State = TreeState<Space>;

    // A reader sees all trees after the same point: the lock is held for this many at the most.
    static constexpr std::size_t block = 4096;

    Forest(std::size_t n_trees, Settings settings, Space space)
        : settings_(std::move(settings)), space_(std::move(space)) {
        scratch_.push_back(std::make_unique<Scratch<Space>>());
        for (std::size_t i = 0; i < n_trees; ++i) trees_.push_back(plant(i));
    }

    // The forest that was saved after so many points.
    Forest(Settings settings, Space space, std::uint64_t points, const std::vector<State>& trees)
        : settings_(std::move(settings)), space_(std::move(space)), points_(points) {
        scratch_.push_back(std::make_unique<Scratch<Space>>());
        for (std::size_t i = 0; i < trees.size(); ++i)
            trees_.push_back(std::make_unique<Tree>(i, trees[i], settings_, *scratch_.front()));
    }

    // Learn up to a block of points. The schedules reach as deep as the trees can get by it.
    void learn(const Batch& batch, const Class* labels, const double* weights,
               std::size_t workers) {
        if (batch.size() > block) throw std::logic_error("a block holds at most 4096 points");
        const auto lock = lock_->write();
        // A branch gains a level by a split that was due, and one more for every four points.
        if (rule == Rule::two_streams && settings_.beta.size() < deepest() + batch.size() / 4 + 2)
            throw std::logic_error("the schedules must reach as deep as the block can");
        workers = worthwhile(workers, batch.size() * trees_.size());
        while (scratch_.size() < workers) scratch_.push_back(std::make_unique<Scratch<Space>>());
        if constexpr (rule == Rule::one_stream)
            if (settings_.replace_after != unbounded)
                return learn_replacing(batch, labels, weights);
        learn_together(batch, labels, weights, workers);
    }

    // Before the first point of a class: `rank[k]`, the place of class k in the public order, which
    // may have classes that have not arrived yet.
    void set_classes(std::vector<std::uint32_t> rank, std::size_t n_classes) {
        const auto lock = lock_->write();
        rank_ = std::move(rank);
        n_classes_ = n_classes;
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
    }

    // R11, for up to a block of points: sums over the trees, in their order, then one division.
    // `make(n_classes)` gives room for one row a point; the columns are in the public order.
    template <class Make>
    void predict_proba(const Batch& batch, Voting voting, std::size_t workers, Make&& make) {
        const auto lock = lock_->read();
        const std::size_t n_classes = n_classes_;
        double* out = make(n_classes);
        workers = worthwhile(workers, batch.size() * trees_.size());
        const std::size_t points = std::min(tile(), (batch.size() + workers - 1) / workers);
        const std::size_t tiles = points ? (batch.size() + points - 1) / points : 0;
        parallel(workers, tiles, [&](std::size_t, std::size_t i) {
            const std::size_t first = i * points;
            predict_tile(batch, first, std::min(points, batch.size() - first), voting,
                         out + first * n_classes);
        });
    }

    // The class of each tree in the public order, -1 where the tree abstains; a row a point.
    void predict_trees(const Batch& batch, std::int64_t* out) {
        const auto lock = lock_->read();
        for_each_leaf(batch, [&](std::size_t point, std::size_t tree, std::uint32_t node) {
            const auto& histogram = trees_[tree]->histogram_at(node);
            out[point * trees_.size() + tree] =
                histogram.total() ? std::int64_t{rank_[histogram.argmax(rank_)]} : -1;
        });
    }

    // The node number of each point's leaf in each tree; a row a point.
    void apply(const Batch& batch, std::int64_t* out) {
        const auto lock = lock_->read();
        for_each_leaf(batch, [&](std::size_t point, std::size_t tree, std::uint32_t node) {
            out[point * trees_.size() + tree] = node;
        });
    }

    std::vector<TreeStats> stats() {
        const auto lock = lock_->read();
        std::vector<TreeStats> all;
        for (const auto& tree : trees_) all.push_back(tree->stats());
        return all;
    }

    // Around a fork: nobody learns or reads in between, so the child finds a whole forest. The lock
    // knows its thread by a number that is another one in the child, which therefore takes a new one.
    void hold() { held_ = lock_->write(); }
    void let_go() { held_.unlock(); }
    void let_go_in_child() {
        held_.release();
        static_cast<void>(lock_.release());
        lock_ = std::make_unique<FairLock>();
    }

    // visitor(points, trees): all of them after the same point.
    template <class Visitor>
    void visit(Visitor&& visitor) {
        const auto lock = lock_->read();
        visitor(points_, trees_);
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
    std::size_t n_classes() {
        const auto lock = lock_->read();
        return n_classes_;
    }

private:
    std::unique_ptr<Tree> plant(std::uint64_t number) {
        return std::make_unique<Tree>(number, points_, settings_, space_, *scratch_.front());
    }

    void learn_together(const Batch& batch, const Class* labels, const double* weights,
                        std::size_t workers) {
        parallel(workers, trees_.size(), [&](std::size_t worker, std::size_t i) {
            trees_[i]->learn(batch, labels, weights, points_, settings_, space_, rank_,
                             *scratch_[worker]);
        });
        points_ += batch.size();
    }

    // R18: who is replaced depends on all trees after every point, so they go point by point.
    void learn_replacing(const Batch& batch, const Class* labels, const double* weights) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            learn_together(batch.slice(i, 1), labels + i, weights ? weights + i : nullptr, 1);
            replace_one();
        }
    }

    // One of the trees that are old enough, with the probability of its error.
    void replace_one() {
        const auto old = [&](const auto& tree) {
            return points_ - tree->planted() > settings_.replace_after;
        };
        const auto n_old = std::count_if(trees_.begin(), trees_.end(), old);
        if (n_old == 0) return;
        Draws draws(key(settings_.seed, replacement_draw, points_ - 1));
        std::uint64_t place = draws.below(static_cast<std::uint64_t>(n_old));
        for (auto& tree : trees_) {
            if (!old(tree) || place-- > 0) continue;
            // A number that no tree has had: its draws are new.
            if (draws.next() < tree->out_of_bag_error())
                tree = plant(tree->number() + trees_.size());
            return;
        }
    }

    // Points whose sums stay in the cache while tree after tree adds to them.
    std::size_t tile() const {
        return std::clamp<std::size_t>((1 << 18) / (8 * (rank_.size() + 1)), 64, block);
    }

    std::uint64_t deepest() const {
        std::uint64_t depth = 0;
        for (const auto& tree : trees_) depth = std::max(depth, tree->depth());
        return depth;
    }

    // A thread costs about as much as two thousand points through one tree.
    static std::size_t worthwhile(std::size_t workers, std::size_t work) {
        return std::min(workers, work / 2048 + 1);
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

    void predict_tile(const Batch& batch, std::size_t first, std::size_t count, Voting voting,
                      double* out) const {
        const std::size_t n_arrived = rank_.size();
        std::vector<std::uint32_t> voters(count);
        std::vector<double> sums(count * n_arrived);  // by class in order of arrival
        typename Tree::Lanes at;
        for (const auto& tree : trees_) {
            for (std::size_t base = 0; base < count; base += at.size()) {
                const std::size_t some = std::min(at.size(), count - base);
                tree->route(batch, first + base, some, at);
                for (std::size_t i = 0; i < some; ++i) prefetch(&tree->histogram_at(at[i]));
                for (std::size_t i = 0; i < some; ++i) tree->histogram_at(at[i]).prefetch();
                for (std::size_t i = 0; i < some; ++i) {
                    const auto& histogram = tree->histogram_at(at[i]);
                    if (histogram.total() == 0) continue;
                    ++voters[base + i];
                    double* row = sums.data() + (base + i) * n_arrived;
                    if (voting == Voting::average)
                        histogram.add_shares(row);
                    else
                        row[histogram.argmax(rank_)] += 1.0;
                }
            }
        }
        for (std::size_t i = 0; i < count; ++i) {
            double* row = out + i * n_classes_;
            const double nobody = 1.0 / static_cast<double>(n_classes_);
            std::fill_n(row, n_classes_, voters[i] ? 0.0 : nobody);
            if (voters[i] == 0) continue;
            for (std::size_t k = 0; k < n_arrived; ++k)
                row[rank_[k]] = sums[i * n_arrived + k] / voters[i];
        }
    }

    std::unique_ptr<FairLock> lock_ = std::make_unique<FairLock>();
    std::unique_lock<std::shared_mutex> held_;  // during a fork
    Settings settings_;
    Space space_;
    std::uint64_t points_ = 0;         // t: points of positive weight received
    std::vector<std::uint32_t> rank_;  // of each class that has arrived, in the public order
    std::size_t n_classes_ = 0;        // in the public order
    std::vector<std::unique_ptr<Tree>> trees_;
    std::vector<std::unique_ptr<Scratch<Space>>> scratch_;  // one a thread
};

}  // namespace riparian
