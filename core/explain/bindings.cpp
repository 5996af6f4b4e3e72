// The boundary for explanations: arrays go in and out, and the GIL is released around work.
#include "explain/bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <utility>
#include <vector>

#include "explain/explain.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace riparian::explain {
namespace {

template <class T>
using Array = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Rows rows_of(const Matrix& X) { return {X.data(), X.shape(0), X.shape(1)}; }

template <std::size_t N>
nb::object owned(std::vector<double>&& values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    const nb::capsule owner(kept,
                            [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::ndarray<nb::numpy, double, nb::ndim<N>>(kept->data(), shape, owner).cast();
}

// The arrays of Python, which are kept alive.
class BoundTrees {
public:
    BoundTrees(Array<std::int64_t> root, Array<std::int32_t> feature, Array<float> threshold,
               Array<bool> equals, Array<std::int32_t> left, Array<double> weight,
               Array<std::int64_t> leaf_number, Array<std::int64_t> value_begin,
               Array<std::int32_t> value_class, Array<double> value, std::size_t n_features,
               std::size_t n_classes)
        : root_(std::move(root)),
          feature_(std::move(feature)),
          threshold_(std::move(threshold)),
          equals_(std::move(equals)),
          left_(std::move(left)),
          weight_(std::move(weight)),
          leaf_number_(std::move(leaf_number)),
          value_begin_(std::move(value_begin)),
          value_class_(std::move(value_class)),
          value_(std::move(value)),
          trees_{root_.data(),
                 root_.shape(0),
                 feature_.data(),
                 threshold_.data(),
                 equals_.data(),
                 left_.data(),
                 weight_.data(),
                 leaf_number_.data(),
                 value_begin_.data(),
                 value_class_.data(),
                 value_.data(),
                 n_features,
                 n_classes} {}

    nb::object answer(const Matrix& X) const {
        const Rows rows = rows_of(X);
        std::vector<double> out(rows.count * trees_.n_classes);
        released([&] { explain::answer(trees_, rows, out.data()); });
        return owned<2>(std::move(out), {rows.count, trees_.n_classes});
    }

    nb::object path_dependent(const Matrix& X, std::size_t workers) const {
        return contributions(X, [&](const Rows& rows, double* out) {
            explain::path_dependent(trees_, rows, workers, out);
        });
    }

    nb::object interventional(const Matrix& X, const Matrix& background,
                              const std::optional<Array<double>>& weights,
                              std::size_t workers) const {
        const Rows others = rows_of(background);
        const double* each = weights ? weights->data() : nullptr;
        return contributions(X, [&](const Rows& rows, double* out) {
            explain::interventional(trees_, others, each, rows, workers, out);
        });
    }

private:
    template <class Work>
    static void released(Work&& work) {
        const nb::gil_scoped_release without_gil;
        work();
    }

    template <class Work>
    nb::object contributions(const Matrix& X, Work&& work) const {
        const Rows rows = rows_of(X);
        std::vector<double> out(rows.count * trees_.n_features * trees_.n_classes);
        released([&] { work(rows, out.data()); });
        return owned<3>(std::move(out), {rows.count, trees_.n_features, trees_.n_classes});
    }

    Array<std::int64_t> root_;
    Array<std::int32_t> feature_;
    Array<float> threshold_;
    Array<bool> equals_;
    Array<std::int32_t> left_;
    Array<double> weight_;
    Array<std::int64_t> leaf_number_, value_begin_;
    Array<std::int32_t> value_class_;
    Array<double> value_;
    PlainTrees trees_;
};

}  // namespace

void bind(nb::module_& m) {
    using A = Array<std::int64_t>;
    nb::class_<BoundTrees>(m, "PlainTrees")
        .def(nb::init<A, Array<std::int32_t>, Array<float>, Array<bool>, Array<std::int32_t>,
                      Array<double>, A, A, Array<std::int32_t>, Array<double>, std::size_t,
                      std::size_t>(),
             "root"_a, "feature"_a, "threshold"_a, "equals"_a, "left"_a, "weight"_a,
             "leaf_number"_a, "value_begin"_a, "value_class"_a, "value"_a, "n_features"_a,
             "n_classes"_a)
        .def("answer", &BoundTrees::answer, "rows"_a)
        .def("path_dependent", &BoundTrees::path_dependent, "rows"_a, "workers"_a)
        .def("interventional", &BoundTrees::interventional, "rows"_a, "background"_a,
             "weights"_a.none(), "workers"_a);
}

}  // namespace riparian::explain
