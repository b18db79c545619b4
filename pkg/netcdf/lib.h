/* libnetcdf, loaded at run time. Nothing of it is needed for building: these are our own prototypes. Only one thread at
 * a time may be in here; the caller holds a lock. */
#ifndef NDFILE_NETCDF_LIB_H
#define NDFILE_NETCDF_LIB_H

#include <stddef.h>

typedef struct {
	size_t size;
	void *memory;
	int flags;
} ndnc_memio;

/* The functions of libnetcdf by name: parameters, arguments. All give 0 or an error code. */
#define NDNC_FUNCTIONS(F)                                                                                              \
	F(open, (const char *path, int mode, int *ncid), (path, mode, ncid))                                           \
	F(open_mem, (const char *path, int mode, size_t size, void *memory, int *ncid), (path, mode, size, memory, ncid)) \
	F(create, (const char *path, int mode, int *ncid), (path, mode, ncid))                                         \
	F(create_mem, (const char *path, int mode, size_t size, int *ncid), (path, mode, size, ncid))                  \
	F(close, (int ncid), (ncid))                                                                                   \
	F(close_memio, (int ncid, ndnc_memio *memio), (ncid, memio))                                                   \
	F(set_fill, (int ncid, int mode, int *old), (ncid, mode, old))                                                 \
	F(inq_grps, (int ncid, int *n, int *ids), (ncid, n, ids))                                                      \
	F(inq_grpname, (int ncid, char *name), (ncid, name))                                                           \
	F(inq_varids, (int ncid, int *n, int *ids), (ncid, n, ids))                                                    \
	F(inq_varndims, (int ncid, int varid, int *n), (ncid, varid, n))                                               \
	F(inq_var, (int ncid, int varid, char *name, int *type, int *ndims, int *dimids, int *natts),                  \
	  (ncid, varid, name, type, ndims, dimids, natts))                                                             \
	F(inq_format, (int ncid, int *format), (ncid, format))                                                         \
	F(inq_dimids, (int ncid, int *n, int *ids, int parents), (ncid, n, ids, parents))                              \
	F(inq_unlimdims, (int ncid, int *n, int *ids), (ncid, n, ids))                                                 \
	F(inq_var_chunking, (int ncid, int varid, int *kind, size_t *sizes), (ncid, varid, kind, sizes))               \
	F(inq_var_deflate, (int ncid, int varid, int *shuffle, int *deflate, int *level),                              \
	  (ncid, varid, shuffle, deflate, level))                                                                      \
	F(inq_var_fletcher32, (int ncid, int varid, int *on), (ncid, varid, on))                                       \
	F(inq_var_fill, (int ncid, int varid, int *no_fill, void *value), (ncid, varid, no_fill, value))               \
	F(def_var_fill, (int ncid, int varid, int no_fill, const void *value), (ncid, varid, no_fill, value))          \
	F(def_var_chunking, (int ncid, int varid, int kind, const size_t *sizes), (ncid, varid, kind, sizes))          \
	F(def_var_deflate, (int ncid, int varid, int shuffle, int deflate, int level),                                 \
	  (ncid, varid, shuffle, deflate, level))                                                                      \
	F(def_var_fletcher32, (int ncid, int varid, int on), (ncid, varid, on))                                        \
	F(enddef, (int ncid), (ncid))                                                                                  \
	F(redef, (int ncid), (ncid))                                                                                   \
	F(inq_dim, (int ncid, int dimid, char *name, size_t *len), (ncid, dimid, name, len))                           \
	F(inq_varnatts, (int ncid, int varid, int *n), (ncid, varid, n))                                               \
	F(inq_natts, (int ncid, int *n), (ncid, n))                                                                    \
	F(inq_attname, (int ncid, int varid, int num, char *name), (ncid, varid, num, name))                           \
	F(inq_att, (int ncid, int varid, const char *name, int *type, size_t *len), (ncid, varid, name, type, len))    \
	F(get_att, (int ncid, int varid, const char *name, void *data), (ncid, varid, name, data))                     \
	F(put_att, (int ncid, int varid, const char *name, int type, size_t len, const void *data),                    \
	  (ncid, varid, name, type, len, data))                                                                        \
	F(del_att, (int ncid, int varid, const char *name), (ncid, varid, name))                                       \
	F(inq_user_type, (int ncid, int type, char *name, size_t *size, int *base, size_t *nfields, int *kind),        \
	  (ncid, type, name, size, base, nfields, kind))                                                               \
	F(inq_compound_field, (int ncid, int type, int field, char *name, size_t *offset, int *of, int *ndims, int *dims), \
	  (ncid, type, field, name, offset, of, ndims, dims))                                                           \
	F(inq_enum_member, (int ncid, int type, int member, char *name, void *value), (ncid, type, member, name, value)) \
	F(def_compound, (int ncid, size_t size, const char *name, int *type), (ncid, size, name, type))                \
	F(insert_compound, (int ncid, int type, const char *name, size_t offset, int of), (ncid, type, name, offset, of)) \
	F(insert_array_compound, (int ncid, int type, const char *name, size_t offset, int of, int ndims, const int *dims), \
	  (ncid, type, name, offset, of, ndims, dims))                                                                 \
	F(def_enum, (int ncid, int base, const char *name, int *type), (ncid, base, name, type))                       \
	F(insert_enum, (int ncid, int type, const char *name, const void *value), (ncid, type, name, value))           \
	F(def_grp, (int ncid, const char *name, int *id), (ncid, name, id))                                            \
	F(def_dim, (int ncid, const char *name, size_t len, int *id), (ncid, name, len, id))                           \
	F(def_var, (int ncid, const char *name, int type, int ndims, const int *dimids, int *id),                      \
	  (ncid, name, type, ndims, dimids, id))                                                                       \
	F(get_vara, (int ncid, int varid, const size_t *start, const size_t *count, void *data),                       \
	  (ncid, varid, start, count, data))                                                                           \
	F(put_vars, (int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *step, const void *data), \
	  (ncid, varid, start, count, step, data))                                                                     \
	F(free_string, (size_t n, char **data), (n, data))

#define NDNC_DECLARE(name, params, args) int ndnc_##name params;
NDNC_FUNCTIONS(NDNC_DECLARE)
#undef NDNC_DECLARE

/* ndnc_getenv is getenv, which sees what the program set after its start. */
const char *ndnc_getenv(const char *name);

/* ndnc_own_path gives the absolute path of the library or program that this code is in; 0 when it is not known. */
int ndnc_own_path(char *path, size_t size);

/* ndnc_loaded gives the path of a libnetcdf that the process has loaded; 0 when there is none, or no way to know. */
int ndnc_loaded(char *path, size_t size);

/* ndnc_load loads the library of that name or path. It is 1 on success; else 0, and why has the reason. The library
 * stays loaded for ever. */
int ndnc_load(const char *name, char *why, size_t size);

/* ndnc_strerror is libnetcdf's text for an error code. */
const char *ndnc_strerror(int code);

#endif
