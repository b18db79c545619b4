# Names of dtypes, and their Julia types.
#
#   |b1                       Bool
#   |i1 ... <i16, |u1 ...     Int8 ... Int128, UInt8 ... UInt128
#   <f2 <f4 <f8               Float16, Float32, Float64
#   <c4 <c8 <c16              Complex of these
#   bfloat16                  UInt16, the bits; see bfloat16()
#   <M8[ns] <m8[ns]           Int64, a count of units; see timeunit()
#   S10 <U5 str               String
#   bytes                     Vector{UInt8}
#   |V12, long doubles        NTuple{12,UInt8}, the bytes; Vector{UInt8} for more than LARGE of them
#   [["x", "<f4"], ...]       NamedTuple

"A dtype of the library, and the type `S` of its elements in Julia."
struct DType{S}
    name::String
    kind::Char                     # the letter of the typestring; B: bfloat16, R: record, v: variable length
    size::Int                      # bytes of an element in the library, 0: variable
    fields::Vector{Tuple{DType,Int}} # of a record, with their offsets
    plain::Bool                    # an Array{S} is what the library reads and writes
end

DType{S}(name, kind, size, plain=true) where {S} = DType{S}(name, kind, size, Tuple{DType,Int}[], plain)

Base.eltype(::DType{S}) where {S} = S

# Types of many parts, which a file can ask for, would keep the compiler busy for hours.
const LARGE = 256

bad_dtype(what) = throw(NDFileError(NDF_ERR_DTYPE, what))

const SIZED = Dict{Tuple{Char,Int},DataType}(('b', 1) => Bool,
    ('i', 1) => Int8, ('i', 2) => Int16, ('i', 4) => Int32, ('i', 8) => Int64, ('i', 16) => Int128,
    ('u', 1) => UInt8, ('u', 2) => UInt16, ('u', 4) => UInt32, ('u', 8) => UInt64, ('u', 16) => UInt128,
    ('f', 2) => Float16, ('f', 4) => Float32, ('f', 8) => Float64,
    ('c', 4) => Complex{Float16}, ('c', 8) => Complex{Float32}, ('c', 16) => Complex{Float64},
    ('M', 8) => Int64, ('m', 8) => Int64)

# The dtype of a name; nothing for the unknown dtype of an array without data.
DType(name::AbstractString) = get(() -> parse_dtype(name), KNOWN, name)

function parse_dtype(name::AbstractString)
    name in ("", "invalid") && return nothing
    name == "str" && return DType{String}(name, 'v', 0, false)
    name == "bytes" && return DType{Vector{UInt8}}(name, 'v', 0, false)
    name in ("bfloat16", "<bfloat16", ">bfloat16") && return DType{UInt16}(name, 'B', 2)
    startswith(name, '[') && return record(name, parse_json(String(name)))
    m = match(r"^[|<>=]?([biufcSUVMm])([0-9]+)(\[[0-9A-Za-z]+\])?$"a, name)
    n = m === nothing ? nothing : tryparse(Int32, m[2])
    n === nothing && bad_dtype("unknown dtype $(repr(name))")
    kind, size = m[1][1], Int(n)
    kind == 'S' && return DType{String}(name, kind, size, false)
    kind == 'U' && return DType{String}(name, kind, 4size, false)
    # Bytes that are neither 0 nor 1 would not be a Bool: they are looked at one by one.
    haskey(SIZED, (kind, size)) && return DType{SIZED[kind, size]}(name, kind, size, kind != 'b')
    kind == 'V' || (kind, size) in (('f', 16), ('c', 32)) || bad_dtype("unknown dtype $(repr(name))")
    size > LARGE && return DType{Vector{UInt8}}(name, kind, size, false)
    return DType{NTuple{size,UInt8}}(name, kind, size)
end

# The dtype of a record: the fields lie one after the other, as a NamedTuple does where it needs no padding.
function record(name, list)
    few(n) = n <= LARGE || throw(NDFileError(NDF_ERR_LIMIT, "a record with $n parts; at most $LARGE are supported in Julia"))
    few(length(list))
    fields, names, types, at = Tuple{DType,Int}[], Symbol[], [], 0
    for f in list
        d = DType(f[2] isa String ? f[2] : json(f[2], "dtype"))
        for n in reverse(length(f) > 2 ? f[3] : [])
            few(n)
            d = DType{NTuple{n,eltype(d)}}(d.name, 'R', n * d.size, [(d, i * d.size) for i in 0:n-1], d.plain)
        end
        push!(fields, (d, at))
        push!(names, Symbol(f[1]))
        push!(types, eltype(d))
        at += d.size
    end
    S = NamedTuple{Tuple(names),Tuple{types...}}
    plain = all(f -> f[1].plain, fields) && sizeof(S) == at && all(i -> fieldoffset(S, i) == fields[i][2], eachindex(fields))
    return DType{S}(name, 'R', at, fields, plain)
end

# The name of a dtype in the byte order of memory.
native(name::String) = startswith(name, '[') ? json(native(parse_json(name)), "dtype") : replace(name, r"^[<>]" => ORDER)
native(fields::Vector) = [[f[1], native(f[2]), f[3:end]...] for f in fields]

# One element from, or to, the library's form of it: d.size bytes in native byte order.

function decode(d::DType{S}, p::Ptr{UInt8}) where {S}
    isbitstype(S) && d.plain && return unsafe_load(Ptr{S}(p))
    d.kind == 'b' && return unsafe_load(p) != 0x00
    d.kind == 'S' && return unsafe_string(p, stop(p, d.size))
    d.kind == 'U' && return decode_ucs4(Ptr{UInt32}(p), stop(Ptr{UInt32}(p), d.size ÷ 4))
    S === Vector{UInt8} && return variable(S, p, d.size)
    return S(Tuple(decode(f, p + at) for (f, at) in d.fields))
