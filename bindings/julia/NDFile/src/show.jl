# What the REPL shows of an array: what it is, its grid of chunks, and its first elements.

function Base.show(io::IO, a::NDArray{T,N}) where {T,N}
    dims = hasdata(a) ? Base.dims2string(size(a)) : "no data"
    print(io, dims, " NDArray{", T, ",", N, "} ", repr(a.name), " of ", repr(a.file.path))
    isopen(a.handle) || return print(io, " (closed)")
    haschunks(a) && print(io, ", chunks of ", Base.dims2string(a.chunks))
    a.compression === nothing || print(io, ", ", join(a.compression, " "))
end
Base.summary(io::IO, a::NDArray) = show(io, a)

const SHOWN = (10, 8) # elements along the first axes; of others the first one

function Base.show(io::IO, ::MIME"text/plain", a::NDArray{T,N}) where {T,N}
    show(io, a)
    isopen(a) && hasdata(a) || return nothing
    haschunks(a) && print(io, " (", Base.dims2string(size(eachchunk(a))), " of them)")
    length(a) == 0 && return nothing
    corner = ntuple(d -> 1:1:min(size(a, d), d <= 2 ? SHOWN[d] : 1), N)
    x = try
        read_box(T, a, corner)
    catch e
        e isa NDFileError || rethrow()
        print(io, "\n  unreadable: ", e.message)
        return nothing
    end
    println(io, ":")
    Base.print_array(IOContext(io, :limit => true, :compact => true, :typeinfo => T), N <= 2 ? x : dropdims(x; dims=Tuple(3:N)))
    length(x) < length(a) && print(io, "\n  the first ", Base.dims2string(map(length, corner)), " of ", length(a), " elements")
    return nothing
end
