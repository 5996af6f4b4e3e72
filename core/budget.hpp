// The memory budget of a tree. The charge of a tree depends on that tree alone, so a budget does
// not affect R13. It covers the arrays of the tree, what the target counts for the statistics of
// every leaf, and what the active leaves hold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/hot.hpp"
#include "memory/array.hpp"
#include "memory/pool.hpp"
#include "settings.hpp"

namespace riparian {

// The charge of the leaves of a tree, and the values it was computed from. The charge is needed at
// every point and changes at few of them.
template <class Known>
struct ChargeOfLeaves {
    std::uint32_t leaves = 0, settled = 0, columns = 0;  // columns of the importances
    Known known{};                                       // what is known about the labels
    std::uint64_t bytes = 0;
    // The number of leaves that a tree of young leaves may have, whichever columns they are split
    // in, while this is known about the labels.
    std::uint32_t room_for = 0;
    Known known_then{};
};

template <class Tree>
class Budget {
public:
    using Leaf = typename Tree::Leaf;

    Budget(Tree& tree, std::uint64_t bytes) : tree_(tree), bytes_(bytes) {}

    // Whether one more active leaf of the average planned size fits with what is planned for all. A
    // young leaf will need as much when it settles.
    bool has_room() const {
        if (bytes_ == unbounded) return true;
        const std::uint64_t one = tree_.settled_ ? tree_.planned_ / tree_.settled_ : 0;
        const std::uint64_t to_come = (tree_.active_ - tree_.settled_ + 1) * one;
        return charge_of_leaves() + std::max<std::uint64_t>(tree_.planned_, tree_.pool_.live()) +
                   to_come <=
               bytes_;
    }

    RIPARIAN_HOT bool is_exceeded() const {
        if (bytes_ == unbounded || tree_.totals_.stopped_at != 0) return false;
        if (tree_.active_ == 0) return true;
        const auto& charge_known = tree_.charge_;
        const bool is_known = tree_.settled_ == 0 &&
                              tree_.leaves_.size() <= charge_known.room_for &&
                              charge_known.known_then == tree_.known();
        return !is_known && charge() > bytes_;
    }

    // Sets aside the bytes that a leaf that has just entered the fringe is expected to need.
    void plan(const Leaf& leaf, std::uint32_t depth, const std::vector<std::uint64_t>& alpha) {
        if (bytes_ == unbounded) return;
        const bool known = depth < alpha.size();  // false for the root
        leaf.candidates->plan(known ? alpha[depth] : 1, tree_.known());
        tree_.planned_ += leaf.candidates->planned();
    }

    // Makes the settled leaves with the smallest ŝ inactive, the youngest first among equals, until
    // a sixteenth of what the fringe may use is free. `t` is the point just learned.
    void make_room(std::uint64_t t) {
        const std::uint64_t leaves = charge_of_leaves();
        const std::uint64_t spare = bytes_ > leaves ? (bytes_ - leaves) / 16 : std::uint64_t{0};
        for (const std::uint32_t leaf : settled_by_s_hat()) {
            if (charge() + (tree_.settled_ > 1 ? spare : 0) <= bytes_) break;
            evict(leaf);
        }
        if (charge() > bytes_ || tree_.active_ == 0) stop(t);
    }

    // Whether there is memory for one more leaf, made by a split in this feature, even if all
    // leaves must wait.
    bool can_split(const typename Tree::Feature& feature) const {
        return bytes_ == unbounded || charge_of_leaves(tree_.leaves_.size() + 1, 0) +
                                              tree_.growth_of_importance(feature) <=
                                          bytes_;
    }

    // Whether this many leaves fit if none of them is settled, whichever columns they are split in.
    template <class Space>
    bool has_room_for_leaves(std::size_t leaves, const Space& space) const {
        if (bytes_ == unbounded) return true;
        return charge_of_leaves(leaves, 0) + tree_.growth_of_all_importances(space) <= bytes_;
    }

    // The same for a tree without settled leaves. It is called at most splits, so it is computed
    // for more leaves than the caller asks about.
    template <class Space>
    bool has_room_to_grow(std::size_t leaves, const Space& space) const {
        if (bytes_ == unbounded) return true;
        auto& charge = tree_.charge_;
        if (leaves <= charge.room_for && charge.known_then == tree_.known()) return true;
        if (!has_room_for_leaves(leaves, space)) return false;
        charge.known_then = tree_.known();
        charge.room_for = static_cast<std::uint32_t>(
            has_room_for_leaves(2 * leaves, space) ? 2 * leaves : leaves);
        return true;
    }

