// A forest of one space, one rule and one target, as Python knows it. Each rule is bound in a file
// of its own, since every combination is compiled apart. What depends on the target, its own file
// binds (classes.hpp).
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/classes.hpp"
#include "bindings/points.hpp"
#include "bindings/state.hpp"
#include "forest.hpp"

namespace riparian {

using namespace nb::literals;

// Every call that may wait for the forest's lock is made without the GIL: the thread that holds the
// lock may need it.
template <class Work>
decltype(auto) released(Work&& work) {
    const nb::gil_scoped_release without_gil;
    return work();
}

template <class Space, class Rule, class Target>
class BoundForest {
public:
    using Core = Forest<Space, Rule, Target>;
    using Label = typename Target::Label;
    using Voting = typename Target::Voting;
    using Points = typename Input<Space>::Points;
    using Batch = typename Space::Batch;

    BoundForest(std::size_t n_trees, std::uint64_t first_tree,
                const typename Rule::Settings& settings, const Space& space)
        : forest_(n_trees, first_tree, settings, space) {}

    BoundForest(std::uint64_t first_tree, const typename Rule::Settings& settings,
                const Space& space, std::uint64_t points, const nb::list& trees,
                const nb::object& shared)
        : forest_(restored(first_tree, settings, space, points, trees, shared)) {}

    // In blocks of this many points; there are schedules for what all of them can reach.
    void learn(const Points& points, const Array1<Label>& y,
               const std::optional<Array1<double>>& weights, std::size_t workers,
               std::size_t block_points) {
        using Block = typename Core::Block;
        const Block all{Input<Space>::batch(points), y.data(), weights ? weights->data() : nullptr};
        released([&] {
            in_blocks(all, block_points,
                      [&](std::size_t, const Block& some) { forest_.learn(some, workers); });
        });
    }

    // `learn` and `predict` for a point that comes alone: to make arrays of a label and of a few
    // numbers takes as long as the trees do.
    void learn_one(const Points& point, Label label, double weight) {
        const Batch batch = alone(point);
        released([&] { forest_.learn({batch, &label, weight == 1.0 ? nullptr : &weight}, 1); });
    }

    std::vector<double> predict_one(const Points& point, Voting voting) {
        const Batch batch = alone(point);
        std::vector<double> answer;
        const auto room = [&](std::size_t outputs) {
            answer.resize(outputs);
            return answer.data();
        };
        released([&] { forest_.predict(batch, voting, 1, room); });
        return answer;
    }

    nb::object predict(const Points& X, Voting voting, std::size_t workers) {
        const Batch points = Input<Space>::batch(X);
        std::vector<double> answers, discarded;
        const std::size_t columns = released([&] {
            return in_equal_blocks(points,
                                   [&](const Batch& rows, std::size_t first, std::size_t n) {
                                       if (first == 0) answers.assign(points.size() * n, 0.0);
                                       std::size_t outputs = n;
                                       const auto room = [&](std::size_t now) {
                                           outputs = now;
                                           if (now == n) return answers.data() + first * n;
                                           discarded.resize(rows.size() * now);
                                           return discarded.data();
                                       };
                                       forest_.predict(rows, voting, workers, room);
                                       return outputs;
                                   });
        });
        return owned(std::move(answers), points.size(), columns);
    }

    // R11 before the division: sums of shares, in units of 2^-40, and the trees that did not
    // abstain.
    nb::tuple predict_sums(const Points& X, Voting voting, std::size_t workers) {
        const Batch points = Input<Space>::batch(X);
        std::vector<std::int64_t> sums, discarded;
        std::vector<std::uint32_t> voters(points.size());
        const std::size_t columns = released([&] {
            return in_equal_blocks(
                points, [&](const Batch& rows, std::size_t first, std::size_t n) {
                    if (first == 0) sums.assign(points.size() * n, 0);
                    std::size_t outputs = n;
                    const auto room = [&](std::size_t now) {
                        outputs = now;
                        if (now == n)
                            return std::pair(sums.data() + first * n, voters.data() + first);
                        discarded.resize(rows.size() * now);
                        return std::pair(discarded.data(), voters.data() + first);
                    };
                    forest_.predict_sums(rows, voting, workers, room);
                    return outputs;
                });
        });
        return nb::make_tuple(owned(std::move(sums), points.size(), columns),
                              owned(std::move(voters)));
    }

    nb::object predict_trees(const Points& X) {
        using Answer = typename Target::Order::TreeAnswer;
        return per_tree<Answer>(
            X, [this](const Batch& rows, Answer* out) { forest_.predict_trees(rows, out); });
    }

