# Reading by indices: what is asked for becomes one box, or entries along the last axis.

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
