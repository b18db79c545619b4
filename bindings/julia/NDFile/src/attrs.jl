"""
    NDFile.Attrs

The attributes of a file, a group or an array, in file order: a dictionary with `String` keys. Values are what JSON has: `nothing`,
`Bool`, `Int` or `BigInt`, `Float64` (NaN and infinities too), `String`, vectors and dictionaries of these.

In files that can be changed, `f.attrs["title"] = "x"`, `delete!` and `merge!` work, and take effect in the file when it is
flushed or closed; a vector or dictionary that was taken out and changed is not stored until it is assigned again. Smaller
numbers are stored as numbers, tuples and arrays as lists (the last axis outermost), a `NamedTuple` as a dictionary;
anything else is an error.

Every access asks the library; `Dict(f.attrs)` is a copy.
"""
struct Attrs{P} <: AbstractDict{String,Any}
    owner::P # File, Group or NDArray
end

function load(a::Attrs)
    owner = a.owner
    GC.@preserve owner return parse_json(text(attrs_getter(owner), whose(owner)...))::OrderedDict{Any}
end

function store(a::Attrs, values)
    owner = a.owner
    GC.@preserve owner call(attrs_setter(owner), whose(owner)..., attrs_json(values, place(owner)))
    return a
end

attrs_getter(::File) = ndf_file_get_attrs
attrs_setter(::File) = ndf_file_set_attrs
attrs_getter(::Group) = ndf_group_get_attrs
attrs_setter(::Group) = ndf_group_set_attrs
attrs_getter(::NDArray) = ndf_array_get_attrs
attrs_setter(::NDArray) = ndf_array_set_attrs

# What tells the library the owner.
whose(owner) = (number(owner),)
whose(g::Group) = (number(g.file), ctext(g.name, "name"))
place(g::Group) = place(g.file)

Base.length(a::Attrs) = length(load(a))
Base.iterate(a::Attrs) = iterate(a, (load(a), 1))
function Base.iterate(::Attrs, (values, i))
    next = iterate(values, i)
    return next === nothing ? nothing : (next[1], (values, next[2]))
end
Base.keys(a::Attrs) = keys(load(a))
Base.haskey(a::Attrs, key) = haskey(load(a), key)
Base.get(a::Attrs, key, default) = get(load(a), key, default)
Base.getindex(a::Attrs, key) = load(a)[key]
Base.setindex!(a::Attrs, value, key) = store(a, setindex!(load(a), value, key))
Base.delete!(a::Attrs, key) = store(a, delete!(load(a), key))
Base.empty!(a::Attrs) = store(a, OrderedDict{Any}())
Base.merge!(a::Attrs, others::AbstractDict...) = store(a, merge!(load(a), others...))
