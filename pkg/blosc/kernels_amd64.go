package blosc

//go:generate sh -c "cd asm && go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg blosc"

// useAVX2 chooses between the kernels of kernels_amd64.s and the portable code.
var useAVX2 = hasAVX2()
