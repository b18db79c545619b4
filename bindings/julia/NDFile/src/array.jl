"""
    NDArray{T,N} <: AbstractArray{T,N}

One array of an open [`NDFile.File`](@ref). Nothing is read before it is indexed, and only what the index needs; the results
are ordinary arrays. `T` is `Union{Missing,S}` where elements can be missing.

`a[1:10, :, 3]`, `a[end:-2:1]`, `a[[1, 5], :]`, `a[mask]` read as from an `Array`. `a[1:10, :] = x` and `a[1:10, :] .= x`
write, in files that are open for writing. Numbers and ranges of any step become one read each; of a vector of indices the
box around it is read, or on the last axis the entries alone where these are fewer, each chunk once; a vector assigns slice by
slice. `a .= x`, `fill!` and `copyto!` write block by block.

Functions of Base that fetch single elements (`for x in a`, `permutedims`, `findall`, `sum(view(a, ...))`, reductions along axes)
take few reads: an array keeps a box of up to 16 MiB around the last element, and reads a larger one while its neighbours are asked for.
Until this object writes, or its size changes, such an element may be the one of before when another object or process has
changed the file; ranges are always read anew. A single element that is assigned costs a call.

The axes are the file's in reverse order, the first varies fastest: no data moves. For `.ra` files they are the
dims of the file.

- `a.name`; `a.attrs`, like a `Dict`; `a.dims`, the names of the axes or `nothing`, in the order of `size(a)`
- `a.dtype`, the stored dtype's name in the library, such as `">f4"`; [`bfloat16`](@ref) and [`NDFile.timeunit`](@ref)
  help with dtypes that Julia has no type for
- `a.masked`: elements can be missing
- `a.chunks`: the size of a chunk in elements, in the order of `size(a)`, or `nothing`; see [`NDFile.eachchunk`](@ref)
- `a.compression`: how new chunks are compressed, a `NamedTuple` of `codec`, `level` and `shuffle` as
  [`NDFile.create`](@ref) takes it, or `nothing`
- `a.fillvalue`: the value of elements that were never written, or `nothing`, where they are zero
- `a.extra`: metadata in the format's own terms

`append!` and `resize!` change the size, where the format can. `sum`, `minimum`, `maximum`, `extrema` and `mean` of numbers go
through the file block by block, also of `skipmissing(a)`; a sum of integers that does not fit is an error.

An array that has metadata but no data has no size: see [`NDFile.hasdata`](@ref).
"""
struct NDArray{T,N} <: AbstractArray{T,N}
    file::File
    name::String
    handle::Handle
    type::DType
    dtype::String
    extent::Base.RefValue{Any} # an NTuple{N,Int}, replaced as a whole: other tasks see the old size or the new one
    flags::UInt32
    memory::Memory{T,N}
end

function NDArray(file::File, name::String, handle::Handle)
    flags, dtype, size = GC.@preserve handle describe(handle.value[]) do p
        field(p, Val(:flags)), unsafe_string(field(p, Val(:dtype))), extents(p, Val(:shape))
    end
    isempty(dtype) && (dtype = GC.@preserve handle text(ndf_array_get_dtype, handle.value[]))
    d = DType(dtype)
    if d === nothing
        d = DType{Missing}(dtype, 'V', 0)
    end
    T = flags & NDF_ARRAY_MASKED == 0 ? eltype(d) : Union{Missing,eltype(d)}
    N = length(size)
    return NDArray{T,N}(file, name, handle, d, dtype, Ref{Any}(size), flags, Memory{T,N}())
end

# What fn makes of the address of an ndf_array_info. The caller keeps what the number belongs to.
function describe(fn, array::UInt64)
    info = zeroed(ndf_array_info)
    GC.@preserve info begin
        p = address(info)
        call(ndf_array_get_info, array, p)
        return fn(p)
    end
end

describe(fn, a::NDArray) = GC.@preserve a describe(fn, number(a))

# A field of numbers for each axis, in Julia's order.
function extents(p::Union{Ptr{ndf_array_info},Ptr{ndf_load_info}}, name::Val)
    ndim = Int(field(p, Val(:ndim)))
    return ntuple(i -> Int(unsafe_load(field(p, name), ndim + 1 - i)), ndim)
