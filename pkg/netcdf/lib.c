#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include "lib.h"

#include <dlfcn.h>
#ifdef __linux__
#include <link.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What dlsym found. */
static struct {
	int (*set_auto)(long long stack, void *function, void *data); /* of HDF5; NULL where it cannot be seen */
	const char *(*inq_libvers)(void);
	const char *(*strerror)(int);
#define NDNC_FIELD(name, params, args) int (*name) params;
	NDNC_FUNCTIONS(NDNC_FIELD)
#undef NDNC_FIELD
} lib;

/* quiet keeps HDF5 from printing to stderr. A thread-safe HDF5 has this setting per thread, and libnetcdf changes it in
 * one thread only, while goroutines move between threads. */
static void quiet(void)
{
	static __thread int done;
	if (!done && lib.set_auto)
		lib.set_auto(0, NULL, NULL);
	done = 1;
}

#define NDNC_DEFINE(name, params, args) \
	int ndnc_##name params               \
	{                                    \
		quiet();                     \
		return lib.name args;        \
	}
NDNC_FUNCTIONS(NDNC_DEFINE)
#undef NDNC_DEFINE

const char *ndnc_getenv(const char *name) { return getenv(name); }

int ndnc_own_path(char *path, size_t size)
{
	Dl_info info;
	if (!dladdr((void *)&lib, &info) || !info.dli_fname || info.dli_fname[0] != '/' || strlen(info.dli_fname) >= size)
		return 0;
	memcpy(path, info.dli_fname, strlen(info.dli_fname) + 1);
	return 1;
}

#ifdef __linux__
struct found {
	char *path;
	size_t size;
};

/* is_netcdf takes the path of a loaded library if that is libnetcdf: libnetcdf.so.19, libnetcdf-3622e713.so.22. */
static int is_netcdf(struct dl_phdr_info *info, size_t size, void *data)
{
	struct found *found = data;
	const char *path = info->dlpi_name, *base = path ? strrchr(path, '/') : NULL;
	(void)size;
	if (!base || strncmp(base, "/libnetcdf", 10) || (base[10] != '.' && base[10] != '-') || !strstr(base, ".so") || strlen(path) >= found->size)
		return 0;
	memcpy(found->path, path, strlen(path) + 1);
	return 1;
}

int ndnc_loaded(char *path, size_t size)
{
	struct found found = {path, size};
	return dl_iterate_phdr(is_netcdf, &found);
}
#else
int ndnc_loaded(char *path, size_t size)
{
	(void)path, (void)size;
	return 0;
}
#endif

const char *ndnc_strerror(int code) { return lib.strerror(code); }

/* find stores the address of a symbol; 0 and the reason when there is none. */
static int find(void *handle, const char *symbol, void **address, char *why, size_t size)
{
	*address = dlsym(handle, symbol);
	if (!*address)
		snprintf(why, size, "it has no %s", symbol);
	return *address != NULL;
}

int ndnc_load(const char *name, char *why, size_t size)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		const char *text = dlerror();
		snprintf(why, size, "%s", text ? text : "dlopen failed");
		return 0;
	}
	int ok = find(handle, "nc_inq_libvers", (void **)&lib.inq_libvers, why, size) &&
		 find(handle, "nc_strerror", (void **)&lib.strerror, why, size);
	if (ok && atoi(lib.inq_libvers()) < 4) {
		snprintf(why, size, "expected version 4 or later, found %s", lib.inq_libvers());
		ok = 0;
	}
#define NDNC_FIND(name, params, args) ok = ok && find(handle, "nc_" #name, (void **)&lib.name, why, size);
	NDNC_FUNCTIONS(NDNC_FIND)
#undef NDNC_FIND
	*(void **)&lib.set_auto = dlsym(handle, "H5Eset_auto2");
	if (!ok)
		dlclose(handle);
	return ok;
}
