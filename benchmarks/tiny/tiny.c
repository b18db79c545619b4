//go:build ignore

/* CPU time of small files: ndf_save and ndf_load of a ds file with one element against the system calls that any
 * program must make for it, open/write/close and open/pread/close, of the same bytes. Usage: tiny FOLDER ROUNDS FILES
 *
 * Each round works in fresh folders below FOLDER, which the caller deletes at the very end: on some file systems
 * deleting makes later creating slow. Library and system calls alternate in batches, so that both see the same
 * machine. Prints a line "OPERATION RAW NDF" a round, in nanoseconds of CPU time a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ndfile.h"

enum { BATCH = 50, LONGEST = 4096, BUFFER = 64 << 10 };

static ndf_error err;
static char content[LONGEST]; /* the bytes of the file, as the library wrote them */
static ssize_t content_size;
static _Alignas(64) char buffer[BUFFER];

static void die(const char *what) {
  fprintf(stderr, "tiny: %s: %s\n", what, err.code ? err.message : strerror(errno));
  exit(1);
}

static int64_t cpu_time(void) {
  struct timespec t;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) die("clock_gettime");
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void raw_write(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0 || write(fd, content, (size_t)content_size) != content_size || close(fd) != 0) die(path);
}

static void raw_read(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || pread(fd, buffer, sizeof buffer, 0) != content_size || close(fd) != 0) die(path);
}

static void ndf_write(const char *path) {
  static const double value = 1.5;
  static const ndf_write_options direct = {.struct_size = sizeof direct, .commit = NDF_COMMIT_DIRECT};
  static const ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .data = &value};
  if (ndf_save(path, NULL, &item, 1, NULL, &direct, &err) != NDF_OK) die(path);
}

static void ndf_read(const char *path) {
  static ndf_load_info infos[8];
  int64_t need, n = 8;
  infos[0].struct_size = sizeof infos[0];
  if (ndf_load(path, NULL, buffer, sizeof buffer, &need, infos, &n, &err) != NDF_OK || n != 1) die(path);
}

typedef void operation(const char *path);

/* Runs raw on the files in one folder and ndf on those in the other, in batches by turns. */
static void compare(const char *name, operation *raw, operation *ndf, char **raw_paths, char **ndf_paths, int files,
                    int print) {
  int64_t spent[2] = {0, 0};
  for (int from = 0; from < files; from += BATCH) {
    int to = from + BATCH < files ? from + BATCH : files;
    for (int k = 0; k < 2; k++) {
      int which = (k + from / BATCH) % 2;
      operation *run = which ? ndf : raw;
      char **paths = which ? ndf_paths : raw_paths;
      int64_t start = cpu_time();
      for (int i = from; i < to; i++) run(paths[i]);
      spent[which] += cpu_time() - start;
    }
  }
  if (print) printf("%s %.1f %.1f\n", name, (double)spent[0] / files, (double)spent[1] / files);
}

static char **make_paths(const char *folder, const char *kind, int round, int files) {
  char dir[LONGEST];
  snprintf(dir, sizeof dir, "%s/%s%d", folder, kind, round);
  if (mkdir(dir, 0777) != 0) die(dir);
  char **paths = malloc(sizeof *paths * (size_t)files);
  if (paths == NULL) die("malloc");
  for (int i = 0; i < files; i++) {
    char path[LONGEST + 32];
    snprintf(path, sizeof path, "%s/%06d.ds", dir, i);
    if ((paths[i] = strdup(path)) == NULL) die("strdup");
  }
  return paths;
}

static void drop_paths(char **paths, int files) {
  for (int i = 0; i < files; i++) free(paths[i]);
  free(paths);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: tiny FOLDER ROUNDS FILES\n");
    return 2;
  }
  int rounds = atoi(argv[2]), files = atoi(argv[3]);
  char sample[LONGEST];
  snprintf(sample, sizeof sample, "%s/sample.ds", argv[1]);
  ndf_write(sample);
  int fd = open(sample, O_RDONLY);
  if (fd < 0 || (content_size = read(fd, content, sizeof content)) <= 0) die(sample);
  close(fd);
  for (int round = -1; round < rounds; round++) { /* round -1 warms up */
    char **raw = make_paths(argv[1], "raw", round + 1, files), **ndf = make_paths(argv[1], "ndf", round + 1, files);
    compare("save", raw_write, ndf_write, raw, ndf, files, round >= 0);
    compare("load", raw_read, ndf_read, raw, ndf, files, round >= 0);
    drop_paths(raw, files);
    drop_paths(ndf, files);
  }
  return 0;
}
