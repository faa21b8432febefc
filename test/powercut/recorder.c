/*
 * Recorder: preloaded into the service, it writes down what the process does to the files of one directory, in one order over all threads,
 * with the data. It can also let one flush fail, as a bad disk would, and end the process between two entries.
 *
 * Environment:
 *   POWERCUT_DIRECTORY  the directory, as an absolute path; it exists
 *   POWERCUT_TRACE      the file that entries are appended to
 *   POWERCUT_END        when this file exists, the process is killed at its next entry
 *   POWERCUT_FAIL       KIND:N, the N-th flush of that kind fails with EIO, once (the kinds are below)
 *
 * Of a failed flush every descriptor hears that was open on the file, at its next flush, as on Linux from 4.13 on (Node needs 4.18).
 *
 * Every call but a flush is made and written down under one lock, so that the order of the entries is that of the effects. A flush has an
 * entry when it begins and one when it has ended: what was written before the first is on disk from the second on.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* test/powercut/trace.ts reads these. */
enum { CREATED = 1, WRITTEN, TRUNCATED, FLUSH_BEGUN, FLUSHED, FLUSH_FAILED, UNLINKED, RENAMED };
struct entry {
  uint32_t kind;
  uint32_t detail; /* the kind of a flush */
  uint64_t file;   /* its inode */
  uint64_t offset; /* in the file; for a flush its number, for a truncation the new size */
  uint64_t at;     /* nanoseconds of the monotonic clock */
  uint64_t length; /* of what follows: data, or a path, or two paths with a zero between them */
};

/*
 * A commit is flushed by the thread that wrote the log, or several are at once: those before it were not to be flushed by themselves. A
 * checkpoint flushes the log from another thread, and then the database.
 */
enum { COMMIT = 1, COMMITS, LOG, DATABASE, DIRECTORY, OTHER, FLUSH_KINDS };
static const char *const FLUSH_NAMES[] = { "", "commit", "commits", "log", "database", "directory", "other" };

/* SQLite's log: behind its header, frames with a head of this size. In the head of a commit's last frame octets 4 to 7 are not all 0. */
#define FRAME_HEAD 24

#define MAX_FILES 1024
#define MAX_DESCRIPTORS 4096

