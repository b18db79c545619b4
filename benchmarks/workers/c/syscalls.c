/* The system calls that any program must make for the bytes of the ds file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker.h"

static char *content; /* of a file, as the library writes it; only for writing */
static int64_t content_size;
static char *temporary;

static bool os_failed(const char *path) { return failed("%s: %s", path, strerror(errno)); }

static bool write_new(const char *path, int flags) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (fd < 0) return os_failed(path);
  for (int64_t done = 0; done < content_size;) {
    ssize_t n = write(fd, content + done, (size_t)(content_size - done));
    if (n <= 0) {
      close(fd);
      return os_failed(path);
    }
    done += n;
  }
  return close(fd) == 0 || os_failed(path);
}

static bool write_direct(const char *path) { return write_new(path, O_TRUNC); }

static bool write_atomic(const char *path) {
  return write_new(temporary, O_EXCL) && (rename(temporary, path) == 0 || os_failed(path));
}

static bool read_whole(const char *path, void *room) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return os_failed(path);
  for (int64_t done = 0; done < content_size;) {
    ssize_t n = pread(fd, (char *)room + done, (size_t)(task.room - done), done);
    if (n <= 0) {
      close(fd);
      return os_failed(path);
    }
    done += n;
  }
  return close(fd) == 0 || os_failed(path);
}

/* The variables are the end of the file, one after the other. */
static const void *variable(const void *room, int64_t k) {
  return (const char *)room + content_size - (task.variables - k) * task.bytes;
}

static bool map_sum(const char *path, double *sum) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return os_failed(path);
  void *map = mmap(NULL, (size_t)content_size, PROT_READ, MAP_SHARED, fd, 0);
  if (close(fd) != 0 || map == MAP_FAILED) return os_failed(path);
  for (int64_t k = 0; k < task.variables; k++) *sum += task.element->sum(variable(map, k), task.elements);
  return munmap(map, (size_t)content_size) == 0 || os_failed(path);
}

static bool prepare_read_of(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) return os_failed(path);
  content_size = st.st_size;
  task.room = content_size > SMALL ? content_size : SMALL;
  return content_size > task.variables * task.bytes || failed("%s: only %lld bytes", path, (long long)content_size);
}

static bool prepare_read(void) { return prepare_read_of(task.paths[0]); }

static bool prepare_write(void) {
  int64_t size = (int64_t)strlen(task.folder) + 32;
  char *sample = memory(size);
  temporary = memory(size);
  snprintf(sample, (size_t)size, "%s-sample.ds", task.folder);
  snprintf(temporary, (size_t)size, "%s/temporary", task.folder);
  if (!ndfile_sample(sample) || !prepare_read_of(sample)) return false;
  content = memory(task.room);
  return read_whole(sample, content) && (unlink(sample) == 0 || os_failed(sample));
}

#define READING .prepare_read = prepare_read, .read = read_whole, .variable = variable, .map_sum = map_sum

const contender syscalls[] = {
    {"syscalls", ".ds", prepare_write, .write = write_direct, READING},
    {"syscalls-atomic", ".ds", prepare_write, .write = write_atomic, READING},
};
