/* This library: one call a file, or one for all files. The extension of the path names the format. */
#include "ndfile.h"

#include <string.h>

#include "worker.h"

static ndf_error err;
static const ndf_write_options direct = {.struct_size = sizeof direct, .commit = NDF_COMMIT_DIRECT};

static ndf_item *items;
static ndf_save_file *files;
static ndf_load_info *infos;
static int64_t infos_size, last_file; /* room for infos, and the position of those of the file read last */
static ndf_load_result *results;

static bool refused(void) {
  return err.code == NDF_ERR_NOT_SUPPORTED ? skipped("%s", err.message) : failed("%s", err.message);
}

/* ==== Writing ========================================================================= */

static bool save(const char *path) {
  return ndf_save(path, NULL, items, task.variables, NULL, NULL, &err) == NDF_OK || refused();
}

static bool save_direct(const char *path) {
  return ndf_save(path, NULL, items, task.variables, NULL, &direct, &err) == NDF_OK || refused();
}

static bool save_many(void) {
  return ndf_save_many(files, task.files, NULL, NULL, NULL, NULL, &err) == NDF_OK || refused();
}

static bool prepare_save(void) {
  items = memory(task.variables * (int64_t)sizeof *items);
  for (int64_t k = 0; k < task.variables; k++) {
    items[k] = (ndf_item){.struct_size = sizeof *items, .name = task.names[k], .dtype = task.element->dtype,
                          .ndim = task.ndim, .shape = task.shape, .data = task.values};
  }
  return true;
}

static bool prepare_save_many(void) {
  prepare_save();
  files = memory(task.files * (int64_t)sizeof *files);
  for (int64_t i = 0; i < task.files; i++) {
    files[i] = (ndf_save_file){.struct_size = sizeof *files, .path = task.paths[i], .items = items, .nitems = task.variables};
  }
  return true;
}

bool ndfile_sample(const char *path) { return prepare_save() && save_direct(path); }

/* ==== Reading ========================================================================= */

static bool load(const char *path, void *room) {
  int64_t len = task.room, n = infos_size;
  infos[0].struct_size = sizeof *infos;
  return ndf_load(path, NULL, room, &len, infos, &n, &err) == NDF_OK || refused();
}

static bool load_many(void *room) {
  int64_t len = task.room, n = infos_size;
  infos[0].struct_size = sizeof *infos;
  results[0].struct_size = sizeof *results;
  if (ndf_load_many((const char *const *)task.paths, task.files, NULL, room, &len, infos, &n, results, NULL, NULL,
                    &err) != NDF_OK) {
    return refused();
  }
  last_file = results[task.files - 1].first_info;
  return true;
}

static const void *loaded(const void *room, int64_t k) {
  const ndf_load_info *info = &infos[last_file + k];
  int same = strcmp(info->dtype, task.element->dtype) == 0 && info->data_len == task.bytes;
  return same ? (const char *)room + info->data_offset : NULL;
}

/* Finds out from the first file how much room each takes. */
static bool probe(int64_t nfiles) {
  int64_t need = 0, n = 0;
  if (ndf_load(task.paths[0], NULL, NULL, &need, NULL, &n, &err) != NDF_ERR_BUFFER) return refused();
  if (n != task.variables) return failed("%s: %d variables", task.paths[0], (int)n);
  task.room = (need + 63) / 64 * 64 * nfiles;
  if (task.room < SMALL) task.room = SMALL;
  infos_size = n * nfiles;
  infos = memory(infos_size * (int64_t)sizeof *infos);
  last_file = 0;
  return true;
}

static bool prepare_load(void) { return probe(1); }

static bool prepare_load_many(void) {
  results = memory(task.files * (int64_t)sizeof *results);
  return probe(task.files);
}

/* ==== Mapping ========================================================================= */

static bool map_array(ndf_file file, const char *name, double *sum) {
  ndf_array array;
  if (ndf_file_array(file, name, &array, &err) != NDF_OK) return refused();
  ndf_array_info info = {.struct_size = sizeof info};
  const void *data;
  int64_t len;
  ndf_map map;
  bool ok = ndf_array_get_info(array, &info, &err) == NDF_OK && ndf_array_map(array, &data, &len, &map, &err) == NDF_OK;
  ndf_array_close(array, NULL);
  if (!ok) return refused();
  if (strcmp(info.dtype, task.element->dtype) == 0 && len == task.bytes) {
    *sum += task.element->sum(data, info.count);
  } else {
    ok = failed("array %s: dtype %s, %lld bytes", name, info.dtype, (long long)len);
  }
  ndf_map_close(map, NULL);
  return ok;
}

static bool map_sum(const char *path, double *sum) {
  ndf_file file;
  if (ndf_file_open(path, NULL, &file, &err) != NDF_OK) return refused();
  bool ok = true;
  for (int64_t k = 0; k < task.variables && ok; k++) ok = map_array(file, task.names[k], sum);
  ndf_file_close(file, NULL);
  return ok;
}

/* ==== Files of one array ============================================================== */

static bool single(void) {
  if (task.variables != 1) return skipped("a RawArray file holds one array");
  task.names[0] = ""; /* it has no name */
  return true;
}

static bool prepare_save_single(void) { return single() && prepare_save(); }
static bool prepare_load_single(void) { return single() && prepare_load(); }

#define READING .read = load, .variable = loaded, .map_sum = map_sum

const contender ndfile[] = {
    {"ds-direct", ".ds", prepare_save, .write = save_direct, .prepare_read = prepare_load, READING},
    {"ds", ".ds", prepare_save, .write = save, .prepare_read = prepare_load, READING},
    {"ds-many", ".ds", prepare_save_many, .write_all = save_many, .prepare_read = prepare_load_many, .read_all = load_many,
     .variable = loaded},
    {"ra-direct", ".ra", prepare_save_single, .write = save_direct, .prepare_read = prepare_load_single, READING},
    {"ra", ".ra", prepare_save_single, .write = save, .prepare_read = prepare_load_single, READING},
};