    nb::object apply(const Points& X) {
        return per_tree<std::int64_t>(
            X, [this](const Batch& rows, std::int64_t* out) { forest_.apply(rows, out); });
    }

    nb::list stats() {
        nb::list all;
        for (const auto& tree : released([&] { return forest_.stats(); }))
            all.append(to_dict(tree));
        return all;
    }

    nb::dict sizes() {
        return to_dict(released([&] { return forest_.sizes(); }));
    }

    std::uint64_t largest_tree() {
        return released([&] { return forest_.largest_tree(); });
    }

    // Bytes of what the trees share.
    std::size_t shared_bytes() {
        std::size_t bytes = 0;
        released([&] {
            forest_.visit(
                [&](std::uint64_t, const auto&, const auto& shared) { bytes = shared.bytes(); });
        });
        return bytes;
    }

    // Σ G of each column over all trees; shorter than the columns where the last never split.
    nb::object importance() {
        std::vector<typename Target::Importance> sum;
        const auto add = [&](std::uint64_t, const auto& trees, const auto&) {
            for (const auto& tree : trees) {
                const auto& mine = tree->importance();
                if (mine.size() > sum.size()) sum.resize(mine.size());
                // Unsigned, so that it may wrap like G itself.
                for (std::size_t d = 0; d < mine.size(); ++d)
                    sum[d] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum[d]) +
                                                       static_cast<std::uint64_t>(mine[d]));
            }
        };
        released([&] { forest_.visit(add); });
        return owned(std::move(sum));
    }

    // The points received, every tree as arrays, and what they share; all after the same point.
    nb::tuple save() {
        std::uint64_t points = 0;
        std::vector<TreeState<Space>> trees;
        typename Core::SharedState shared{};
        const auto copy = [&](std::uint64_t received, const auto& all, const auto& theirs) {
            points = received;
            for (const auto& tree : all) trees.push_back(tree->save());
            shared = theirs.save();
        };
        released([&] { forest_.visit(copy); });
        nb::list arrays;
        for (auto& tree : trees) arrays.append(to_dict(std::move(tree)));
        return nb::make_tuple(points, arrays, to_python(std::move(shared)));
    }

    // What the trees share, as `save` has it, without the trees.
    nb::object shared() {
        typename Core::SharedState shared{};
        const auto copy = [&](std::uint64_t, const auto&, const auto& theirs) {
            shared = theirs.save();
        };
        released([&] { forest_.visit(copy); });
        return to_python(std::move(shared));
    }

    // Values of one column among the kept points: that of the point at place word mod n, for each
    // word, n being their number. Empty if there are none.
    nb::object kept_values(std::uint32_t column, const Array1<std::uint64_t>& words) {
        std::vector<float> values;
        const auto draw = [&](std::uint64_t, const auto&, const auto& kept) {
            kept.draw_values(column, {words.data(), words.size()}, values);
        };
        released([&] { forest_.visit(draw); });
        return owned(std::move(values));
    }

    nb::dict tree(std::size_t i) {
        std::optional<TreeState<Space>> state;
        const auto copy = [&](std::uint64_t, const auto& trees, const auto&) {
            state = trees.at(i)->save();
        };
        released([&] { forest_.visit(copy); });
        return to_dict(std::move(*state));
    }

    // visitor(points, trees, what they share), without the GIL.
    template <class Visitor>
    void visit(Visitor&& visitor) {
        released([&] { forest_.visit(visitor); });
    }

    // Of each tree: the points at which one in its place gave way to it or to another before it.
    std::vector<Words> replacements() {
        std::vector<Words> all;
        const auto copy = [&](std::uint64_t, const auto& trees, const auto&) {
            for (const auto& tree : trees) all.push_back(tree->record().replaced);
        };
        released([&] { forest_.visit(copy); });
        return all;
    }

    void set_order(typename Target::Order order) {
        released([&] { forest_.set_order(std::move(order)); });
    }
    void set_schedules(const Array1<std::uint64_t>& alpha, const Array1<std::uint64_t>& beta) {
        const auto copy = [](const Array1<std::uint64_t>& values) {
            return Words(values.data(), values.data() + values.size());
        };
        Words alphas = copy(alpha), betas = copy(beta);
        released([&] { forest_.set_schedules(std::move(alphas), std::move(betas)); });
    }
    void set_budget(std::uint64_t budget) {
        released([&] { forest_.set_budget(budget); });
    }
    void set_judging(bool judging) {
        released([&] { forest_.set_judging(judging); });
    }
    void set_space(const Space& space) {
        released([&] { forest_.set_space(space); });
    }
    std::uint64_t depth() {
        return released([&] { return forest_.depth(); });
    }
    std::uint64_t points() {
        return released([&] { return forest_.points(); });
    }
    void hold() {
        released([&] { forest_.hold(); });
    }
    void let_go() { forest_.let_go(); }
    void let_go_in_child() { forest_.let_go_in_child(); }

