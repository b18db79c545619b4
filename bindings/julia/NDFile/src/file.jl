const KINDS = Dict(NDF_KIND_ARRAY => :array, NDF_KIND_DATASET => :dataset, NDF_KIND_TABLE => :table)

"""
    NDFile.File

An open file or folder, made by [`NDFile.open`](@ref): a collection of named, lazy arrays.

- `f["name"]` is an [`NDArray`](@ref), `f.array` that of a file that is one array; `keys(f)`, `values(f)`, `haskey(f, name)`,
  `get(f, name, default)`, `length(f)` and iteration over `name => array` are in file order.
- `f[:name]` and `f.name` are the same, the latter where no property has that name. `f[1]` and `f[end]` are arrays by position, of
  tables rows.
- `f.attrs` are the attributes, like a `Dict` with `String` keys.
- `f["a/b"]` may be a [`NDFile.Group`](@ref) in formats with groups (zarr2, zarr3), and `f.groups` are the paths of all groups;
  see [`NDFile.create_group`](@ref) and [`NDFile.rename`](@ref).
- `f["name"] = x` adds an array to a file that is being created or changed, and writes all of it; [`NDFile.create`](@ref)
  declares one to be written piece by piece, and `delete!(f, "name")` removes one. Texts become those of one width where the
  format has no others.
- `f.path`, `f.mode`, `f.format` (such as `"ds"`) and `f.kind`: `:array`, `:dataset` or `:table`, whose columns have one
  length and which has rows, see [`NDFile.nrows`](@ref). In a new bcolz, zarr2 or zarr3 file the first array decides: the name
  `""` makes it one array, any other a table or dataset.
- `close(f)` closes the file and its arrays; a file that was created appears at its path, whole. [`NDFile.abort`](@ref)
  closes it and leaves nothing. Both may be called again, and by any task.

In mode `"r+"`, regions that are written are in the file at once, chunk by chunk; appended rows when a chunk is full, at
`flush(f)` and at `close(f)`; attributes at `flush` and `close`.

A file that is dropped without `close` is closed after the garbage collector has found it, at the next call of this
package; one that was being created is aborted. Files may be used by several tasks and threads at once; what changes the size
of arrays or their number waits for the other calls.
"""
mutable struct File
    path::String
    mode::String
    format::String
    kind::Symbol
    caps::UInt32
    handle::Handle
    names::Vector{String}
    groups::Vector{String}
    arrays::Dict{String,Any} # the NDArrays that were asked for
    lock::ReentrantLock      # of names and arrays
end

function File(path::String, mode::String, handle::Handle)
    f = File(path, mode, "", :unknown, 0, handle, String[], String[], Dict{String,Any}(), ReentrantLock())
    list!(f)
    return f
end

# Reads format, kind and names.
function list!(f::File)
    describe(f) do p
        f.format = unsafe_string(field(p, Val(:format)))
        f.kind = get(KINDS, Int32(field(p, Val(:kind))), :unknown)
        f.caps = field(p, Val(:caps))
        field(p, Val(:flags)) & NDF_FILE_UNLOCKED == 0 ||
            @warn "$(f.path): the file system cannot lock, so nothing keeps other writers out; require_lock=true refuses such stores" maxlog=1
        f.names = [text(ndf_file_get_name, number(f), i - 1) for i in 1:field(p, Val(:narrays))]
        f.groups = [text(ndf_file_get_group_name, number(f), i - 1) for i in 1:field(p, Val(:ngroups))]
    end
    return nothing
end

# What fn makes of the address of an ndf_file_info.
function describe(fn, f::File)
    info = zeroed(ndf_file_info)
    GC.@preserve f info begin
        p = address(info)
        call(ndf_file_get_info, number(f), p)
        return fn(p)
    end
end

# The library's number of an open file. f has to stay alive during the call that gets it; then the call is safe beside
# a close.
function number(f::File)
    n = f.handle.value[]
    n == 0 && throw(NDFileError(NDF_ERR_HANDLE, "$(f.path): the file is closed"))
    return n
end

creating(f::File) = f.mode in ("w", "x")

