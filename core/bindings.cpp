// The boundary: arrays and numbers cross it, and the GIL is released around work. What comes in was
// checked in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forest.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace riparian {
namespace {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Words = std::vector<std::uint64_t>;

template <class T>
nb::object owned(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner).cast();
}

template <class T>
nb::object owned(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(kept->data(), {rows, columns}, owner).cast();
}

Matrix matrix(const Rows& X) { return {X.data(), X.shape(0), X.shape(1)}; }

// For each block of rows, in order.
template <class Work>
void in_blocks(const Matrix& X, Work&& work) {
    constexpr std::size_t block = Forest<Columns>::block;
    for (std::size_t first = 0; first < X.size(); first += block)
        work(first, X.slice(first, std::min(block, X.size() - first)));
}

nb::dict to_dict(const TreeStats& stats) {
    nb::dict d;
    d["structure_points"] = stats.structure_points;
    d["estimation_points"] = stats.estimation_points;
    d["ignored_points"] = stats.ignored_points;
    d["should_splits"] = stats.should_splits;
    d["must_splits"] = stats.must_splits;
    d["leaves"] = stats.leaves;
    d["active"] = stats.active;
    d["pure"] = stats.pure;
    d["stuck"] = stats.stuck;
    d["depth"] = stats.depth;
    d["activations"] = stats.activations;
    d["refreshes"] = stats.refreshes;
    d["evictions"] = stats.evictions;
    d["stopped_at"] = stats.stopped_at;
    d["node_bytes"] = stats.node_bytes;
    d["leaf_bytes"] = stats.leaf_bytes;
    d["fringe_bytes"] = stats.fringe_bytes;
    d["held_bytes"] = stats.held_bytes;
    return d;
}

// The arrays of a tree by name: one list for both directions.
template <class Visitor>
void for_each_array(CountsState& counts, const std::string& stream, Visitor&& visit) {
    visit(stream + "_counted", counts.counted);
    visit(stream + "_length", counts.length);
    visit(stream + "_label", counts.label);
    visit(stream + "_bits", counts.bits);
    visit(stream + "_count", counts.count);
}

template <class Visitor>
void for_each_array(TreeState<Columns>& tree, Visitor&& visit) {
    visit("totals", tree.totals);
    visit("importance", tree.importance);
    visit("feature", tree.feature);
    visit("threshold", tree.threshold);
    visit("child", tree.child);
    visit("leaf_node", tree.leaf_node);
    visit("leaf_depth", tree.leaf_depth);
    visit("leaf_born", tree.leaf_born);
    visit("leaf_active", tree.leaf_active);
    visit("leaf_classes", tree.leaf_classes);
    visit("histogram", tree.histogram);
    visit("key_over", tree.key_over);
    visit("key_under", tree.key_under);
    visit("attempt", tree.attempt);
    visit("dims", tree.dims);
    visit("split_points", tree.split_points);
    visit("received", tree.received);
    visit("planned", tree.planned);
    visit("summed", tree.summed);
    visit("candidate_dims", tree.candidate_dims);
    visit("split_point_born", tree.split_point_born);
    visit("split_threshold", tree.split_threshold);
    for_each_array(tree.structure, "structure", visit);
    for_each_array(tree.estimation, "estimation", visit);
}

nb::dict to_dict(TreeState<Columns>&& tree) {
    nb::dict arrays;
    for_each_array(tree, [&](const std::string& name, auto& values) {
        arrays[name.c_str()] = owned(std::move(values));
    });
    return arrays;
}

TreeState<Columns> from_dict(const nb::dict& arrays) {
    TreeState<Columns> tree;
    for_each_array(tree, [&](const std::string& name, auto& values) {
        using T = typename std::remove_cvref_t<decltype(values)>::value_type;
        const auto array = nb::cast<Array1<T>>(arrays[name.c_str()]);
        values.assign(array.data(), array.data() + array.shape(0));
    });
    return tree;
}

// Every call that may wait for the forest's lock is made without the GIL: whoever holds the lock may
// need it.
template <class Work>
decltype(auto) released(Work&& work) {
    const nb::gil_scoped_release without_gil;
    return work();
}