    // Stops the growth of the tree, because not even one leaf can collect what a split needs. The
    // leaves still learn.
    void stop(std::uint64_t t) {
        for (std::uint32_t i = 0; i < tree_.leaves_.size(); ++i)
            if (tree_.leaves_[i].active()) evict(i);
        tree_.totals_.stopped_at = t + 1;
    }

    // Blocks of unused sizes accumulate as the fringe shrinks to make room for leaves. When they
    // are more than a thirty-second of the budget, everything moves to a new pool, which changes
    // nothing but addresses.
    void tidy() {
        if (bytes_ == unbounded) return;
        const std::size_t waste = bytes_ / 32 + 4096;
        if (tree_.statistics_.held() > tree_.statistics_.live() + waste) {
            Pool fresh;
            for (Leaf& leaf : tree_.leaves_) leaf.estimation.move_to(fresh);
            tree_.record_.move_to(fresh);
            tree_.statistics_.swap(fresh);
        }
        if (tree_.pool_.held() > tree_.pool_.live() + waste) {
            Pool fresh;
            for (Leaf& leaf : tree_.leaves_)
                if (leaf.settled()) leaf.candidates = leaf.candidates->moved_to(fresh);
            tree_.pool_.swap(fresh);
        }
    }

private:
    static constexpr bool record_follows_leaves = Tree::Record::follows_leaves;

    RIPARIAN_HOT std::uint64_t charge() const { return charge_of_leaves() + tree_.pool_.live(); }

    void evict(std::uint32_t leaf) {
        tree_.deactivate(tree_.leaves_[leaf]);
        tree_.wait(leaf);
        ++tree_.totals_.evictions;
    }

    RIPARIAN_HOT std::uint64_t charge_of_leaves() const {
        const auto& last = tree_.charge_;
        if (last.leaves != tree_.leaves_.size() || last.settled != tree_.settled_ ||
            last.columns != tree_.importance_.size() || last.known != tree_.known())
            work_out_charge();
        if constexpr (record_follows_leaves)
            return last.bytes;
        else
            return last.bytes + tree_.record_.bytes(last.leaves);
    }
    RIPARIAN_COLD void work_out_charge() const {
        const std::size_t leaves = tree_.leaves_.size();
        auto& last = tree_.charge_;
        last.leaves = static_cast<std::uint32_t>(leaves);
        last.settled = static_cast<std::uint32_t>(tree_.settled_);
        last.columns = static_cast<std::uint32_t>(tree_.importance_.size());
        last.known = tree_.known();
        last.bytes = record_follows_leaves ? charge_of_leaves(leaves, tree_.settled_)
                                           : charge_without_record(leaves, tree_.settled_);
    }
    // A young leaf holds nothing, so it would need more memory if it had to wait. Its charge
    // includes that.
    std::uint64_t charge_of_leaves(std::size_t leaves, std::size_t settled) const {
        return charge_without_record(leaves, settled) + tree_.record_.bytes(leaves);
    }
    std::uint64_t charge_without_record(std::size_t leaves, std::size_t settled) const {
        return Array<typename Tree::Node>::bytes(2 * leaves - 1) + Array<Leaf>::bytes(leaves) +
               leaves * charge_of_statistics() + Tree::Waiting::bytes(leaves - settled) +
               tree_.importance_.bytes();
    }

    std::uint64_t charge_of_statistics() const {
        return Tree::Target::Statistics::charge(tree_.known()) +
               tree_.record_.bytes_per_leaf(tree_.known());
    }

    std::vector<std::uint32_t> settled_by_s_hat() const {
        std::vector<std::uint32_t> settled;
        for (std::uint32_t i = 0; i < tree_.leaves_.size(); ++i)
            if (tree_.leaves_[i].settled()) settled.push_back(i);
        std::sort(settled.begin(), settled.end(), [this](std::uint32_t a, std::uint32_t b) {
            const auto s_a = tree_.s_hat(a), s_b = tree_.s_hat(b);
            if (s_a < s_b || s_b < s_a) return s_a < s_b;
            return tree_.leaves_[a].node > tree_.leaves_[b].node;
        });
        return settled;
    }

    Tree& tree_;
    std::uint64_t bytes_;
};

}  // namespace riparian
