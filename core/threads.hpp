// Working on several threads, and keeping readers and writers apart.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace riparian {

// Runs work(worker, item) for every item, on up to `workers` threads. Threads live for one call:
// there is nothing to be lost in a fork.
template <class Work>
void parallel(std::size_t workers, std::size_t items, Work&& work) {
    workers = std::min(workers, items);
    if (workers <= 1) {
        for (std::size_t item = 0; item < items; ++item) work(std::size_t{0}, item);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failed;
    const auto run = [&](std::size_t worker) {
        try {
            for (std::size_t item; (item = next++) < items;) work(worker, item);
        } catch (...) {
            const std::lock_guard lock(failed);
            failure = std::current_exception();
            next = items;
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back(run, worker);
    run(0);
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// A thread costs about as much as two thousand points through one tree.
inline std::size_t worthwhile(std::size_t workers, std::size_t points_and_trees) {
    return std::min(workers, points_and_trees / 2048 + 1);
}

// Many readers or one writer, in the order in which they come: neither starves the other.
class FairLock {
public:
    std::shared_lock<std::shared_mutex> read() {
        const std::lock_guard queue(queue_);
        return std::shared_lock(state_);
    }
    std::unique_lock<std::shared_mutex> write() {
        const std::lock_guard queue(queue_);
        return std::unique_lock(state_);
    }

private:
    std::mutex queue_;
    std::shared_mutex state_;
};

}  // namespace riparian
