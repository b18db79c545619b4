# read and save: whole files, in one call of the library each.

# What the first try has room for; and what is better read array by array, straight to its place, than through a buffer.
const FIRST_BYTES, FIRST_INFOS = 1 << 14, 8
const BUFFERED_BYTES = 1 << 22

"""
    NDFile.read(path) -> OrderedDict or array
    NDFile.read(path, name) -> array
    NDFile.read(a::NDArray) -> array

Reads a whole file, or one array of it. A dataset gives an [`NDFile.OrderedDict`](@ref) from names to arrays, in file order;
a file that is one array gives that. An array without axes gives its element, as in HDF5.jl; a variable without data gives
`nothing`.

| in the file | in Julia |
| --- | --- |
| bool, integers up to 128 bits, floats, complex | `Bool`, `Int8`..`UInt128`, `Float16`..`Float64`, `Complex` of these |
| ds `unicode`, and fixed `S` and `U` texts | `String` |
| ds `str` | `Vector{UInt8}` |
| missing elements | `missing`; the element type is a `Union` with `Missing` |
| bfloat16 | `UInt16`, see [`bfloat16`](@ref) |
| dates and durations | `Int64`, see [`NDFile.timeunit`](@ref) |
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

function read(path::AbstractString, name::AbstractString)
    '\0' in name && return open(f -> read(f[name]), path)
    return load_file(String(path), String(name))
end

function read(a::NDArray{T,N}) where {T,N}
    hasdata(a) || return nothing
    x = read_all(a)
    return N == 0 ? x[] : x
end

function load_file(path::String, name::Union{String,Cstring})
    cpath = ctext(path, "path")
    buf, infos = Vector{UInt8}(undef, FIRST_BYTES), Vector{UInt8}(undef, FIRST_INFOS * sizeof(ndf_load_info))
    need, n, err = Ref{Int64}(0), Ref{Int64}(0), Ref{ndf_error}()
    collect_released()
    while true
        n[] = length(infos) ÷ sizeof(ndf_load_info)
        GC.@preserve buf infos begin
            first_info = Ptr{ndf_load_info}(pointer(infos))
            unsafe_store!(Ptr{UInt32}(first_info), UInt32(sizeof(ndf_load_info)))
            status = ndf_load(cpath, name, buf, length(buf), need, first_info, n, err)
            status == NDF_OK && return loaded(pointer(buf), first_info, n[], name !== NULL_TEXT)
            status == NDF_ERR_BUFFER || throw(failure(status, err))
        end
        if need[] > BUFFERED_BYTES
            return open(f -> name === NULL_TEXT ? read_arrays(f) : read(f[name]), path)
        end
        resize!(buf, max(length(buf), need[]))
        resize!(infos, max(length(infos), n[] * sizeof(ndf_load_info)))
    end
end

function read_arrays(f::File)
    f.kind === :array && return read(f.array)
    return OrderedDict{Any}((name => read(a) for (name, a) in f)...)
end

# What ndf_load has put into a buffer.
function loaded(buf::Ptr{UInt8}, infos::Ptr{ndf_load_info}, n, one::Bool)
    n == 1 && (one || field(infos, Val(:flags)) & NDF_ARRAY_SINGLE != 0) && return loaded_array(buf, infos)
    arrays = OrderedDict{Any}()
    for i in 1:n
        info = infos + (i - 1) * sizeof(ndf_load_info)
        name = unsafe_string(buf + field(info, Val(:name_offset)), field(info, Val(:name_len)))
        arrays[name] = loaded_array(buf, info)
    end
    return arrays
end

function loaded_array(buf::Ptr{UInt8}, info::Ptr{ndf_load_info})
    flags, ndim = field(info, Val(:flags)), Int(field(info, Val(:ndim)))
    flags & NDF_ARRAY_NO_DATA == 0 || return nothing
    long = field(info, Val(:dtype_len))
    d = DType(long > 0 ? unsafe_string(buf + field(info, Val(:dtype_offset)), long) : unsafe_string(field(info, Val(:dtype))))
    dims = ntuple(i -> Int(unsafe_load(field(info, Val(:shape)), ndim + 1 - i)), ndim)
    x = loaded_elements(d, dims, flags & NDF_ARRAY_MASKED != 0, buf + field(info, Val(:data_offset)),
        part(Int64, buf, field(info, Val(:offsets_offset))), part(UInt8, buf, field(info, Val(:mask_offset))))
    return ndim == 0 ? x[] : x
end

loaded_elements(d::DType{S}, dims, masked, places...) where {S} = unpack(d, masked ? Union{Missing,S} : S, dims, places...)

part(::Type{T}, buf::Ptr{UInt8}, offset) where {T} = offset < 0 ? Ptr{T}(C_NULL) : Ptr{T}(buf + offset)

"""
    NDFile.save(path, array; dims, attrs, var_attrs, format, commit=:atomic, sync=false, exclusive=false, trailing=UInt8[])
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
function save(path::AbstractString, array; dims=nothing, var_attrs=nothing, options...)
    return save_items(String(path), Items(["" => array]), ByName("" => dims), ByName("" => var_attrs); options...)
