/* Blosc1 chunks through the C ABI. Usage: blosc FOLDER (which is not used). */
#include "check.h"

enum { N = 5000 };

static ndf_error err;

static void test_codec(const char *codec, uint32_t shuffle, int32_t threads) {
  static int32_t data[N], again[N], items[10];
  static unsigned char chunk[sizeof data + 16];
  int64_t size, len;
  for (int i = 0; i < N; i++) data[i] = i * 7;
  ndf_blosc_params params = {.struct_size = sizeof params, .level = 5, .codec = codec, .shuffle = shuffle,
                             .typesize = 4, .threads = threads};
  OK(ndf_blosc_compress(data, sizeof data, &params, chunk, ROOM(size, sizeof chunk), &err));
  CHECK(size > 16 && size <= (int64_t)sizeof chunk);

  ndf_blosc_info info = {.struct_size = sizeof info};
  OK(ndf_blosc_get_info(chunk, 16, &info, &err));
  CHECK(info.nbytes == (int64_t)sizeof data && info.cbytes == size && info.typesize == 4 && info.shuffle == shuffle);
  CHECK(strncmp(info.codec, codec, 3) == 0); /* lz4hc is lz4 */

  OK(ndf_blosc_decompress(chunk, size, threads, again, ROOM(len, sizeof again), &err));
  CHECK(len == (int64_t)sizeof data && memcmp(again, data, sizeof data) == 0);
  OK(ndf_blosc_items(chunk, size, 4321, 10, items, ROOM(len, sizeof items), &err));
  CHECK(len == (int64_t)sizeof items && memcmp(items, data + 4321, sizeof items) == 0);

  FAILS(NDF_ERR_BUFFER, "", ndf_blosc_decompress(chunk, size, 1, again, ROOM(len, sizeof again - 1), &err));
  CHECK(len == (int64_t)sizeof data);
  FAILS(NDF_ERR_BOUNDS, "", ndf_blosc_items(chunk, size, N - 1, 2, items, ROOM(len, sizeof items), &err));
  FAILS(NDF_ERR_CORRUPT, "byte", ndf_blosc_decompress(chunk, size - 1, 1, again, ROOM(len, sizeof again), &err));
  FAILS(NDF_ERR_BUFFER, "", ndf_blosc_compress(data, sizeof data, &params, chunk, ROOM(size, 10), &err));
  CHECK(size == (int64_t)sizeof data + 16);
}

int main(void) {
  const char *codecs[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
    for (uint32_t shuffle = NDF_BLOSC_NOSHUFFLE; shuffle <= NDF_BLOSC_BITSHUFFLE; shuffle++)
      test_codec(codecs[i], shuffle, 1 + (int32_t)shuffle % 2);

  unsigned char chunk[16];
  int64_t size, len;
  ndf_blosc_params wrong = {.struct_size = sizeof wrong, .codec = "nosuch"};
  OK(ndf_blosc_compress(NULL, 0, NULL, chunk, ROOM(size, sizeof chunk), &err));
  OK(ndf_blosc_decompress(chunk, size, 0, NULL, ROOM(len, 0), &err));
  CHECK(len == 0);
  FAILS(NDF_ERR_ARGUMENT, "nosuch", ndf_blosc_compress(NULL, 0, &wrong, chunk, ROOM(size, sizeof chunk), &err));
  FAILS(NDF_ERR_ARGUMENT, "chunk", ndf_blosc_decompress(NULL, 5, 0, NULL, ROOM(len, 0), &err));
  return check_result("blosc");
}
