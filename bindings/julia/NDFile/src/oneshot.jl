# read, read! and save: whole files, in one call of the library each.

"""
    NDFile.read(path) -> OrderedDict or array
    NDFile.read(path, name) -> array
    NDFile.read(io[, name]) -> the same
    NDFile.read(a::NDArray) -> array

Reads a whole file, or one array of it. A dataset gives an [`NDFile.OrderedDict`](@ref) from names to arrays, in file order;
a file that is one array gives that. An array without axes gives its element, as in HDF5.jl; a variable without data gives
`nothing`. Of an `IO` all bytes to its end are read, into a temporary file.

| in the file | in Julia |
| --- | --- |
| bool, integers up to 128 bits, floats, complex | `Bool`, `Int8`..`UInt128`, `Float16`..`Float64`, `Complex` of these |
| ds `unicode`, and fixed `S` and `U` texts | `String` |
| ds `str` | `Vector{UInt8}` |
| missing elements | `missing`; the element type is a `Union` with `Missing` |
| bfloat16 | `UInt16`, see [`bfloat16`](@ref) |
| dates and durations | `Int64`, see [`NDFile.dates`](@ref) and [`NDFile.timeunit`](@ref) |
| records; user-defined bytes | `NamedTuple`; `NTuple{n,UInt8}`, see [`raread`](@ref) |

The first axis of an array in Julia is the last in the file's row-major shape: no data moves.

# Example
```julia
NDFile.save("weather.ds", "t" => [271.25 missing; 268.0 269.75], "station" => ["Praha", "Oslo"])
arrays = NDFile.read("weather.ds")
@assert collect(keys(arrays)) == ["station", "t"]
@assert ismissing(arrays["t"][1, 2]) && NDFile.read("weather.ds", "station")[2] == "Oslo"
```
"""
read(path::AbstractString) = load_file(String(path), NULL_TEXT)
read(path::AbstractString, name::AbstractString) = load_file(String(path), String(name))

# The formats want to read where they like.
function read(io::IO, name::AbstractString...)
    return mktemp() do path, file
        write(file, io)
        close(file)
        read(path, name...)
    end
end

function read(a::NDArray{T,N}) where {T,N}
    hasdata(a) || return nothing
    x = read_all(a)
    return N == 0 ? x[] : x
end

"""
    NDFile.read!(path, out) -> out
    NDFile.read!(path, name, out) -> out

Reads the array of a file that is one array, or one array by name, into `out`, which has its size. Elements are converted as an
assignment to `out` does it. Reading many files into the same memory is faster than into memory of their own.

# Example
```julia
NDFile.save("weather.ds", "t" => [271.25 272.5; 268.0 269.75])
out = zeros(2, 2)
@assert NDFile.read!("weather.ds", "t", out) === out && out[2, 1] == 268
```
"""
read!(path::AbstractString, out::AbstractArray) = read_into!(out, String(path), NULL_TEXT)
read!(path::AbstractString, name::AbstractString, out::AbstractArray) = read_into!(out, String(path), String(name))

function read_into!(out::AbstractArray, path::String, name::Union{String,Cstring})
    s = load(path, name)
    if s !== nothing
        done = s.count[] == 1 && (name isa String || is_single(s, 1)) && copy_plain!(out, s)
        give_back(s)
        done && return out
    end
    open(path) do f
        a = name isa String ? f[name] : f.array
        readblock!(a, out, axes(a)...)
    end
    return out
end

function load_file(path::String, name::Union{String,Cstring})
    s = load(path, name)
    s === nothing && return open(f -> name isa String ? read(f[name]) : read_arrays(f), path)
    arrays = loaded(s, 1, s.count[], name isa String)
    give_back(s)
    return arrays
end

# A file in memory, which the caller gives back. Nothing when it is large: that is better read array by array, straight to its
# place, than through a buffer; and when the name has a NUL.
function load(path::String, name::Union{String,Cstring})
    name isa String && '\0' in name && return nothing
    cpath = ctext(path, "path")
    collect_released()
    s = take_scratch()
    while true
        set_room!(s)
        s.need[] = length(s.buf)
        status = ndf_load(cpath, name, s.buf, s.need, s.infos, s.count, s.err)
        status == NDF_OK && return s
        status == NDF_ERR_BUFFER || refuse(s, status)
        if s.need[] > MOST_BYTES
            give_back(s)
            return nothing
        end
        make_room!(s, s.need[], s.count[])
    end
end

function read_arrays(f::File)
    f.kind === :array && return read(f.array)
    return OrderedDict{Any}((name => read(a) for (name, a) in f)...)
end

# What the library has put into memory for one file: n arrays, from the info of a number on.
function loaded(s::Scratch, first::Int, n::Int, one::Bool)
    n == 1 && (one || is_single(s, first)) && return loaded_array(s, first)
    names, arrays = Vector{String}(undef, n), Vector{Any}(undef, n)
    for i in 1:n
        names[i], arrays[i] = loaded_name(s, first + i - 1), loaded_array(s, first + i - 1)
    end
    return OrderedDict{Any}(names, arrays)
end

is_single(s::Scratch, i) = GC.@preserve s field(pointer(s.infos, i), Val(:flags)) & NDF_ARRAY_SINGLE != 0

function loaded_name(s::Scratch, i)
    GC.@preserve s begin
        info = pointer(s.infos, i)
        return unsafe_string(pointer(s.buf) + field(info, Val(:name_offset)), field(info, Val(:name_len)))
    end
