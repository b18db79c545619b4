/* The header alone, as the first thing that a program includes: as C99, C11 and, through header.cpp, C++17. */
#include "ndfile.h"

#include <string.h>

#ifdef __cplusplus
static_assert(sizeof(ndf_error) == 1024, "ndf_error");
#endif

int main(void) {
  ndf_error err;
  ndf_file file = 0;
  int32_t (*close)(ndf_file, ndf_error *) = ndf_file_close;
  return close(file, &err) == NDF_ERR_HANDLE && strcmp(ndf_version(), NDF_VERSION) == 0 ? 0 : 1;
}
