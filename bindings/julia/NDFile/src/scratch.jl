# Memory that calls of the library fill, and that the next calls use again.

"What one call needs besides its results: numbers out, descriptions of arrays, a buffer, and why it failed."
mutable struct Scratch
    err::Base.RefValue{ndf_error}
    need::Base.RefValue{Int64}
    count::Base.RefValue{Int64}
    infos::Vector{ndf_load_info}
    buf::Vector{UInt8}
    dtype::DType # of the last array that was read; the next one may be like it
end

const FIRST_BYTES, FIRST_INFOS = 1 << 16, 1 << 3
const MOST_BYTES, MOST_INFOS = 1 << 22, 1 << 10 # what a spare one has at most

function Scratch()
    infos, buf = Vector{ndf_load_info}(undef, FIRST_INFOS), Vector{UInt8}(undef, FIRST_BYTES)
    return Scratch(Ref{ndf_error}(), Ref{Int64}(0), Ref{Int64}(0), infos, buf, DType("|b1"))
end

# A spare one for each thread, or nothing while it is used.
const SPARES = Union{Nothing,Scratch}[]

prepare_spares() = append!(SPARES, fill(nothing, isdefined(Threads, :maxthreadid) ? Threads.maxthreadid() : Threads.nthreads()))

# Takes out the thread's spare one, so that a finalizer or another task that comes between gets another. In here nothing comes
# between, since nothing is allocated and nothing waits.
function take_scratch()
    i = Threads.threadid()
    i <= length(SPARES) || return Scratch()
    s = SPARES[i]
    SPARES[i] = nothing
    return s === nothing ? Scratch() : s
end

# For the next call on this thread. One that is not given back is garbage.
function give_back(s::Scratch)
    i = Threads.threadid()
    i <= length(SPARES) && length(s.buf) <= MOST_BYTES && length(s.infos) <= MOST_INFOS && (SPARES[i] = s)
    return nothing
end

# Throws the error of a call that returned status.
function refuse(s::Scratch, status)
    e = failure(status, s.err)
    give_back(s)
    throw(e)
end

# Tells the library how much room there is for infos.
function set_room!(s::Scratch)
    s.count[] = length(s.infos)
    GC.@preserve s unsafe_store!(Ptr{UInt32}(pointer(s.infos)), UInt32(sizeof(ndf_load_info)))
    return nothing
end

# Makes room for what a call says that it needs. What was there is gone.
function make_room!(s::Scratch, bytes, infos)
    bytes > length(s.buf) && (s.buf = Vector{UInt8}(undef, nextpow(2, bytes)))
    infos > length(s.infos) && (s.infos = Vector{ndf_load_info}(undef, nextpow(2, infos)))
    return nothing
end
