/* Structs and constants of the ndfile C API, written by hand and copied into include/ndfile.h by the
 * generator.  Every struct that a caller fills or reads begins with struct_size: set it to sizeof(the
 * struct). Zero fields mean the default. The library reads and writes no more than the smaller of its
 * own size and the caller's, so old programs work with new libraries and the other way round. Sizes and
 * offsets of 1.0 are frozen. */

/* An open file or folder, an array of one, and an array mapped into memory. Handles are numbers, not
 * pointers: 0 is never valid, a closed or foreign one is refused with NDF_ERR_HANDLE. Layout: epoch 8 bits |
 * kind 8 | generation 24 | index 24. */
typedef uint64_t ndf_file;
typedef uint64_t ndf_array;
typedef uint64_t ndf_map;

/* The most axes an array can have. */
#define NDF_MAX_NDIM 64

/* MiB of address space that must be left to load the library where RLIMIT_AS (ulimit -v) sets a limit. A
 * process that has not as much ends with a message when it loads the library; one that loads it at run time
 * can look before. */
#define NDF_ADDRESS_MIB 128

/* Where and why a call failed; memory of the caller, 1024 bytes for ever. On success only code is written. */
typedef struct ndf_error {
  int32_t code;       /* NDF_OK or a negative NDF_ERR_* */
  int32_t os_error;   /* errno of the operating system, or 0 */
  int64_t offset;     /* byte position in the file, or -1 */
  char message[1008]; /* UTF-8, NUL-terminated: path, array, what was expected, what was found */
} ndf_error;

/* What a file holds. */
enum {
  NDF_KIND_ARRAY = 1,   /* one array, whose name is "" */
  NDF_KIND_DATASET = 2, /* named arrays of any shapes */
  NDF_KIND_TABLE = 3    /* named columns of one length */
};

/* Bits of flags in ndf_array_info and ndf_load_info. */
enum {
  NDF_ARRAY_MASKED = 1,  /* elements can be missing */
  NDF_ARRAY_STRINGS = 2, /* elements of variable length: dtype "bytes" or "str" */
  NDF_ARRAY_NO_DATA = 4, /* metadata only: no shape, no elements */
  NDF_ARRAY_SINGLE = 8,  /* the file is this one array */
  NDF_ARRAY_CHUNKED = 16, /* stored in chunks; in ndf_load_info only with NDF_LOAD_META, as the next */
  NDF_ARRAY_FILL = 32    /* elements that were never written have a value, as ndf_array_get_fill gives it */
};

/* How a new file becomes visible. */
enum {
  NDF_COMMIT_ATOMIC = 0, /* temporary file in the same folder, then rename: the old file or the new one; mode,
                            owner, ACL and
                             extended attributes of the old one are kept as far as that is permitted */
  NDF_COMMIT_DIRECT = 1  /* written in place, for speed; a crash can leave a torn file */
};

/* Access modes of ndf_file_open. */
enum {
  NDF_MODE_READ = 0,  /* reading */
  NDF_MODE_UPDATE = 1 /* reading and changing (r+) */
};

/* Called during a long call, on the thread of the call: at the start, about every 50 ms, and at the end, when
 * done of total steps are done. A value other than 0 cancels the call. It must return: no exception and no
 * longjmp may leave it. */
typedef int32_t (*ndf_progress)(void *user, int64_t done, int64_t total);

/* Options of ndf_file_open. From shared on they are for NDF_MODE_UPDATE: one writer at a time has a store
 * open for changes, and readers are never kept out. With NDF_MODE_READ shared and require_lock are
 * NDF_ERR_ARGUMENT. */
