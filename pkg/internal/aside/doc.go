// Package aside keeps what a repair takes away from a store, so that it can be
// given back.
//
// A repair moves files into a new folder beside the store, NAME.ndf-removed-N,
// and keeps there what a metadata file was before it was written anew. The
// folder has a file "journal", which is on disk before the first step: whenever
// a repair or an undo stops, Undo goes on from there.
//
// The journal is text. Names are quoted as Go does it and lie below the store:
//
//	ndfile repair 1
//	time 2026-01-31T12:00:00Z
//	moved 1 "data/__5.blp"
//	wrote 2 "meta/sizes" 9f86d081884c7d65...
//	made 3 "b/meta/sizes" 60303ae22b998861...
//	end
//
// The numbers are the names of files and folders in the folder itself; the last
// word is the SHA-256 of what was written.
package aside
