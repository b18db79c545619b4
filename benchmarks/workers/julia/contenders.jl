# What is compared, each as its own users would write it.

struct Skip <: Exception
    reason::String
end
Base.showerror(io::IO, e::Skip) = print(io, e.reason)

# ==== Cases ===========================================================================

# Arrays: DTYPE:SHAPE[*VARIABLES][/CHUNK]. Sizes are in Julia's order, the shape's in reverse.
struct Case{T,N}
    type::Type{T}
    size::NTuple{N,Int}
    names::Vector{String}
end

const TYPES = Dict("int8" => Int8, "uint8" => UInt8, "int16" => Int16, "uint16" => UInt16, "int32" => Int32, "uint32" => UInt32,
    "int64" => Int64, "uint64" => UInt64, "float32" => Float32, "float64" => Float64)

function Case(text)
    m = match(r"^(\w+):(\d+(?:x\d+)*)(?:\*(\d+))?(/\d+)?$", text)
    m === nothing && error("case $text: expected DTYPE:SHAPE[*VARIABLES][/CHUNK]")
    haskey(TYPES, m[1]) || throw(Skip("no elements of type $(m[1]) here"))
    m[4] === nothing || throw(Skip("files are not chunked"))
    variables = m[3] === nothing ? 1 : parse(Int, m[3])
    names = variables == 1 ? ["x"] : ["v" * lpad(i, 5, '0') for i in 0:variables-1]
    return Case(TYPES[m[1]], Tuple(parse.(Int, reverse(split(m[2], 'x')))), names)
end

# Integers count from 0, floats are 1.
elements(case::Case{T}) where {T} = T <: Integer ? reshape(T.(0:prod(case.size)-1), case.size) : ones(T, case.size)
ends(case::Case{T}) where {T} = T <: Integer ? (T(0), T(prod(case.size) - 1)) : (one(T), one(T))
function total(case::Case{T}) where {T}
    n = prod(case.size)
    return length(case.names) * (T <: Integer ? n * (n - 1) ÷ 2 : n)
end

# ==== Contenders ======================================================================

# A contender has methods of these functions for one file each: write_file, read_file, read_into!, map_sum. The first arguments are
# the contender and the case, where they are needed.
abstract type Contender end

# What write_all writes to every file. Not timed.
content(c, case, folder) = Dict(name => elements(case) for name in case.names)

function write_all(c, paths, content)
    for path in paths
        write_file(c, path, content)
    end
end

# Reads all files; only what is read last is kept, for the check.
function read_all(c, paths)
    for path in view(paths, 1:length(paths)-1)
        read_file(c, path)
    end
    return read_file(c, paths[end])
end

# Memory for read_into! that has been touched. Not timed.
function buffer(c, case, path)
    length(case.names) == 1 || throw(Skip("only one array at a time is read into memory of the caller"))
    return fill!(Array{case.type}(undef, case.size), 77)
end
read_into!(c, path, out) = throw(Skip("it does not read into memory of the caller"))

# The arrays in a result.
pick(c, case, result::AbstractArray) = (result,)
pick(c, case, result::AbstractDict) = (result[name] for name in case.names)

read_fresh(c, case, path) = read_file(c, path)
add_all(c, case, result) = sum(sum, pick(c, case, result))
map_sum(c, case, path) = throw(Skip("it does not map"))

# ---- ndfile, ds

struct Ds <: Contender
    commit::Symbol
end

extension(::Ds) = ".ds"
write_file(c::Ds, path, arrays) = NDFile.save(path, arrays; commit=c.commit)
read_file(::Ds, path) = NDFile.read(path)
read_into!(::Ds, path, out) = NDFile.read!(path, "x", out)
map_sum(::Ds, case, path) = NDFile.open(f -> sum(name -> sum(NDFile.mmap(f[name])), case.names), path)

# ---- ndfile, ds, many files in one call

struct DsMany <: Contender end

