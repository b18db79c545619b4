// The header in C++17.
#include "header.c"
