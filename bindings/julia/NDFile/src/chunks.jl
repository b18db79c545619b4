# Chunks: where they lie, and their stored bytes.

"""
    NDFile.haschunks(a::NDArray) -> Bool

Whether an array is stored in chunks.
"""
haschunks(a::NDArray) = a.flags & NDF_ARRAY_CHUNKED != 0

"""
    NDFile.eachchunk(a::NDArray) -> AbstractArray of tuples of ranges

Where the chunks lie, along the axes of `size(a)`; the whole array where there are none. Names and meaning are those of
DiskArrays.jl, which is not needed. Reading in these pieces decodes each chunk once.

# Example
```julia
NDFile.open("grid.zarr", "w"; format="zarr0") do f
    a = NDFile.create(f, "", Float32, (5, 4); chunks=(2, 4), compression=("zstd", 3), fill=-1)
    a[1:3, :] = reshape(1:12, 3, 4)
end
NDFile.open("grid.zarr") do f
    a = f.array
    @assert vec(NDFile.eachchunk(a)) == [(1:2, 1:4), (3:4, 1:4), (5:5, 1:4)]
    @assert [sum(a[place...]) for place in NDFile.eachchunk(a)] == reshape([48, 26, -4], 3, 1)
    @assert a.chunks == (2, 4) && a.compression.codec == "zstd" && a.fillvalue === -1f0
end
```
"""
eachchunk(a::NDArray) = ChunkGrid(size(a), haschunks(a) ? a.chunks : max.(size(a), 1))

# A store can have any number of chunks, so they are not listed.
struct ChunkGrid{N} <: AbstractArray{NTuple{N,UnitRange{Int}},N}
    extent::NTuple{N,Int}
    chunks::NTuple{N,Int}
end

Base.size(g::ChunkGrid) = map(cld, g.extent, g.chunks)
function Base.getindex(g::ChunkGrid{N}, i::Vararg{Int,N}) where {N}
    @boundscheck checkbounds(g, i...)
    return map((k, n, all) -> (k-1)*n+1:min(k * n, all), i, g.chunks, g.extent)
end

"""
    NDFile.readchunk(a::NDArray, index...) -> Vector{UInt8} or nothing

The stored bytes of a chunk, compressed as they are, without what the format puts around them; `nothing` for one that was
never written, whose elements have the fill value. `index` is the number of the chunk along each axis, as in
[`NDFile.eachchunk`](@ref). [`NDFile.chunkencoding`](@ref) names what they are.
"""
function readchunk(a::NDArray{<:Any,N}, index::Vararg{Integer,N}) where {N}
    bytes, need = Vector{UInt8}(undef, 1 << 16), Ref{Int64}(0)
    while true
        err = Ref{ndf_error}()
        need[] = length(bytes)
        status = GC.@preserve a ndf_array_read_chunk(number(a), N, chunk_index(index), bytes, need, C_NULL, err)
        status == NDF_OK && return need[] == 0 ? nothing : resize!(bytes, need[])
        status == NDF_ERR_BUFFER && need[] > length(bytes) || throw(failure(status, err))
        resize!(bytes, need[])
    end
end

"""
    NDFile.writechunk!(a::NDArray, bytes, index...)

Stores the bytes of a whole chunk as they are: what [`NDFile.readchunk`](@ref) gave for an array of equal dtype, chunks
and encoding. Bytes that do not decode to a chunk of this array are an error.
"""
function writechunk!(a::NDArray{<:Any,N}, bytes::Vector{UInt8}, index::Vararg{Integer,N}) where {N}
    GC.@preserve a call(ndf_array_write_chunk, number(a), N, chunk_index(index), bytes, length(bytes))
    return nothing
end

chunk_index(index) = Int64[i - 1 for i in reverse(index)]

"""
    NDFile.chunkencoding(a::NDArray) -> String

How the stored bytes of a chunk are made, such as `"blosc1"`. Arrays of equal encoding, dtype and chunks can exchange them.
"""
chunkencoding(a::NDArray) = GC.@preserve a text(ndf_array_get_chunk_encoding, number(a))