extension(::DsMany) = ".ds"
write_all(::DsMany, paths, arrays) = NDFile.save_many(paths, fill(arrays, length(paths)))
read_all(::DsMany, paths) = last(NDFile.read_many(paths))
read_fresh(::DsMany, case, path) = throw(Skip("it reads many files"))

# ---- ndfile, RawArray

struct Ra <: Contender
    commit::Symbol
end

extension(::Ra) = ".ra"
function content(::Ra, case, folder)
    length(case.names) == 1 || throw(Skip("a RawArray file holds one array"))
    return elements(case)
end
write_file(c::Ra, path, x) = NDFile.save(path, x; commit=c.commit)
read_file(::Ra, path) = NDFile.read(path)
read_into!(::Ra, path, out) = NDFile.read!(path, out)
map_sum(::Ra, case, path) = NDFile.open(f -> sum(NDFile.mmap(f.array)), path)

# ---- The bare calls, for the bytes of the same ds file, in which nothing is looked up: the arrays are at its end

struct Syscalls <: Contender end

extension(::Syscalls) = ".ds"

const O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_CLOEXEC = 0, 0o1, 0o100, 0o1000, 0o2000000 # Linux
const ROOM = 64 << 10 # bytes that one read of a small file asks for

check_call(ok, path) = ok || error("$path: $(Libc.strerror())")

function open_file(path, flags)
    fd = ccall(:open, Cint, (Cstring, Cint, Base.Cmode_t...), path, flags | O_CLOEXEC, 0o666)
    check_call(fd >= 0, path)
    return fd
end

close_file(fd, path) = check_call(ccall(:close, Cint, (Cint,), fd) == 0, path)

content(::Syscalls, case, folder) = mktempdir(dirname(folder)) do beside
    sample = joinpath(beside, "sample.ds")
    write_file(Ds(:direct), sample, content(Ds(:direct), case, folder))
    return read(sample)
end

function write_file(::Syscalls, path, bytes)
    fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC)
    done = 0
    while done < length(bytes)
        n = GC.@preserve bytes ccall(:write, Cssize_t, (Cint, Ptr{UInt8}, Csize_t), fd, pointer(bytes, 1 + done),
            length(bytes) - done)
        check_call(n >= 0, path)
        done += n
    end
    close_file(fd, path)
end

# Memory for a file, which begins in it so that its elements do not lie askew.
struct Room{T}
    memory::Vector{T}
    start::Int # in bytes
    size::Int  # of the file, in bytes
    elements::Int # number of the first
end

function Room(case::Case{T}, path) where {T}
    size = filesize(path)
    header = size - length(case.names) * prod(case.size) * sizeof(T)
    start = mod(-header, sizeof(T))
    return Room(Vector{T}(undef, cld(start + max(size, ROOM), sizeof(T))), start, size, (start + header) ÷ sizeof(T) + 1)
end

function buffer(::Syscalls, case, path)
    room = Room(case, path)
    fill!(room.memory, 77)
    return room
end

function read_into!(::Syscalls, path, room::Room)
    fd = open_file(path, O_RDONLY)
    at, size, done = Ptr{UInt8}(pointer(room.memory)) + room.start, sizeof(room.memory) - room.start, 0
    while done < room.size
        n = GC.@preserve room ccall(:pread, Cssize_t, (Cint, Ptr{UInt8}, Csize_t, Int64), fd, at + done, size - done, done)
        check_call(n > 0, path)
        done += n
    end
    close_file(fd, path)
end

function read_fresh(c::Syscalls, case, path)
    room = Room(case, path)
    read_into!(c, path, room)
    return room
end

function pick(::Syscalls, case, room::Room)
    n = prod(case.size)
    return (reshape(view(room.memory, range(room.elements + i * n, length=n)), case.size) for i in 0:length(case.names)-1)
end

const CONTENDERS = Dict("syscalls" => Syscalls(), "ds-direct" => Ds(:direct), "ds" => Ds(:atomic), "ds-many" => DsMany(),
    "ra-direct" => Ra(:direct), "ra" => Ra(:atomic))
