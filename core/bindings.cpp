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

#include "explain/bindings.hpp"
#include "drift/adwin.hpp"
#include "drift/log_exp.hpp"
#include "forest.hpp"
#include "rules/adaptive.hpp"
#include "rules/keeping.hpp"
#include "rules/one_stream.hpp"
#include "rules/two_streams.hpp"
#include "space/columns.hpp"
#include "space/depth.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace riparian {
namespace {

template <class T>
using Array1 = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows2 = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
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
    using Points = Rows2;
    static Matrix batch(const Rows2& X) { return {X.data(), X.shape(0), X.shape(1)}; }
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

constexpr std::size_t block = Forest<Columns, TwoStreams>::block;

// For each block of points, in order.
template <class Batch, class Work>
void in_blocks(const Batch& points, Work&& work) {
    for (std::size_t first = 0; first < points.size(); first += block)
        work(first, points.slice(first, std::min(block, points.size() - first)));
}

nb::dict to_dict(const TreeStats& stats) {
    nb::dict d;
    for (const auto& [name, total] : total_names) d[name] = stats.totals.*total;
    for (const auto& [name, stat] : stat_names) d[name] = stats.*stat;
    return d;
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
    const auto numbers = nb::cast<Array1<T>>(array);
    values.assign(numbers.data(), numbers.data() + numbers.shape(0));
}

template <class Space>
nb::dict to_dict(TreeState<Space>&& tree) {
    nb::dict arrays;
    for_each_field(tree, [&](auto& field) {
        arrays[nb::str(field.name.data(), field.name.size())] = to_array(std::move(field.values));
    });
    return arrays;
}

template <class Space>
TreeState<Space> from_dict(const nb::dict& arrays) {
    TreeState<Space> tree;
    for_each_field(tree, [&](auto& field) {
        const nb::str name(field.name.data(), field.name.size());
        // What another kind of forest has, and this one has not.
        if (arrays.contains(name)) from_array(arrays[name], field.values);
    });
    return tree;
}

// The list of a tree's arrays, for Python: name, type, per what.
template <class T>
const char* type_name(const std::vector<T>&) {
    if constexpr (std::is_same_v<T, Byte>) return "uint8";
    if constexpr (std::is_same_v<T, Word>) return "uint32";
    if constexpr (std::is_same_v<T, Long>) return "uint64";
    if constexpr (std::is_same_v<T, std::int64_t>) return "int64";
    if constexpr (std::is_same_v<T, float>) return "float32";
    if constexpr (std::is_same_v<T, double>) return "float64";
    return "feature";  // uint32, or four float32
}

nb::list tree_fields() {
    nb::list fields;
    for_each_field(TreeState<DepthDifferences>{}, [&](const auto& field) {
        fields.append(nb::make_tuple(nb::str(field.name.data(), field.name.size()),
                                     type_name(field.values),
                                     nb::str(field.per.data(), field.per.size())));
    });
    return fields;
}

template <class Names>
nb::list names(const Names& named) {
    nb::list all;
    for (const auto& [name, member] : named) all.append(name);
    return all;
}

// What trees share, as arrays and back: nothing, or the points kept (R19). The number of the first is
// that of the points received, less those kept.
nb::object to_python(Nothing&&) { return nb::none(); }
void from_python(const nb::handle&, std::uint64_t, Nothing&) {}

nb::object to_python(KeptRows&& kept) {
    const std::size_t n = kept.labels.size();
    nb::dict arrays;
    if (kept.starts.empty()) {
        arrays["kept_rows"] = owned(std::move(kept.rows), n, kept.columns);
    } else {
        arrays["kept_starts"] = owned(std::move(kept.starts));
        arrays["kept_columns"] = owned(std::move(kept.indices));
        arrays["kept_entries"] = owned(std::move(kept.entries));
        arrays["kept_widths"] = owned(std::move(kept.widths));
    }
    arrays["kept_label"] = owned(std::move(kept.labels));
    arrays["kept_weight"] = owned(std::move(kept.weights));
    return arrays;
}

template <class T>
void take(const nb::dict& arrays, const char* name, std::vector<T>& values) {
    from_array(arrays[name], values);
}

void from_python(const nb::handle& object, std::uint64_t points, KeptRows& kept) {
    const auto arrays = nb::cast<nb::dict>(object);
    take(arrays, "kept_label", kept.labels);
    take(arrays, "kept_weight", kept.weights);
    kept.first_t = points - kept.labels.size();
    if (arrays.contains("kept_rows")) {
        const auto rows = nb::cast<Rows2>(arrays["kept_rows"]);
        kept.rows.assign(rows.data(), rows.data() + rows.size());
    } else {
        take(arrays, "kept_starts", kept.starts);
        take(arrays, "kept_columns", kept.indices);
        take(arrays, "kept_entries", kept.entries);
        take(arrays, "kept_widths", kept.widths);
    }
}

nb::object to_python(KeptPixels&& kept) {
    std::vector<std::int32_t> shapes;
    std::vector<float> depths;
    for (const auto& image : kept.images) {
        shapes.insert(shapes.end(), {image.height, image.width});
        depths.insert(depths.end(), image.depths.begin(), image.depths.end());
    }
    nb::dict arrays;
    arrays["kept_shapes"] = owned(std::move(shapes), kept.images.size(), 2);
    arrays["kept_depths"] = owned(std::move(depths));
    arrays["kept_pixels"] = owned(std::move(kept.pixels), kept.labels.size(), 3);
    arrays["kept_far"] = owned(std::vector<float>{kept.far});
    arrays["kept_label"] = owned(std::move(kept.labels));
    arrays["kept_weight"] = owned(std::move(kept.weights));
    return arrays;
}

void from_python(const nb::handle& object, std::uint64_t points, KeptPixels& kept) {
    using Whole2 = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    const auto arrays = nb::cast<nb::dict>(object);
    take(arrays, "kept_label", kept.labels);
    take(arrays, "kept_weight", kept.weights);
    kept.first_t = points - kept.labels.size();
    const auto pixels = nb::cast<Whole2>(arrays["kept_pixels"]);
    kept.pixels.assign(pixels.data(), pixels.data() + pixels.size());
    std::vector<float> depths, far;
    take(arrays, "kept_depths", depths);
    take(arrays, "kept_far", far);
    kept.far = far.at(0);
    const auto shapes = nb::cast<Whole2>(arrays["kept_shapes"]);
    const float* next = depths.data();
    for (std::size_t i = 0; i < shapes.shape(0); ++i) {
        const std::int32_t height = shapes.data()[2 * i], width = shapes.data()[2 * i + 1];
        const float* first = next;
        next += static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
        kept.images.push_back({height, width, std::vector<float>(first, next)});
    }
}

// Every call that may wait for the forest's lock is made without the GIL: whoever holds the lock may
// need it.
template <class Work>
decltype(auto) released(Work&& work) {
    const nb::gil_scoped_release without_gil;
    return work();
}

Keeping::Settings keeping(const TwoStreams::Settings& two_streams, std::uint32_t kept_points,
                          bool sparse, bool regrows) {
    return {{two_streams, kept_points, sparse}, regrows};
}

Adaptive::Settings adaptive(const TwoStreams::Settings& two_streams, std::uint32_t kept_points,
                            bool sparse, std::uint64_t n_trees, std::uint32_t leaf_points,
                            std::vector<float> memories, double fading, double drift_confidence) {
    return {{two_streams, kept_points, sparse}, n_trees, leaf_points,
            std::move(memories),                fading,  drift_confidence};
}

// 1 if the window was cut and its mean has risen, -1 if it has fallen, 0 if there was no cut.
int add_to(Adwin& detector, double x) {
    switch (detector.add(x)) {
        case Adwin::Change::risen:
            return 1;
        case Adwin::Change::fallen:
            return -1;
        default:
            return 0;
    }
}

TwoStreams::Settings two_streams(std::uint64_t seed, std::uint32_t split_points, double min_gain,
                                 std::uint64_t structure_cut, std::uint64_t ignore_cut,
                                 std::optional<std::uint64_t> fringe_size,
                                 std::optional<std::uint64_t> budget) {
    TwoStreams::Settings settings{{seed, split_points, min_gain}};
    settings.structure_cut = structure_cut;
    settings.ignore_cut = ignore_cut;
    settings.fringe_size = fringe_size.value_or(unbounded);
    settings.budget = budget.value_or(unbounded);
    return settings;
}

OneStream::Settings one_stream(std::uint64_t seed, std::uint32_t split_points, double min_gain,
                               std::uint64_t min_samples, std::optional<std::uint64_t> max_depth,
                               bool range_thresholds, std::optional<std::uint64_t> replace_after,
                               const Rate& bagging) {
    OneStream::Settings settings{{seed, split_points, min_gain}};
    settings.min_samples = min_samples;
    settings.max_depth = max_depth.value_or(unbounded);
    settings.range_thresholds = range_thresholds;
    settings.replace_after = replace_after.value_or(unbounded);
    settings.bagging = bagging;
    return settings;
}

// A forest of one space and one rule, as Python knows it.
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

