// Writes down what a process does to the files of a folder: a library for LD_PRELOAD. power_cuts.py
// replays it up to any moment and leaves out writes that no fsync had made durable.
//
// Each record in the journal is one append, in the order in which the calls took effect:
// kind, inode, offset, length of the path, length of the data; then the path and the data.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#pragma pack(push, 1)
struct head {
    char kind;
    uint64_t inode, offset;
    uint32_t path, data;
};
#pragma pack(pop)

// Recursive, because the handler of a signal may write while its thread holds the lock.
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char root[PATH_MAX];
static int journal = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
    const char* folder = getenv("POWER_CUT_ROOT");
    const char* path = getenv("POWER_CUT_JOURNAL");
    if (!folder || !path) return;
    snprintf(root, sizeof root, "%s", folder);
    journal = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int inside(const char* path) {
    const size_t n = strlen(root);
    return journal >= 0 && n && strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == 0);
}

// The path of an open file or folder of ours.
static int ours(int fd, char* path, struct stat* about) {
    char link[64];
    if (journal < 0 || fd == journal || fstat(fd, about) != 0) return 0;
    if (!S_ISREG(about->st_mode) && !S_ISDIR(about->st_mode)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n <= 0) return 0;
    path[n] = 0;
    return inside(path);
}

static void note(char kind, uint64_t inode, uint64_t offset, const char* path, const void* data,
                 size_t length) {
    struct head head = {kind, inode, offset, (uint32_t)strlen(path), (uint32_t)length};
    struct iovec parts[] = {{&head, sizeof head}, {(void*)path, head.path}, {(void*)data, length}};
    if (writev(journal, parts, 3) != (ssize_t)(sizeof head + head.path + length)) abort();
}

static int opened(const char* path, int flags, int mode, int is64) {
    char real[PATH_MAX];
    struct stat about;
    pthread_mutex_lock(&lock);
    const int was = access(path, F_OK) == 0;
    const int fd = is64 ? REAL(open64)(path, flags, mode) : REAL(open)(path, flags, mode);
    if (fd >= 0 && ours(fd, real, &about)) {
        if (!was) note('C', about.st_ino, 0, real, 0, 0);
        if (was && (flags & O_TRUNC)) note('T', about.st_ino, 0, real, 0, 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define OPEN(name, is64)                        \
    int name(const char* path, int flags, ...) { \
        va_list more;                           \
        va_start(more, flags);                  \
        const int mode = va_arg(more, int);     \
        va_end(more);                           \
        return opened(path, flags, mode, is64); \
    }
OPEN(open, 0)
OPEN(open64, 1)

static void wrote(int fd, off_t offset, const void* data, ssize_t n) {
    char path[PATH_MAX];
    struct stat about;
    if (n > 0 && ours(fd, path, &about)) note('W', about.st_ino, (uint64_t)offset, path, data, (size_t)n);
}

ssize_t write(int fd, const void* data, size_t n) {
    pthread_mutex_lock(&lock);
    const ssize_t done = REAL(write)(fd, data, n);
    if (done > 0) wrote(fd, lseek(fd, 0, SEEK_CUR) - done, data, done);
    pthread_mutex_unlock(&lock);
    return done;
}

#define PWRITE(name, offset_type)                                             \
    ssize_t name(int fd, const void* data, size_t n, offset_type offset) {    \
        pthread_mutex_lock(&lock);                                            \
        const ssize_t done = REAL(name)(fd, data, n, offset);                 \
        wrote(fd, (off_t)offset, data, done);                                 \
        pthread_mutex_unlock(&lock);                                          \
        return done;                                                          \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define ON_FILE(name, kind, call, parameters, offset)                \
    int name parameters {                                            \
        char path[PATH_MAX];                                         \
        struct stat about;                                           \
        pthread_mutex_lock(&lock);                                   \
        const int failed = call;                                     \
        if (!failed && ours(fd, path, &about))                       \
            note(kind, about.st_ino, (uint64_t)(offset), path, 0, 0); \
        pthread_mutex_unlock(&lock);                                 \
        return failed;                                               \
    }
#define SYNCED (S_ISDIR(about.st_mode) ? 'D' : 'S')
ON_FILE(fsync, SYNCED, REAL(fsync)(fd), (int fd), 0)
ON_FILE(fdatasync, SYNCED, REAL(fdatasync)(fd), (int fd), 0)
ON_FILE(ftruncate, 'T', REAL(ftruncate)(fd, n), (int fd, off_t n), n)
ON_FILE(ftruncate64, 'T', REAL(ftruncate64)(fd, n), (int fd, off64_t n), n)

// A relative path is one of the current folder.
static void whole(const char* path, char* out) {
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof folder)) folder[0] = 0;
    if (snprintf(out, PATH_MAX, "%s%s%s", folder, folder[0] ? "/" : "", path) >= PATH_MAX) abort();
}

#define ON_NAME(name, kind, call, parameters)                                  \
    int name parameters {                                                      \
        char at[PATH_MAX];                                                     \
        whole(path, at);                                                       \
        pthread_mutex_lock(&lock);                                             \
        const int failed = call;                                               \
        if (!failed && inside(at)) note(kind, 0, 0, at, to, strlen(to));       \
        pthread_mutex_unlock(&lock);                                           \
        return failed;                                                         \
    }
static const char* const to = "";
ON_NAME(unlink, 'U', REAL(unlink)(path), (const char* path))
ON_NAME(mkdir, 'M', REAL(mkdir)(path, mode), (const char* path, mode_t mode))

int rename(const char* from, const char* path) {
    char at[PATH_MAX], target[PATH_MAX];
    whole(from, at);
    whole(path, target);
    pthread_mutex_lock(&lock);
    const int failed = REAL(rename)(from, path);
    if (!failed && inside(at)) note('R', 0, 0, at, target, strlen(target));
    pthread_mutex_unlock(&lock);
    return failed;
}
