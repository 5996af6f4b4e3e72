// What a leaf remembers of its last points: several histograms that fade at different rates (R27).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "counts/streams.hpp"
#include "kernels/hot.hpp"
#include "memory/pool.hpp"
#include "state_fields.hpp"
#include "target/classes/labels.hpp"
#include "target/heads.hpp"

namespace riparian {

// The memories F_j of one leaf: for each class, a number per memory. Classes past the end have
// none.
class ClassMemories {
public:
    bool empty() const { return classes_ == 0; }

    // Fades every memory by its factor, then adds the point to its class.
    RIPARIAN_HOT void add(Pool& pool, Class y, Weight n) {
        if (y >= classes_) [[unlikely]]
            make_room(pool, y + 1);
        for (std::size_t i = 0; i < classes_ * n_memories; i += n_memories)
            for (std::size_t j = 0; j < n_memories; ++j) {
                const float faded = values_[i + j] * memory_factors<float>[j];
                // Sets negligible values to zero: denormal numbers are slow, and would never
                // disappear.
                values_[i + j] = faded < nothing ? 0.0f : faded;
            }
        for (std::size_t j = 0; j < n_memories; ++j)
            values_[y * n_memories + j] += static_cast<float>(n);
    }

    // ΣF_j, added class by class.
    PerMemory<double> sums() const {
        PerMemory<double> sums{};
        for (std::size_t i = 0; i < classes_ * n_memories; i += n_memories)
            for (std::size_t j = 0; j < n_memories; ++j)
                sums[j] += static_cast<double>(values_[i + j]);
        return sums;
    }

    // Returns the share of the class in memory j, in units of 2^-28, half to even.
    std::int64_t share(Class y, std::size_t j, double sum) const {
        if (y >= classes_) return 0;
        return static_cast<std::int64_t>(
            std::rint(static_cast<double>(values_[y * n_memories + j]) / sum * head_share));
    }

    // Calls visitor(class, memory, share) for each share.
    template <class Visitor>
    void for_each_share(Visitor&& visitor) const {
        const PerMemory<double> totals = sums();
        for (Class y = 0; y < classes_; ++y)
            for (std::size_t j = 0; j < n_memories; ++j) visitor(y, j, share(y, j, totals[j]));
    }

    // The bytes that a budget charges.
    static std::size_t charge(Class n_classes) { return Pool::block_size(bytes(n_classes)); }

    void release(Pool& pool) {
        if (classes_) pool.release(values_, bytes(classes_));
        *this = {};
    }
    void move_to(Pool& pool) {
        if (!classes_) return;
        auto* moved = pool.allocate_array<float>(classes_ * n_memories);
        std::copy_n(values_, classes_ * n_memories, moved);
        values_ = moved;
    }

    template <class State>
    void save(State& out) const {
        array<"memory_classes">(out).push_back(static_cast<Word>(classes_));
        append(array<"memory">(out), static_cast<const float*>(values_), classes_ * n_memories);
    }
    class Reader {
    public:
        template <class State>
        explicit Reader(const State& in)
            : classes_(array<"memory_classes">(in)), values_(array<"memory">(in)) {}
        void restore(Pool& pool, ClassMemories& memories) {
            const auto classes = static_cast<Class>(classes_.one());
            const float* values = values_.many(classes * n_memories);
            if (!classes) return;
            memories.make_room(pool, classes);
            std::copy_n(values, classes * n_memories, memories.values_);
        }

    private:
        riparian::Reader<Word> classes_;
        riparian::Reader<float> values_;
    };

private:
    static constexpr float nothing = 0x1p-60f;

    static std::size_t bytes(std::size_t n_classes) {
        return n_classes * n_memories * sizeof(float);
    }

    void make_room(Pool& pool, Class classes) {
        auto* wider = pool.allocate_array<float>(classes * n_memories);
        std::copy_n(values_, classes_ * n_memories, wider);
        std::fill(wider + classes_ * n_memories, wider + classes * n_memories, 0.0f);
        if (classes_) pool.release(values_, bytes(classes_));
        values_ = wider;
        classes_ = classes;
    }

    float* values_ = nullptr;
    Class classes_ = 0;
};

}  // namespace riparian
