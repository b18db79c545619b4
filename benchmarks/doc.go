// Command benchmarks measures ndfile against what people use today, in one run, and says whether the project's claims
// hold.
//
//	benchmarks [flags] -worker NAME=COMMAND...
//
// Each language has a worker: a process that lives for the whole run and does equal pieces of work when it is asked to.
// The driver asks the workers by turns, so that all contenders of a row see the same machine. A piece of work is for
// example "write 1,000 files of one int64 into this fresh folder"; the worker answers with the wall time and the CPU time
// that it took. README.md in this folder explains the method and shows the last results; "make bench" and "make
// bench-quick" build the workers and run everything.
//
// The rooms: plan.go says what is measured and claims.go what has to come out of it; worker.go talks to the workers and
// goworker.go is the one for Go; measure.go runs the rounds; stats.go, report.go, plots.go and machine.go make the results.
package main