class ColumnForest {
public:
    ColumnForest(std::size_t n_trees, std::uint64_t seed, std::uint32_t split_points,
                 double min_gain, std::uint64_t structure_cut, std::uint64_t ignore_cut,
                 std::optional<std::uint64_t> fringe_size, std::optional<std::uint64_t> budget,
                 std::uint32_t n_dims, const Rate& rate)
        : forest_(n_trees,
                  Settings{.seed = seed,
                           .split_points = split_points,
                           .min_gain = min_gain,
                           .structure_cut = structure_cut,
                           .ignore_cut = ignore_cut,
                           .fringe_size = fringe_size.value_or(unbounded),
                           .budget = budget.value_or(unbounded),
                           .alpha = {},
                           .beta = {}},
                  Columns(n_dims, rate)) {}

    void learn(const Rows& X, const Array1<std::uint32_t>& y,
               const std::optional<Array1<double>>& weights, std::size_t workers) {
        const Matrix points = matrix(X);
        const Class* labels = y.data();
        const double* weight = weights ? weights->data() : nullptr;
        released([&] { forest_.learn(points, labels, weight, workers); });
    }

    // Where classes join while this runs, rows of later blocks are wider: the first block decides,
    // and it is done again from there.
    nb::object predict_proba(const Rows& X, bool majority, std::size_t workers) {
        const Voting voting = majority ? Voting::majority : Voting::average;
        const Matrix points = matrix(X);
        std::vector<double> out;
        std::size_t columns = 0;
        released([&] { columns = predict(points, voting, workers, out); });
        return owned(std::move(out), points.size(), columns);
    }

    nb::object predict_trees(const Rows& X) {
        return per_tree(
            X, [this](const Matrix& rows, std::int64_t* out) { forest_.predict_trees(rows, out); });
    }

    nb::object apply(const Rows& X) {
        return per_tree(
            X, [this](const Matrix& rows, std::int64_t* out) { forest_.apply(rows, out); });
    }

    nb::list stats() {
        nb::list all;
        for (const auto& tree : released([&] { return forest_.stats(); }))
            all.append(to_dict(tree));
        return all;
    }

    // Σ G of each column over all trees; shorter than the columns where the last never split.
    nb::object importance() {
        std::vector<std::int64_t> sum;
        const auto add = [&](std::uint64_t, const auto& trees) {
            for (const auto& tree : trees) {
                const auto& mine = tree->importance();
                if (mine.size() > sum.size()) sum.resize(mine.size());
                for (std::size_t d = 0; d < mine.size(); ++d) sum[d] += mine[d];
            }
        };
        released([&] { forest_.visit(add); });
        return owned(std::move(sum));
    }

    // The points received and every tree as arrays, all after the same point.
    nb::tuple save() {
        std::uint64_t points = 0;
        std::vector<TreeState<Columns>> trees;
        const auto copy = [&](std::uint64_t received, const auto& all) {
            points = received;
            for (const auto& tree : all) trees.push_back(tree->save());
        };
        released([&] { forest_.visit(copy); });
        nb::list arrays;
        for (auto& tree : trees) arrays.append(to_dict(std::move(tree)));
        return nb::make_tuple(points, arrays);
    }

    void restore(std::uint64_t points, const nb::list& arrays) {
        std::vector<TreeState<Columns>> trees;
        for (const nb::handle tree : arrays) trees.push_back(from_dict(nb::cast<nb::dict>(tree)));
        released([&] { forest_.restore(points, trees); });
    }

    nb::dict tree(std::size_t i) {
        std::optional<TreeState<Columns>> state;
        const auto copy = [&](std::uint64_t, const auto& trees) { state = trees.at(i)->save(); };
        released([&] { forest_.visit(copy); });
        return to_dict(std::move(*state));
    }

