"""
    NDFile.OrderedDict{V}(pairs...)

A dictionary with `String` keys that keeps the order in which keys came: attributes, and the arrays that
[`NDFile.read`](@ref) gives.
"""
mutable struct OrderedDict{V} <: AbstractDict{String,V}
    keys::Vector{String}
    values::Vector{V}
    places::Union{Nothing,Dict{String,Int}} # of more than FEW keys; few are searched
    OrderedDict{V}(keys::Vector{String}, values::Vector{V}) where {V} = new{V}(keys, values, index(keys))
end

const FEW = 8

index(keys) = length(keys) > FEW ? Dict(k => i for (i, k) in enumerate(keys)) : nothing

OrderedDict{V}() where {V} = OrderedDict{V}(String[], V[])

function OrderedDict{V}(pairs::Pair...) where {V}
    d = OrderedDict{V}()
    for (k, v) in pairs
        d[k] = v
    end
    return d
end

# The number of a key, or 0.
function find(d::OrderedDict, key)
    d.places === nothing || return get(d.places, key, 0)
    return something(findfirst(isequal(key), d.keys), 0)
end

Base.length(d::OrderedDict) = length(d.keys)
Base.keys(d::OrderedDict) = copy(d.keys)
Base.haskey(d::OrderedDict, key) = find(d, key) != 0

function Base.iterate(d::OrderedDict, i=1)
    return i > length(d) ? nothing : (d.keys[i] => d.values[i], i + 1)
end

function Base.get(d::OrderedDict, key, default)
    i = find(d, key)
    return i == 0 ? default : d.values[i]
end

function Base.getindex(d::OrderedDict, key)
    i = find(d, key)
    return i == 0 ? throw(KeyError(key)) : d.values[i]
end

function Base.setindex!(d::OrderedDict, value, key)
    name = String(key)
    i = find(d, name)
    if i == 0
        push!(d.keys, name)
        push!(d.values, value)
        d.places === nothing ? (d.places = index(d.keys)) : (d.places[name] = length(d))
    else
        d.values[i] = value
    end
    return d
end

function Base.delete!(d::OrderedDict, key)
    i = find(d, key)
    if i != 0
        deleteat!(d.keys, i)
        deleteat!(d.values, i)
        d.places = index(d.keys)
    end
    return d
end
