/* The library in children of fork(). Usage: fork FOLDER */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 3, FORKS = 100, NESTED = 5, ELEMENTS = 1000, HANG_SECONDS = 10 };

static ndf_error err;
static const char *path;
static ndf_file parents_file;
static ndf_array parents_array;
static atomic_int stop;

static void save(void) {
  double x[ELEMENTS];
  int64_t shape[1] = {ELEMENTS};
  for (int i = 0; i < ELEMENTS; i++) x[i] = i;
  ndf_item item = {.struct_size = sizeof item, .name = "x", .dtype = "<f8", .ndim = 1, .shape = shape, .data = x};
  OK(ndf_save(path, NULL, &item, 1, NULL, NULL, &err));
}

/* Whole and right data, by handles and in one call. */
static int reads_right(void) {
  ndf_error e;
  double x[ELEMENTS + 64];
  ndf_load_info info = {.struct_size = sizeof info};
  int64_t need, n = 1;
  memset(x, 0xff, sizeof x);
  if (ndf_load(path, "x", x, ROOM(need, sizeof x), &info, &n, &e) != NDF_OK) return 0;
  if (n != 1 || info.count != ELEMENTS || x[info.data_offset / 8 + ELEMENTS - 1] != ELEMENTS - 1) return 0;
  ndf_file f;
  ndf_array a;
  memset(x, 0xff, sizeof x);
  if (ndf_file_open(path, NULL, &f, &e) != NDF_OK || ndf_file_array(f, "x", &a, &e) != NDF_OK) return 0;
  if (ndf_array_read(a, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &e) != NDF_OK || x[ELEMENTS - 1] != ELEMENTS - 1) return 0;
  return ndf_array_close(a, &e) == NDF_OK && ndf_file_close(f, &e) == NDF_OK;
}

static void *hammer(void *argument) {
  (void)argument;
  while (!atomic_load(&stop))
    if (!reads_right()) abort();
  return NULL;
}

/* Threads that make one call and end: they take and give back what the Go runtime has for threads, so forks find its
 * list of that locked. */
static void *call_once(void *argument) {
  int64_t n;
  ndf_handle_count(&n, NULL);
  return argument;
}

static void *come_and_go(void *argument) {
  while (!atomic_load(&stop)) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
      if (pthread_create(&threads[i], NULL, call_once, NULL) != 0) abort();
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  }
  return argument;
}

/* The parent's handles are refused for what they are, also after handles of our own have been made. */
static void refuses_parents(ndf_file file, ndf_array array) {
  double x[ELEMENTS];
  FAILS(NDF_ERR_FORKED, "", ndf_array_read(array, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  FAILS(NDF_ERR_FORKED, "", ndf_array_close(array, &err));
  FAILS(NDF_ERR_FORKED, "", ndf_file_close(file, &err));
}

/* A child ends with 0 when all its checks were right. The alarm ends one that hangs. */
static pid_t fork_child(void) {
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(HANG_SECONDS);
    check_failures = 0;
  }
  return pid;
}

static void expect_good_end(pid_t pid) {
  int status = -1;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  if (WIFSIGNALED(status)) fprintf(stderr, "fork: a child was ended by signal %d\n", WTERMSIG(status));
}

static void one_child(void) {
  pid_t pid = fork_child();
  if (pid == 0) {
    refuses_parents(parents_file, parents_array);
    CHECK(reads_right());
    ndf_file f = 0;
    ndf_array a = 0;
    OK(ndf_file_open(path, NULL, &f, &err));
    OK(ndf_file_array(f, "x", &a, &err));
    CHECK(f != parents_file && a != parents_array);
    refuses_parents(parents_file, parents_array);
    int64_t open = -1;
    OK(ndf_handle_count(&open, &err));
    CHECK(open == 2);
    _exit(check_failures != 0);
  }
  expect_good_end(pid);
}

/* Each child forks the next one while it has threads at work and handles open. */
static void nested(int depth, ndf_file file, ndf_array array) {
  pid_t pid = fork_child();
  if (pid != 0) {
    expect_good_end(pid);
    return;
  }
  refuses_parents(file, array);
  CHECK(reads_right());
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, hammer, NULL) == 0);
  ndf_file f = 0;
  ndf_array a = 0;
  OK(ndf_file_open(path, NULL, &f, &err));
  OK(ndf_file_array(f, "x", &a, &err));
  CHECK(f != file && a != array);
  if (depth > 1) nested(depth - 1, f, a);
  CHECK(reads_right());
  atomic_store(&stop, 1);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  OK(ndf_array_close(a, &err));
  OK(ndf_file_close(f, &err));
  _exit(check_failures != 0);
}