typedef struct ndf_open_options {
  uint32_t struct_size;
  uint32_t mode;      /* NDF_MODE_* */
  const char *format; /* name of the format; NULL: found by content */
  int64_t max_header; /* longest metadata text in bytes; 0: as ndf_set_limits says */
  uint32_t follow_symlinks; /* not 0: what is inside a store may be symbolic links, which lead anywhere */
  uint32_t shared;    /* not 0: writers of regions share the store, chunks are locked one by one; changes of
                         shape,
                         arrays and attributes are NDF_ERR_NOT_SUPPORTED (but not in zarr0) */
  int64_t timeout_ms; /* how long to wait for other writers before NDF_ERR_BUSY; 0: 5000; less than 0: not */
  uint32_t sync;      /* not 0: what is written is synced to the disk: data, then metadata, then folders */
  uint32_t require_lock; /* not 0: NDF_ERR_NOT_SUPPORTED where the file system has no locks, and a lock
                            that other machines see, which have the folder by network; 0:
                            NDF_FILE_UNLOCKED tells */
  ndf_progress progress; /* NULL: none. Called while the call waits for other writers; a step is a ms */
  void *user;            /* handed to progress */
  uint32_t default_fill; /* not 0: the value that NetCDF fills with what was never written is missing, in
                            arrays that name no such value themselves; elsewhere without effect */
  uint32_t reserved;     /* 0 */
} ndf_open_options;

/* Options of ndf_file_create and ndf_save. */
typedef struct ndf_write_options {
  uint32_t struct_size;
  uint32_t commit;    /* NDF_COMMIT_* */
  uint32_t sync;      /* not 0: fsync file and folder before success is reported */
  uint32_t exclusive; /* not 0: the path must not exist yet (NDF_ERR_EXISTS) */
  const void *trailing; /* bytes to follow the data in formats with NDF_CAP_TRAILING; NULL: none */
  int64_t trailing_len;  /* how many, at most 64 MiB */
  int64_t timeout_ms;    /* how long to wait for those who write to a store that is replaced; as in
                            ndf_open_options */
  ndf_progress progress; /* NULL: none. Called while the call waits for them; a step is a ms */
  void *user;            /* handed to progress */
} ndf_write_options;

/* A format of this library. */
typedef struct ndf_format_info {
  uint32_t struct_size;
  uint32_t caps;       /* NDF_CAP_* bits */
  char name[32];       /* name in every API, NUL-terminated */
  char extensions[96]; /* file name endings separated by blanks, the usual one first */
} ndf_format_info;

/* Bits of flags in ndf_file_info. */
enum {
  NDF_FILE_UNLOCKED = 1, /* open for changes, but the file system has no locks that keep other writers out */
  NDF_FILE_SHARED = 2    /* open for changes that are shared with other writers */
};

/* An open file. */
typedef struct ndf_file_info {
  uint32_t struct_size;
  uint32_t kind;   /* NDF_KIND_* */
  int64_t narrays; /* number of arrays */
  uint32_t caps;   /* NDF_CAP_* bits of its format */
  uint32_t mode;   /* 0 reading, 1 changing (r+), 2 being created */
  char format[32]; /* name of its format */
  int64_t nrows;   /* number of rows of a table; -1: it is none */
  uint32_t flags;  /* NDF_FILE_* bits */
  uint32_t reserved; /* 0 */
  int64_t ngroups; /* number of groups below the root */
} ndf_file_info;

/* An array of an open file. */
typedef struct ndf_array_info {
  uint32_t struct_size;
  int32_t ndim;      /* number of axes */
  uint32_t flags;    /* NDF_ARRAY_* bits */
  uint32_t reserved; /* 0 */
  int64_t count;     /* number of elements */
  int64_t itemsize;  /* bytes of an element, 0: variable */
  char dtype[64];    /* stored dtype's name; empty when it takes 64 bytes or more (see ndf_array_get_dtype) */
  int64_t shape[64]; /* row-major: the last axis varies fastest */
  int64_t chunks[64]; /* shape of a chunk; 0 everywhere without NDF_ARRAY_CHUNKED */
  char codec[16];    /* how new chunks are compressed where that is Blosc, as in ndf_blosc_params; else
                        empty: see ndf_array_get_codecs */
  int32_t level;     /* 0 to 9 */
  uint32_t shuffle;  /* NDF_BLOSC_* */
  int64_t shards[64]; /* shape of a shard, the chunks that lie in one file; 0 everywhere: each has its own */
} ndf_array_info;

/* Filters of a Blosc1 chunk. */
enum {
  NDF_BLOSC_NOSHUFFLE = 0,
  NDF_BLOSC_SHUFFLE = 1,   /* first bytes of all elements, second bytes, and so on */
  NDF_BLOSC_BITSHUFFLE = 2 /* the same with bits */
};