"""
    NDFile.open(path, mode="r"; format, follow_symlinks=false, default_fill=false) -> NDFile.File
    NDFile.open(path, "r+"; format, follow_symlinks=false, shared=false, timeout=5, sync=false, require_lock=false)
    NDFile.open(path, "w"; format, attrs, commit=:atomic, sync=false)
    NDFile.open(function, path, mode="r"; ...)

Opens or creates a file. The second form, usually written as a `do` block, closes it afterwards and gives what the
function gives. When the function throws, a file that was being created is aborted; of one that was being changed everything is
kept that was changed until then.

# Arguments
- `mode`: `"r"` reading; `"r+"` reading and changing, in formats with `:update` among their `caps` (ds and RawArray do not
  allow it: use [`NDFile.save`](@ref)); `"w"` creating, in place of an older file; `"x"` creating, where nothing exists yet.
- `format`: the name of the format, see [`NDFile.formats`](@ref). Default: by content when reading, by the extension
  when creating.
- `follow_symlinks`: what is inside a store may be symbolic links, which lead anywhere.
- `default_fill`: take the value that NetCDF fills elements with which were never written for `missing`, in variables of numbers
  that name no such value themselves (`_FillValue`), as netCDF4-python does. Otherwise these values are data.
- `shared`: share the store with other writers of regions, who open it so too. Each write locks the chunks that it
  touches, one by one; changes of shape, arrays and attributes are refused (but not in zarr0). Otherwise one writer at a
  time has the store open. Readers are never kept out.
- `timeout`: how many seconds to wait for others who have the store open for changes, here or where it is replaced, before the
  error `NDF_ERR_BUSY`, which names them; 0 does not wait.
- `require_lock`: refuse a store that cannot be locked, because the file system has no locks; otherwise there is a warning,
  once, that nothing keeps other writers out. The lock is then one that other machines, which have the folder by network, see too.
- `attrs`: attributes of a new file, anything like a `Dict` or a `NamedTuple`.
- `commit`: `:atomic`, a new file is written beside its path and renamed when it is closed; or `:direct`, it is written
  in place: quicker, but a crash can leave a torn file.
- `sync`: flush what is written to the disk: of a new file before `close` returns; of one that is changed with each write,
  data before the metadata that tell of it, then the folder.

# Example
```julia
NDFile.open("grid.ds", "w"; attrs=(title="example",)) do f
    f["temp"] = [271.25 272.5; 268.0 269.75; 270.5 271.0]
end
NDFile.open("grid.ds") do f
    @assert f["temp"][:, 1] == [271.25, 268.0, 270.5]    # only this is read
    @assert f.attrs["title"] == "example"
end
```
"""
function open(path::AbstractString, mode::AbstractString="r"; format=nothing, follow_symlinks::Bool=false, default_fill::Bool=false, shared::Bool=false,
              timeout::Real=5, require_lock::Bool=false, attrs=nothing, commit::Symbol=:atomic, sync::Bool=false)
    path = String(path)
    handle = Ref{UInt64}(0)
    cpath, cformat = ctext(path, "path"), ctext(format, "format")
    if mode in ("w", "x")
        (follow_symlinks || default_fill || shared || require_lock) &&
            throw(NDFileError(NDF_ERR_ARGUMENT, "follow_symlinks, default_fill, shared and require_lock: only for files that exist"))
        options = write_options(commit, sync, mode == "x"; timeout=timeout)
        call(ndf_file_create, cpath, cformat, attrs_json(attrs, path), options, handle)
        return File(path, String(mode), Handle(handle[], ABORT_FILE, path))
    end
    mode in ("r", "r+") ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "mode: expected \"r\", \"r+\", \"w\" or \"x\", found $(repr(mode))"))
    attrs === nothing || throw(NDFileError(NDF_ERR_ARGUMENT, "attrs: only for new files; see NDFile.File"))
    GC.@preserve cformat begin
        access = mode == "r" ? NDF_MODE_READ : NDF_MODE_UPDATE
        options = Ref(cstruct(ndf_open_options,
            (mode=access, format=ctext_field(cformat), follow_symlinks=follow_symlinks, shared=shared,
             timeout_ms=milliseconds(timeout), sync=sync, require_lock=require_lock, default_fill=default_fill)))
        call(ndf_file_open, cpath, options, handle)
    end
    return File(path, String(mode), Handle(handle[], CLOSE_FILE, mode == "r" ? "" : path))
end

function open(@nospecialize(fn::Function), args...; options...)
    f = open(args...; options...)
    result = try
        fn(f)
    catch
        creating(f) ? abort(f) : close(f)
        rethrow()
    end
    close(f)
    return result
end

const NO_BYTES = UInt8[]

# What the library takes a timeout in seconds as.
milliseconds(timeout::Real) = timeout > 0 ? max(1, ceil(Int64, 1000min(timeout, 1e12))) : -1

