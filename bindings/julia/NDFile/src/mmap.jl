# Arrays that stay where they are.

"""
    NDFile.mmap(a::NDArray) -> Array

Maps an array into memory: nothing is read until it is touched, and nothing is copied. The memory stays after the file is
closed, until the array and all that is made from it (views, `reshape`, `reinterpret`, `vec`) are garbage; a bare `pointer` does not
keep it. It is read-only (writing to it is a `ReadOnlyMemoryError`), and a file that another
program makes shorter meanwhile ends the process. Arrays whose elements do not lie in the file as they do in memory, such as
masked or big-endian ones, are `NDF_ERR_NOT_SUPPORTED`, with the reason.

# Example
```julia
rawrite(collect(1.0:6.0), "numbers.ra")
x = NDFile.open(f -> NDFile.mmap(f.array), "numbers.ra")
@assert sum(x) == 21
x = nothing    # now the garbage collector may unmap it
```
"""
function mmap(a::NDArray{T,N}) where {T,N}
    data, len, mapping = Ref{Ptr{Cvoid}}(C_NULL), Ref{Int64}(0), Ref{UInt64}(0)
    GC.@preserve a call(ndf_array_map, number(a), data, len, mapping)
    unused = Handle(mapping[], CLOSE_MAP)
    isbitstype(T) && sizeof(T) * length(a) == len[] ||
        bad_dtype("$(a.file.path): elements of dtype $(a.dtype) cannot be mapped as $T")
    len[] == 0 && return Array{T,N}(undef, size(a))
    mapped = unsafe_wrap(Array, Ptr{T}(data[]), size(a))
    Handle(claim!(unused), CLOSE_MAP, Ref(storage(mapped)))
    return mapped
end

# What all that is made from an array keeps alive. Since Julia 1.11 arrays that share memory, as those of reshape and vec, share
# this object; before, they keep the array.
@static if VERSION >= v"1.11"
    storage(a::Array) = a.ref.mem
else
    storage(a::Array) = a
end
