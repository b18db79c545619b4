package vfs

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// The token in a temporary name tells the process that made it from all others:
// first which kernel and which process table the id counts in, since folders are
// shared between machines and containers, then when the process began, since ids
// are used again. Each part has 7 characters. Where the system does not tell, the
// token is a random number of fewer characters, and nobody is said to be dead.

const tokenPart = 7

// process is a process as it is written into names.
type process struct {
	pid   int
	token string
}

var selfNow atomic.Pointer[process]

// self is this process. A child of fork is another one.
func self() (pid int, token string) {
	pid = os.Getpid()
	if p := selfNow.Load(); p != nil && p.pid == pid {
		return pid, p.token
	}
	p := &process{pid: pid}
	table, known := processTable()
	if began, ok := beganAt(pid); ok && known {
		p.token = part(table) + part(began)
	} else {
		p.token = strconv.FormatUint(uint64(rand.Uint32()>>2), 36) // at most 6 characters
	}
	selfNow.Store(p)
	return pid, p.token
}

// part is a hash of a text.
func part(text string) string {
	h := fnv.New64a()
	h.Write([]byte(text))
	const most = 36 * 36 * 36 * 36 * 36 * 36 * 36
	s := strconv.FormatUint(h.Sum64()%most, 36)
	return strings.Repeat("0", tokenPart-len(s)) + s
}

// Life says whether the process that made a temporary name is still there.
type Life uint8

// The answers.
const (
	// Unknown: it is, or was, a process of another machine or container, or of this
	// one before it was restarted.
	Unknown Life = iota
	Alive
	Dead
)

// Owner tells of the process that made a name for which IsTempName holds.
func Owner(base string) Life {
	fields := strings.Split(base[strings.LastIndex(base, tempMark)+len(tempMark):], "-")
	pid, err := strconv.ParseInt(fields[0], 36, 32)
	if err != nil || len(fields) != 3 {
		return Unknown
	}
	token := fields[1]
	if own, mine := self(); int(pid) == own && token == mine {
		return Alive
	}
	table, known := processTable()
	if !known || len(token) != 2*tokenPart || token[:tokenPart] != part(table) {
		return Unknown
	}
	began, ok := beganAt(int(pid))
	switch {
	case Gone(int(pid)):
		return Dead
	case !ok:
		return Unknown
	case token[tokenPart:] != part(began):
		return Dead // its number is another one's now
	}
	return Alive
}
