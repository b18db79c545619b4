package blosc

import (
	"encoding/binary"
	"unsafe"
)

// Loads without bounds checks, for the searches of encoders: their positions
// come from the search itself, never from a chunk.

func load16(p unsafe.Pointer, at int) uint16 {
	return binary.LittleEndian.Uint16((*[2]byte)(unsafe.Add(p, at))[:])
}

func load32(p unsafe.Pointer, at int) uint32 {
	return binary.LittleEndian.Uint32((*[4]byte)(unsafe.Add(p, at))[:])
}

func load64(p unsafe.Pointer, at int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, at))[:])
}
