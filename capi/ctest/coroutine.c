/* Calls from the stacks of coroutines, by turns with the thread's own: the bounds of a thread's stack are found out
 * once. Usage: coroutine FOLDER */
#define _GNU_SOURCE
#include <pthread.h>
#include <ucontext.h>

#include "check.h"

enum { CALLS = 10000, STACK = 256 << 10 };

static ndf_error err;
static _Thread_local ucontext_t outside, inside;

extern int64_t ndf_private_stack_misses(void); /* left out of the header */

static void from_here(void) {
  int64_t open = -1;
  OK(ndf_handle_count(&open, &err));
}

static void coroutine(void) {
  for (;;) {
    int64_t open = -1;
    CHECK(ndf_handle_count(&open, NULL) == NDF_OK && open == 0);
    swapcontext(&inside, &outside);
  }
}

static void *call(void *argument) {
  char *stack = malloc(STACK);
  if (stack == NULL) abort();
  from_here();
  int64_t before = ndf_private_stack_misses();
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = STACK;
  inside.uc_link = &outside;
  makecontext(&inside, coroutine, 0);
  for (int i = 0; i < CALLS; i++) {
    swapcontext(&outside, &inside);
    if (i % 2) from_here();
  }
  CHECK(ndf_private_stack_misses() - before <= 1);
  free(stack);
  return argument;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc != 2) return 2;
  call(NULL);
  CHECK(ndf_private_stack_misses() >= 1); /* somebody counts */
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, call, NULL) == 0 && pthread_join(thread, NULL) == 0);
  return check_result("coroutine");
}
