# Files and groups as the collections of Julia: names as texts, symbols and properties, positions, defaults.

const Collection = Union{File,Group}

Base.getindex(c::Collection, name::Symbol) = c[String(name)]
Base.setindex!(c::Collection, value, name::Symbol) = setindex!(c, value, String(name))
Base.haskey(c::Collection, name::Symbol) = haskey(c, String(name))
Base.delete!(c::Collection, name::Symbol) = delete!(c, String(name))

Base.get(c::Collection, name::Union{AbstractString,Symbol}, default) = haskey(c, name) ? c[name] : default
Base.get(default::Base.Callable, c::Collection, name::Union{AbstractString,Symbol}) = haskey(c, name) ? c[name] : default()

Base.values(c::Collection) = (c[name] for name in keys(c))

# The rows of a table have numbers; elsewhere the arrays have, in file order.
Base.firstindex(::File) = 1
Base.lastindex(f::File) = f.kind === :table ? nrows(f) : length(f)
Base.firstindex(f::File, axis::Integer) = 1
Base.lastindex(f::File, axis::Integer) = axis == 1 ? lastindex(f) : length(f)

function Base.getindex(f::File, i::Integer)
    f.kind === :table && return f[i, keys(f)]
    names = keys(f)
    checkindex(Bool, eachindex(names), i) || throw(BoundsError(f, i))
    return f[names[i]]
end
