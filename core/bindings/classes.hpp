// The methods of a forest of classes in Python, in addition to those of every forest.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "target/classes.hpp"

namespace riparian {

// Returns what the leaves `nodes` of tree i answer (R11): their points, the number of classes with
// a share above 0, and these classes, by arrival, with their shares. `n_classes` classes have
// arrived.
template <class Bound>
nb::tuple leaf_answers(Bound& forest, std::size_t i, const Array1<std::uint32_t>& nodes,
                       std::size_t n_classes) {
    std::vector<std::uint64_t> points;
    std::vector<std::uint32_t> n_shares, classes;
    std::vector<std::int64_t> shares;
    forest.visit([&](std::uint64_t, const auto& trees, const auto& shared) {
        std::vector<std::int64_t> row(n_classes);
        for (std::size_t leaf = 0; leaf < nodes.size(); ++leaf) {
            const auto& answer = trees.at(i)->answer_at(nodes.data()[leaf], shared);
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
    });
    return nb::make_tuple(owned(std::move(points)), owned(std::move(n_shares)),
                          owned(std::move(classes)), owned(std::move(shares)));
}

template <class Bound>
void bind_target(nb::class_<Bound>& bound, Classes) {
    using namespace nb::literals;
    using Points = typename Bound::Points;
    const auto voting = [](bool majority) { return majority ? Voting::majority : Voting::average; };
    bound
        .def(
            "set_classes",
            [](Bound& self, std::vector<std::uint32_t> rank, std::size_t n_classes) {
                self.set_order(ClassOrder(std::move(rank), n_classes));
            },
            "rank"_a, "n_classes"_a)
        .def(
            "predict_one",
            [=](Bound& self, const Points& point, bool majority) {
                nb::list answer;
                for (const double share : self.predict_one(point, voting(majority)))
                    answer.append(share);
                return answer;
            },
            "point"_a, "majority"_a)
        // Returns the place of the largest, the first among equals.
        .def(
            "most_probable",
            [=](Bound& self, const Points& point, bool majority) {
                const std::vector<double> proba = self.predict_one(point, voting(majority));
                return static_cast<std::size_t>(std::ranges::max_element(proba) - proba.begin());
            },
            "point"_a, "majority"_a)
        .def(
            "predict_proba",
            [=](Bound& self, const Points& points, bool majority, std::size_t workers) {
                return self.predict(points, voting(majority), workers);
            },
            "points"_a, "majority"_a, "workers"_a)
        .def(
            "predict_then_learn",
            [=](Bound& self, const Points& points, const Array1<Class>& y,
                const std::optional<Array1<double>>& weights, bool majority, std::size_t workers,
                std::size_t block_points) {
                return self.predict_then_learn(points, y, weights, voting(majority), workers,
                                               block_points);
            },
            "points"_a, "y"_a, "weights"_a.none(), "majority"_a, "workers"_a, "block_points"_a)
        .def(
            "predict_sums",
            [=](Bound& self, const Points& points, bool majority, std::size_t workers) {
                return self.predict_sums(points, voting(majority), workers);
            },
            "points"_a, "majority"_a, "workers"_a)
        .def("leaf_answers", &leaf_answers<Bound>, "i"_a, "nodes"_a, "n_classes"_a);
}

}  // namespace riparian
