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

function Base.show(io::IO, a::NDArray{T,N}) where {T,N}
    dims = hasdata(a) ? Base.dims2string(size(a)) : "no data"
    print(io, dims, " NDArray{", T, ",", N, "} ", repr(a.name), " of ", repr(a.file.path))
    isopen(a.handle) || return print(io, " (closed)")
    haschunks(a) && print(io, ", chunks of ", Base.dims2string(a.chunks))
    a.compression === nothing || print(io, ", ", join(a.compression, " "))
end
Base.show(io::IO, ::MIME"text/plain", a::NDArray) = show(io, a)
Base.summary(io::IO, a::NDArray) = show(io, a)

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

function check_block(a::NDArray, x, ranges)
    all(r -> step(r) >= 1, ranges) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "$(place(a)): expected steps of 1 or more, found $ranges"))
    checkbounds(a, ranges...)
    dims = map(length, ranges)
    size(x) == dims || throw(DimensionMismatch("a block of size $dims, an array of size $(size(x))"))
    return nothing
end

# Indexing

read_all(a::NDArray{T,N}) where {T,N} = read_box(T, a, map(clean, axes(a)))::Array{T,N}

# Indices as numbers, ranges and vectors; a mask becomes the places where it is true.
function places(a::NDArray, indices)
    J = to_indices(a, indices)
    checkbounds(a, J...)
    return map(j -> j isa Base.LogicalIndex ? collect(j) : j, J)
end

function Base.getindex(a::NDArray{T,N}, i::Vararg{Int,N}) where {T,N}
    number(a) # closed files have no elements, known or not
    @boundscheck checkbounds(a, i...)
    check_scalar(a)
    return near(a, i)::T
end

# The type of the result follows from the types of the indices, whatever happens inside.
function Base.getindex(a::NDArray{T,N}, indices...) where {T,N}
    J = places(a, indices)
    return typed(T, J, getplaces(a, J))
end

# An entry for each axis of the result.
axes_of() = ()
axes_of(::Integer, J...) = axes_of(J...)
axes_of(::AbstractArray{<:Any,M}, J...) where {M} = (ntuple(_ -> true, Val(M))..., axes_of(J...)...)

typed(::Type{T}, ::Tuple{Vararg{Integer}}, x) where {T} = x::T
typed(::Type{T}, J::Tuple, x) where {T} = x::array_of(T, axes_of(J...))
array_of(::Type{T}, ::NTuple{M,Bool}) where {T,M} = Array{T,M}

function getplaces(a::NDArray{T,N}, J) where {T,N}
    if all(j -> j isa Integer, J)
        check_scalar(a)
        at = N == 0 ? () : length(J) == 1 ? CartesianIndices(a)[J[1]].I : ntuple(d -> d <= length(J) ? Int(J[d]) : 1, N)
        return near(a, at)
    end
    N == 0 && return fill(near(a, ()))[J...]
    any(j -> eltype(j) <: CartesianIndex, J) && return read_all(a)[J...]
    length(J) == 1 && N > 1 && return getlinear(a, J[1])
    K = ntuple(d -> d <= length(J) ? pick(J[d]) : pick(1), N)
    ranges = map(first, K)
    if length(J) >= N && scattered(a, J[N], ranges)
        block = take(T, a, vec(J[N]))
        last_axis = J[N] isa AbstractVector ? Colon() : reshape(axes(block, N), size(J[N]))
        inside = (map(j -> j isa Base.Slice ? Colon() : j, J[1:N-1])..., last_axis)
    else
        block, inside = read_box(T, a, ranges), map(last, K)
    end
    length(J) <= N && all(i -> i isa Colon, inside) && return block
    return block[inside..., J[N+1:end]...]
end

# Whether entries of the last axis are fewer elements than what lies between them.
function scattered(a::NDArray{<:Any,N}, rows, ranges) where {N}
    rows isa AbstractArray && !(rows isa OrdinalRange) && a.type.kind != 'v' || return false
    return length(rows) * prod(size(a)[1:N-1]) < prod(map(length, ranges))
