// Contributions and answers of plain trees, for many rows on threads.
#pragma once

#include <algorithm>
#include <vector>

#include "explain/interventional.hpp"
#include "explain/path_dependent.hpp"
#include "threads.hpp"

namespace riparian::explain {

// Adds the answers, rows by classes, to `out`.
inline void answer(const PlainTrees& trees, const Rows& rows, double* out) {
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree)
        for (std::size_t row = 0; row < rows.count; ++row) {
            const std::int64_t leaf = trees.leaf_of(tree, rows[row]);
            double* mine = out + row * trees.n_classes;
            for (auto i = trees.value_begin[leaf]; i < trees.value_begin[leaf + 1]; ++i)
                mine[trees.value_class[i]] += trees.value[i];
        }
}

// Computes the contributions of some rows, with a method that solves the game of a path once for
// each kind of row.
template <class Method>
void explain_tile(const PlainTrees& trees, const Rows& rows, Method& method, double* out) {
    const Tile tile(rows);
    TileSums sums(trees, rows.count);
    Paths paths(trees.n_features);
    Kinds kinds;
    std::vector<double> times;
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        paths.read(trees, tree);
        for (std::size_t number = 0; number < paths.size(); ++number) {
            const Path path = paths[number];
            const bool speaks = trees.value_begin[path.leaf] < trees.value_begin[path.leaf + 1];
            if (path.size() == 0 || !speaks) continue;
            kinds.read(path, tile);
            times.resize(path.size() * kinds.size());
            method.solve(path, kinds, times.data());
            for (std::size_t i = 0; i < path.size(); ++i)
                sums.add(path.leaf, path.steps[i].feature, times.data() + i * kinds.size(),
                         kinds.of_rows());
        }
    }
    sums.copy(out);
}

// The number of rows whose sums stay in the cache while path after path adds to them. With more
// rows, more of them are of the same kind.
inline std::size_t tile_rows(const PlainTrees& trees, std::size_t rows, std::size_t workers) {
    const std::size_t row_bytes = 8 * trees.n_features * trees.n_classes + 1;
    const std::size_t fits = std::clamp<std::size_t>((1 << 20) / row_bytes, 32, 512);
    return std::clamp<std::size_t>((rows + workers - 1) / workers, 1, fits);
}

// The sums of a row do not depend on its tile, because paths are added in the same order.
template <class Make>
void explain_rows(const PlainTrees& trees, const Rows& rows, std::size_t workers, double* out,
                  Make&& make_method) {
    const std::size_t tile = tile_rows(trees, rows.count, workers);
    parallel(workers, (rows.count + tile - 1) / tile, [&](std::size_t, std::size_t i) {
        const std::size_t first = i * tile;
        const Rows mine{rows[first], std::min(tile, rows.count - first), rows.width};
        auto method = make_method();
        explain_tile(trees, mine, method, out + first * trees.n_features * trees.n_classes);
    });
}

inline void path_dependent(const PlainTrees& trees, const Rows& rows, std::size_t workers,
                           double* out) {
    explain_rows(trees, rows, workers, out, [] { return PathDependent(); });
}

// If the `weights` of the background are null, all weights are 1.
inline void interventional(const PlainTrees& trees, const Rows& background, const double* weights,
                           const Rows& rows, std::size_t workers, double* out) {
    const Tile others(background, weights);
    explain_rows(trees, rows, workers, out, [&] { return Interventional(others); });
}

}  // namespace riparian::explain