/* How ndf_blosc_compress works, and how chunks of an array are compressed. ndf_blosc_compress without it:
 * blosclz, level 9, byte shuffle, typesize 8, one thread. */
typedef struct ndf_blosc_params {
  uint32_t struct_size;
  int32_t level;      /* 0 (copy only) to 9 */
  const char *codec;  /* blosclz, lz4, lz4hc, snappy, zlib or zstd; NULL: blosclz */
  uint32_t shuffle;   /* NDF_BLOSC_* */
  int32_t typesize;   /* bytes of an element as the filter sees it; 0: 1, more than 255: 1 */
  int32_t threads;    /* the most threads to use; 0: 1 */
  uint32_t compat18;  /* not 0: readable by c-blosc 1.8 too */
  int64_t blocksize;  /* bytes; 0: as c-blosc chooses */
} ndf_blosc_params;

/* An array to be added to a file. */
typedef struct ndf_array_spec {
  uint32_t struct_size;
  int32_t ndim;
  uint32_t flags;         /* NDF_ARRAY_MASKED: elements may turn out to be missing */
  uint32_t reserved;      /* 0 */
  const char *dtype;      /* dtype's name; its byte order is the one stored */
  const int64_t *shape;   /* ndim extents; may be NULL when ndim is 0 */
  const char *dims_json;  /* names of the axes as a JSON list; NULL: none */
  const char *attrs_json; /* attributes as a JSON object; NULL: none */
  const char *extra_json; /* the format's own metadata as ndf_array_get_extra gives it; NULL: none */
  const int64_t *chunks;  /* ndim extents of a chunk; NULL: as the format chooses. This and the next are for
                             formats with NDF_CAP_CHUNKED; others do not look at them */
  const ndf_blosc_params *compression; /* codec, level and shuffle count; NULL: as the format chooses */
  const void *fill;       /* value of elements that were never written: one element of dtype, in native byte
                             order as ndf_array_get_fill gives it; NULL: as the format chooses: zero */
  int64_t expected_rows;  /* hint for choosing chunks: what the first axis will grow to; 0: as shape says */
  int64_t fill_len;       /* dtype "bytes" or "str": bytes at fill; else 0 */
  const char *codecs_json; /* codecs that make the bytes of a chunk, the first one first, as a JSON list of
                             names and of objects as {"name": "zstd", "level": 3}; "[]": none. NULL: as
                             compression says */
  const int64_t *shards;  /* ndim extents of a shard, the chunks that lie in one file; NULL: as many files as
                             chunks */
} ndf_array_spec;

/* One array for ndf_save. */
typedef struct ndf_item {
  uint32_t struct_size;
  int32_t ndim;
  const char *name;       /* NULL is "" */
  const char *dtype;      /* dtype's name, of the memory and of the file */
  const int64_t *shape;   /* ndim extents; may be NULL when ndim is 0 */
  const int64_t *strides; /* bytes, may be negative; NULL: row-major contiguous. NULL for "bytes", "str" */
  const void *data;       /* address of element 0; "bytes" and "str": the bytes of all elements */
  const uint8_t *mask;    /* one byte an element in row-major order, 1 = missing; NULL: nothing is missing */
  const int64_t *offsets; /* "bytes" and "str": element i is data[offsets[i]] to data[offsets[i+1]] */
  const char *dims_json;  /* names of the axes as a JSON list; NULL: none */
  const char *attrs_json; /* attributes as a JSON object; NULL: none */
  const char *extra_json; /* the format's own metadata as ndf_array_get_extra gives it; NULL: none */
} ndf_item;

