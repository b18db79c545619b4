/* Reads the file that "ndfile demo" writes. Each variable is read in one call; missing values come with a mask. */
#include <ndfile.h>

#include <stdio.h>
#include <stdlib.h>

static void die(const ndf_error *err) {
  fprintf(stderr, "%s (%s)\n", err->message, ndf_status_name(err->code));
  exit(1);
}

int main(int argc, char **argv) {
  ndf_error err;
  ndf_file file;
  ndf_array array;
  if (argc != 2) return 2;
  if (ndf_file_open(argv[1], NULL, &file, &err) != NDF_OK) die(&err);

  /* numbers with missing values: 2 stations x 3 days of float32, row-major */
  float t[2][3];
  uint8_t missing[2][3];
  if (ndf_file_array(file, "temperature", &array, &err) != NDF_OK) die(&err);
  if (ndf_array_read(array, 2, NULL, NULL, NULL, "f4", t, NULL, &missing[0][0], &err) != NDF_OK) die(&err);
  ndf_array_close(array, NULL);

  /* text: offsets delimit the elements in one block of bytes */
  int64_t offsets[3];
  char names[64];
  int64_t room = sizeof names;
  if (ndf_file_array(file, "station", &array, &err) != NDF_OK) die(&err);
  if (ndf_array_read_strings(array, 1, NULL, NULL, NULL, offsets, names, &room, NULL, &err) != NDF_OK)
    die(&err);
  ndf_array_close(array, NULL);

  for (int s = 0; s < 2; s++) {
    printf("%-14.*s", (int)(offsets[s + 1] - offsets[s]), names + offsets[s]);
    for (int d = 0; d < 3; d++) {
      if (missing[s][d])
        printf("      --");
      else
        printf("%8.2f", t[s][d]);
    }
    printf("\n");
  }
  if (ndf_file_close(file, &err) != NDF_OK) die(&err);
  return 0;
}
