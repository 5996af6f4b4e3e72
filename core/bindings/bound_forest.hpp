// A forest of one space and one rule, as Python knows it. Each rule is bound in a file of its own, since
// every pair of a space and a rule is compiled apart.
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
#include "bindings/points.hpp"
#include "bindings/state.hpp"
#include "forest.hpp"

namespace riparian {

using namespace nb::literals;

// Every call that may wait for the forest's lock is made without the GIL: whoever holds the lock may
// need it.
template <class Work>
decltype(auto) released(Work&& work) {
    const nb::gil_scoped_release without_gil;
    return work();
}

template <class Space, class Rule>
class BoundForest {
public:
    using Points = typename Input<Space>::Points;
    using Batch = typename Space::Batch;

    BoundForest(std::size_t n_trees, std::uint64_t first_tree,
                const typename Rule::Settings& settings, const Space& space)
        : forest_(n_trees, first_tree, settings, space) {}

    BoundForest(std::uint64_t first_tree, const typename Rule::Settings& settings,
                const Space& space, std::uint64_t points, const nb::list& trees,
                const nb::object& shared)
        : forest_(restored(first_tree, settings, space, points, trees, shared)) {}

    // In blocks of so many points; there are schedules for what all of them can reach.
    void learn(const Points& points, const Array1<std::uint32_t>& y,
               const std::optional<Array1<double>>& weights, std::size_t workers,
               std::size_t block_points) {
        using Block = LabelledBlock<Batch>;
        const Block all{Input<Space>::batch(points), y.data(), weights ? weights->data() : nullptr};
        released([&] {
            in_blocks(all, block_points, [&](std::size_t, const Block& some) {
                forest_.learn(some, workers);
            });
        });
    }

    // `learn` and `predict_proba` for a point that comes alone: to make arrays of a label and of a few
    // probabilities takes as long as the trees do.
    void learn_one(const Points& point, Class label, double weight) {
        const Batch batch = alone(point);
        released([&] { forest_.learn({batch, &label, weight == 1.0 ? nullptr : &weight}, 1); });
    }

    nb::list predict_one(const Points& point, bool majority) {
        nb::list answer;
        for (const double share : proba_of(point, majority)) answer.append(share);
        return answer;
    }

    // The place of the largest of them, the first among equals.
    std::size_t most_probable(const Points& point, bool majority) {
        const std::vector<double> proba = proba_of(point, majority);
        return static_cast<std::size_t>(std::ranges::max_element(proba) - proba.begin());
    }

    nb::object predict_proba(const Points& X, bool majority, std::size_t workers) {
        const Batch points = Input<Space>::batch(X);
        std::vector<double> proba, discarded;
        const std::size_t columns = released([&] {
            return in_equal_blocks(points,
                                   [&](const Batch& rows, std::size_t first, std::size_t n) {
                                       if (first == 0) proba.assign(points.size() * n, 0.0);
                                       std::size_t n_classes = n;
                                       const auto room = [&](std::size_t now) {
                                           n_classes = now;
                                           if (now == n) return proba.data() + first * n;
                                           discarded.resize(rows.size() * now);
                                           return discarded.data();
                                       };
                                       forest_.predict_proba(rows, voting(majority), workers, room);
                                       return n_classes;
                                   });
        });
        return owned(std::move(proba), points.size(), columns);
    }

    // R11 before the division: sums of shares, in units of 2^-40, and the trees that did not abstain.
    nb::tuple predict_sums(const Points& X, bool majority, std::size_t workers) {
        const Batch points = Input<Space>::batch(X);
        std::vector<std::int64_t> sums, discarded;
        std::vector<std::uint32_t> voters(points.size());
        const std::size_t columns = released([&] {
            return in_equal_blocks(
                points, [&](const Batch& rows, std::size_t first, std::size_t n) {
                    if (first == 0) sums.assign(points.size() * n, 0);
                    std::size_t n_classes = n;
                    const auto room = [&](std::size_t now) {
                        n_classes = now;
                        if (now == n)
                            return std::pair(sums.data() + first * n, voters.data() + first);
                        discarded.resize(rows.size() * now);
                        return std::pair(discarded.data(), voters.data() + first);
                    };
                    forest_.predict_sums(rows, voting(majority), workers, room);
                    return n_classes;
                });
        });
        return nb::make_tuple(owned(std::move(sums), points.size(), columns),
                              owned(std::move(voters)));
    }

