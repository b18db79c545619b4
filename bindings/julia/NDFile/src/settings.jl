"""
    NDFile.set_threads(n)

Sets how many threads a call of the library uses at most: 1, no parallel work; 0, the default, as many as the process has
processors. They are not those of Julia.
"""
set_threads(n::Integer) = call(ndf_set_threads, n)

"""
    NDFile.set_limits(; max_header=0, max_chunk=0)

Sets how much a file from a stranger can make the library allocate: `max_header` is the longest metadata text in bytes, a longer
one is `NDF_ERR_LIMIT`; 0, the default, is 64 MiB. `max_chunk` is the largest chunk that is changed, in bytes of its elements, as it is held in memory as a
whole; 0, the default, is 512 MiB. Reading works piece by piece, but for chunks that are one compressed block of more than 16 MiB and
larger than the file: these are read only where `max_chunk` was set and allows them. What is not given gets its default.
"""
set_limits(; max_header::Integer=0, max_chunk::Integer=0) = call(ndf_set_limits, max_header, max_chunk)

"""
    NDFile.set_cache_limit(bytes)

Sets how many bytes of decoded chunks the process keeps for reads of parts of chunks, of all open arrays together; 0: nothing;
`nothing`: 64 MiB, which is the default. What is beyond goes at once, what was used least recently first.
"""
set_cache_limit(bytes::Union{Integer,Nothing}) = call(ndf_set_cache_limit, bytes === nothing ? -1 : bytes)

"""
    NDFile.cache_info()

What the process keeps of decoded chunks: `(; hits, misses, limit, used)`, the last two in bytes.
"""
function cache_info()
    limit, used, hits, misses = Ref{Int64}(0), Ref{Int64}(0), Ref{Int64}(0), Ref{Int64}(0)
    call(ndf_get_cache, limit, used, hits, misses)
    (; hits=hits[], misses=misses[], limit=limit[], used=used[])
end
