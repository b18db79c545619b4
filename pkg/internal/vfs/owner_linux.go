package vfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processTable names the kernel since it was started, and the process table in it
// that this process sees.
func processTable() (name string, ok bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	return strings.TrimSpace(string(boot)) + " " + space, err == nil
}

// beganAt tells when a process began, in ticks since the machine was started.
func beganAt(pid int) (ticks string, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name before may hold anything
	const began = 22 - 3                                                // the state is the third
	if len(fields) <= began {
		return "", false
	}
	return fields[began], true
}

// Program names what a process of this machine runs, as far as it is known.
func Program(pid int) string {
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	name, _, _ := strings.Cut(string(line), "\x00")
	if name == "" {
		return ""
	}
	return filepath.Base(name)
}