end

function loaded_array(s::Scratch, i)
    GC.@preserve s begin
        info = pointer(s.infos, i)
        field(info, Val(:flags)) & NDF_ARRAY_NO_DATA == 0 || return nothing
        return loaded_array(loaded_dtype(s, info), extents(info, Val(:shape)), pointer(s.buf), info)
    end
end

function loaded_array(d::DType{S}, dims::Dims{N}, buf::Ptr{UInt8}, info::Ptr{ndf_load_info}) where {S,N}
    data, offsets = buf + field(info, Val(:data_offset)), part(Int64, buf, field(info, Val(:offsets_offset)))
    mask = part(UInt8, buf, field(info, Val(:mask_offset)))
    masked = field(info, Val(:flags)) & NDF_ARRAY_MASKED != 0
    x = masked ? unpack(d, Union{Missing,S}, dims, data, offsets, mask) : unpack(d, S, dims, data, offsets, mask)
    return N == 0 ? x[] : x
end

function loaded_dtype(s::Scratch, info::Ptr{ndf_load_info})
    long, name = field(info, Val(:dtype_len)), field(info, Val(:dtype))
    long > 0 && return DType(unsafe_string(pointer(s.buf) + field(info, Val(:dtype_offset)), long))
    ccall(:strcmp, Cint, (Cstring, Cstring), name, s.dtype.name) == 0 || (s.dtype = DType(unsafe_string(name)))
    return s.dtype
end

# Copies an only array where its elements are what out holds; false where that needs more.
function copy_plain!(out::AbstractArray, s::Scratch)
    GC.@preserve s begin
        info = pointer(s.infos)
        field(info, Val(:flags)) & (NDF_ARRAY_NO_DATA | NDF_ARRAY_MASKED) == 0 || return false
        return copy_plain!(out, loaded_dtype(s, info), extents(info, Val(:shape)), pointer(s.buf) + field(info, Val(:data_offset)))
    end
end

function copy_plain!(out::AbstractArray, d::DType{S}, dims::Dims, data::Ptr{UInt8}) where {S}
    out isa Contiguous{S} && d.plain && size(out) == dims || return false
    unpack_plain!(out, Ptr{S}(data))
    return true
end

part(::Type{T}, buf::Ptr{UInt8}, offset) where {T} = offset < 0 ? Ptr{T}(C_NULL) : Ptr{T}(buf + offset)

"""
    NDFile.save(path, array; dims, attrs, var_attrs, format, commit=:atomic, sync=false, exclusive=false, timeout=5,
        trailing=UInt8[])
    NDFile.save(path, name => array...; ...)
    NDFile.save(path, arrays; ...)

Writes a new file, in place of an older one: a file that is one array (`.ra`), or a dataset (`.ds`) of named arrays, which are
given as pairs, as anything like a `Dict`, or as a `NamedTuple`.

Arrays are of any kind, with `missing` or without; a number, a string or a struct is an array without axes. `String` elements
become ds `unicode`, `Vector{UInt8}` ones `str`; formats without texts of any length get those of one width. A struct of plain
bits is stored as it lies in memory, padding as zeros.

# Arguments
- `dims`: names of the axes, in the order of `size(array)`: a tuple for one array, names of arrays to tuples for several.
- `attrs`: attributes of the file; `var_attrs`: of the array, or names of arrays to attributes.
- `format`: the name of the format; default: by the extension.
- `commit`, `sync`: as for [`NDFile.open`](@ref); the file appears at `path` whole or not at all, unless `commit=:direct`.
- `exclusive`: nothing may exist at `path` yet.
- `timeout`: how many seconds to wait for others who have the store that is replaced open for changes; 0 does not wait.
- `trailing`: bytes to follow the data, in RawArray files; see [`NDFile.trailing`](@ref).

# Example
```julia
t = [271.25 272.5 270.5; 268.0 missing 271.0]
NDFile.save("w.ds", (t=t, q=rand(Float32, 3)); attrs=Dict("title" => "weather"), dims=(t=("station", "time"), q=("time",)),
    var_attrs=Dict("t" => (units="K",)))
NDFile.open("w.ds") do f
    @assert f["t"].dims == ("station", "time") && f["t"].attrs["units"] == "K"
    @assert isequal(f["t"][2, :], t[2, :])
end
```
"""
save(path::AbstractString, array; options...) = save_described(path, single, array; options...)
save(path::AbstractString, arrays::Pair...; options...) = save_described(path, Described, items(arrays); options...)
save(path::AbstractString, arrays::Union{AbstractDict,NamedTuple}; options...) =
    save_described(path, Described, items(arrays); options...)

function save_described(path, describe, arrays; dims=nothing, var_attrs=nothing, options...)
    return save_arrays(String(path), describe(arrays; dims=dims, var_attrs=var_attrs); options...)
end

function save_arrays(path::String, given::Described; attrs=nothing, format=nothing, commit::Symbol=:atomic, sync::Bool=false,
                     exclusive::Bool=false, timeout::Real=5, trailing::Vector{UInt8}=NO_BYTES, extra=nothing)
    arrays = ItemList(length(given.items))
    put_items!(arrays, 0, path, given, format, extra)
    options = write_options(commit, sync, exclusive, trailing; timeout=timeout)
    GC.@preserve arrays trailing begin
        call(ndf_save, ctext(path, "path"), ctext(format, "format"), arrays.list, length(arrays.list), attrs_json(attrs, path),
            options)
    end
    return nothing
end