end

# After the size has changed.
function refresh!(a::NDArray)
    a.extent[] = describe(p -> extents(p, Val(:shape)), a)
    return forget!(a.memory)
end

function number(a::NDArray)
    n = getfield(a, :handle).value[]
    n == 0 && throw(NDFileError(NDF_ERR_HANDLE, "$(place(a)): the file is closed"))
    return n
end

# For messages.
place(f::File) = f.path
place(a::NDArray) = Place(a.file.path, a.file.kind === :array ? nothing : a.name)

Base.isopen(a::NDArray) = isopen(getfield(a, :handle))

# Closing the file does this.
function Base.close(a::NDArray)
    n = claim!(a.handle)
    n == 0 || call(ndf_array_close, n)
    return nothing
end

"""
    NDFile.hasdata(a::NDArray) -> Bool

Whether the array has a size and elements. Variables of ds files can have metadata only: `size` and indexing throw then, and
[`NDFile.read`](@ref) gives `nothing`.
"""
hasdata(a::NDArray) = getfield(a, :flags) & NDF_ARRAY_NO_DATA == 0

"""
    NDFile.timeunit(a::NDArray) -> String

The unit that the `Int64` elements of a dtype `M8` (since 1970) or `m8` (durations) count, such as `"ns"` or `"25s"`; `""`
where there is none. [`NDFile.dates`](@ref) makes dates of them.
"""
timeunit(a::NDArray) = unit_of(a.dtype)

function unit_of(dtype)
    m = match(r"^.[Mm]8\[(.*)\]$", dtype)
    return m === nothing ? "" : String(m[1])
end

Base.propertynames(::NDArray) =
    (:file, :name, :attrs, :dims, :dtype, :masked, :chunks, :compression, :fillvalue, :extra)

function Base.getproperty(a::NDArray, name::Symbol)
    name === :attrs && return Attrs(a)
    name === :masked && return a.flags & NDF_ARRAY_MASKED != 0
    name === :extra && return GC.@preserve a parse_json(text(ndf_array_get_extra, number(a)))
    if name === :dims
        list = GC.@preserve a parse_json(text(ndf_array_get_dims, number(a)))
        return list === nothing ? nothing : Tuple(reverse(list))
    end
    name === :chunks && return chunks(a)
    name === :compression && return compression(a)
    name === :fillvalue && return fillvalue(a)
    return getfield(a, name)
end

function Base.size(a::NDArray{<:Any,N}) where {N}
    hasdata(a) || throw(NDFileError(NDF_ERR_NO_DATA, "$(place(a)): the array has metadata but no data"))
    return getfield(a, :extent)[]::NTuple{N,Int}
end

Base.IndexStyle(::Type{<:NDArray}) = IndexCartesian()

# Reading and writing boxes

"A box as the library takes it: start, count and step of each axis, in its order."
function box(ranges)
    r = reverse(ranges)
    return Int64[first(x) - 1 for x in r], Int64[length(x) for x in r], Int64[step(x) for x in r]
end

# A range for an axis of a box. An empty one is 1:0, wherever it begins; that of one element has step 1.
function clean(r::OrdinalRange)
    return isempty(r) ? (1:1:0) : length(r) == 1 ? (Int(first(r)):1:Int(first(r))) : (Int(first(r)):Int(step(r)):Int(last(r)))
end

# Boxes of more elements are tried before memory is taken for them.
const TRIED_ELEMENTS = 1 << 20

"""
The elements of a box, with missing where T allows it; steps are 1 or more. A file can claim any size: that it holds the last
element of a large box is seen before anything is allocated.
"""
function read_box(::Type{T}, a::NDArray, ranges) where {T}
    if prod(map(Float64 ∘ length, ranges)) > TRIED_ELEMENTS
        read_box(T, a.type, a, map(r -> last(r):1:last(r), ranges))
    end
    return read_box(T, a.type, a, ranges)
end

# Calls that moved elements of arrays, for tests.
const CALLS = Threads.Atomic{Int}(0)

function read_box(::Type{T}, d::DType, a::NDArray, ranges) where {T}
    Threads.atomic_add!(CALLS, 1)
    dims = map(length, ranges)
    place = length(dims), box(ranges)...
    d.kind == 'v' && return read_variable(T, d, a, dims, place)
    return read_fixed(T, d, a, dims, ndf_array_read, place)