private:
    // predict(rows, first, columns), block by block, returns the outputs that there are now. Where
    // labels join while this runs, rows of later blocks are wider: all is done again from the
    // start.
    template <class Predict>
    std::size_t in_equal_blocks(const Batch& points, Predict&& predict) {
        std::size_t columns = forest_.outputs();
        for (bool wider = true; wider;) {
            wider = false;
            in_blocks(points, block, [&](std::size_t first, const Batch& rows) {
                if (wider) return;
                const std::size_t now = predict(rows, first, columns);
                wider = now != columns;
                columns = now;
            });
        }
        return columns;
    }

    template <class Answer, class Work>
    nb::object per_tree(const Points& X, Work&& work) {
        const Batch points = Input<Space>::batch(X);
        const std::size_t n_trees = forest_.n_trees();
        std::vector<Answer> out(points.size() * n_trees);
        released([&] {
            in_blocks(points, block, [&](std::size_t first, const Batch& rows) {
                work(rows, out.data() + first * n_trees);
            });
        });
        return owned(std::move(out), points.size(), n_trees);
    }

    static Batch alone(const Points& point) {
        const Batch batch = Input<Space>::batch(point);
        if (batch.size() != 1) throw std::logic_error("a point that comes alone is one point");
        return batch;
    }

    static Core restored(std::uint64_t first_tree, const typename Rule::Settings& settings,
                         const Space& space, std::uint64_t points, const nb::list& arrays,
                         const nb::object& shared) {
        typename Core::SharedState kept;
        from_python(shared, points, kept);
        std::vector<TreeState<Space>> trees;
        for (const nb::handle tree : arrays)
            trees.push_back(from_dict<Space>(nb::cast<nb::dict>(tree)));
        return released([&] { return Core(first_tree, settings, space, points, trees, kept); });
    }

    Core forest_;
};

template <class Space, class Rule, class Target>
auto bind_forest(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Rule, Target>;
    nb::class_<Bound> bound(m, name);
    bind_target(bound, Target{});
    return bound
        .def(nb::init<std::size_t, std::uint64_t, const typename Rule::Settings&, const Space&>(),
             "n_trees"_a, "first_tree"_a, "settings"_a, "space"_a)
        .def_static(
            "from_state",
            [](std::uint64_t first_tree, const typename Rule::Settings& settings,
               const Space& space, std::uint64_t points, const nb::list& trees,
               const nb::object& shared) {
                return new Bound(first_tree, settings, space, points, trees, shared);
            },
            "first_tree"_a, "settings"_a, "space"_a, "points"_a, "trees"_a, "shared"_a.none(),
            nb::rv_policy::take_ownership)
        .def("learn", &Bound::learn, "points"_a, "y"_a, "weights"_a.none(), "workers"_a,
             "block_points"_a)
        .def("learn_one", &Bound::learn_one, "point"_a, "label"_a, "weight"_a)
        .def("predict_trees", &Bound::predict_trees, "points"_a)
        .def("apply", &Bound::apply, "points"_a)
        .def("stats", &Bound::stats)
        .def("sizes", &Bound::sizes)
        .def("largest_tree", &Bound::largest_tree)
        .def("shared_bytes", &Bound::shared_bytes)
        .def("importance", &Bound::importance)
        .def("tree", &Bound::tree, "i"_a)
        .def("hold", &Bound::hold)
        .def("let_go", &Bound::let_go)
        .def("let_go_in_child", &Bound::let_go_in_child)
        .def("save", &Bound::save)
        .def("shared", &Bound::shared)
        .def("kept_values", &Bound::kept_values, "column"_a, "words"_a)
        .def("set_space", &Bound::set_space, "space"_a)
        .def_prop_ro("depth", &Bound::depth)
        .def_prop_ro("points", &Bound::points);
}

// The paper's forest, with kept points or without, has schedules and a budget, too.
template <class Space, class Rule, class Target>
auto bind_scheduled(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Rule, Target>;
    return bind_forest<Space, Rule, Target>(m, name)
        .def("set_schedules", &Bound::set_schedules, "alpha"_a, "beta"_a)
        .def("set_budget", &Bound::set_budget, "budget"_a);
}

}  // namespace riparian
