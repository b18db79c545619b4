# Writing by indices, and the functions of Base that store many elements: block by block.

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
    b = Broadcast.instantiate(Broadcast.Broadcasted{FileStyle{ndims(out)}}(x.f, x.args, axes(out)))
    if length(out) <= budget(out) || overlaps(b, out)
        return setindex!(out, compute!(Array{eltype(out)}(undef, size(out)), b, axes(out)), axes(out)...)
    end
    for slab in slabs(out)
        ranges = (inner(out)..., slab)
        writeblock!(out, compute!(Array{eltype(out)}(undef, map(length, ranges)), b, ranges), ranges...)
    end
    return out
end

# Whether x shows elements of the file of out elsewhere than out does.
overlaps(x::NDArray, out) = x !== out && x.file.path == out.file.path
overlaps(x::AbstractArray, out) = parent(x) !== x && (parent(x) === out || overlaps(parent(x), out))
overlaps(b::Broadcast.Broadcasted, out) = any(x -> overlaps(x, out), b.args)
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