end

# Elements of fixed size as a function of the library gives them, which takes the array, the place, and where they go.
function read_fixed(::Type{T}, d::DType{S}, a::NDArray, dims, read, place) where {T,S}
    n = prod(dims)
    mask = Missing <: T ? Vector{UInt8}(undef, n) : nothing
    GC.@preserve a mask begin
        if isbitstype(S) && T === S && (d.plain || d.kind == 'b')
            out = Array{S}(undef, dims)
            GC.@preserve out begin
                call(read, number(a), place..., NULL_TEXT, pointer(out), C_NULL, address(mask))
                d.kind == 'b' && normalize!(Ptr{UInt8}(pointer(out)), n)
            end
            return out
        end
        data = Vector{UInt8}(undef, n * d.size)
        GC.@preserve data begin
            call(read, number(a), place..., NULL_TEXT, data, C_NULL, address(mask))
            return unpack(d, T, dims, pointer(data), Ptr{Int64}(C_NULL), Ptr{UInt8}(address(mask)))
        end
    end
end

# Entries along the last axis by their numbers, in any order.
function take(::Type{T}, a::NDArray{<:Any,N}, rows) where {T,N}
    dims = (size(a)[1:N-1]..., length(rows))
    if prod(map(Float64, dims)) > TRIED_ELEMENTS
        read_box(T, a.type, a, (map(n -> n:1:n, dims[1:N-1])..., last(rows):1:last(rows)))
    end
    Threads.atomic_add!(CALLS, 1)
    return read_fixed(T, a.type, a, dims, ndf_array_take, (Int64[i - 1 for i in rows], length(rows)))
end

# Every byte that is not 0 is true, but only 1 is a Bool.
function normalize!(p::Ptr{UInt8}, n)
    for i in 1:n
        unsafe_store!(p, unsafe_load(p, i) != 0x00, i)
    end
end

function read_variable(::Type{T}, d, a, dims, place) where {T}
    n = prod(dims)
    mask = Missing <: T ? Vector{UInt8}(undef, n) : nothing
    offsets, need = Vector{Int64}(undef, n + 1), Ref{Int64}(0)
    data = Vector{UInt8}(undef, 1 << 12)
    GC.@preserve a data offsets mask begin
        while true
            need[] = length(data)
            try
                call(ndf_array_read_strings, number(a), place..., offsets, data, need, address(mask))
                break
            catch e
                e isa NDFileError && e.code == NDF_ERR_BUFFER && need[] > length(data) || rethrow()
                resize!(data, need[])
            end
        end
        return unpack(d, T, dims, pointer(data), pointer(offsets), Ptr{UInt8}(address(mask)))
    end
end

"Stores elements in a box; steps are 1 or more."
function write_box(a::NDArray, x::Elements, ranges)
    start, count, by = box(map(clean, ranges))
    data, offsets, mask = x.data, x.offsets, x.mask
    Threads.atomic_add!(CALLS, 1)
    forget!(a.memory)
    GC.@preserve a data offsets mask begin
        if x.dtype.kind == 'v'
            call(ndf_array_write_strings, number(a), length(count), start, count, by, address(offsets), address(data),
                address(mask))
        else
            call(ndf_array_write, number(a), length(count), start, count, by, NULL_TEXT, address(data), C_NULL, address(mask))
        end
    end
    forget!(a.memory) # what another task has read meanwhile
    return nothing
end

"""
    NDFile.readblock!(a::NDArray, out, ranges...)

Reads the box of the given ranges, one for each axis, into `out`, which has its size: the primitive of all reading,
as DiskArrays.jl wants it. Steps are 1 or more. Where elements are missing `out` has to take `missing`.

# Example
```julia
NDFile.save("block.ds", "x" => reshape(1:12, 3, 4))
out = zeros(Int, 2, 4)
NDFile.open(f -> NDFile.readblock!(f["x"], out, 2:3, 1:4), "block.ds")
@assert out == [2 5 8 11; 3 6 9 12]
```
"""
function readblock!(a::NDArray{T,N}, out::AbstractArray, ranges::Vararg{OrdinalRange{<:Integer},N}) where {T,N}
    check_block(a, out, ranges)
    try
        read_block!(a, out, ranges)
    catch e
        e isa NDFileError && e.code == NDF_ERR_MASKED || rethrow()
        throw(missing_error(a, ranges, e))
    end
    return nothing