end

# What to read for the index of an axis, and where the result lies in that.
pick(i::Integer) = clean(i:i), 1
function pick(r::OrdinalRange{<:Integer})
    length(r) <= 1 && return clean(r), Colon()
    return step(r) > 0 ? (clean(r), Colon()) : (clean(reverse(r)), length(r):-1:1)
end
function pick(v::AbstractArray)
    isempty(v) && return clean(1:0), v
    low, high = extrema(v)
    return clean(low:high), v .- (low - 1)
end

# An index that counts elements: only the slices along the last axis that it touches are read.
function getlinear(a::NDArray{T,N}, i) where {T,N}
    i isa Base.Slice && return read_all(a)[:]
    isempty(i) && return Array{T}(undef, size(i))
    slice = prod(size(a)[1:N-1])
    low, high = (extrema(i) .- 1) .÷ slice
    block = read_box(T, a, map(clean, (axes(a)[1:N-1]..., low+1:high+1)))
    return block[i.-low*slice]
end

function Base.setindex!(a::NDArray{T,N}, value, indices...) where {T,N}
    J = places(a, indices)
    if all(j -> j isa Integer, J)
        check_scalar(a)
        at = N == 0 ? () : length(J) == 1 ? CartesianIndices(a)[J[1]].I : ntuple(d -> d <= length(J) ? J[d] : 1, N)
        setaxes!(a, fill(value, map(_ -> 1, at)), map(i -> i:i, at))
    elseif length(J) == 1 && N != 1 && J[1] isa AbstractUnitRange{<:Integer}
        values = value isa AbstractArray ? value : fill(value, length(J[1]))
        Base.setindex_shape_check(values, length(J[1]))
        isempty(J[1]) || setlinear!(a, Int(first(J[1])), values, firstindex(values), length(values))
    elseif length(J) != N || any(j -> eltype(j) <: CartesianIndex, J)
        # Elements here and there.
        elements = CartesianIndices(a)[J...]
        values = value isa AbstractArray ? value : fill(value, size(elements))
        Base.setindex_shape_check(values, size(elements)...)
        for (x, i) in zip(values, elements)
            a[i] = x
        end
    else
        axes = map(j -> j isa Integer ? (j:j) : j, J)
        lengths = map(length, axes)
        x = value isa AbstractArray ? value : fill(value, lengths)
        Base.setindex_shape_check(x, map(length, J)...)
        setaxes!(a, reshape(x isa NDArray ? read_all(x) : x, lengths), axes)
    end
    return a
end

# Writes x, which has a length of 1 where the index of an axis is a number: one block, or one for each entry of a vector
# of indices.
function setaxes!(a::NDArray, x::AbstractArray, axes)
    d = findfirst(j -> !(j isa OrdinalRange), axes)
    if d !== nothing
        for (k, i) in enumerate(axes[d])
            setaxes!(a, selectdim(x, d, k:k), Base.setindex(axes, i:i, d))
        end
    elseif any(j -> step(j) < 0, axes)
        forward = map(j -> step(j) < 0 ? (length(j):-1:1) : (1:length(j)), axes)
        writeblock!(a, x[forward...], map(j -> step(j) < 0 ? reverse(j) : j, axes)...)
    else
        writeblock!(a, x, axes...)
    end
    return nothing
end

# What would fetch or store many single elements in Base works on blocks.

Base.copyto!(out::Array, a::NDArray) = copyto!(out, read_all(a))

# Ranges of the last axis whose slices fit into the budget together, of whole chunks.
function slabs(a::NDArray{<:Any,N}) where {N}
    n = size(a, N)
    step = max(1, budget(a) ÷ max(1, prod(size(a)[1:N-1])))
    haschunks(a) && (step = cld(step, a.chunks[N]) * a.chunks[N])
    return (k:min(k + step - 1, n) for k in 1:step:n)
