package vfs

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestOwner asks after the owners of temporary names.
func TestOwner(t *testing.T) {
	own := tempName("/d/x.ds")
	own = own[strings.LastIndexByte(own, '/')+1:]
	if !IsTempName(own) || Owner(own) != Alive {
		t.Errorf("%s: %v", own, Owner(own))
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestNameOfOther$")
	cmd.Env = append(os.Environ(), "NDFILE_TEST_TEMP_NAME=1")
	out, err := cmd.Output()
	other, _, _ := strings.Cut(string(out), "\n")
	if err != nil || !IsTempName(other) {
		t.Fatalf("%q: %v", other, err)
	}
	if Owner(other) != Dead {
		t.Errorf("%s of a process that ended: %v", other, Owner(other))
	}
	_, token := self()
	name := func(pid int, token string) string {
		return "x" + tempMark + strconv.FormatInt(int64(pid), 36) + "-" + token + "-1"
	}
	for _, test := range []struct {
		what, name string
		want       Life
	}{
		{"this number, and began at another time", name(os.Getpid(), token[:tokenPart]+part("then")), Dead},
		{"another machine", name(os.Getpid(), part("another")+token[tokenPart:]), Unknown},
		{"a random token", name(1<<30, "1vf1wz"), Unknown},
		{"the parent, if it began when this did", name(os.Getppid(), token), Dead},
	} {
		if got := Owner(test.name); got != test.want {
			t.Errorf("%s: %s: %v, expected %v", test.what, test.name, got, test.want)
		}
	}
}

// TestNameOfOther is the other process of TestOwner.
func TestNameOfOther(t *testing.T) {
	if os.Getenv("NDFILE_TEST_TEMP_NAME") == "" {
		t.Skip("for TestOwner")
	}
	fmt.Println(tempName("x"))
}
