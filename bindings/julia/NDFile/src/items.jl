# Arrays on their way to ndf_save, ndf_save_many and ndf_table_append.

# The arrays of a file, of any kinds. One type for all: not every combination of kinds is compiled anew.
const Items = Vector{Pair{String,Any}}

items(array::Pair) = items((array,))
items(arrays::NamedTuple) = items(map(Pair, keys(arrays), values(arrays)))
items(arrays::AbstractDict) = Items([String(name) => array for (name, array) in arrays])
function items(@nospecialize(arrays::Tuple{Vararg{Pair}}))
    list = Items(undef, length(arrays))
    for i in 1:length(arrays)
        name = (arrays[i]::Pair).first
        list[i] = Pair{String,Any}(name isa String ? name : String(name)::String, (arrays[i]::Pair).second)
    end
    return list
end

# What is given for each array by name: its dims, its attributes.
const ByName = Union{Nothing,Dict{String,Any}}

by_name(::Nothing, items, what) = nothing
by_name(given::NamedTuple, items, what) = by_name(pairs(given), items, what)
by_name(given::Pair, items, what) = by_name((given,), items, what)
function by_name(@nospecialize(given), items, what)
    d = Dict{String,Any}(String(name) => v for (name, v) in given)
    for name in keys(d)
        any(item -> item.first == name, items) ||
            throw(NDFileError(NDF_ERR_ARGUMENT, "$what: no array of the name $(repr(name)) is saved"))
    end
    return d
end

# Arrays with all that is given for them.
struct Described
    items::Items
    dims::ByName
    attrs::ByName
end

Described(items::Items; dims=nothing, var_attrs=nothing) =
    Described(items, by_name(dims, items, "dims"), by_name(var_attrs, items, "var_attrs"))

# The array of a file that is one.
function single(array; dims=nothing, var_attrs=nothing)
    only(given) = given === nothing ? nothing : Dict{String,Any}("" => given)
    return Described(Items(["" => array]), only(dims), only(var_attrs))
end

# Arrays as the library takes them, and what they point to.
struct ItemList
    list::Vector{ndf_item}
    kept::Vector{Any}
end

ItemList(n) = ItemList(Vector{ndf_item}(undef, n), [])

# Puts the arrays of a file behind the first n of a list, which has room for them.
function put_items!(l::ItemList, n, path::String, given::Described, format, extra=nothing)
    push!(l.kept, given.items)
    for (i, (name, value)) in enumerate(given.items)
        where = Place(path, length(given.items) == 1 && isempty(name) ? nothing : name)
        x = prepare(value, where)::Elements
        x.dtype.name == "str" && !holds_strings(path, format) && (x = prepare_width(value, where)::Elements)
        push!(l.kept, x)
        dims = given.dims === nothing ? NULL_TEXT : dims_json(get(given.dims, name, nothing), where)
        attrs = given.attrs === nothing ? NULL_TEXT : attrs_json(get(given.attrs, name, nothing), where)
        l.list[n+i] = item(x, ctext_field(ctext(name, "name")), ctext_field(x.dtype.name), keep!(l, dims), keep!(l, attrs),
            keep!(l, attrs_json(extra, where)))
    end
end

# An array as the library takes it. The caller keeps x and the texts.
function item(x::Elements, name::Cstring, dtype::Cstring, dims=NULL_TEXT, attrs=NULL_TEXT, extra=NULL_TEXT)
    return cstruct(ndf_item, (ndim=length(x.shape), name=name, dtype=dtype, shape=pointer(x.shape), data=x.at,
        mask=Ptr{UInt8}(address(x.mask)), offsets=Ptr{Int64}(address(x.offsets)), dims_json=dims, attrs_json=attrs,
        extra_json=extra))
end

# The address of a text, which is kept.
keep!(::ItemList, ::Cstring) = NULL_TEXT
function keep!(l::ItemList, text::String)
    push!(l.kept, text)
    return ctext_field(text)
end

# Whether a new file can hold texts of any length; also where its format is unknown, which the library reports.
function holds_strings(path, format)
    ending = splitext(path)[2]
    found = filter(f -> format === nothing ? ending in f.extensions : f.name == format, formats())
    return isempty(found) || any(f -> :strings in f.caps, found)
end