end

# The number of units before the padding.
function stop(p::Ptr, n::Int)
    while n > 0 && iszero(unsafe_load(p, n))
        n -= 1
    end
    return n
end

function decode_ucs4(p::Ptr{UInt32}, n::Int)
    return sprint() do io
        for i in 1:n
            u = unsafe_load(p, i)
            u <= 0x10ffff || throw(NDFileError(NDF_ERR_VALUE, "0x$(string(u, base=16)) is no character"))
            print(io, Char(u))
        end
    end
end

function encode!(d::DType{S}, p::Ptr{UInt8}, value) where {S}
    if isbitstype(S) && d.plain
        unsafe_store!(Ptr{S}(p), Base.convert(S, value))
    elseif d.kind == 'b'
        unsafe_store!(p, Base.convert(Bool, value))
    elseif d.kind == 'S'
        pad!(p, codeunits(value), d, value)
    elseif d.kind == 'U'
        all(isvalid, value) || throw(NDFileError(NDF_ERR_VALUE, "$(repr(value)) is not valid UTF-8"))
        pad!(Ptr{UInt32}(p), [UInt32(c) for c in value], d, value)
    elseif S === Vector{UInt8}
        length(value) == d.size || throw(NDFileError(NDF_ERR_VALUE, "expected $(d.size) bytes, found $(length(value))"))
        pad!(p, value, d, value)
    else
        for (v, (f, at)) in zip(value, d.fields)
            encode!(f, p + at, v)
        end
    end
    return nothing
end

function pad!(p::Ptr{T}, units, d, value) where {T}
    n = d.size ÷ sizeof(T)
    length(units) <= n || throw(NDFileError(NDF_ERR_VALUE, "$(repr(value)) does not fit into dtype $(d.name)"))
    isempty(units) || !iszero(last(units)) ||
        throw(NDFileError(NDF_ERR_VALUE, "$(repr(value)): a NUL at the end would be lost in dtype $(d.name)"))
    for i in 1:n
        unsafe_store!(p, i <= length(units) ? units[i] : zero(T), i)
    end
end

# The dtype that holds elements of a Julia type as they are, and its name.

const ORDER = ENDIAN_BOM == 0x04030201 ? '<' : '>'
const NAMES = Dict{Type,String}(T => string(size == 1 ? '|' : ORDER, kind, size)
                                for ((kind, size), T) in SIZED if !(kind in "Mm"))

# Those that need no parsing.
const KNOWN = Dict{String,DType}(name => parse_dtype(name) for name in [collect(values(NAMES)); "str"; "bytes"])

function dtype_name(::Type{T}) where {T}
    haskey(NAMES, T) && return NAMES[T]
    T <: AbstractString && return "str"
    T <: AbstractVector{UInt8} && return "bytes"
    isbitstype(T) && isstructtype(T) && sizeof(T) > 0 || bad_dtype("elements of type $T cannot be stored in a file")
    list = T <: Tuple ? nothing : describe(T)
    return list === nothing ? "|V$(sizeof(T))" : json(list, "dtype")
end

# The fields of a struct without padding; nothing where a dtype cannot say the same.
function describe(T)
    list, stop = [], 0
    for i in 1:fieldcount(T)
        F = fieldtype(T, i)
        fieldoffset(T, i) == stop && isbitstype(F) || return nothing
        stop += sizeof(F)
        named = F <: Tuple ? "|V$(sizeof(F))" : haskey(NAMES, F) ? NAMES[F] : isstructtype(F) ? describe(F) : nothing
        named === nothing && return nothing
        push!(list, (string(fieldname(T, i)), named))
    end
    return stop == sizeof(T) ? list : nothing
end

"The byte ranges of a type that hold nothing, from `at` on: they are stored as zeros, not as what memory happened to hold."
function padding!(ranges, ::Type{T}, at=0) where {T}
    isprimitivetype(T) && return ranges
    end_of_last = at
    for i in 1:fieldcount(T)
        F = fieldtype(T, i)
        isbitstype(F) || bad_dtype("elements of type $T cannot be stored in a file: field $(fieldname(T, i)) has no one type")
        from = at + Int(fieldoffset(T, i))
        from > end_of_last && push!(ranges, end_of_last+1:from)
        padding!(ranges, F, from)
        end_of_last = from + sizeof(F)
    end
    end_of_last < at + sizeof(T) && push!(ranges, end_of_last+1:at+sizeof(T))
    return ranges
end

"""
    bfloat16(bits)

The numbers of dtype `bfloat16`, which Julia has no type for: arrays of that dtype have `UInt16` elements, the bits. Gives a
`Float32`, or an array of them, or `missing` where the element is; every bfloat16 is a Float32, so this is exact.

# Example
```julia
NDFile.open("brain.ra", "w") do f
    a = NDFile.create(f, "", "bfloat16", (3,))
    a[:] = [0x3f80, 0xc000, 0x7f80]
end
@assert bfloat16(NDFile.read("brain.ra")) == Float32[1, -2, Inf]
```
"""
bfloat16(bits::UInt16) = reinterpret(Float32, UInt32(bits) << 16)
bfloat16(::Missing) = missing
bfloat16(bits::AbstractArray) = map(bfloat16, bits)

# Types that the library computes with.
const Ordered = Union{Int8,Int16,Int32,Int64,UInt8,UInt16,UInt32,UInt64,Float16,Float32,Float64}
const Numbers = Union{Ordered,Complex{Float16},Complex{Float32},Complex{Float64}}
