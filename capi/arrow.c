/* The Arrow C stream: its callbacks, and the memory that consumers of Arrow free by them. arrow.go says what goes into
 * it. No pointer of Go is in any of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

/* Where buffers begin, and what they are padded to, as Arrow recommends. */
#define ALIGNMENT 64

/* ---- Arrays ---- */

static void release_array(struct ArrowArray *a) {
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release != NULL) a->children[i]->release(a->children[i]); /* else it was moved away */
    free(a->children[i]);
  }
  for (int64_t i = 0; i < a->n_buffers; i++) free((void *)a->buffers[i]);
  free(a->children);
  free((void *)a->buffers);
  a->release = NULL;
}

int ndfile_arrow_array(struct ArrowArray *out, int64_t length, int64_t n_buffers, int64_t n_children) {
  memset(out, 0, sizeof *out);
  out->length = length;
  out->release = release_array;
  out->buffers = calloc((size_t)n_buffers + 1, sizeof *out->buffers);
  out->children = calloc((size_t)n_children + 1, sizeof *out->children);
  if (out->buffers == NULL || out->children == NULL) return 0;
  out->n_buffers = n_buffers;
  for (int64_t i = 0; i < n_children; i++) {
    out->children[i] = calloc(1, sizeof **out->children);
    if (out->children[i] == NULL) return 0;
    out->n_children++;
  }
  return 1;
}

struct ArrowArray *ndfile_arrow_child(struct ArrowArray *a, int64_t i) { return a->children[i]; }

void *ndfile_arrow_buffer(struct ArrowArray *a, int64_t i, int64_t size) {
  size_t padded = ((size_t)size / ALIGNMENT + 1) * ALIGNMENT;
  char *buffer = aligned_alloc(ALIGNMENT, padded);
  if (buffer != NULL) memset(buffer + size, 0, padded - (size_t)size);
  a->buffers[i] = buffer;
  return buffer;
}

/* ---- Schemas ---- */

static void release_schema(struct ArrowSchema *s) {
  for (int64_t i = 0; i < s->n_children; i++) {
    if (s->children[i]->release != NULL) s->children[i]->release(s->children[i]);
    free(s->children[i]);
  }
  free(s->children);
  free((void *)s->format);
  free((void *)s->name);
  s->release = NULL;
}

int ndfile_arrow_field(struct ArrowSchema *out, char *format, char *name, int64_t flags, int64_t n_children) {
  memset(out, 0, sizeof *out);
  out->format = format;
  out->name = name;
  out->flags = flags;
  out->release = release_schema;
  out->children = calloc((size_t)n_children + 1, sizeof *out->children);
  if (out->children == NULL) return 0;
  for (int64_t i = 0; i < n_children; i++) {
    out->children[i] = calloc(1, sizeof **out->children);
    if (out->children[i] == NULL) return 0;
    out->n_children++;
  }
  return 1;
}

struct ArrowSchema *ndfile_arrow_field_child(struct ArrowSchema *s, int64_t i) { return s->children[i]; }

/* ---- The stream ---- */

/* What a stream needs to ask the Go side. */
typedef struct source {
  uint64_t handle;
  int32_t epoch; /* a child of fork() must not ask: the Go side that knows the handle is gone */
  ndf_error err; /* of the last call */
} source;

static int here(const source *s) { return s->epoch == ndfile_shared->epoch; }

/* The errno for a status, by which consumers choose their exception. */
static int errno_for(const ndf_error *err) {
  switch (err->code) {
    case NDF_OK:
      return 0;
    case NDF_ERR_NO_MEMORY:
      return ENOMEM;
    case NDF_ERR_NOT_SUPPORTED:
      return ENOSYS;
    case NDF_ERR_IO:
    case NDF_ERR_CORRUPT:
      return err->os_error != 0 ? err->os_error : EIO;
    default:
      return EINVAL;
  }
}

/* Whether the source can be asked; else its error says why not. */
static int ready(source *s) {
  s->err.code = NDF_OK;
  s->err.message[0] = 0;
  if (here(s)) return 1;
  s->err.code = NDF_ERR_FORKED;
  snprintf(s->err.message, sizeof s->err.message, "the stream is from before a fork; open the file again in this process");
  return 0;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  source *s = stream->private_data;
  memset(out, 0, sizeof *out);
  if (ready(s) && ndfile_arrow_schema(s->handle, out, &s->err) != NDF_OK && out->release != NULL) out->release(out);
  return errno_for(&s->err);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  source *s = stream->private_data;
  memset(out, 0, sizeof *out); /* what stays so is the end */
  if (ready(s) && ndfile_arrow_next(s->handle, out, &s->err) != NDF_OK && out->release != NULL) out->release(out);
  return errno_for(&s->err);
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  const source *s = stream->private_data;
  return s->err.code == NDF_OK ? NULL : s->err.message;
}

static void release_stream(struct ArrowArrayStream *stream) {
  source *s = stream->private_data;
  if (here(s)) ndfile_arrow_close(s->handle);
  free(s);
  stream->private_data = NULL;
  stream->release = NULL;
}

int ndfile_arrow_stream(struct ArrowArrayStream *out, uint64_t handle) {
  source *s = calloc(1, sizeof *s);
  if (s == NULL) return 0;
  s->handle = handle;
  s->epoch = ndfile_shared->epoch;
  out->get_schema = get_schema;
  out->get_next = get_next;
  out->get_last_error = get_last_error;
  out->release = release_stream;
  out->private_data = s;
  return 1;
}