    nb::object predict_trees(const Points& X) {
        return per_tree(
            X, [this](const Batch& rows, std::int64_t* out) { forest_.predict_trees(rows, out); });
    }

    nb::object apply(const Points& X) {
        return per_tree(X,
                        [this](const Batch& rows, std::int64_t* out) { forest_.apply(rows, out); });
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
            forest_.visit([&](std::uint64_t, const auto&, const auto& shared) {
                if constexpr (requires { shared.bytes(); }) bytes = shared.bytes();
            });
        });
        return bytes;
    }

    // Σ G of each column over all trees; shorter than the columns where the last never split.
    nb::object importance() {
        std::vector<std::int64_t> sum;
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
        typename Forest<Space, Rule>::SharedState shared;
        const auto copy = [&](std::uint64_t received, const auto& all, const auto& theirs) {
            points = received;
            for (const auto& tree : all) trees.push_back(tree->save());
            if constexpr (requires { theirs.save(); }) shared = theirs.save();
        };
        released([&] { forest_.visit(copy); });
        nb::list arrays;
        for (auto& tree : trees) arrays.append(to_dict(std::move(tree)));
        return nb::make_tuple(points, arrays, to_python(std::move(shared)));
    }

    // What the trees share, as `save` has it, without the trees.
    nb::object shared() {
        typename Forest<Space, Rule>::SharedState shared;
        const auto copy = [&](std::uint64_t, const auto&, const auto& theirs) {
            if constexpr (requires { theirs.save(); }) shared = theirs.save();
        };
        released([&] { forest_.visit(copy); });
        return to_python(std::move(shared));
    }

    // Values of one column among the kept points: that of the point at place word mod n, for each word,
    // n being their number. Empty if there are none.
    nb::object kept_values(std::uint32_t column, const Array1<std::uint64_t>& words) {
        std::vector<float> values;
        const auto draw = [&](std::uint64_t, const auto&, const auto& kept) {
            if constexpr (requires { kept.value(column, std::uint64_t{}); }) {
                const std::uint64_t first = kept.first_at_hand(), n = kept.received() - first;
                if (n == 0) return;
                values.reserve(words.size());
                for (std::size_t i = 0; i < words.size(); ++i)
                    values.push_back(kept.value(column, first + words.data()[i] % n));
            }
        };
        released([&] { forest_.visit(draw); });
        return owned(std::move(values));
    }

    // What some leaves of tree i answer (R11): their points, how many classes have a share above 0, and
    // these classes, by arrival, with their shares. `nodes` are the leaves; so many classes have arrived.
    nb::tuple leaf_answers(std::size_t i, const Array1<std::uint32_t>& nodes,
                           std::size_t n_classes) {
        std::vector<std::uint64_t> points;
        std::vector<std::uint32_t> n_shares, classes;
        std::vector<std::int64_t> shares;
        const auto read = [&](std::uint64_t, const auto& trees, const auto&) {
            std::vector<std::int64_t> row(n_classes);
            for (std::size_t leaf = 0; leaf < nodes.size(); ++leaf) {
                const auto& answer = trees.at(i)->answer_at(nodes.data()[leaf]);
                std::fill(row.begin(), row.end(), 0);
                if (answer.total()) answer.add_shares(row.data());
                points.push_back(answer.total());
                n_shares.push_back(0);
                for (std::size_t k = 0; k < row.size(); ++k) {
                    if (row[k] == 0) continue;
                    ++n_shares.back();
                    classes.push_back(static_cast<std::uint32_t>(k));
                    shares.push_back(row[k]);
                }
            }
        };
        released([&] { forest_.visit(read); });
        return nb::make_tuple(owned(std::move(points)), owned(std::move(n_shares)),
                              owned(std::move(classes)), owned(std::move(shares)));
    }

    nb::dict tree(std::size_t i) {
        std::optional<TreeState<Space>> state;
        const auto copy = [&](std::uint64_t, const auto& trees, const auto&) {
            state = trees.at(i)->save();
        };
        released([&] { forest_.visit(copy); });
        return to_dict(std::move(*state));
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

    void set_classes(std::vector<std::uint32_t> rank, std::size_t n_classes) {
        released([&] { forest_.set_classes(std::move(rank), n_classes); });
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
    static Voting voting(bool majority) { return majority ? Voting::majority : Voting::average; }

    // predict(rows, first, columns), block by block, returns the classes that there are now. Where
    // classes join while this runs, rows of later blocks are wider: all is done again from the start.
    template <class Predict>
    std::size_t in_equal_blocks(const Batch& points, Predict&& predict) {
        std::size_t columns = forest_.n_classes();
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

    template <class Work>
    nb::object per_tree(const Points& X, Work&& work) {
        const Batch points = Input<Space>::batch(X);
        const std::size_t n_trees = forest_.n_trees();
        std::vector<std::int64_t> out(points.size() * n_trees);
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

    std::vector<double> proba_of(const Points& point, bool majority) {
        const Batch batch = alone(point);
        std::vector<double> proba;
        const auto room = [&](std::size_t n_classes) {
            proba.resize(n_classes);
            return proba.data();
        };
        released([&] { forest_.predict_proba(batch, voting(majority), 1, room); });
        return proba;
    }

    static Forest<Space, Rule> restored(std::uint64_t first_tree,
                                        const typename Rule::Settings& settings, const Space& space,
                                        std::uint64_t points, const nb::list& arrays,
                                        const nb::object& shared) {
        typename Forest<Space, Rule>::SharedState kept;
        from_python(shared, points, kept);
        std::vector<TreeState<Space>> trees;
        for (const nb::handle tree : arrays)
            trees.push_back(from_dict<Space>(nb::cast<nb::dict>(tree)));
        return released(
            [&] { return Forest<Space, Rule>(first_tree, settings, space, points, trees, kept); });
    }

    Forest<Space, Rule> forest_;
};

template <class Space, class Rule>
auto bind_forest(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Rule>;
    return nb::class_<Bound>(m, name)
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
        .def("predict_one", &Bound::predict_one, "point"_a, "majority"_a)
        .def("most_probable", &Bound::most_probable, "point"_a, "majority"_a)
        .def("predict_proba", &Bound::predict_proba, "points"_a, "majority"_a, "workers"_a)
        .def("predict_sums", &Bound::predict_sums, "points"_a, "majority"_a, "workers"_a)
        .def("predict_trees", &Bound::predict_trees, "points"_a)
        .def("apply", &Bound::apply, "points"_a)
        .def("stats", &Bound::stats)
        .def("sizes", &Bound::sizes)
        .def("largest_tree", &Bound::largest_tree)
        .def("shared_bytes", &Bound::shared_bytes)
        .def("importance", &Bound::importance)
        .def("tree", &Bound::tree, "i"_a)
        .def("leaf_answers", &Bound::leaf_answers, "i"_a, "nodes"_a, "n_classes"_a)
        .def("hold", &Bound::hold)
        .def("let_go", &Bound::let_go)
        .def("let_go_in_child", &Bound::let_go_in_child)
        .def("save", &Bound::save)
        .def("shared", &Bound::shared)
        .def("kept_values", &Bound::kept_values, "column"_a, "words"_a)
        .def("set_classes", &Bound::set_classes, "rank"_a, "n_classes"_a)
        .def("set_space", &Bound::set_space, "space"_a)
        .def_prop_ro("depth", &Bound::depth)
        .def_prop_ro("points", &Bound::points);
}

// The paper's forest, with kept points or without, has schedules and a budget, too.
template <class Space, class Rule>
auto bind_scheduled(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Rule>;
    return bind_forest<Space, Rule>(m, name)
        .def("set_schedules", &Bound::set_schedules, "alpha"_a, "beta"_a)
        .def("set_budget", &Bound::set_budget, "budget"_a);
}

}  // namespace riparian
