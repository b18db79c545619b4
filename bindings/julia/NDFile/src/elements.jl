# Elements on their way between Julia arrays and the library's memory.
#
# Julia shows the axes in reverse order: what is row-major for the library is column-major here, and no data moves.

const Contiguous{S} = Union{Array{S},Base.FastContiguousSubArray{S,<:Any,<:Array}}

# From the library: n elements of dtype d as an Array{T}. offsets delimit elements of variable length; mask has a byte an
# element, 1 = missing; each is NULL where there is none.
function unpack(d::DType{S}, ::Type{T}, dims::Dims, data::Ptr{UInt8}, offsets::Ptr{Int64}, mask::Ptr{UInt8}) where {S,T}
    out = Array{T}(undef, dims)
    if isbitstype(S) && d.plain && mask == C_NULL
        unpack_plain!(out, Ptr{S}(data))
    else
        for i in 1:length(out)
            missed = mask != C_NULL && unsafe_load(mask, i) != 0x00
            out[i] = missed ? missing : offsets == C_NULL ? decode(d, data + (i - 1) * d.size) :
                     variable(S, data + unsafe_load(offsets, i), unsafe_load(offsets, i + 1) - unsafe_load(offsets, i))
        end
    end
    return out
end

unpack_plain!(out::Contiguous{S}, data::Ptr{S}) where {S} = GC.@preserve out unsafe_copyto!(pointer(out), data, length(out))
unpack_plain!(out::AbstractArray, data::Ptr) = for i in 1:length(out)
    out[i] = unsafe_load(data, i)
end

variable(::Type{String}, p::Ptr{UInt8}, n::Int) = unsafe_string(p, n)
variable(::Type{Vector{UInt8}}, p::Ptr{UInt8}, n::Int) = copyto!(Vector{UInt8}(undef, n), 1, unsafe_wrap(Array, p, n), 1, n)

"A whole array or box as the library takes it. Mutable only so that it is never copied."
mutable struct Elements
    dtype::DType
    size::Dims                       # as Julia shows it
    shape::Vector{Int64}             # as the library does
    data::AbstractArray              # contiguous: the elements, or their bytes
    at::Ptr{Cvoid}                   # where they lie, while the Elements live
    offsets::Union{Nothing,Vector{Int64}} # of elements of variable length
    mask::Union{Nothing,Vector{UInt8}}
end

function Elements(dtype::DType, size::Dims, data::AbstractArray, offsets, mask)
    return Elements(dtype, size, Int64[reverse(size)...], data, pointer(data), offsets, mask)
end

# Addresses for C, NULL for nothing; the Elements are kept alive by the caller.
address(::Nothing) = C_NULL
address(a::AbstractArray) = pointer(a)

"""
Makes a value ready to be stored: an array of any kind, with `missing` or without, or a number, a string or a struct, which
is an array without axes. Elements are converted as an assignment to an `Array` does it when `dtype` is given.
"""
function prepare(value, where, dtype::Union{Nothing,DType}=nothing)
    try
        x = concrete(value isa NDArray ? read_all(value) : value isa AbstractArray ? value : fill(value))
        d = natural(nonmissingtype(eltype(x)), dtype)
        x = stored_times(d, x)
        mask = Missing <: eltype(x) && any(ismissing, x) ? UInt8[ismissing(v) for v in vec(x)] : nothing
        d.kind == 'v' && return Elements(d, size(x), pack(d, x)..., mask)
        return Elements(d, size(x), fixed(d, x), nothing, mask)
    catch e
        e isa NDFileError || rethrow()
        throw(NDFileError(e.code, "$where: $(e.message)"))
    end
end

# For formats without texts of any length: texts get the width of the longest.
function prepare_width(value, where)
    texts = value isa NDArray ? read_all(value) : value isa AbstractArray ? value : fill(value)
    return prepare(texts, where, DType("$(ORDER)U$(mapreduce(length, max, skipmissing(texts); init=1))"))
end

# The dtype of elements of type T. A struct lies in the file as in memory, under its own name or as bytes.
natural(::Type{Union{}}, ::Nothing) = bad_dtype("no element tells the type")
natural(::Type{T}, ::Nothing) where {T} = isstructtype(T) && isbitstype(T) ? in_memory(T, dtype_name(T)) : DType(dtype_name(T))
for (T, name) in NAMES
    @eval natural(::Type{$T}, ::Nothing) = $(KNOWN[name])
end
function natural(::Type{T}, d::DType) where {T}
    bits = T !== Union{} && isstructtype(T) && isbitstype(T)
    same = bits && (d.kind == 'V' && sizeof(T) == d.size || d.kind == 'R' && dtype_name(T) == d.name)
    return same ? in_memory(T, d.name) : d
end
in_memory(::Type{T}, name) where {T} = haskey(NAMES, T) ? DType(name) : DType{T}(name, 'R', sizeof(T))

# An array with one type of elements, apart from missing; all kinds of strings, or of byte vectors, are one.
function concrete(x::AbstractArray)
    isconcretetype(nonmissingtype(eltype(x))) && return x
    types = unique(DataType[typeof(v) for v in x if !ismissing(v)])
    isempty(types) && return Array{Missing}(x)
    T = length(types) == 1 ? types[1] : all(S -> S <: AbstractString, types) ? AbstractString :
        all(S -> S <: AbstractVector{UInt8}, types) ? AbstractVector{UInt8} :
        bad_dtype("elements of several types: $(join(types, ", "))")
    return Base.convert(AbstractArray{any(ismissing, x) ? Union{Missing,T} : T}, x)
end

fixed(d::DType{S}, x::AbstractArray) where {S} = isbitstype(S) && d.plain ? plain(S, x) : encoded(d, x)

function plain(::Type{S}, x::AbstractArray) where {S}
    holes = padding!(UnitRange{Int}[], S)
    x isa Contiguous{S} && isempty(holes) && return x
    out = zeros(UInt8, sizeof(S) * length(x))
    GC.@preserve out for (i, v) in enumerate(x)
        p = pointer(out, 1 + (i - 1) * sizeof(S))
        ismissing(v) && continue
        unsafe_store!(Ptr{S}(p), Base.convert(S, v))
        for hole in holes, k in hole
            unsafe_store!(p, 0x00, k)
        end
    end
    return out
end

function encoded(d::DType, x::AbstractArray)
    d.kind == 'b' && x isa Contiguous{Bool} && return x
    out = zeros(UInt8, d.size * length(x))
    GC.@preserve out for (i, v) in enumerate(x)
        ismissing(v) || encode!(d, pointer(out, 1 + (i - 1) * d.size), v)
    end
    return out
end

# Elements of variable length: their bytes, and offsets.
function pack(d::DType{S}, x::AbstractArray) where {S}
    T = nonmissingtype(eltype(x))
    T <: (S === String ? AbstractString : AbstractVector{UInt8}) || bad_dtype("expected elements of type $S, found $T")
    offsets = zeros(Int64, length(x) + 1)
    io = IOBuffer()
    for (i, v) in enumerate(x)
        ismissing(v) || write(io, S(v))
        offsets[i+1] = position(io)
    end
    return take!(io), offsets
end
