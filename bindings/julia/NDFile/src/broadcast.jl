# Broadcasts of arrays in files are lazy, as these are: elements are computed when they are asked for, block by block.

struct FileStyle{N} <: Broadcast.AbstractArrayStyle{N} end
FileStyle{M}(::Val{N}) where {M,N} = FileStyle{N}()

Base.BroadcastStyle(::Type{<:NDArray{<:Any,N}}) where {N} = FileStyle{N}()
Base.BroadcastStyle(::Type{<:Views{N}}) where {N} = FileStyle{N}()
Base.BroadcastStyle(::FileStyle{N}, ::Broadcast.DefaultArrayStyle{M}) where {N,M} = FileStyle{max(N, M)}()

const Recipe = Broadcast.Broadcasted

"""
    NDFile.LazyBroadcast

What a broadcast of arrays in files gives, `a .+ 1` or `sqrt.(a) .* b`: an array that computes its elements when they are asked for,
in blocks of bounded memory. It reads the files again each time, and they have to be open. `collect` makes an `Array` of it,
`out .= a .+ 1` stores it, in memory or in a file; sums and their like, also with `dims`, take one block after the other.

# Example
```julia
NDFile.save("t.ds", "t" => [270.5 271.0; 280.25 281.5])
NDFile.open("t.ds") do f
    celsius = f["t"] .- 273.15                       # nothing is read yet
    @assert celsius[:, 1] ≈ [-2.65, 7.1]
    @assert maximum(celsius) ≈ 8.35 && collect(celsius) isa Matrix{Float64}
end
```
"""
struct LazyBroadcast{T,N,R<:Recipe} <: AbstractArray{T,N}
    recipe::R
end

function Base.copy(b::Recipe{FileStyle{N}}) where {N}
    T = Broadcast.combine_eltypes(b.f, b.args)
    return LazyBroadcast{T,N,typeof(b)}(b)
end
Base.copy(b::Recipe{FileStyle{0}}) = b[CartesianIndex()]

Base.broadcastable(x::LazyBroadcast) = x.recipe
Base.size(x::LazyBroadcast) = map(length, axes(x.recipe))
Base.getindex(x::LazyBroadcast{<:Any,N}, i::Vararg{Int,N}) where {N} = (@boundscheck checkbounds(x, i...); x.recipe[CartesianIndex(i)])

const Plain = Union{Integer,Colon,OrdinalRange{<:Integer}}
function Base.getindex(x::LazyBroadcast{T,N}, indices::Vararg{Plain,N}) where {T,N}
    J = to_indices(x, indices)
    checkbounds(x, J...)
    ranges = map(j -> j isa Integer ? (j:j) : j, J)
    block = compute!(Array{T}(undef, map(length, ranges)), x.recipe, ranges)
    return reshape(block, map(length, filter(j -> !(j isa Integer), J)))
end

# Stores the elements of a box.
function compute!(out, b::Recipe, ranges)
    args = map(x -> piece(x, ranges), b.args)
    return copyto!(out, Recipe{Broadcast.DefaultArrayStyle{ndims(out)}}(b.f, args, axes(out)))
end

# The part of an argument that a box of the result is made of; axes of length 1 are repeated.
piece(x, ranges) = x
piece(b::Recipe, ranges) = Broadcast.broadcasted(b.f, map(x -> piece(x, ranges), b.args)...)
piece(a::NDArray{<:Any,0}, ranges) = fill(a[])
piece(a::NDArray, ranges) = a[within(a, ranges)...]
piece(v::Views, ranges) = ndims(v) == 0 ? fill(v[]) : parent(v)[Base.reindex(v.indices, within(v, ranges))...]
piece(x::AbstractArray, ranges) = view(x, within(x, ranges)...)
piece(x::Tuple, ranges) = length(x) == 1 ? x : x[ranges[1]]

within(x::AbstractArray{<:Any,N}, ranges) where {N} = ntuple(d -> size(x, d) == 1 ? (1:1) : d <= length(ranges) ? ranges[d] : (1:1), Val(N))

# Boxes of whole entries along the last axis, which fit into the budgets and, as far as that goes, begin with chunks.
function boxes(b::Recipe)
    all, files = map(length, axes(b)), arrays(b)
    entry = max(1, prod(Base.front(all)))
    step = max(1, minimum(map(budget, files)) ÷ entry)
    chunk = maximum(map(a -> haschunks(a) && ndims(a) == length(all) ? last(a.chunks) : 1, files))
    step = max(chunk, step - step % chunk)
    inner = map(n -> 1:n, Base.front(all))
    return ((inner..., k:min(k + step - 1, last(all))) for k in 1:step:last(all))
end

arrays(b::Recipe) = reduce(vcat, map(arrays, b.args))
arrays(a::NDArray) = Any[a]
arrays(v::Views) = Any[parent(v)]
arrays(x) = Any[]

function Base.copyto!(out::AbstractArray, b::Recipe{<:FileStyle})
    axes(out) == axes(b) || Broadcast.throwdm(axes(out), axes(b))
    ndims(out) == 0 && (out[] = b[CartesianIndex()]; return out)
    apart = unaliased(out, b)
    for ranges in boxes(b)
        compute!(view(out, ranges...), apart, ranges)
    end
    return out
end

# Arguments in the memory of the result are copied, unless they are the result.
unaliased(out, b::Recipe) = Recipe{Broadcast.DefaultArrayStyle{length(axes(b))}}(b.f, map(x -> unaliased(out, x), b.args), axes(b))
unaliased(out, x) = Broadcast.broadcast_unalias(out, x)

Base.copyto!(out::Array, x::LazyBroadcast) = size(out) == size(x) ? copyto!(out, x.recipe) : copyto!(out, collect(x))
Base.collect(x::LazyBroadcast{T}) where {T} = copyto!(Array{T}(undef, size(x)), x.recipe)
Base.copy(x::LazyBroadcast) = collect(x)

function Base._mapreduce(f, op, ::IndexCartesian, x::LazyBroadcast)
    isempty(x) && return mapreduce(f, op, collect(x))
    return mapreduce(ranges -> mapreduce(f, op, x[ranges...]), op, boxes(x.recipe))
end

function Base.mapreducedim!(f, op, out::AbstractArray, x::LazyBroadcast{<:Any,N}) where {N}
    for ranges in boxes(x.recipe)
        part = view(out, ntuple(d -> d < N || size(out, d) == 1 ? axes(out, d) : ranges[d], Val(N))...)
        Base.mapreducedim!(f, op, part, x[ranges...])
    end
    return out
end

Base.show(io::IO, x::LazyBroadcast) = print(io, join(size(x), '×'), " LazyBroadcast{", eltype(x), "}")
Base.show(io::IO, ::MIME"text/plain", x::LazyBroadcast) = show(io, x)
