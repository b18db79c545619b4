# Whether single elements may be asked for.

const SCALAR = Threads.Atomic{Bool}(true)

"""
    NDFile.allow_scalar(allow)

Whether single elements of arrays with axes may be read and written, `a[1, 2]`, in the whole process; `true` unless changed.
`false` makes each an `NDF_ERR_ARGUMENT`, so that what goes through a file element by element is found: loops, and functions of Base
that have no method for these arrays. Ranges, broadcasts, `collect`, `copyto!`, `fill!`, `sum` and its like work on blocks, and go on.
"""
function allow_scalar(allow::Bool)
    SCALAR[] = allow
    return nothing
end

@inline check_scalar(a::NDArray{<:Any,N}) where {N} = N == 0 || SCALAR[] || refuse_scalar(a)
@noinline refuse_scalar(a) = throw(NDFileError(NDF_ERR_ARGUMENT,
    "$(place(a)): a single element, after NDFile.allow_scalar(false); read or write a range"))
