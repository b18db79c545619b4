"""
    NDFile.OrderedDict{V}(pairs...)

A dictionary with `String` keys that keeps the order in which keys came: attributes, and the arrays that
[`NDFile.read`](@ref) gives.
"""
struct OrderedDict{V} <: AbstractDict{String,V}
    keys::Vector{String}
    values::Vector{V}
    places::Dict{String,Int}
    OrderedDict{V}() where {V} = new{V}(String[], V[], Dict{String,Int}())
end

function OrderedDict{V}(pairs::Pair...) where {V}
    d = OrderedDict{V}()
    for (k, v) in pairs
        d[k] = v
    end
    return d
end

Base.length(d::OrderedDict) = length(d.keys)
Base.keys(d::OrderedDict) = copy(d.keys)
Base.haskey(d::OrderedDict, key) = haskey(d.places, key)

function Base.iterate(d::OrderedDict, i=1)
    return i > length(d) ? nothing : (d.keys[i] => d.values[i], i + 1)
end

function Base.get(d::OrderedDict, key, default)
    i = get(d.places, key, 0)
    return i == 0 ? default : d.values[i]
end

function Base.getindex(d::OrderedDict, key)
    i = get(d.places, key, 0)
    return i == 0 ? throw(KeyError(key)) : d.values[i]
end

function Base.setindex!(d::OrderedDict, value, key)
    i = get!(d.places, String(key), length(d) + 1)
    if i > length(d)
        push!(d.keys, String(key))
        push!(d.values, value)
    else
        d.values[i] = value
    end
    return d
end

function Base.delete!(d::OrderedDict, key)
    i = pop!(d.places, key, 0)
    if i != 0
        deleteat!(d.keys, i)
        deleteat!(d.values, i)
        for k in i:length(d)
            d.places[d.keys[k]] = k
        end
    end
    return d
end
