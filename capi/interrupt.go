package main

// #include "native.h"
import "C"

import (
	"context"
	"sync/atomic"
	"time"
)

// askEvery is how often a call asks whether it shall end.
const askEvery = 50 * time.Millisecond

// asked tells whether some thread has a function to ask.
func asked() bool { return atomic.LoadInt32((*int32)(&C.ndfile_shared.interrupts)) != 0 }

// interruptible calls work. Where the thread has a function to ask, it does so meanwhile, and cancels.
func interruptible(work func(ctx context.Context) error) error {
	ctx := context.Background()
	if !asked() {
		return work(ctx)
	}
	var user C.uintptr_t
	function := C.ndfile_interrupt(&user)
	ask := progressAt(function, user)
	if ask == nil {
		return work(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.err = work(ctx)
	}()
	ticks := time.NewTicker(askEvery)
	defer ticks.Stop()
	for {
		select {
		case o := <-done:
			if o.panicked != nil {
				panic(o.panicked)
			}
			return o.err
		case <-ticks.C:
			if ctx.Err() == nil && !ask(0, 0) {
				cancel() // the call ends when the work has noticed it
			}
		}
	}
}
