# Ctrl-C during reads, sums and the like: Julia delivers it at a safepoint, of which a call of the library has none. The
# library asks this function now and then, on the thread of the call.

const interrupted = Threads.Atomic{Bool}(false)

function ask(::Ptr{Cvoid}, ::Int64, ::Int64)::Int32
    try
        GC.safepoint()
        return 0
    catch e # an exception must not leave it
        e isa InterruptException || return 0
        interrupted[] = true
        return 1
    end
end

# On the thread that gets Ctrl-C.
watch_interrupts() = ndf_set_interrupt(@cfunction(ask, Int32, (Ptr{Cvoid}, Int64, Int64)), C_NULL, Ref{ndf_error}())
