// The boundary: arrays and numbers cross it, and the GIL is released around work. What comes in was
// checked in Python.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space/depth.hpp"
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

// Pixels with the images they are of, as they come from Python.
struct PixelArrays {
    nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu> images;
    nb::ndarray<const std::int32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu> pixels;
    float far;
};

// What the points of a space are in Python, and in the core.
template <class Space>
struct Input;
template <>
struct Input<Columns> {
    using Points = Rows;
    static Matrix batch(const Rows& X) { return {X.data(), X.shape(0), X.shape(1)}; }
};
template <>
struct Input<DepthDifferences> {
    using Points = PixelArrays;
    static Pixels batch(const PixelArrays& p) {
        return {p.images.data(),
                static_cast<std::int32_t>(p.images.shape(1)),
                static_cast<std::int32_t>(p.images.shape(2)),
                p.pixels.data(),
                p.pixels.shape(0),
                p.far};
    }
};

constexpr std::size_t block = Forest<Columns, Rule::two_streams>::block;

// For each block of points, in order.
template <class Batch, class Work>
void in_blocks(const Batch& points, Work&& work) {
    for (std::size_t first = 0; first < points.size(); first += block)
        work(first, points.slice(first, std::min(block, points.size() - first)));
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

template <class Space, class Visitor>
void for_each_array(TreeState<Space>& tree, Visitor&& visit) {
    visit("totals", tree.totals);
    visit("bag", tree.bag);
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
    for_each_array(tree.evidence.structure, "structure", visit);
    for_each_array(tree.evidence.estimation, "estimation", visit);
}

// Offsets are rows of four numbers there.
nb::object to_array(std::vector<OffsetPair>&& pairs) {
    std::vector<float> numbers;
    for (const OffsetPair& pair : pairs)
        for (const float number : std::bit_cast<std::array<float, 4>>(pair))
            numbers.push_back(number);
    return owned(std::move(numbers), pairs.size(), 4);
}
template <class T>
nb::object to_array(std::vector<T>&& values) {
    return owned(std::move(values));
}

void from_array(const nb::handle& array, std::vector<OffsetPair>& pairs) {
    const auto numbers = nb::cast<nb::ndarray<const float, nb::shape<-1, 4>, nb::c_contig>>(array);
    for (std::size_t i = 0; i < numbers.shape(0); ++i) {
        const float* row = numbers.data() + 4 * i;
        pairs.push_back({row[0], row[1], row[2], row[3]});
    }
}
template <class T>
void from_array(const nb::handle& array, std::vector<T>& values) {
    const auto found = nb::cast<Array1<T>>(array);
    values.assign(found.data(), found.data() + found.shape(0));
}

template <class Space>
nb::dict to_dict(TreeState<Space>&& tree) {
    nb::dict arrays;
    for_each_array(tree, [&](const std::string& name, auto& values) {
        arrays[name.c_str()] = to_array(std::move(values));
    });
    return arrays;
}

template <class Space>
TreeState<Space> from_dict(const nb::dict& arrays) {
    TreeState<Space> tree;
    for_each_array(tree, [&](const std::string& name, auto& values) {
        // What the other kind of forest has, and a snapshot has not.
        if (arrays.contains(name.c_str())) from_array(arrays[name.c_str()], values);
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

Settings two_streams(std::uint64_t seed, std::uint32_t split_points, double min_gain,
                     std::uint64_t structure_cut, std::uint64_t ignore_cut,
                     std::optional<std::uint64_t> fringe_size,
                     std::optional<std::uint64_t> budget) {
    Settings settings;
    settings.seed = seed;
    settings.split_points = split_points;
    settings.min_gain = min_gain;
    settings.structure_cut = structure_cut;
    settings.ignore_cut = ignore_cut;
    settings.fringe_size = fringe_size.value_or(unbounded);
    settings.budget = budget.value_or(unbounded);
    return settings;
}

Settings one_stream(std::uint64_t seed, std::uint32_t split_points, double min_gain,
                    std::uint64_t min_samples, std::optional<std::uint64_t> max_depth,
                    bool range_thresholds, std::optional<std::uint64_t> replace_after,
                    const Rate& bagging) {
    Settings settings;
    settings.seed = seed;
    settings.split_points = split_points;
    settings.min_gain = min_gain;
    settings.min_samples = min_samples;
    settings.max_depth = max_depth.value_or(unbounded);
    settings.range_thresholds = range_thresholds;
    settings.replace_after = replace_after.value_or(unbounded);
    settings.bagging = bagging;
    return settings;
}

// A forest of one space and one rule, as Python knows it.
template <class Space, Rule rule>
class BoundForest {
public:
    using Points = typename Input<Space>::Points;
    using Batch = typename Space::Batch;

    BoundForest(std::size_t n_trees, const Settings& settings, const Space& space)
        : forest_(n_trees, settings, space) {}

    BoundForest(const Settings& settings, const Space& space, std::uint64_t points,
                const nb::list& trees)
        : forest_(restored(settings, space, points, trees)) {}

    void learn(const Points& points, const Array1<std::uint32_t>& y,
               const std::optional<Array1<double>>& weights, std::size_t workers) {
        const Batch batch = Input<Space>::batch(points);
        const Class* labels = y.data();
        const double* weight = weights ? weights->data() : nullptr;
        released([&] { forest_.learn(batch, labels, weight, workers); });
    }

    // Where classes join while this runs, rows of later blocks are wider: the first block decides,
    // and it is done again from there.
    nb::object predict_proba(const Points& X, bool majority, std::size_t workers) {
        const Voting voting = majority ? Voting::majority : Voting::average;
        const Batch points = Input<Space>::batch(X);
        std::vector<double> out;
        std::size_t columns = 0;
        released([&] { columns = predict(points, voting, workers, out); });
        return owned(std::move(out), points.size(), columns);
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
        std::vector<TreeState<Space>> trees;
        const auto copy = [&](std::uint64_t received, const auto& all) {
            points = received;
            for (const auto& tree : all) trees.push_back(tree->save());
        };
        released([&] { forest_.visit(copy); });
        nb::list arrays;
        for (auto& tree : trees) arrays.append(to_dict(std::move(tree)));
        return nb::make_tuple(points, arrays);
    }

    nb::dict tree(std::size_t i) {
        std::optional<TreeState<Space>> state;
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
    std::size_t predict(const Batch& points, Voting voting, std::size_t workers,
                        std::vector<double>& out) {
        std::size_t columns = forest_.n_classes();
        bool wider = true;
        while (wider) {
            wider = false;
            out.assign(points.size() * columns, 0.0);
            std::vector<double> discarded;
            in_blocks(points, [&](std::size_t first, const Batch& rows) {
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
    nb::object per_tree(const Points& X, Work&& work) {
        const Batch points = Input<Space>::batch(X);
        const std::size_t n_trees = forest_.n_trees();
        std::vector<std::int64_t> out(points.size() * n_trees);
        released([&] {
            in_blocks(points, [&](std::size_t first, const Batch& rows) {
                work(rows, out.data() + first * n_trees);
            });
        });
        return owned(std::move(out), points.size(), n_trees);
    }

    static Forest<Space, rule> restored(const Settings& settings, const Space& space,
                                        std::uint64_t points, const nb::list& arrays) {
        std::vector<TreeState<Space>> trees;
        for (const nb::handle tree : arrays)
            trees.push_back(from_dict<Space>(nb::cast<nb::dict>(tree)));
        return released([&] { return Forest<Space, rule>(settings, space, points, trees); });
    }

    Forest<Space, rule> forest_;
};

template <class Space, Rule rule>
void bind_forest(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, rule>;
    nb::class_<Bound>(m, name)
        .def(nb::init<std::size_t, const Settings&, const Space&>(), "n_trees"_a, "settings"_a,
             "space"_a)
        .def_static(
            "from_state",
            [](const Settings& settings, const Space& space, std::uint64_t points,
               const nb::list& trees) { return new Bound(settings, space, points, trees); },
            "settings"_a, "space"_a, "points"_a, "trees"_a, nb::rv_policy::take_ownership)
        .def("learn", &Bound::learn, "points"_a, "y"_a, "weights"_a.none(), "workers"_a)
        .def("predict_proba", &Bound::predict_proba, "points"_a, "majority"_a, "workers"_a)
        .def("predict_trees", &Bound::predict_trees, "points"_a)
        .def("apply", &Bound::apply, "points"_a)
        .def("stats", &Bound::stats)
        .def("importance", &Bound::importance)
        .def("tree", &Bound::tree, "i"_a)
        .def("hold", &Bound::hold)
        .def("let_go", &Bound::let_go)
        .def("let_go_in_child", &Bound::let_go_in_child)
        .def("save", &Bound::save)
        .def("set_classes", &Bound::set_classes, "rank"_a, "n_classes"_a)
        .def("set_schedules", &Bound::set_schedules, "alpha"_a, "beta"_a)
        .def("set_space", &Bound::set_space, "space"_a)
        .def_prop_ro("depth", &Bound::depth)
        .def_prop_ro("points", &Bound::points);
}

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
    using namespace riparian;

#ifdef RIPARIAN_SANITIZE
    m.attr("sanitized") = true;
#else
    m.attr("sanitized") = false;
#endif
    m.attr("block") = block;
    m.attr("tree_bytes") = sizeof(Tree<Columns, Rule::two_streams>);
    m.def("entropy_term", &entropy_term_exact, "n"_a);
    m.def("kernel_names", &kernel_names);
    m.def("use_kernels", &use_kernels, "name"_a);

    nb::class_<Rate>(m, "Rate").def(nb::init<std::uint64_t, double, double>(), "whole"_a,
                                    "exp_one"_a, "exp_rest"_a);
    nb::class_<Settings>(m, "Settings");
    m.def("two_streams", &two_streams, "seed"_a, "split_points"_a, "min_gain"_a, "structure_cut"_a,
          "ignore_cut"_a, "fringe_size"_a.none(), "budget"_a.none());
    m.def("one_stream", &one_stream, "seed"_a, "split_points"_a, "min_gain"_a, "min_samples"_a,
          "max_depth"_a.none(), "range_thresholds"_a, "replace_after"_a.none(), "bagging"_a);

    nb::class_<HowMany>(m, "HowMany");
    m.def("one_and_poisson", [](const Rate& rate) { return HowMany(rate); }, "rate"_a);
    m.def("exactly", [](std::uint64_t n) { return HowMany(n); }, "n"_a);
    nb::class_<Columns>(m, "Columns")
        .def(nb::init<std::uint32_t, const HowMany&>(), "n_dims"_a, "candidates"_a);
    nb::class_<DepthDifferences>(m, "DepthDifferences")
        .def(nb::init<double, const HowMany&>(), "offset_std"_a, "candidates"_a);
    nb::class_<PixelArrays>(m, "Pixels")
        .def(
            "__init__",
            [](PixelArrays* self, decltype(PixelArrays::images) images,
               decltype(PixelArrays::pixels) pixels,
               float far) { new (self) PixelArrays{std::move(images), std::move(pixels), far}; },
            "images"_a, "pixels"_a, "far"_a);

    bind_forest<Columns, Rule::two_streams>(m, "ColumnForest");
    bind_forest<Columns, Rule::one_stream>(m, "ColumnSaffari");
    bind_forest<DepthDifferences, Rule::two_streams>(m, "DepthForest");
    bind_forest<DepthDifferences, Rule::one_stream>(m, "DepthSaffari");
}
