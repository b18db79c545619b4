# Arrays that grow and shrink.

"""
    append!(a::NDArray, x; dims=ndims(a))

Grows an array along an axis, the last one unless `dims` says otherwise, and stores `x` behind what was there. The other axes
of `x` are those of `a`; elements are converted as an assignment does it. Formats can keep them in memory until a chunk is
full: `flush(f)` and `close(f)` write them. After an error the array is as it was.

The columns of a table grow together: append to the file, see [`NDFile.nrows`](@ref).

# Example
```julia
NDFile.save("log.bcolz", [1.0, 2.0])
NDFile.open("log.bcolz", "r+") do f
    append!(f.array, [3.0, 4.0])
    resize!(f.array, 5)
    f.array[5] = 5
end
@assert NDFile.read("log.bcolz") == 1:5
```
"""
Base.append!(a::NDArray, x::AbstractArray; dims::Integer=ndims(a)) = grow!(a, x, dims)
Base.append!(a::NDArray{<:Any,1}, x::AbstractVector; dims::Integer=1) = grow!(a, x, dims)

function grow!(a::NDArray{<:Any,N}, value, dims) where {N}
    x = prepare(value, place(a), a.type)
    x.mask === nothing || throw(NDFileError(NDF_ERR_NOT_SUPPORTED, "$(place(a)): missing elements cannot be appended"))
    data, count = x.data, collect(Int64, reverse(x.size))
    lock(a.file.lock) do
        GC.@preserve a data call(ndf_array_append, number(a), N - dims, length(count), count, NULL_TEXT, address(data), C_NULL)
        refresh!(a)
    end
    return a
end

"""
    resize!(a::NDArray, dims...)

Sets the size of an array, whose number of axes stays. Elements that come into being have the fill value, zero where there is
none; what falls outside is gone for good. After an error the array has its old size.
"""
function Base.resize!(a::NDArray{<:Any,N}, dims::Vararg{Integer,N}) where {N}
    lock(a.file.lock) do
        GC.@preserve a call(ndf_array_resize, number(a), N, collect(Int64, reverse(dims)))
        refresh!(a)
    end
    return a
end
