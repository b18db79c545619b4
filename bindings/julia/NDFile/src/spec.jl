# What a new array is to be, and how it is stored.

# The parts of an ndf_array_spec, with the memory that it points to. NULL_TEXT and empty vectors stand for what is not given.
struct Spec
    where::String # for messages
    dtype::String
    shape::Vector{Int64}
    masked::Bool
    dims::Union{String,Cstring}
    attrs::Union{String,Cstring}
    chunks::Vector{Int64}
    compression::Vector{ndf_blosc_params}
    codec::Union{String,Cstring}
    fill::Union{Nothing,Elements}
    expected_rows::Int64
    chunked::Bool # any of the last five is given
end

function Spec(where::String, dtype::String, size::Dims; dims=nothing, attrs=nothing, masked::Bool=false, chunks=nothing,
              compression=nothing, fill=nothing, expected_rows::Integer=0)
    params, codec = blosc_params(compression, where)
    chunked = any(!isnothing, (chunks, compression, fill)) || expected_rows != 0
    return Spec(where, ctext(dtype, "dtype"), collect(Int64, reverse(size)), masked, dims_json(dims, where),
        attrs_json(attrs, where), chunk_extents(chunks, size, where), params, codec, fill_element(fill, dtype, where),
        expected_rows, chunked)
end

# The struct for C. The caller keeps s alive.
function cstruct(s::Spec)
    orNULL(v) = isempty(v) ? C_NULL : pointer(v)
    return cstruct(ndf_array_spec, (ndim=length(s.shape), flags=s.masked ? NDF_ARRAY_MASKED : 0, dtype=ctext_field(s.dtype),
        shape=pointer(s.shape), dims_json=ctext_field(s.dims), attrs_json=ctext_field(s.attrs), chunks=orNULL(s.chunks),
        compression=orNULL(s.compression), fill=s.fill === nothing ? C_NULL : address(s.fill.data), expected_rows=s.expected_rows))
end

# Names of axes for C, in the library's order; one name stands for one axis.
dims_json(::Nothing, where) = NULL_TEXT
dims_json(dims::Union{AbstractString,Symbol}, where) = dims_json((dims,), where)
function dims_json(dims, where)
    all(d -> d isa Union{AbstractString,Symbol}, dims) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "$where: dims: expected names, found $(repr(dims))"))
    return json(reverse([String(d) for d in dims]), "$where")
end

chunk_extents(::Nothing, size, where) = Int64[]
chunk_extents(n::Integer, size::Dims{N}, where) where {N} = chunk_extents((max.(size[1:max(N - 1, 0)], 1)..., n), size, where)
function chunk_extents(chunks, size, where)
    length(chunks) == length(size) ||
        throw(NDFileError(NDF_ERR_SHAPE, "$where: chunks: expected $(length(size)) numbers, found $chunks"))
    return Int64[n for n in reverse(Tuple(chunks))]
end

const SHUFFLES = (noshuffle=NDF_BLOSC_NOSHUFFLE, shuffle=NDF_BLOSC_SHUFFLE, bitshuffle=NDF_BLOSC_BITSHUFFLE)
const COMPRESSION = (codec="lz4", level=5, shuffle=:shuffle)

blosc_params(::Nothing, where) = ndf_blosc_params[], NULL_TEXT
blosc_params(codec::Union{AbstractString,Symbol}, where) = blosc_params((codec=String(codec),), where)
function blosc_params(given, where)
    named = given isa Tuple && length(given) <= 3 ? NamedTuple{keys(COMPRESSION)[1:length(given)]}(given) : given
    c = named isa NamedTuple ? merge(COMPRESSION, named) : (;)
    keys(c) == keys(COMPRESSION) && c.codec isa Union{AbstractString,Symbol} && c.level isa Integer && c.shuffle in keys(SHUFFLES) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "$where: compression: expected codec, level and shuffle, found $(repr(given))"))
    codec = ctext(String(c.codec), "codec")
    return [cstruct(ndf_blosc_params, (level=c.level, codec=ctext_field(codec), shuffle=SHUFFLES[c.shuffle]))], codec
end

fill_element(::Nothing, dtype, where) = nothing
function fill_element(value, dtype, where)
    x = prepare(value isa AbstractVector{UInt8} ? Base.fill(value) : value, "$where: fill", DType(dtype))
    x.mask === nothing && x.offsets === nothing && isempty(x.size) ||
        throw(NDFileError(NDF_ERR_VALUE, "$where: fill: expected one element of dtype $dtype, found $(repr(value))"))
    return x
end

# What an array says of its storage.

chunks(a) = haschunks(a) ? describe(p -> extents(p, Val(:chunks)), a) : nothing

function compression(a)
    return describe(a) do p
        codec = unsafe_string(field(p, Val(:codec)))
        shuffle = findfirst(==(field(p, Val(:shuffle))), SHUFFLES)
        isempty(codec) ? nothing : (codec=codec, level=Int(field(p, Val(:level))), shuffle=shuffle)
    end
end

function fillvalue(a)
    a.flags & NDF_ARRAY_FILL == 0 && return nothing
    bytes = GC.@preserve a content(ndf_array_get_fill, number(a))
    return GC.@preserve bytes decode(a.type, pointer(bytes))
end
