"""
    NDFile.Group

A group of an open file, `f["a/b"]`: a view of the arrays below that path.

- `g["name"]`, `g[:name]` and `g.name` are an array or a group, by its name from here; `g["name"] = x`, `NDFile.create(g, "name", ...)` and
  `delete!(g, "name")` are as for the file.
- `keys(g)` are the names of the arrays below, at all depths; `g.groups` those of the groups.
- `g.attrs` are the attributes of the group, `g.file` is the file and `g.name` the path.

# Example
```julia
NDFile.open("ocean.zarr", "w"; format="zarr3") do f
    deep = NDFile.create_group(f, "ocean/deep"; attrs=(below=1000,))
    deep["salt"] = [35, 36]
end
NDFile.open("ocean.zarr") do f
    @assert keys(f) == ["ocean/deep/salt"] && f.groups == ["ocean", "ocean/deep"]
    @assert f["ocean"]["deep"].attrs["below"] == 1000
end
```
"""
struct Group
    file::File
    name::String
end

inside(g::Group, name) = string(getfield(g, :name), "/", name)
names_below(g::Group, names) = [n[ncodeunits(g.name)+2:end] for n in names if startswith(n, g.name * "/")]

Base.propertynames(g::Group) = (:file, :name, :attrs, :groups, (Symbol(n) for n in names_below(g, getfield(g.file, :names)))...)

function Base.getproperty(g::Group, name::Symbol)
    name === :attrs && return Attrs(g)
    name === :groups && return names_below(g, g.file.groups)
    name === :file || name === :name ? (return getfield(g, name)) : (return g[String(name)])
end

Base.keys(g::Group) = names_below(g, keys(g.file))
Base.haskey(g::Group, name::AbstractString) = haskey(g.file, inside(g, name))
Base.length(g::Group) = length(keys(g))
Base.eltype(::Type{Group}) = Pair{String,Any}

function Base.iterate(g::Group, state=(keys(g), 1))
    names, i = state
    return i > length(names) ? nothing : (names[i] => g[names[i]], (names, i + 1))
end

Base.getindex(g::Group, name::AbstractString) = g.file[inside(g, name)]
Base.setindex!(g::Group, value, name::AbstractString) = setindex!(g.file, value, inside(g, name))
create(g::Group, name::AbstractString, args...; options...) = create(g.file, inside(g, name), args...; options...)
create_group(g::Group, name::AbstractString; options...) = create_group(g.file, inside(g, name); options...)

function Base.delete!(g::Group, name::AbstractString)
    delete!(g.file, inside(g, name))
    return g
end

Base.show(io::IO, g::Group) = print(io, "NDFile.Group(", repr(g.name), " of ", repr(g.file.path), ")")

"""
    NDFile.create_group(f, name; attrs) -> NDFile.Group

Makes a group, and those above it that are missing, in a file of a format with `:groups` among its `caps`. `name` is the path
from the root, or from the group `f`.
"""
function create_group(f::File, name::AbstractString; attrs=nothing)
    lock(f.lock) do
        GC.@preserve f call(ndf_file_add_group, number(f), ctext(name, "name"), attrs_json(attrs, name))
        list!(f)
    end
    return Group(f, String(name))
end

"""
    NDFile.rename(f::NDFile.File, old, new)

Gives an array or a group, with all that is in it, another path from the root, at once. Groups above the new one that are
missing are made.
"""
function rename(f::File, old::AbstractString, new::AbstractString)
    lock(f.lock) do
        GC.@preserve f call(ndf_file_rename, number(f), ctext(old, "name"), ctext(new, "name"))
        filter!(pair -> !below(first(pair), old), f.arrays)
        list!(f)
    end
    return f
end

"""
    NDFile.consolidate(f::NDFile.File, on=true)

Has copies of all metadata written to the root of a zarr2 or zarr3 file, by which readers open it with one request. They are
written at `flush` and `close`, and kept true by every later change of this library; `false` removes them.
"""
function consolidate(f::File, on::Bool=true)
    GC.@preserve f call(ndf_file_consolidate, number(f), Int32(on))
    return f
end