/* One array that ndf_load has read. Offsets are bytes from the start of the caller's buffer. */
typedef struct ndf_load_info {
  uint32_t struct_size;
  int32_t ndim;                       /* number of axes */
  uint32_t flags;                     /* NDF_ARRAY_* bits */
  uint32_t reserved;                  /* 0 */
  int64_t count;                      /* number of elements */
  int64_t itemsize;                   /* bytes of an element, 0: variable */
  int64_t name_offset, name_len;      /* the name, UTF-8; a NUL follows */
  int64_t data_offset, data_len;      /* the elements, row-major, native byte order, 64-byte aligned; -1, 0:
                                         they were left out */
  int64_t mask_offset;                /* count bytes, 1 = missing; -1: none */
  int64_t offsets_offset;             /* count+1 int64 for elements of variable length; -1: none */
  int64_t dtype_offset, dtype_len;    /* the dtype's name where it takes 64 bytes or more, else 0 */
  int64_t meta_offset, meta_len;      /* NDF_LOAD_META: this array's object in the metadata, else 0 */
  int64_t dims_offset, dims_len;      /* the JSON list of the axes' names in it; 0: they have none */
  int64_t attrs_offset, attrs_len;    /* the JSON object of the attributes in it */
  int64_t stored_offset, stored_len;  /* the stored dtype's name in it, without quotes; 0: it is dtype */
  char dtype[64];                     /* the dtype's name in native byte order; empty when it is too long */
  int64_t shape[64];                  /* row-major */
} ndf_load_info;

/* Bits of flags in ndf_load_args and load_flags in ndf_many_options. */
enum {
  NDF_LOAD_META = 1,  /* metadata too: one JSON text in ASCII, a list of the file's attributes (an
                         object; null where first is not 0) and of an object for each array, with the
                         members "attrs", an object; "dims", names of the axes; "dtype", as stored,
                         where it is not that of the info; "chunks" and "shards", extents;
                         "compression", codec, level and shuffle of Blosc. All but attrs are left out
                         where there is no such thing */
  NDF_LOAD_BARE = 2,  /* no elements: only what describes the arrays. What cannot be read is described too */
  NDF_LOAD_NAMES = 4, /* nothing but the names */
  NDF_LOAD_SOME = 8,  /* as many arrays as there is room for, from first on; the next one that fails,
                         or has no room, is an error only when it is the first */
  NDF_LOAD_ONCE = 16  /* ndf_file_open_load only: when all arrays came the file is closed, and its
                         handle is 0 */
};

/* The arguments of ndf_load but the path, for ndf_load_prepared, and of ndf_file_load. A call fills
 * need and what follows it. */
typedef struct ndf_load_args {
  uint32_t struct_size;
  uint32_t flags;       /* NDF_LOAD_* bits; 0: whole arrays, without metadata */
  const char *name;     /* name of the array to read; NULL: all */
  void *buf;            /* receives the arrays; may be NULL when cap is 0 */
  int64_t cap;          /* bytes at buf */
  ndf_load_info *infos; /* receives a description of each array; may be NULL when max_infos is 0 */
  int64_t max_infos;    /* infos that there is room for */
  int64_t first;        /* position in the file of the first array to load; those before are passed */
  int64_t need;         /* bytes of buf that are used or needed */
  int64_t ninfos;       /* number of arrays */
  int64_t series;       /* not 0: the number of a series of files, of which infos and metadata say the same */
  int64_t narrays;      /* number of arrays that the file has */
  int64_t meta_offset;  /* NDF_LOAD_META: the metadata; a NUL follows */
  int64_t meta_len;     /* bytes of them */
} ndf_load_args;

/* The arguments of ndf_save but the path, for ndf_save_prepared. */
typedef struct ndf_save_args {
  uint32_t struct_size;
  uint32_t reserved;      /* 0 */
  const char *format;     /* name of the format; NULL: by the extension of the path */
  const ndf_item *items;  /* the arrays; may be NULL when nitems is 0 */
  int64_t nitems;         /* number of items */
  const char *attrs_json; /* attributes of the file as a JSON object; NULL: none */
  const ndf_write_options *options; /* how the file becomes visible; NULL: as ndf_save has it */
} ndf_save_args;

/* Options of ndf_load_many and ndf_save_many. */
typedef struct ndf_many_options {
  uint32_t struct_size;
  int32_t threads;       /* at most so many threads; 0: as ndf_set_threads says */
  ndf_progress progress; /* NULL: none. A step is a file */
  void *user;            /* handed to progress */
  uint32_t load_flags;   /* NDF_LOAD_META or 0; ndf_load_many only */
  uint32_t reserved;     /* 0 */
} ndf_many_options;