# The caller keeps trailing alive.
function write_options(commit::Symbol, sync::Bool, exclusive::Bool, trailing::Vector{UInt8}=NO_BYTES; timeout::Real=5)
    commit in (:atomic, :direct) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "commit: expected :atomic or :direct, found $(repr(commit))"))
    how = commit === :atomic ? NDF_COMMIT_ATOMIC : NDF_COMMIT_DIRECT
    at = isempty(trailing) ? C_NULL : Ptr{Cvoid}(pointer(trailing))
    return Ref(cstruct(ndf_write_options, (commit=how, sync=sync, exclusive=exclusive, trailing=at, trailing_len=length(trailing),
        timeout_ms=milliseconds(timeout))))
end

"""
    NDFile.trailing(f::NDFile.File) -> Vector{UInt8}

The bytes after the data of a file that is open for reading; empty when there are none. Only RawArray files can have them;
[`NDFile.save`](@ref) writes them with `trailing=bytes`.
"""
trailing(f::File) = GC.@preserve f content(ndf_file_get_trailing, number(f))

# Attributes for C; NULL for nothing.
attrs_json(::Nothing, where) = NULL_TEXT
attrs_json(attrs, where) = json(attrs isa Pair ? Dict(attrs) : attrs, "$where: attribute")

Base.isopen(f::File) = isopen(f.handle)

"""
    flush(f::NDFile.File; sync=false)

Make what was changed visible to others, and leave the file open. With `sync` wait until all that was changed since the file was
opened is on the disk and survives a power cut, also in a file opened without `sync`: data first, then metadata, then folders. A
file being created refuses that (`NDF_ERR_NOT_SUPPORTED`): give `sync` to `NDFile.open`.
"""
function Base.flush(f::File; sync::Bool=false)
    GC.@preserve f call(ndf_file_flush, number(f), sync)
    return nothing
end

function Base.close(f::File)
    finish(f, ndf_file_close)
end

"""
    NDFile.abort(f::NDFile.File)

Closes a file without committing: of a file that was being created nothing is left, and an older file of that name is as
it was. Does nothing when it is closed already.
"""
abort(f::File) = finish(f, ndf_file_abort)

function finish(f::File, end_file)
    n = claim!(f.handle)
    n == 0 && return nothing
    try
        call(end_file, n)
    finally
        lock(f.lock) do
            foreach(close, values(f.arrays))
            empty!(f.arrays)
        end
    end
    return nothing
end

Base.keys(f::File) = lock(() -> (number(f); copy(f.names)), f.lock)
Base.haskey(f::File, name::AbstractString) = name in keys(f) || name in f.groups
Base.length(f::File) = length(keys(f))
Base.eltype(::Type{File}) = Pair{String,Any}

function Base.iterate(f::File, state=(keys(f), 1))
    names, i = state
    return i > length(names) ? nothing : (names[i] => f[names[i]], (names, i + 1))
end

function Base.getindex(f::File, name::AbstractString)
    lock(f.lock) do
        number(f)
        name in f.groups && !(name in f.names) && return Group(f, String(name))
        get!(f.arrays, name) do
            i = findfirst(==(name), f.names)
            i === nothing && throw(NDFileError(NDF_ERR_NAME, "$(f.path): no array of the name $(repr(name))"))
            handle = Ref{UInt64}(0)
            # By position: a name in a file can hold a NUL.
            call(ndf_file_array_at, number(f), i - 1, handle)
            NDArray(f, f.names[i], Handle(handle[], CLOSE_ARRAY))
        end
    end
end

const PROPERTIES = (:path, :mode, :format, :kind, :attrs, :array, :groups)

function Base.propertynames(f::File)
    return (PROPERTIES..., (Symbol(n) for n in getfield(f, :names) if !isempty(n) && !(Symbol(n) in PROPERTIES))...)
end

# Whether a name is a field: spelled out, so that the compiler knows the type of f.path.
@eval stored(name::Symbol) = $(foldr((n, rest) -> :(name === $(QuoteNode(n)) || $rest), fieldnames(File); init=false))

function Base.getproperty(f::File, name::Symbol)
    name === :attrs && return Attrs(f)
    if name === :array
        f.kind === :array ||
            throw(NDFileError(NDF_ERR_ARGUMENT, "$(f.path): a $(f.kind) of $(length(f)) arrays, not one array; index by name"))
        return f[first(keys(f))]
    end
    stored(name) && return getfield(f, name)
    return f[String(name)]
end

