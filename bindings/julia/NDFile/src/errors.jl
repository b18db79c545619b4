"""
    NDFileError(code, message)

What every function of this package throws when the library refuses: a bad file, a bad argument, a failed system call.
(An index outside an array is Julia's own `BoundsError`.)

# Fields
- `code::Int32`: the status of the C library, negative; compare it with `NDFile.NDF_ERR_NOT_FOUND`, `NDFile.NDF_ERR_CORRUPT`
  and so on. Codes never change their meaning.
- `message::String`: path, array, what was expected and what was found.
- `errno::Int32`: the error number of the operating system, or 0.
- `offset::Int64`: the position in the file in bytes, or -1.

# Example
```julia
try
    NDFile.read("no-such-file.ds")
catch e
    e isa NDFileError && e.code == NDFile.NDF_ERR_NOT_FOUND || rethrow()
end
```
"""
struct NDFileError <: Exception
    code::Int32
    message::String
    errno::Int32
    offset::Int64
end

NDFileError(code::Integer, message::AbstractString) = NDFileError(code, message, 0, -1)

Base.showerror(io::IO, e::NDFileError) = print(io, "NDFileError (", status_name(e.code), "): ", e.message)

"The name of a status of the C library, such as `\"NDF_ERR_MASKED\"`; `\"NDF_ERR_UNKNOWN\"` for other numbers."
status_name(code::Integer) = unsafe_string(ndf_status_name(code))

# A file, or an array of one, for messages: the text is made when there is one.
struct Place
    path::String
    array::Union{Nothing,String}
end

Base.print(io::IO, p::Place) = p.array === nothing ? print(io, p.path) : print(io, p.path, ": array ", repr(p.array))

# The error of a call that returned status, from the struct that it filled.
failure(status::Int32, err::Ref{ndf_error}) = GC.@preserve err failure(status, address(err))
# Where Ctrl-C has ended the call, it is that.
function failure(status::Int32, p::Ptr{ndf_error})
    status == NDF_ERR_CANCELED && Threads.atomic_xchg!(interrupted, false) && return InterruptException()
    return NDFileError(status, unsafe_string(field(p, Val(:message))), field(p, Val(:os_error)), field(p, Val(:offset)))
end
