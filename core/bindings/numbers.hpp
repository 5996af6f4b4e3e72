// What a forest of numbers has for Python besides what every forest has.
#pragma once

#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "target/numbers.hpp"

namespace riparian {

// What some leaves of tree i answer, in the form of classes: their points, one share each, of the
// one class that there is, and these shares in units of 2^-40·B (R26). `nodes` are the leaves.
template <class Bound>
nb::tuple leaf_shares(Bound& forest, std::size_t i, const Array1<std::uint32_t>& nodes,
                      std::size_t) {
    std::vector<std::uint64_t> points;
    std::vector<std::int64_t> shares;
    forest.visit([&](std::uint64_t, const auto& trees, const auto& shared) {
        for (std::size_t leaf = 0; leaf < nodes.size(); ++leaf) {
            const auto& answer = trees.at(i)->answer_at(nodes.data()[leaf], shared);
            points.push_back(answer.total());
            shares.push_back(answer.total() ? answer.units() : 0);
        }
    });
    return nb::make_tuple(
        owned(std::move(points)), owned(std::vector<std::uint32_t>(nodes.size(), 1)),
        owned(std::vector<std::uint32_t>(nodes.size(), 0)), owned(std::move(shares)));
}

template <class Bound>
void bind_target(nb::class_<Bound>& bound, Numbers) {
    using namespace nb::literals;
    using Points = typename Bound::Points;
    bound
        .def(
            "predict_one",
            [](Bound& self, const Points& point) {
                return self.predict_one(point, Averaging::average).at(0);
            },
            "point"_a)
        .def(
            "predict",
            [](Bound& self, const Points& points, std::size_t workers) {
                return self.predict(points, Averaging::average, workers);
            },
            "points"_a, "workers"_a)
        .def(
            "predict_then_learn",
            [](Bound& self, const Points& points, const Array1<Number>& y,
               const std::optional<Array1<double>>& weights, std::size_t workers,
               std::size_t block_points) {
                return self.predict_then_learn(points, y, weights, Averaging::average, workers,
                                               block_points);
            },
            "points"_a, "y"_a, "weights"_a.none(), "workers"_a, "block_points"_a)
        .def(
            "predict_sums",
            [](Bound& self, const Points& points, std::size_t workers) {
                return self.predict_sums(points, Averaging::average, workers);
            },
            "points"_a, "workers"_a)
        .def("leaf_answers", &leaf_shares<Bound>, "i"_a, "nodes"_a, "n_classes"_a);
}

}  // namespace riparian