end

save(path::AbstractString, arrays::Union{AbstractDict,NamedTuple}; options...) = save_pairs(path, pairs(arrays); options...)
save(path::AbstractString, arrays::Pair...; options...) = save_pairs(path, arrays; options...)

# One type for all kinds of arrays: not every combination of them is compiled anew.
const Items = Vector{Pair{String,Any}}
const ByName = Dict{String,Any}

function save_pairs(path, @nospecialize(arrays); dims=(), var_attrs=(), options...)
    items = Items()
    for (name, array) in arrays
        push!(items, String(name) => array)
    end
    return save_items(String(path), items, by_name(dims, items, "dims"), by_name(var_attrs, items, "var_attrs"); options...)
end

# What is given for each array, by name.
by_name(given::NamedTuple, items, what) = by_name(pairs(given), items, what)
by_name(given::Pair, items, what) = by_name((given,), items, what)
by_name(::Nothing, items, what) = by_name((), items, what)
function by_name(@nospecialize(given), items, what)
    d = ByName(String(name) => v for (name, v) in given)
    for name in keys(d)
        any(item -> item.first == name, items) ||
            throw(NDFileError(NDF_ERR_ARGUMENT, "$what: no array of the name $(repr(name)) is saved"))
    end
    return d
end

function save_items(path::String, items::Items, dims::ByName, var_attrs::ByName; attrs=nothing, format=nothing,
                    commit::Symbol=:atomic, sync::Bool=false, exclusive::Bool=false, extra=nothing, trailing::Vector{UInt8}=UInt8[])
    kept, list = [], ndf_item[]
    for (name, value) in items
        where = length(items) == 1 && isempty(name) ? path : "$path: array $(repr(name))"
        x = prepare(value, where)
        x.dtype.name == "str" && !holds_strings(path, format) && (x = prepare_width(value, where))
        texts = (name=ctext(name, "name"), dtype=x.dtype.name, dims_json=dims_json(get(dims, name, nothing), where),
            attrs_json=attrs_json(get(var_attrs, name, nothing), where), extra_json=attrs_json(extra, where))
        push!(list, item(x, texts, kept))
    end
    options = write_options(commit, sync, exclusive, trailing)
    GC.@preserve kept trailing begin
        call(ndf_save, ctext(path, "path"), ctext(format, "format"), list, length(list), attrs_json(attrs, path), options)
    end
    return nothing
end

# Elements as the library takes them. texts, and what is put into kept, stay alive until the call is over.
function item(x::Elements, texts::NamedTuple, kept::Vector)
    shape = collect(Int64, reverse(x.size))
    push!(kept, (x, shape, texts))
    memory = (ndim=length(shape), shape=pointer(shape), data=address(x.data), mask=address(x.mask), offsets=address(x.offsets))
    return cstruct(ndf_item, merge(memory, map(ctext_field, texts)))
end

# Whether a new file can hold texts of any length; also where its format is unknown, which the library reports.
function holds_strings(path, format)
    ending = splitext(path)[2]
    found = filter(f -> format === nothing ? ending in f.extensions : f.name == format, formats())
    return isempty(found) || any(f -> :strings in f.caps, found)
end
