// The Python class of a forest of one space, one rule and one target. Each rule is bound in a file
// of its own, because every combination is compiled separately. What depends on the target is bound
// in classes.hpp and numbers.hpp.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/classes.hpp"
#include "bindings/numbers.hpp"
#include "bindings/points.hpp"
#include "bindings/state.hpp"
#include "forest.hpp"

namespace riparian {

using namespace nb::literals;

// Every call that may wait for the forest's lock releases the GIL first: the thread that holds the
// lock may need the GIL.
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

    // Learns in blocks of this many points; the schedules cover every depth that a block can reach.
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

    // Like `learn`, but returns the answer to each point just before it is learned. The answer is
    // zeros if all trees abstain.
    nb::object predict_then_learn(const Points& points, const Array1<Label>& y,
                                  const std::optional<Array1<double>>& weights, Voting voting,
                                  std::size_t workers, std::size_t block_points) {
        using Block = typename Core::Block;
        const Block all{Input<Space>::batch(points), y.data(), weights ? weights->data() : nullptr};
        std::vector<double> answers;
        const std::size_t columns = released([&] {
            const std::size_t outputs = forest_.outputs();
            answers.resize(all.size() * outputs);
            in_blocks(all, block_points, [&](std::size_t first, const Block& some) {
                forest_.predict_then_learn(some, voting, workers, answers.data() + first * outputs);
            });
            return outputs;
        });
        return owned(std::move(answers), all.size(), columns);
    }

    // `learn` and `predict` for a single point. Making arrays of one label and a few numbers takes
    // as long as the work of the trees.
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

    // Returns the sums of R11 before the division, in units of 2^-40, and the number of trees that
    // did not abstain.
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

    // Returns the bytes of what the trees share.
    std::size_t shared_bytes() {
        std::size_t bytes = 0;
        released([&] {
            forest_.visit(
                [&](std::uint64_t, const auto&, const auto& shared) { bytes = shared.bytes(); });
        });
        return bytes;
    }

    // Returns Σ G of each column over all trees. The array is shorter than the number of columns if
    // no split uses the last ones.
    nb::object importance() {
        std::vector<typename Target::Importance> sum;
        const auto add = [&](std::uint64_t, const auto& trees, const auto&) {
            for (const auto& tree : trees) {
                const auto& mine = tree->importance();
                if (mine.size() > sum.size()) sum.resize(mine.size());
                for (std::size_t d = 0; d < mine.size(); ++d)
                    Target::add_importance(sum[d], static_cast<typename Target::G>(mine[d]));
            }
        };
        released([&] { forest_.visit(add); });
        return owned(std::move(sum));
    }

    // Returns the number of points received, every tree as arrays, and what the trees share, all
    // after the same point.
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

    // Returns what the trees share, as `save` writes it, without the trees.
    nb::object shared() {
        typename Core::SharedState shared{};
        const auto copy = [&](std::uint64_t, const auto&, const auto& theirs) {
            shared = theirs.save();
        };
        released([&] { forest_.visit(copy); });
        return to_python(std::move(shared));
    }

    // Returns values of one column among the n kept points: for each word, that of the point at
    // place word mod n. The result is empty if there are no kept points.
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

    // Calls visitor(points, trees, shared) without the GIL.
    template <class Visitor>
    void visit(Visitor&& visitor) {
        released([&] { forest_.visit(visitor); });
    }

    // Calls changer(shared) without the GIL.
    template <class Changer>
    void change_shared(Changer&& changer) {
        released([&] { forest_.change_shared(changer); });
    }

    // Of trees with heads, of a target with intervals (R28): quantiles of the targets near each
    // point, less the first target of the stream; one row per point. The quantiles asked for
    // ascend. NaN where there are no neighbours.
    nb::object predict_quantiles(const Points& X, const Array1<double>& quantiles,
                                 std::size_t workers) {
        const std::span<const double> qs(quantiles.data(), quantiles.size());
        return per_distribution(X, qs.size(), workers,
                                [=](auto& distribution, const auto& moved, const auto&,
                                    double* out) { distribution.quantiles(qs, moved, out); });
    }
    // Both ends of the interval of coverage number `level`.
    nb::object predict_interval(const Points& X, std::size_t level, std::size_t workers) {
        return per_distribution(
            X, 2, workers,
            [=](auto& distribution, const auto& moved, const auto& shared, double* out) {
                const auto ends = distribution.interval(shared.intervals.level(level), moved,
                                                        shared.trust.error());
                std::copy(ends.begin(), ends.end(), out);
            });
    }

    // Returns, for each tree, the points at which it or one of its predecessors was replaced.
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
    bool whole() {
        return released([&] { return forest_.whole(); });
    }
    void give_up() {
        released([&] { forest_.give_up(); });
    }
    void hold() {
        released([&] { forest_.hold(); });
    }
    void let_go() { forest_.let_go(); }
    void let_go_in_child() { forest_.let_go_in_child(); }

private:
    template <class Work>
    nb::object per_distribution(const Points& X, std::size_t columns, std::size_t workers,
                                Work&& work) {
        const Batch points = Input<Space>::batch(X);
        std::vector<double> out(points.size() * columns);
        released([&] {
            in_blocks(points, block, [&](std::size_t first, const Batch& rows) {
                using Distribution = typename Target::Intervals::Distribution;
                forest_.template predict_distributions<Distribution>(
                    rows, workers,
                    [&](std::size_t i, Distribution& distribution, const auto& moved,
                        const auto& shared) {
                        work(distribution, moved, shared, out.data() + (first + i) * columns);
                    });
            });
        });
        return owned(std::move(out), points.size(), columns);
    }

    // Calls predict(rows, first, columns) for each block and returns the outputs. If labels join
    // meanwhile, rows of later blocks are wider, so everything is predicted again from the start.
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
        .def("give_up", &Bound::give_up)
        .def("hold", &Bound::hold)
        .def("let_go", &Bound::let_go)
        .def("let_go_in_child", &Bound::let_go_in_child)
        .def("save", &Bound::save)
        .def("shared", &Bound::shared)
        .def("kept_values", &Bound::kept_values, "column"_a, "words"_a)
        .def("set_space", &Bound::set_space, "space"_a)
        .def_prop_ro("depth", &Bound::depth)
        .def_prop_ro("points", &Bound::points)
        .def_prop_ro("whole", &Bound::whole);
}

// The paper's forest, with or without kept points, also has schedules and a budget.
template <class Space, class Rule, class Target>
auto bind_scheduled(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Rule, Target>;
    return bind_forest<Space, Rule, Target>(m, name)
        .def("set_schedules", &Bound::set_schedules, "alpha"_a, "beta"_a)
        .def("set_budget", &Bound::set_budget, "budget"_a);
}

}  // namespace riparian