/* What became of one path of ndf_load_many. */
typedef struct ndf_load_result {
  uint32_t struct_size;
  int32_t status;     /* as ndf_load returns it; NDF_ERR_CANCELED: not loaded because the call was canceled */
  int64_t first_info; /* position of the path's first info, which the others follow */
  int64_t ninfos;     /* number of its arrays */
  int64_t meta_offset, meta_len; /* NDF_LOAD_META: its metadata, as in ndf_load_args */
} ndf_load_result;

/* One file for ndf_save_many: the arguments of ndf_save. */
typedef struct ndf_save_file {
  uint32_t struct_size;
  uint32_t reserved;      /* 0 */
  const char *path;       /* where the file shall appear */
  const char *format;     /* name of the format; NULL: by the extension of path */
  const ndf_item *items;  /* the arrays; may be NULL when nitems is 0 */
  int64_t nitems;         /* number of items */
  const char *attrs_json; /* attributes of the file as a JSON object; NULL: none */
} ndf_save_file;

/* What the header of a Blosc1 chunk says. */
typedef struct ndf_blosc_info {
  uint32_t struct_size;
  int32_t typesize;   /* bytes of an element */
  int64_t nbytes;     /* bytes of the data */
  int64_t cbytes;     /* bytes of the chunk */
  int64_t blocksize;  /* bytes of a block of the data */
  uint32_t shuffle;   /* NDF_BLOSC_* */
  uint32_t memcpyed;  /* 1: the data are stored as they are */
  char codec[16];     /* its name; lz4 stands for lz4hc too */
} ndf_blosc_info;

/* Comparisons of ndf_term. A comparison with NaN or NaT does not hold, but NDF_OP_NE does. */
enum {
  NDF_OP_EQ = 1, /* equal */
  NDF_OP_NE = 2, /* not equal */
  NDF_OP_LT = 3, /* less */
  NDF_OP_LE = 4, /* less or equal */
  NDF_OP_GT = 5, /* greater */
  NDF_OP_GE = 6  /* greater or equal */
};

/* One condition of ndf_table_where: the column compared with a constant. */
typedef struct ndf_term {
  uint32_t struct_size;
  uint32_t op;            /* NDF_OP_* */
  const char *column;     /* name of the column */
  const char *value_json; /* the constant as JSON */
} ndf_term;

/* Options of ndf_table_where. */
typedef struct ndf_where_options {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  int64_t start;     /* the first row to look at */
  int64_t stop;      /* the row to stop before; 0: all rows */
  int64_t skip;      /* matching rows to leave out first */
  int64_t limit;     /* at most so many rows; 0: all */
  const char *condition; /* a condition as text, which must hold besides the terms; may be NULL */
} ndf_where_options;

/* What ndf_array_reduce can find out: bits of its parameter what, and of have in ndf_summary. */
enum {
  NDF_REDUCE_COUNT = 1,
  NDF_REDUCE_SUM = 2,
  NDF_REDUCE_MIN = 4,
  NDF_REDUCE_MAX = 8,
  NDF_REDUCE_MEAN = 16
};

/* One element. */
typedef struct ndf_scalar {
  char dtype[24];    /* its dtype's name in native byte order */
  uint8_t bytes[16]; /* its bytes from the first on; aligned to 8 in ndf_summary */
} ndf_scalar;

/* What ndf_array_reduce has found out. */
typedef struct ndf_summary {
  uint32_t struct_size;
  uint32_t have; /* NDF_REDUCE_* bits of the fields that are filled */
  int64_t count; /* number of elements */
  ndf_scalar sum;
  ndf_scalar min;
  ndf_scalar max;
  ndf_scalar mean;
} ndf_summary;

/* What a problem means for the data. */
enum {
  NDF_PROBLEM_DAMAGE = 0, /* data cannot be read, were lost, or are not counted where they should be */
  NDF_PROBLEM_STALE = 1,  /* harmless leftovers of a writer that was stopped; data are whole */
  NDF_PROBLEM_FOREIGN = 2 /* something that is no part of the format; nothing touches it */
};