    void learn(const Points& points, const Array1<std::uint32_t>& y,
               const std::optional<Array1<double>>& weights, std::size_t workers) {
        const Batch batch = Input<Space>::batch(points);
        const Class* labels = y.data();
        const double* weight = weights ? weights->data() : nullptr;
        released([&] { forest_.learn({batch, labels, weight}, workers); });
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
                for (std::size_t d = 0; d < mine.size(); ++d) sum[d] += mine[d];
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
    void set_schedules(Words alpha, Words beta) {
        released([&] { forest_.set_schedules(std::move(alpha), std::move(beta)); });
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
            in_blocks(points, [&](std::size_t first, const Batch& rows) {
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
            in_blocks(points, [&](std::size_t first, const Batch& rows) {
                work(rows, out.data() + first * n_trees);
            });
        });
        return owned(std::move(out), points.size(), n_trees);
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
        .def("learn", &Bound::learn, "points"_a, "y"_a, "weights"_a.none(), "workers"_a)
        .def("predict_proba", &Bound::predict_proba, "points"_a, "majority"_a, "workers"_a)
        .def("predict_sums", &Bound::predict_sums, "points"_a, "majority"_a, "workers"_a)
        .def("predict_trees", &Bound::predict_trees, "points"_a)
        .def("apply", &Bound::apply, "points"_a)
        .def("stats", &Bound::stats)
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
auto bind_two_streams(nb::module_& m, const char* name) {
    using Bound = BoundForest<Space, Rule>;
    return bind_forest<Space, Rule>(m, name)
        .def("set_schedules", &Bound::set_schedules, "alpha"_a, "beta"_a)
        .def("set_budget", &Bound::set_budget, "budget"_a);
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
    m.attr("tree_bytes") = sizeof(Tree<Columns, TwoStreams>);
    m.attr("few_points") = few_points;
    m.attr("whole_share") = whole_share;
    m.attr("tree_fields") = tree_fields();
    m.attr("tree_totals") = names(total_names);
    m.attr("tree_growth") =
        nb::cast(std::vector<std::string>(growth_names.begin(), growth_names.end()));
    m.attr("tree_bag") = nb::cast(std::vector<std::string>(bag_names.begin(), bag_names.end()));
    m.attr("tree_window") =
        nb::cast(std::vector<std::string>(window_names.begin(), window_names.end()));
    m.attr("most_memories") = most_memories;
    m.def("entropy_term", &entropy_term_exact, "n"_a);
    m.def("ln", &ln, "x"_a);
    m.def("exp_of_negative", &exp_of_negative, "x"_a);
    nb::class_<Adwin>(m, "Adwin")
        .def(nb::init<double>(), "delta"_a)
        .def("add", &add_to, "x"_a)
        .def_prop_ro("width", &Adwin::width)
        .def_prop_ro("total", &Adwin::total)
        .def_prop_ro("variance", &Adwin::variance);
    m.def("kernel_names", &kernel_names);
    m.def("use_kernels", &use_kernels, "name"_a);

    nb::class_<Rate>(m, "Rate").def(nb::init<std::uint64_t, double, double>(), "whole"_a,
                                    "exp_one"_a, "exp_rest"_a);
    nb::class_<TwoStreams::Settings>(m, "TwoStreamsSettings");
    nb::class_<OneStream::Settings>(m, "OneStreamSettings");
    nb::class_<Keeping::Settings>(m, "KeepingSettings");
    m.def("keeping", &keeping, "two_streams"_a, "kept_points"_a, "sparse"_a, "regrows"_a);
    nb::class_<Adaptive::Settings>(m, "AdaptiveSettings");
    m.def("adaptive", &adaptive, "two_streams"_a, "kept_points"_a, "sparse"_a, "n_trees"_a,
          "leaf_points"_a, "memories"_a, "fading"_a, "drift_confidence"_a);
    m.def("two_streams", &two_streams, "seed"_a, "split_points"_a, "min_gain"_a, "structure_cut"_a,
          "ignore_cut"_a, "fringe_size"_a.none(), "budget"_a.none());
    m.def("one_stream", &one_stream, "seed"_a, "split_points"_a, "min_gain"_a, "min_samples"_a,
          "max_depth"_a.none(), "range_thresholds"_a, "replace_after"_a.none(), "bagging"_a);

    nb::class_<HowMany>(m, "HowMany");
    m.def("one_and_poisson", [](const Rate& rate) { return HowMany(rate); }, "rate"_a);
    m.def("exactly", [](std::uint64_t n) { return HowMany(n); }, "n"_a);
    nb::class_<Columns>(m, "Columns")
        .def(nb::init<std::uint32_t, const HowMany&, const std::vector<std::uint32_t>&>(),
             "n_dims"_a, "candidates"_a, "categorical"_a);
    nb::class_<DepthDifferences>(m, "DepthDifferences")
        .def(nb::init<double, const HowMany&>(), "offset_std"_a, "candidates"_a);
    nb::class_<PixelArrays>(m, "Pixels")
        .def(
            "__init__",
            [](PixelArrays* self, decltype(PixelArrays::images) images,
               decltype(PixelArrays::pixels) pixels,
               float far) { new (self) PixelArrays{std::move(images), std::move(pixels), far}; },
            "images"_a, "pixels"_a, "far"_a);

    bind_two_streams<Columns, TwoStreams>(m, "ColumnForest");
    bind_two_streams<DepthDifferences, TwoStreams>(m, "DepthForest");
    bind_two_streams<Columns, Keeping>(m, "ColumnKeeping");
    bind_two_streams<DepthDifferences, Keeping>(m, "DepthKeeping");
    bind_two_streams<Columns, Adaptive>(m, "ColumnAdaptive")
        .def("replacements", &BoundForest<Columns, Adaptive>::replacements);
    bind_forest<Columns, OneStream>(m, "ColumnSaffari");
    bind_forest<DepthDifferences, OneStream>(m, "DepthSaffari");
    explain::bind(m);
}
