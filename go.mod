module github.com/ndfile/ndfile

go 1.26.0

require (
	github.com/DataDog/zstd v1.5.7
	github.com/dsnet/compress v0.0.1
	github.com/klauspost/compress v1.20.3
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/ulikunitz/xz v0.5.17
	golang.org/x/sys v0.49.0
)