/* Something that ndf_verify has found. Its texts are valid during the call of ndf_report. */
typedef struct ndf_problem {
  uint32_t struct_size;
  int32_t code;        /* NDF_ERR_CORRUPT: data cannot be read; NDF_ERR_LOSS: something was lost already, as
                          rows of a torn append; NDF_ERR_VALUE: stale or foreign; others as statuses say */
  int64_t offset;      /* byte position in the file, or -1 */
  const char *path;    /* the file that it lies in */
  const char *array;   /* name of the array; NULL: of none */
  const char *message; /* what was expected and what was found */
  const char *repair;  /* what a repair does about it; NULL: nothing certain can be done */
  uint32_t repaired;   /* 1: that has been done */
  uint32_t problem_class; /* NDF_PROBLEM_* */
} ndf_problem;

/* Called for each problem during ndf_verify, on the thread of the call. A value other than 0 cancels. It must
 * return, as ndf_progress. */
typedef int32_t (*ndf_report)(void *user, const ndf_problem *problem);

/* Options of ndf_verify. */
typedef struct ndf_verify_options {
  uint32_t struct_size;
  uint32_t repair;          /* not 0: do what the problems' repair says; what is taken away or written anew is
                               kept in a new folder beside the store, PATH.ndf-removed-N */
  uint32_t follow_symlinks; /* as in ndf_open_options */
  uint32_t undo;            /* not 0: give back what the last repair took away, and verify nothing */
  const char *format;       /* name of the format; NULL: found by content */
  int64_t max_header;       /* longest metadata text in bytes; 0: as ndf_set_limits says */
  ndf_progress progress;    /* NULL: none. A step is a chunk or block; a byte with sealed */
  void *user;               /* handed to progress */
  uint32_t sealed;          /* not 0: compare all files with the seal of ndf_seal, and nothing else */
  uint32_t reserved;        /* 0 */
} ndf_verify_options;

/* How ndf_convert works. */
typedef struct ndf_convert_options {
  uint32_t struct_size;
  uint32_t allow_loss;   /* not 0: convert also when something cannot be carried over */
  uint32_t no_check;     /* not 0: do not read the result back and compare */
  uint32_t overwrite;    /* not 0: dst may exist and is replaced */
  const char *from;      /* name of the format of src; NULL: found by content */
  const char *to;        /* name of the format of dst; NULL: by the extension of dst */
  const char *name;      /* the only array to convert, or the name for a single one; NULL: all, or "data" */
  uint32_t commit;       /* NDF_COMMIT_* */
  uint32_t sync;         /* not 0: fsync file and folder before success is reported */
  ndf_progress progress; /* NULL: none. A step is a byte of elements, twice where they are compared */
  void *user;            /* handed to progress */
  uint32_t follow_symlinks; /* as in ndf_open_options */
  uint32_t default_fill; /* as in ndf_open_options, of src */
  int64_t max_header;    /* longest metadata text in bytes; 0: as ndf_set_limits says */
  int64_t shard_size;    /* 0: shards as in src; -1: none; else of about so many bytes decoded */
} ndf_convert_options;

/* One part of a store that ndf_split cuts. */
typedef struct ndf_part {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  const char *path;  /* the new store */
  int64_t nrows;     /* number of rows that go there, along the first axis */
} ndf_part;

/* Options of ndf_split and ndf_concat. */
typedef struct ndf_split_options {
  uint32_t struct_size;
  uint32_t commit;          /* NDF_COMMIT_* */
  uint32_t sync;            /* not 0: fsync files and folders before success is reported */
  uint32_t exclusive;       /* not 0: what is to be written must not exist yet (NDF_ERR_EXISTS) */
  uint32_t follow_symlinks; /* as in ndf_open_options */
  uint32_t reserved;        /* 0 */
  const char *format;       /* name of the format; NULL: found by content */
  int64_t max_header;       /* longest metadata text in bytes; 0: as ndf_set_limits says */
} ndf_split_options;

/* The Arrow C data and stream interfaces, as https://arrow.apache.org/docs/format/CDataInterface.html has
 * them, with the guards that let several headers declare them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif
