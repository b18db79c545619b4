package main

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Machine describes where a run took place.
type Machine struct {
	Processor  string            `json:"processor"`
	Cores      int               `json:"cores"`
	MemoryGiB  float64           `json:"memory_gib"`
	System     string            `json:"system"`
	Kernel     string            `json:"kernel"`
	Go         string            `json:"go"`
	Compiler   string            `json:"compiler"`
	Hypervisor bool              `json:"hypervisor"`
	Load       string            `json:"load"` // before the run
	Places     map[string]string `json:"places"`
}

// describe asks the system about the machine; places are folders by name.
func describe(places map[string]string) Machine {
	m := Machine{Cores: runtime.NumCPU(), Go: runtime.Version(), Places: map[string]string{}}
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	m.Processor = field(string(cpu), "model name", ":")
	m.Hypervisor = strings.Contains(field(string(cpu), "flags", ":"), "hypervisor")
	memory, _ := os.ReadFile("/proc/meminfo")
	if kib, err := strconv.ParseFloat(strings.TrimSuffix(field(string(memory), "MemTotal", ":"), " kB"), 64); err == nil {
		m.MemoryGiB = kib / (1 << 20)
	}
	release, _ := os.ReadFile("/etc/os-release")
	m.System = strings.Trim(field(string(release), "PRETTY_NAME", "="), `"`)
	m.Kernel = first("uname", "-r")
	m.Compiler = first("cc", "--version")
	load, _ := os.ReadFile("/proc/loadavg")
	m.Load = strings.Join(strings.Fields(string(load))[:min(3, len(strings.Fields(string(load))))], " ")
	for name, folder := range places {
		m.Places[name] = fileSystem(folder)
	}
	return m
}

// field gives the value of the first line that begins with a key.
func field(text, key, separator string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(line, separator); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// first gives the first line that a command prints.
func first(command ...string) string {
	out, _ := exec.Command(command[0], command[1:]...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// fileSystem gives the kind of file system that a folder lies on.
func fileSystem(folder string) string {
	mounts, err := os.Open("/proc/mounts")
	if err != nil {
		return "unknown"
	}
	defer mounts.Close()
	kind, longest := "unknown", -1
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			continue
		}
		point := strings.TrimSuffix(fields[1], "/")
		if (folder == point || strings.HasPrefix(folder, point+"/")) && len(point) > longest {
			kind, longest = fields[2], len(point)
		}
	}
	return kind
}
