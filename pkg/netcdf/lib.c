#include "lib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

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

const char *ndnc_candidate(void) { return getenv("NDFILE_LIBNETCDF"); }

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