function Base.show(io::IO, f::File)
    rows = isopen(f) && f.kind === :table ? " of $(nrows(f)) rows" : ""
    state = isopen(f) ? "mode $(repr(f.mode)), $(join(repr.(f.names), ", "))" : "closed"
    print(io, "NDFile.File(", repr(f.path), ": ", f.format, " ", f.kind, rows, ", ", state, ")")
end

"""
    NDFile.create(f, name, type, size; dims, attrs, masked, chunks, compression, fill, expected_rows) -> NDArray

Declares a new array in a file that is being created or changed. Its elements are written by assignment, `a[:, :, 1] = x`: ds
files take each array once, whole or as consecutive blocks along the last axis; formats with chunks take any region, and what
is not written has the fill value. A new column of a table with columns has as many rows as these.

# Arguments
- `name`: any text; `""` where the file is one array.
- `type`: a Julia type (`Float32`, `Union{Missing,Int16}`, `String`, `Vector{UInt8}`, a struct of plain bits), or a
  dtype name of the library (`">f4"`, `"bfloat16"`, `"<M8[ns]"`, `"<U8"`: texts of up to 8 characters), whose byte order is
  that in the file.
- `size`: a tuple, as `size(a)` will be.
- `dims`: names of the axes, in the order of `size`.
- `attrs`: attributes of the array.
- `masked`: elements may be missing; follows from `type` where that is a Julia type.

The following are for formats with `:chunked` among their `caps`, each of which chooses when they are not given:

- `chunks`: size of a chunk in elements, a tuple as `size`; a number counts entries along the last axis and leaves the others
  whole. bcolz cuts the last axis only.
- `compression`: the name of a Blosc codec (`"blosclz"`, `"lz4"`, `"lz4hc"`, `"snappy"`, `"zlib"`, `"zstd"`), or a tuple or
  `NamedTuple` of `codec`, `level` (0, copy only, to 9; default 5) and `shuffle` (`:noshuffle`, `:shuffle`, which is the default,
  or `:bitshuffle`): `("zstd", 3)`, `(codec="lz4", shuffle=:bitshuffle)`.
- `fill`: the value of elements that were never written.
- `expected_rows`: what the last axis will grow to, a hint for the choice of chunks.

# Example
```julia
NDFile.open("rows.ds", "w") do f
    a = NDFile.create(f, "rows", Float32, (2, 6); dims=("band", "time"))
    for t in 1:2:5
        a[:, t:t+1] = fill(Float32(t), 2, 2)
    end
end
@assert NDFile.read("rows.ds", "rows")[1, :] == [1, 1, 3, 3, 5, 5]
```
"""
function create(f::File, name::AbstractString, type::Type, size::Dims; masked::Bool=Missing <: type, options...)
    return create(f, name, dtype_name(nonmissingtype(type)), size; masked=masked, options...)
end

function create(f::File, name::AbstractString, type::AbstractString, size::Dims; options...)
    return add!(f, String(name), Spec("$(f.path): array $(repr(name))", String(type), size; options...))
end

function add!(f::File, name::String, s::Spec)
    s.chunked && f.caps & NDF_CAP_CHUNKED == 0 &&
        throw(NDFileError(NDF_ERR_NOT_SUPPORTED, "$(s.where): $(f.format) does not store arrays in chunks"))
    handle = Ref{UInt64}(0)
    lock(f.lock) do
        GC.@preserve f s call(ndf_file_add, number(f), ctext(name, "name"), Ref(cstruct(s)), handle)
        a = NDArray(f, name, Handle(handle[], CLOSE_ARRAY))
        f.arrays[name] = a
        list!(f)
        return a
    end
end

function Base.setindex!(f::File, value, name::AbstractString)
    where = Place(f.path, String(name))
    x = prepare(value, where)
    x.dtype.name == "str" && f.caps & NDF_CAP_STRINGS == 0 && (x = prepare_width(value, where))
    a = create(f, name, x.dtype.name, x.size; masked=x.mask !== nothing)
    write_box(a, x, map(n -> 1:n, x.size))
    return value
end

# Removes an array and its data, or a group and all that is in it, at once.
function Base.delete!(f::File, name::AbstractString)
    lock(f.lock) do
        GC.@preserve f call(ndf_file_remove, number(f), ctext(name, "name"))
        for other in filter(n -> below(n, name), collect(keys(f.arrays)))
            close(pop!(f.arrays, other))
        end
        list!(f)
    end
    return f
end

below(name, other) = name == other || startswith(name, string(other, "/"))
