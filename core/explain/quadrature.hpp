// Gauss-Legendre quadrature: n places and weights that integrate polynomials of degree 2n - 1 over
// [0, 1] exactly.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace riparian::explain {

struct Quadrature {
    std::vector<double> place, weight;

    explicit Quadrature(std::size_t n) : place(n), weight(n) {
        for (std::size_t i = 0; i < n; ++i) {
            const auto count = static_cast<double>(n);
            double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (count + 0.5));
            double slope = 0.0;
            for (int round = 0; round < 100;
                 ++round) {  // Newton's method: four or five rounds are enough
                double before = 0.0, value = 1.0;  // Legendre polynomials by recurrence
                for (std::size_t j = 1; j <= n; ++j) {
                    const auto degree = static_cast<double>(j);
                    const double next =
                        ((2.0 * degree - 1.0) * x * value - (degree - 1.0) * before) / degree;
                    before = value;
                    value = next;
                }
                slope = count * (x * value - before) / (x * x - 1.0);
                const double step = value / slope;
                x -= step;
                if (std::abs(step) < 1e-15) break;
            }
            place[i] = (1.0 - x) / 2.0;  // from [-1, 1] to [0, 1]
            weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
    }
};

}  // namespace riparian::explain
