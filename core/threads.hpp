// Work on several threads, and a lock for readers and writers.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace riparian {

namespace detail {

// Makes the C library allocate what this thread needs to throw an exception. Otherwise it allocates
// at the first exception, and ends the process if it cannot.
inline void touch_exceptions() {
    // The function is pure: the call would be removed if its result were not used.
    [[maybe_unused]] const volatile int uncaught = std::uncaught_exceptions();
}

// The same, where memory may be short. Returns whether there was enough.
inline bool can_throw() {
    void* volatile room = std::malloc(std::size_t{1} << 14);
    if (!room) return false;
    std::free(room);
    touch_exceptions();
    return true;
}

}  // namespace detail

// Runs work(worker, item) for every item, on up to `workers` threads. Threads exist for one call,
// so none can be lost in a fork.
template <class Work>
void parallel(std::size_t workers, std::size_t items, Work&& work) {
    workers = std::min(workers, items);
    detail::touch_exceptions();
    if (workers <= 1) {
        for (std::size_t item = 0; item < items; ++item) work(std::size_t{0}, item);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failed, starting;
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
    std::latch ready(static_cast<std::ptrdiff_t>(workers - 1));
    const auto start = [&](std::size_t worker) {
        bool able;
        {
            const std::lock_guard lock(starting);
            able = detail::can_throw();
        }
        ready.count_down();
        if (able) run(worker);
    };
    {
        const std::lock_guard lock(starting);
        try {
            for (std::size_t worker = 1; worker < workers; ++worker)
                threads.emplace_back(start, worker);
        } catch (...) {
            // The system cannot start another thread: the existing ones share the work.
            ready.count_down(static_cast<std::ptrdiff_t>(workers - 1 - threads.size()));
        }
    }
    ready.wait();  // so that no other thread uses the memory that they have checked for
    run(0);
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// Starting a thread costs about as much as two thousand points through one tree.
inline std::size_t worthwhile(std::size_t workers, std::size_t points_and_trees) {
    return std::min(workers, points_and_trees / 2048 + 1);
}

// Many readers or one writer, in order of arrival, so that neither starves the other.
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
