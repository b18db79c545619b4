# The functions of RawArray.jl.

"""
    raread(path) -> Array
    raread(T, path) -> Array{T}

Reads a RawArray file, as `raread` of RawArray.jl does: `size` of the result are the dims of the file. Bytes after the array are
ignored. Elements of a user-defined type come as `NTuple{n,UInt8}`, or as `T`, a struct of plain bits with as many bytes.
Numbers become `T` where that is an exact widening.

# Example
```julia
struct Point
    x::Float32
    y::Float32
    id::Int64
end
rawrite([Point(1, 2, 7), Point(3, 4, 8)], "points.ra")
@assert raread(Point, "points.ra")[2] == Point(3, 4, 8)
```
"""
raread(path::AbstractString) = open(f -> read_all(f.array), path; format="rawarray")

function raread(::Type{T}, path::AbstractString) where {T}
    return open(path; format="rawarray") do f
        a = f.array
        T === eltype(a) && return read_all(a)
        dtype = NULL_TEXT # as it is stored
        if a.type.kind != 'V'
            dtype = dtype_name(T)
            DType(dtype).plain || bad_dtype("$path: elements of dtype $(a.dtype) cannot be read as $T")
        elseif !isbitstype(T) || sizeof(T) != a.type.size
            bad_dtype("$path: expected a struct of $(a.type.size) bytes of plain data for elements of dtype $(a.dtype), found $T")
        end
        padding!(UnitRange{Int}[], T) # refuses what has no fixed layout
        out = Array{T}(undef, size(a))
        GC.@preserve a out call(ndf_array_read, number(a), ndims(a), C_NULL, C_NULL, C_NULL, dtype, pointer(out), C_NULL, C_NULL)
        return out
    end
end

"""
    rawrite(a, path; compress=false)

Writes an array as a RawArray file, as `rawrite` of RawArray.jl does: the dims of the file are `size(a)`. `Bool` elements take one
byte each and read back as `Bool` ([`NDFile.save`](@ref) writes them as unsigned bytes, which all readers know); those of a
`BitArray` take one bit each, in an encoding that only RawArray.jl reads. Structs of plain bits are stored as they lie in memory,
padding as zeros. An older file is replaced as a whole.

`compress=true` writes integers and `Bool` as LEB128 numbers, which only RawArray.jl reads, and has no effect on others. (RawArray.jl
marks floats as compressed then, and does not read them back.) 128-bit integers beyond 64 bits are an error.
"""
function rawrite(a::AbstractArray, path::AbstractString; compress::Bool=false)
    extra = a isa BitArray ? (encoding="bits",) : eltype(a) <: Bool ? (eltype=5,) : (;)
    if compress && eltype(a) <: Base.BitInteger || compress && eltype(a) <: Bool && !(a isa BitArray)
        extra = merge(extra, (encoding="leb128",))
    end
    return save_arrays(String(path), single(a); format="rawarray", extra=isempty(extra) ? nothing : extra)
end

"""
    raquery(path) -> String

Describes a RawArray file in YAML, as `raquery` of RawArray.jl does.
"""
function raquery(path::AbstractString)
    return open(path; format="rawarray") do f
        a = f.array
        T = a.type.kind == 'V' ? "user$(8 * a.type.size)" : a.type.kind == 'B' ? "BFloat16" : string(eltype(a))
        big = startswith(a.dtype, '>') || get(a.extra, "flags", 0) == 1
        encoding = get(a.extra, "encoding", "")
        size_line = encoding == "bits" ? 8 * cld(length(a), 64) : length(a) * a.type.size
        lines = ["---", "name: $path", "endian: " * (big ? "big" : "little"), "compressed: $(encoding == "" ? 0 : 2)",
            "bits: $(encoding == "bits" ? 4 : 0)", "type: $T", "size: $size_line", "dimension: $(ndims(a))", "shape:", ("  - $n" for n in size(a))..., "..."]
        return join(lines, '\n')
    end
end
