/* netCDF-C, as its tutorial has it: create, define, end of definitions, put, close; open, inquire, get, close. */
#include <netcdf.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

/* The functions of libnetcdf, which is loaded at run time: there is more than one to be measured. */
#define FUNCTIONS(F)                                                                                              \
  F(create) F(def_dim) F(def_var) F(enddef) F(put_var) F(open) F(inq_varid) F(inq_var) F(inq_dimlen) F(get_var) \
  F(close) F(strerror) F(inq_libvers)

static struct {
#define DECLARE(NAME) __typeof__(nc_##NAME) *NAME;
  FUNCTIONS(DECLARE)
} nc;

static int *ids; /* of the variables, while they are written */

static bool done(const char *path, int status) { return status == NC_NOERR || failed("%s: %s", path, nc.strerror(status)); }

/* ==== Writing ========================================================================= */

static nc_type type_of(const element *e) {
  static const struct {
    const char *name;
    nc_type type;
  } types[] = {{"int32", NC_INT}, {"uint32", NC_UINT}, {"int64", NC_INT64}, {"float32", NC_FLOAT}, {"float64", NC_DOUBLE}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp(types[i].name, e->name) == 0) return types[i].type;
  }
  return NC_NAT;
}

static int define_and_put(int file) {
  static const char *const dim_names[MAX_NDIM] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
  int dims[MAX_NDIM], status;
  for (int d = 0; d < task.ndim; d++) {
    if ((status = nc.def_dim(file, dim_names[d], (size_t)task.shape[d], &dims[d])) != NC_NOERR) return status;
  }
  for (int64_t k = 0; k < task.variables; k++) {
    if ((status = nc.def_var(file, task.names[k], type_of(task.element), task.ndim, dims, &ids[k])) != NC_NOERR) return status;
  }
  if ((status = nc.enddef(file)) != NC_NOERR) return status;
  for (int64_t k = 0; k < task.variables; k++) {
    if ((status = nc.put_var(file, ids[k], task.values)) != NC_NOERR) return status;
  }
  return NC_NOERR;
}

static bool create(const char *path, int mode) {
  int file, status = nc.create(path, NC_CLOBBER | mode, &file);
  if (status != NC_NOERR) return done(path, status);
  status = define_and_put(file);
  int closed = nc.close(file);
  return done(path, status != NC_NOERR ? status : closed);
}

static bool create_netcdf4(const char *path) { return create(path, NC_NETCDF4); }
static bool create_cdf5(const char *path) { return create(path, NC_64BIT_DATA); }

/* ==== Reading ========================================================================= */

static int get(int file, const char *name, char *room) {
  int id, ndim, dims[NC_MAX_VAR_DIMS], status;
  nc_type type;
  if ((status = nc.inq_varid(file, name, &id)) != NC_NOERR) return status;
  if ((status = nc.inq_var(file, id, NULL, &type, &ndim, dims, NULL)) != NC_NOERR) return status;
  size_t elements = 1;
  for (int d = 0; d < ndim; d++) {
    size_t len;
    if ((status = nc.inq_dimlen(file, dims[d], &len)) != NC_NOERR) return status;
    elements *= len;
  }
  if (type != type_of(task.element)) return NC_EBADTYPE;
  if (elements != (size_t)task.elements) return NC_EBADDIM;
  return nc.get_var(file, id, room);
}

static bool read_variables(const char *path, void *room) {
  int file, status = nc.open(path, NC_NOWRITE, &file);
  if (status != NC_NOERR) return done(path, status);
  for (int64_t k = 0; k < task.variables && status == NC_NOERR; k++) {
    status = get(file, task.names[k], (char *)room + k * task.bytes);
  }
  int closed = nc.close(file);
  return done(path, status != NC_NOERR ? status : closed);
}

static const void *variable(const void *room, int64_t k) { return (const char *)room + k * task.bytes; }

/* ==== Before ========================================================================== */

static bool loaded(void) { return nc.create != NULL || skipped("NDFILE_BENCH_LIBNETCDF names no libnetcdf"); }

static bool prepare_write(void) {
  ids = memory(task.variables * (int64_t)sizeof *ids);
  return loaded();
}

static bool prepare_read(void) {
  task.room = task.variables * task.bytes;
  return loaded();
}

static void *library;

static void *symbol(const char *name) {
  void *p = dlsym(library, name);
  if (p == NULL) {
    fprintf(stderr, "worker: %s\n", dlerror());
    exit(1);
  }
  return p;
}

const char *netcdf_start(void) {
  static char versions[64];
  const char *path = getenv("NDFILE_BENCH_LIBNETCDF");
  if (path == NULL || *path == 0) return versions;
  if ((library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) == NULL) {
    fprintf(stderr, "worker: %s\n", dlerror());
    exit(1);
  }
#define FIND(NAME) *(void **)&nc.NAME = symbol("nc_" #NAME);
  FUNCTIONS(FIND)
  unsigned major = 0, minor = 0, release = 0;
  int (*hdf5_version)(unsigned *, unsigned *, unsigned *);
  *(void **)&hdf5_version = symbol("H5get_libversion");
  hdf5_version(&major, &minor, &release);
  const char *version = nc.inq_libvers();
  int length = (int)strcspn(version, " ");
  snprintf(versions, sizeof versions, " netcdf-c=%.*s hdf5=%u.%u.%u", length, version, major, minor, release);
  /* libnetcdf and HDF5 start themselves up with the first file. One in memory will do. */
  int file, status = nc.create("start", NC_NETCDF4 | NC_DISKLESS, &file);
  if (status != NC_NOERR || (status = nc.close(file)) != NC_NOERR) {
    fprintf(stderr, "worker: %s: %s\n", path, nc.strerror(status));
    exit(1);
  }
  return versions;
}

#define READING .prepare_read = prepare_read, .read = read_variables, .variable = variable

const contender netcdf[] = {
    {"netcdf4", ".nc", prepare_write, .write = create_netcdf4, READING},
    {"cdf5", ".nc", prepare_write, .write = create_cdf5, READING},
};
