# Handles of the library, and what the garbage collector does with them.
#
# A finalizer can run at any allocation, on any thread, while the code below it holds any lock. So it takes no lock and
# does not call the library, where closing can wait for a reading thread: it pushes its handle onto a lock-free list,
# and the next call of any function closes what is there. At exit, when no call may follow, it closes at once.

# How a handle that nobody refers to any more is given back.
const CLOSE_ARRAY, CLOSE_FILE, ABORT_FILE, CLOSE_MAP = UInt64(0), UInt64(1), UInt64(2), UInt64(3)

# An entry of the list, in C memory: a finalizer must not keep Julia objects. After it comes the path of a file that was
# open for writing, with a NUL: whoever forgets to close one is told.
struct Released
    next::Ptr{Released}
    handle::UInt64
    how::UInt64
end

mutable struct Handle
    value::Threads.Atomic{UInt64} # 0: closed
    how::UInt64
    entry::Ptr{Released} # room for the finalizer, which should not depend on memory being left
    function Handle(value::UInt64, how::UInt64, written::String="")
        h = new(Threads.Atomic{UInt64}(value), how, new_entry(written))
        return finalizer(release, h)
    end
    # A handle that goes with another object. It has no finalizer of its own: what only a finalizer refers to is garbage
    # to the collector, which would run that one while the object is in use.
    function Handle(value::UInt64, how::UInt64, owner::Base.RefValue)
        h = new(Threads.Atomic{UInt64}(value), how, new_entry(""))
        finalizer(_ -> release(h), owner[])
        return h
    end
end

function new_entry(written::String)
    n = ncodeunits(written)
    entry = Ptr{Released}(Libc.malloc(sizeof(Released) + n + 1))
    entry == C_NULL && throw(OutOfMemoryError())
    text = Ptr{UInt8}(entry + sizeof(Released))
    GC.@preserve written unsafe_copyto!(text, pointer(written), n)
    unsafe_store!(text, 0x00, n + 1)
    return entry
end

Base.isopen(h::Handle) = h.value[] != 0

# Takes the number out of a handle; 0 when somebody else has.
claim!(h::Handle) = Threads.atomic_xchg!(h.value, UInt64(0))

const RELEASED = Threads.Atomic{UInt}(0) # address of the first entry
const EXITING = Threads.Atomic{Bool}(false)

function release(h::Handle)
    value, entry = claim!(h), h.entry
    if value == 0
        Libc.free(entry)
        return
    end
    first = RELEASED[]
    while true
        unsafe_store!(entry, Released(Ptr{Released}(first), value, h.how))
        found = Threads.atomic_cas!(RELEASED, first, UInt(entry))
        found == first && break
        first = found
    end
    # At exit the memory of a mapping stays: a thread may be reading it.
    EXITING[] && h.how != CLOSE_MAP && collect_released()
    return
end

# Closes what finalizers have released. Whole lists are taken, so an entry is never looked at by two threads.
function collect_released()
    RELEASED[] == 0 && return
    entry = Ptr{Released}(Threads.atomic_xchg!(RELEASED, UInt(0)))
    while entry != C_NULL
        r = unsafe_load(entry)
        report_unclosed(r, unsafe_string(Ptr{UInt8}(entry + sizeof(Released))))
        Libc.free(entry)
        r.how == CLOSE_ARRAY ? ndf_array_close(r.handle, C_NULL) :
        r.how == CLOSE_FILE ? ndf_file_close(r.handle, C_NULL) :
        r.how == CLOSE_MAP ? ndf_map_close(r.handle, C_NULL) : ndf_file_abort(r.handle, C_NULL)
        entry = r.next
    end
    return
end

const UNCLOSED = Threads.Atomic{Int}(0) # files that have been reported

# This can run in a finalizer, at exit, where a task must not be switched: it writes as the runtime itself does.
function report_unclosed(r::Released, path::String)
    isempty(path) && return
    n = Threads.atomic_add!(UNCLOSED, 1)
    n > 20 && return
    n == 20 && return ccall(:jl_safe_printf, Cvoid, (Cstring,), "NDFile: and more, of which nothing is said\n")
    what = r.how == ABORT_FILE ? "nothing is written" : "what was in memory is written now"
    ccall(:jl_safe_printf, Cvoid, (Cstring, Cstring...), "NDFile: %s was never closed: %s\n", path, what)
    return
end

# After this, finalizers close at once.
function exiting()
    EXITING[] = true
    return collect_released()
end

"""
    NDFile.handle_count() -> Int

The number of files and arrays of this process that are open in the library. For tests, and for finding leaks.
"""
function handle_count()
    n = Ref{Int64}(0)
    call(ndf_handle_count, n)
    return Int(n[])
end