end

function read_block!(a::NDArray{T,N}, out, ranges) where {T,N}
    if a.type.plain && !(Missing <: eltype(out)) && out isa Contiguous{eltype(a.type)}
        start, count, by = box(map(clean, ranges))
        Threads.atomic_add!(CALLS, 1)
        GC.@preserve a out call(ndf_array_read, number(a), N, start, count, by, NULL_TEXT, pointer(out), C_NULL, C_NULL)
    else
        copyto!(out, read_box(Missing <: eltype(out) ? T : nonmissingtype(T), a, map(clean, ranges)))
    end
    return nothing
end

"""
    NDFile.readnarrow(T, a::NDArray, ranges...) -> Array{T}

Reads a box, by a range for each axis (none: the whole array), as elements of a type that need not hold every value of the stored
one, but has to hold those that are there: `Float64` as `Float32` (rounded), `Int32` as `Int16`, whole floats as integers. An
element that does not fit is `NDF_ERR_VALUE`, with its index.

# Example
```julia
NDFile.save("narrow.ds", "x" => [1.5, -2.25])
@assert NDFile.open(f -> NDFile.readnarrow(Float32, f["x"]), "narrow.ds") == Float32[1.5, -2.25]
```
"""
function readnarrow(::Type{T}, a::NDArray{<:Any,N}, ranges::Vararg{OrdinalRange{<:Integer},N}) where {T<:Numbers,N}
    check_steps(a, ranges)
    out = Array{T}(undef, map(length, ranges))
    start, count, by = box(map(clean, ranges))
    Threads.atomic_add!(CALLS, 1)
    try
        GC.@preserve a out call(ndf_array_read_narrow, number(a), N, start, count, by, dtype_name(T), pointer(out), C_NULL, C_NULL)
    catch e
        e isa NDFileError && e.code in (NDF_ERR_VALUE, NDF_ERR_MASKED) || rethrow()
        throw(e.code == NDF_ERR_MASKED ? missing_error(a, ranges, e) : NDFileError(e.code, from_one(e.message)))
    end
    return out
end
readnarrow(::Type{T}, a::NDArray) where {T} = readnarrow(T, a, axes(a)...)

# "element [4, 0]" of the library is [1, 5] here.
function from_one(message)
    m = match(r"element \[([0-9, ]*)\]", message)
    m === nothing && return message
    at = reverse([parse(Int, i) + 1 for i in Base.split(m[1], ", ")])
    return replace(message, m.match => "element [$(join(at, ", "))]")
end

# The library counts from 0 and through the box; here the index is that of the array.
function missing_error(a::NDArray{T}, ranges, e) where {T}
    i = findfirst(ismissing, read_box(T, a, map(clean, ranges)))
    i === nothing && return e
    at = join(map((r, k) -> r[k], ranges, Tuple(i)), ", ")
    return NDFileError(NDF_ERR_MASKED, "$(place(a)): element [$at] is missing, and the result cannot hold `missing`")
end

"""
    NDFile.writeblock!(a::NDArray, x, ranges...)

Stores `x` in the box of the given ranges, one for each axis: the primitive of all writing, as DiskArrays.jl wants
it. Steps are 1 or more. Elements are converted as an assignment to an `Array` does it.
"""
function writeblock!(a::NDArray{<:Any,N}, x::AbstractArray, ranges::Vararg{OrdinalRange{<:Integer},N}) where {N}
    check_block(a, x, ranges)
    write_box(a, prepare(x, place(a), a.type), ranges)
    return nothing
end

function check_steps(a::NDArray, ranges)
    all(r -> step(r) >= 1, ranges) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "$(place(a)): expected steps of 1 or more, found $ranges"))
    checkbounds(a, ranges...)
end

function check_block(a::NDArray, x, ranges)
    check_steps(a, ranges)
    dims = map(length, ranges)
    size(x) == dims || throw(DimensionMismatch("a block of size $dims, an array of size $(size(x))"))
    return nothing
end