    void set_classes(std::vector<std::uint32_t> rank, std::size_t n_classes) {
        released([&] { forest_.set_classes(std::move(rank), n_classes); });
    }
    void set_schedules(Words alpha, Words beta) {
        released([&] { forest_.set_schedules(std::move(alpha), std::move(beta)); });
    }
    void set_columns(std::uint32_t n_dims, const Rate& rate) {
        released([&] { forest_.set_space(Columns(n_dims, rate)); });
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
    std::size_t predict(const Matrix& points, Voting voting, std::size_t workers,
                        std::vector<double>& out) {
        std::size_t columns = forest_.n_classes();
        bool wider = true;
        while (wider) {
            wider = false;
            out.assign(points.size() * columns, 0.0);
            std::vector<double> discarded;
            in_blocks(points, [&](std::size_t first, const Matrix& rows) {
                if (wider) return;
                forest_.predict_proba(rows, voting, workers, [&](std::size_t n_classes) {
                    if (n_classes == columns) return out.data() + first * columns;
                    wider = true;
                    columns = n_classes;
                    discarded.resize(rows.size() * n_classes);
                    return discarded.data();
                });
            });
        }
        return columns;
    }

    template <class Work>
    nb::object per_tree(const Rows& X, Work&& work) {
        const Matrix points = matrix(X);
        const std::size_t n_trees = forest_.n_trees();
        std::vector<std::int64_t> out(points.size() * n_trees);
        released([&] {
            in_blocks(points, [&](std::size_t first, const Matrix& rows) {
                work(rows, out.data() + first * n_trees);
            });
        });
        return owned(std::move(out), points.size(), n_trees);
    }

    Forest<Columns> forest_;
};

std::vector<std::string> kernel_names() {
    std::vector<std::string> names{baseline_kernels.name};
#ifdef RIPARIAN_X86
    if (detail::best_kernels() != &baseline_kernels) names.emplace_back(avx2_kernels.name);
    if (detail::best_kernels() == &avx512_kernels) names.emplace_back(avx512_kernels.name);
#endif
    return names;
}

void use_kernels(const std::string& name) {
    for (const Kernels* candidate : {
             &baseline_kernels,
#ifdef RIPARIAN_X86
             &avx2_kernels,
             &avx512_kernels,
#endif
         })
        if (name == candidate->name) detail::chosen_kernels = candidate;
}

}  // namespace
}  // namespace riparian

NB_MODULE(_core, m) {
    using riparian::ColumnForest;
    using riparian::Rate;

#ifdef RIPARIAN_SANITIZE
    m.attr("sanitized") = true;
#else
    m.attr("sanitized") = false;
#endif
    m.attr("block") = riparian::Forest<riparian::Columns>::block;
    m.attr("tree_bytes") = sizeof(riparian::Tree<riparian::Columns>);
    m.def("entropy_term", &riparian::entropy_term_exact, "n"_a);
    m.def("kernel_names", &riparian::kernel_names);
    m.def("use_kernels", &riparian::use_kernels, "name"_a);

    nb::class_<Rate>(m, "Rate").def(nb::init<std::uint64_t, double, double>(), "whole"_a,
                                    "exp_one"_a, "exp_rest"_a);

    nb::class_<ColumnForest>(m, "ColumnForest")
        .def(nb::init<std::size_t, std::uint64_t, std::uint32_t, double, std::uint64_t,
                      std::uint64_t, std::optional<std::uint64_t>, std::optional<std::uint64_t>,
                      std::uint32_t, const Rate&>(),
             "n_trees"_a, "seed"_a, "split_points"_a, "min_gain"_a, "structure_cut"_a,
             "ignore_cut"_a, "fringe_size"_a.none(), "budget"_a.none(), "n_dims"_a, "rate"_a)
        .def("learn", &ColumnForest::learn, "X"_a, "y"_a, "weights"_a.none(), "workers"_a)
        .def("predict_proba", &ColumnForest::predict_proba, "X"_a, "majority"_a, "workers"_a)
        .def("predict_trees", &ColumnForest::predict_trees, "X"_a)
        .def("apply", &ColumnForest::apply, "X"_a)
        .def("stats", &ColumnForest::stats)
        .def("importance", &ColumnForest::importance)
        .def("tree", &ColumnForest::tree, "i"_a)
        .def("hold", &ColumnForest::hold)
        .def("let_go", &ColumnForest::let_go)
        .def("let_go_in_child", &ColumnForest::let_go_in_child)
        .def("save", &ColumnForest::save)
        .def("restore", &ColumnForest::restore, "points"_a, "trees"_a)
        .def("set_classes", &ColumnForest::set_classes, "rank"_a, "n_classes"_a)
        .def("set_schedules", &ColumnForest::set_schedules, "alpha"_a, "beta"_a)
        .def("set_columns", &ColumnForest::set_columns, "n_dims"_a, "rate"_a)
        .def_prop_ro("depth", &ColumnForest::depth)
        .def_prop_ro("points", &ColumnForest::points);
}