struct known {
  dev_t dev;
  ino_t ino;
  pid_t writer; /* the thread that wrote last */
  int flush;
  int commits; /* since the last flush */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;
static const char *directory;
static size_t directory_length;
static const char *end_path;
static struct known files[MAX_FILES];
static int file_count;
static uint64_t flush_count;
static int fail_kind;
static long fail_at;
static long flushes_of[FLUSH_KINDS];
static ino_t untold[MAX_DESCRIPTORS]; /* by descriptor: the file of whose failed flush it has yet to hear */

static void give_up(const char *why) {
  dprintf(2, "powercut: %s\n", why);
  _exit(70);
}

static int ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static struct known *find(const struct stat *stats) {
  for (int at = 0; at < file_count; at++)
    if (files[at].ino == stats->st_ino && files[at].dev == stats->st_dev) return &files[at];
  return NULL;
}

static struct known *find_descriptor(int fd) {
  int before = errno;
  struct stat stats;
  struct known *file = file_count > 0 && fstat(fd, &stats) == 0 ? find(&stats) : NULL;
  errno = before;
  return file;
}

static void add(const struct stat *stats, int flush) {
  struct known *file = find(stats);
  if (file == NULL) {
    if (file_count == MAX_FILES) give_up("too many files");
    file = &files[file_count++];
  }
  *file = (struct known){ .dev = stats->st_dev, .ino = stats->st_ino, .flush = flush };
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* To be called with the lock, and with the time from before the call that it is about. */
static void note(struct entry entry, const void *data) {
  struct iovec pieces[] = { { &entry, sizeof entry }, { (void *)data, entry.length } };
  int before = errno;
  long written = syscall(SYS_writev, trace, pieces, 2);
  if (written != (long)(sizeof entry + entry.length)) give_up("the trace could not be written");
  if (end_path != NULL && syscall(SYS_faccessat, AT_FDCWD, end_path, F_OK) == 0) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  errno = before;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("POWERCUT_TRACE");
  directory = getenv("POWERCUT_DIRECTORY");
  if (path == NULL || directory == NULL) return;
  directory_length = strlen(directory);
  end_path = getenv("POWERCUT_END");
  const char *fail = getenv("POWERCUT_FAIL");
  for (int kind = 1; fail != NULL && kind < FLUSH_KINDS; kind++) {
    size_t length = strlen(FLUSH_NAMES[kind]);
    if (strncmp(fail, FLUSH_NAMES[kind], length) != 0 || fail[length] != ':') continue;
    fail_kind = kind;
    fail_at = atol(fail + length + 1);
  }
  struct stat stats;
  if (stat(directory, &stats) != 0) give_up("there is no such directory");
  add(&stats, DIRECTORY);
  trace = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (trace < 0) give_up("the trace could not be opened");
}

/* The name within the directory; NULL for everything else. What is shared in memory only (-shm) is made anew after a crash. */
static const char *name_within(const char *path) {
  if (trace < 0 || strncmp(path, directory, directory_length) != 0 || path[directory_length] != '/') return NULL;
  const char *name = path + directory_length + 1;
  return ends_with(name, "-shm") ? NULL : name;
}

static int open_at(int from, const char *path, int flags, mode_t mode) {
  const char *name = name_within(path);
  if (name == NULL || (flags & O_ACCMODE) == O_RDONLY) return (int)syscall(SYS_openat, from, path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat stats;
  int was_there = fstatat(from, path, &stats, 0) == 0;
  uint64_t at = now();
  int fd = (int)syscall(SYS_openat, from, path, flags, mode);
  if (fd >= 0 && fstat(fd, &stats) == 0) {
    int flush = ends_with(name, "-wal") ? COMMIT : ends_with(name, ".sqlite") ? DATABASE : OTHER;
    if (!was_there || find(&stats) == NULL) add(&stats, flush);
    if (!was_there) note((struct entry){ CREATED, 0, stats.st_ino, 0, at, strlen(name) }, name);
    else if (flags & O_TRUNC) note((struct entry){ TRUNCATED, 0, stats.st_ino, 0, at, 0 }, NULL);
  }
  pthread_mutex_unlock(&lock);
  return fd;
}

#define MODE_OF(flags, mode)                        \
  mode_t mode = 0;                                  \
  if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) {   \
    va_list rest;                                   \
    va_start(rest, flags);                          \
    mode = va_arg(rest, mode_t);                    \
    va_end(rest);                                   \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int from, const char *path, int flags, ...) {
  MODE_OF(flags, mode)
  return open_at(from, path, flags, mode);
}

/* A descriptor that is opened again under this number has heard of nothing. */
int close(int fd) {
  if (fd >= 0 && fd < MAX_DESCRIPTORS) untold[fd] = 0;
  return (int)syscall(SYS_close, fd);
}

/* Writes the pieces at the offset; without one (-1) where the descriptor stands. */
static ssize_t write_pieces(int fd, const struct iovec *pieces, int count, off_t offset) {
  struct known *file;
  if (trace < 0) goto plain;
  pthread_mutex_lock(&lock);
  file = find_descriptor(fd);
  if (file == NULL) {
    pthread_mutex_unlock(&lock);
    goto plain;
  }
  off_t begin = offset;
  if (offset < 0) begin = lseek(fd, 0, fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
  uint64_t at = now();
  ssize_t written = syscall(SYS_pwritev, fd, pieces, count, begin, 0);
  if (written > 0) {
    if (offset < 0) lseek(fd, begin + written, SEEK_SET);
    char *data = malloc((size_t)written), *to = data;
    if (data == NULL) give_up("no memory");
    for (int piece = 0; to < data + written; piece++) {
      size_t left = (size_t)(data + written - to);
      size_t length = pieces[piece].iov_len < left ? pieces[piece].iov_len : left;
      memcpy(to, pieces[piece].iov_base, length);
      to += length;
    }
    file->writer = gettid();
    uint32_t size_after = 0;
    if (file->flush == COMMIT && written == FRAME_HEAD) memcpy(&size_after, data + 4, sizeof size_after);
    if (size_after != 0) file->commits++;
    note((struct entry){ WRITTEN, 0, file->ino, (uint64_t)begin, at, (uint64_t)written }, data);
    free(data);
  }
  pthread_mutex_unlock(&lock);
  return written;
plain:
  if (offset >= 0) return syscall(SYS_pwritev, fd, pieces, count, offset, 0);
  return syscall(SYS_writev, fd, pieces, count);
}

ssize_t write(int fd, const void *data, size_t length) {
  return write_pieces(fd, &(struct iovec){ (void *)data, length }, 1, -1);
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  return write_pieces(fd, pieces, count, -1);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  return write_pieces(fd, &(struct iovec){ (void *)data, length }, 1, offset);
}

ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t offset) {
  return write_pieces(fd, pieces, count, offset);
}

int ftruncate(int fd, off_t size) {
  pthread_mutex_lock(&lock);
  struct known *file = find_descriptor(fd);
  uint64_t at = now();
  int result = (int)syscall(SYS_ftruncate, fd, size);
  if (file != NULL && result == 0) note((struct entry){ TRUNCATED, 0, file->ino, (uint64_t)size, at, 0 }, NULL);
  pthread_mutex_unlock(&lock);
  return result;
}

/* All that are open on the file, but the one that hears of it now. */
static void tell_later(int fd, const struct known *file) {
  for (int other = 0; other < MAX_DESCRIPTORS; other++)
    if (other != fd && find_descriptor(other) == file) untold[other] = file->ino;
}

static int flush(int fd, long call) {
  pthread_mutex_lock(&lock);
  struct known *file = find_descriptor(fd);
  if (file == NULL) {
    pthread_mutex_unlock(&lock);
    return (int)syscall(call, fd);
  }
  int kind = file->flush;
  if (kind == COMMIT) kind = file->writer != gettid() ? LOG : file->commits > 1 ? COMMITS : COMMIT;
  file->commits = 0;
  ino_t ino = file->ino;
  uint64_t number = ++flush_count;
  note((struct entry){ FLUSH_BEGUN, (uint32_t)kind, ino, number, now(), 0 }, NULL);
  if (kind == fail_kind && ++flushes_of[kind] == fail_at) {
    tell_later(fd, file);
    note((struct entry){ FLUSH_FAILED, (uint32_t)kind, ino, number, now(), 0 }, NULL);
    pthread_mutex_unlock(&lock);
    errno = EIO;
    return -1;
  }
  pthread_mutex_unlock(&lock);
  int result = (int)syscall(call, fd);
  if (result != 0) return result;
  pthread_mutex_lock(&lock);
  /*
   * The error of another flush, from before this one or during it: the file system returns it, and leaves its own log and the disk's cache
   * unflushed. So this flush promises nothing.
   */
  int is_untold = fd < MAX_DESCRIPTORS && untold[fd] == ino;
  if (is_untold) untold[fd] = 0;
  else note((struct entry){ FLUSHED, (uint32_t)kind, ino, number, now(), 0 }, NULL);
  pthread_mutex_unlock(&lock);
  if (is_untold) errno = EIO;
  return is_untold ? -1 : 0;
}

int fsync(int fd) {
  return flush(fd, SYS_fsync);
}
int fdatasync(int fd) {
  return flush(fd, SYS_fdatasync);
}

int unlinkat(int from, const char *path, int flags) {
  const char *name = name_within(path);
  if (name == NULL) return (int)syscall(SYS_unlinkat, from, path, flags);
  pthread_mutex_lock(&lock);
  uint64_t at = now();
  struct stat stats;
  struct known *file = fstatat(from, path, &stats, AT_SYMLINK_NOFOLLOW) == 0 ? find(&stats) : NULL;
  int result = (int)syscall(SYS_unlinkat, from, path, flags);
  if (result == 0) {
    /* Its inode may soon be that of another file, anywhere. */
    if (file != NULL) *file = files[--file_count];
    note((struct entry){ UNLINKED, 0, stats.st_ino, 0, at, strlen(name) }, name);
  }
  pthread_mutex_unlock(&lock);
  return result;
}
int unlink(const char *path) {
  return unlinkat(AT_FDCWD, path, 0);
}

int rename(const char *from, const char *to) {
  const char *name = name_within(from), *new_name = name_within(to);
  if ((name == NULL) != (new_name == NULL)) give_up("a file was renamed into or out of the directory");
  if (name == NULL) return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  pthread_mutex_lock(&lock);
  uint64_t at = now();
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0) {
    char names[2 * PATH_MAX];
    int length = snprintf(names, sizeof names, "%s%c%s", name, 0, new_name);
    note((struct entry){ RENAMED, 0, 0, 0, at, (uint64_t)length }, names);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

/* The same, by the names of large files. */
__attribute__((alias("open"))) int open64(const char *path, int flags, ...);
__attribute__((alias("openat"))) int openat64(int from, const char *path, int flags, ...);
__attribute__((alias("pwrite"))) ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset);
__attribute__((alias("pwritev"))) ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t offset);
__attribute__((alias("ftruncate"))) int ftruncate64(int fd, off64_t size);