end

inner(a::NDArray{<:Any,N}) where {N} = ntuple(d -> 1:size(a, d), N - 1)

const Views{N} = SubArray{<:Any,N,<:NDArray}

function Broadcast.materialize!(out::NDArray, x::Broadcast.Broadcasted)
    b = Broadcast.instantiate(Broadcast.Broadcasted{Broadcast.DefaultArrayStyle{ndims(out)}}(x.f, x.args, axes(out)))
    if length(out) <= budget(out) || any(arg -> overlaps(arg, out), Broadcast.flatten(b).args)
        return setindex!(out, copyto!(Array{eltype(out)}(undef, size(out)), b), axes(out)...)
    end
    for slab in slabs(out)
        places = CartesianIndices((inner(out)..., slab))
        values = Array{eltype(out)}(undef, size(places))
        for (k, i) in enumerate(places)
            @inbounds values[k] = b[i]
        end
        writeblock!(out, values, places.indices...)
    end
    return out
end

# Whether x shows elements of the file of out elsewhere than out does.
overlaps(x::NDArray, out) = x !== out && x.file.path == out.file.path
overlaps(x::AbstractArray, out) = parent(x) !== x && (parent(x) === out || overlaps(parent(x), out))
overlaps(x, out) = false

function Broadcast.materialize!(out::Views, x::Broadcast.Broadcasted)
    values = Array{eltype(out)}(undef, size(out))
    Broadcast.materialize!(values, x)
    setindex!(parent(out), values, parentindices(out)...)
    return out
end

Base.fill!(a::Union{NDArray,Views}, x) = a .= Ref(Base.convert(eltype(a), x))

function Base.copyto!(a::NDArray{<:Any,N}, x::AbstractArray) where {N}
    length(x) <= length(a) || throw(BoundsError(a, length(x)))
    size(x) == size(a) && N > 0 || return setlinear!(a, 1, x, 1, length(x))
    for slab in slabs(a)
        writeblock!(a, x[ntuple(_ -> Colon(), N - 1)..., slab], inner(a)..., slab)
    end
    return a
end

function Base.copyto!(a::NDArray, to::Integer, x::AbstractArray, from::Integer=firstindex(x), n::Integer=length(x) - (from - firstindex(x)))
    n < 0 && throw(ArgumentError("tried to copy n=$n elements, but n should be nonnegative"))
    n == 0 && return a
    checkbounds(a, to:to+n-1)
    checkbounds(x, from:from+n-1)
    return setlinear!(a, Int(to), x, from, n)
end

function Base.copyto!(out::Views, x::AbstractArray)
    size(out) == size(x) || return invoke(copyto!, Tuple{AbstractArray,AbstractArray}, out, x)
    setindex!(parent(out), x, parentindices(out)...)
    return out
end

# Stores n elements of x, from number `from` on, as elements number `to` and on: at most two boxes for each axis.
function setlinear!(a::NDArray{<:Any,N}, to::Int, x::AbstractArray, from::Integer, n::Integer) where {N}
    dims = size(a)
    while n > 0
        at = N == 0 ? () : CartesianIndices(dims)[to].I
        d, size_of = 1, 1 # slices of size_of elements along axis d
        while d < N && at[d] == 1 && n >= size_of * dims[d]
            size_of *= dims[d]
            d += 1
        end
        k = N == 0 ? 1 : min(n ÷ size_of, dims[d] - at[d] + 1, max(1, budget(a) ÷ size_of))
        box = ntuple(e -> e < d ? (1:dims[e]) : e == d ? (at[e]:at[e]+k-1) : (at[e]:at[e]), N)
        count = k * size_of
        writeblock!(a, reshape(x[from:from+count-1], map(length, box)), box...)
        to, from, n = to + count, from + count, n - count
    end
    return a
end