/* A child whose threads all make their first call at the same time. */
static void first_calls_at_once(void) {
  pid_t pid = fork_child();
  if (pid == 0) {
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) CHECK(pthread_create(&threads[i], NULL, hammer, NULL) == 0);
    usleep(50000);
    atomic_store(&stop, 1);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    _exit(check_failures != 0);
  }
  expect_good_end(pid);
}

/* A thread that has called the library forks; in the child that thread returns: what the dead Go runtime has noted for
 * it must not be called. The destructors run in the order of the keys, ours at last. */
static pthread_key_t last;

static void end_of_thread(void *calls) {
  if (calls == &path) CHECK(reads_right());
  _exit(check_failures != 0);
}

static void *fork_in_thread(void *argument) {
  CHECK(reads_right());
  pid_t pid = fork_child();
  if (pid == 0) {
    int calls = *(pid_t *)argument;
    pthread_setspecific(last, calls ? (void *)&path : &last);
    if (calls) CHECK(reads_right());
    return NULL;
  }
  *(pid_t *)argument = pid;
  return NULL;
}

/* A child that has closed all descriptors, and given their numbers to other files, still finds the library. */
static void closed_descriptors(void) {
  pid_t pid = fork_child();
  if (pid == 0) {
    for (int fd = 3; fd < 100; fd++) dup2(0, fd);
    CHECK(reads_right());
    _exit(check_failures != 0);
  }
  expect_good_end(pid);
}

/* A child that cannot load the library is told so, at once and each time. */
static void cannot_reload(void) {
  pid_t pid = fork_child();
  if (pid == 0) {
    struct rlimit none = {0, 0};
    int64_t n = 0;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    for (int i = 0; i < 1000; i++) FAILS(NDF_ERR_FORKED, "cannot load the library again", ndf_handle_count(&n, &err));
    CHECK(ndf_handle_count(&n, NULL) == NDF_ERR_FORKED);
    CHECK(strcmp(ndf_version(), "") == 0);
    _exit(check_failures != 0);
  }
  expect_good_end(pid);
}

extern char **environ;

int main(int argc, char **argv) {
  if (argc == 1) return 0; /* spawned */
  if (argc != 2) return 2;
  path = in_folder(argv[1], "fork.ds");
  alarm(300);

  /* before the first call of all */
  pid_t pid = fork_child();
  if (pid == 0) {
    save();
    CHECK(reads_right());
    _exit(check_failures != 0);
  }
  expect_good_end(pid);

  OK(ndf_file_open(path, NULL, &parents_file, &err));
  OK(ndf_file_array(parents_file, "x", &parents_array, &err));
  one_child(); /* no other thread */

  CHECK(pthread_key_create(&last, end_of_thread) == 0);
  pthread_t threads[THREADS], forking;
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, hammer, NULL) == 0);
  for (int i = 0; i < FORKS; i++) one_child();
  pthread_t others[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&others[i], NULL, come_and_go, NULL) == 0);
  for (int i = 0; i < FORKS; i++) {
    pid_t child = i % 8 == 0; /* whether the child calls the library */
    CHECK(pthread_create(&forking, NULL, fork_in_thread, &child) == 0);
    CHECK(pthread_join(forking, NULL) == 0);
    expect_good_end(child);
  }
  first_calls_at_once();
  closed_descriptors();
  cannot_reload();
  nested(NESTED, parents_file, parents_array);

  /* A child that is another program at once does not notice. */
  char *arguments[] = {argv[0], NULL};
  CHECK(posix_spawn(&pid, argv[0], NULL, NULL, arguments, environ) == 0);
  expect_good_end(pid);

  atomic_store(&stop, 1);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL), pthread_join(others[i], NULL);
  double x[ELEMENTS];
  OK(ndf_array_read(parents_array, 1, NULL, NULL, NULL, NULL, x, NULL, NULL, &err));
  OK(ndf_array_close(parents_array, &err));
  OK(ndf_file_close(parents_file, &err));
  return check_result("fork");
}
