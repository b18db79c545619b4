"""
    NDFile.set_threads(n)

Sets how many threads a call of the library uses at most: 1, no parallel work; 0, the default, as many as the process has
processors. They are not those of Julia.
"""
set_threads(n::Integer) = call(ndf_set_threads, n)

"""
    NDFile.set_limits(; max_header=0)

Sets how much a file from a stranger can make the library allocate: `max_header` is the longest metadata text in bytes, a longer
one is `NDF_ERR_LIMIT`; 0, the default, is 64 MiB.
"""
set_limits(; max_header::Integer=0) = call(ndf_set_limits, max_header)
