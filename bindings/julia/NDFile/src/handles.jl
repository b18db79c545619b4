# Handles of the library, and what the garbage collector does with them.
#
# A finalizer can run at any allocation, on any thread, while the code below it holds any lock. So it takes no lock and
# does not call the library, where closing can wait for a reading thread: it pushes its handle onto a lock-free list,
# and the next call of any function closes what is there. At exit, when no call may follow, it closes at once.

# How a handle that nobody refers to any more is given back.
const CLOSE_ARRAY, CLOSE_FILE, ABORT_FILE, CLOSE_MAP = UInt64(0), UInt64(1), UInt64(2), UInt64(3)

# An entry of the list, in C memory: a finalizer must not keep Julia objects.
struct Released
    next::Ptr{Released}
    handle::UInt64
    how::UInt64
end

mutable struct Handle
    value::Threads.Atomic{UInt64} # 0: closed
    how::UInt64
    entry::Ptr{Released} # room for the finalizer, which should not depend on memory being left
    function Handle(value::UInt64, how::UInt64)
        entry = Ptr{Released}(Libc.malloc(sizeof(Released)))
        entry == C_NULL && throw(OutOfMemoryError())
        return finalizer(release, new(Threads.Atomic{UInt64}(value), how, entry))
    end
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
    EXITING[] && collect_released()
    return
end

# Closes what finalizers have released. Whole lists are taken, so an entry is never looked at by two threads.
function collect_released()
    RELEASED[] == 0 && return
    entry = Ptr{Released}(Threads.atomic_xchg!(RELEASED, UInt(0)))
    while entry != C_NULL
        r = unsafe_load(entry)
        Libc.free(entry)
        r.how == CLOSE_ARRAY ? ndf_array_close(r.handle, C_NULL) :
        r.how == CLOSE_FILE ? ndf_file_close(r.handle, C_NULL) :
        r.how == CLOSE_MAP ? ndf_map_close(r.handle, C_NULL) : ndf_file_abort(r.handle, C_NULL)
        entry = r.next
    end
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
