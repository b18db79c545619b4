const Problem = NamedTuple{(:code, :path, :array, :offset, :message, :repair, :repaired),
    Tuple{Int32,String,Union{Nothing,String},Int64,String,Union{Nothing,String},Bool}}

mutable struct Findings
    problems::Vector{Problem}
    error::Any # what must not leave the callback
end

# Called by the library, on the thread of the call. It neither waits nor calls the library.
function report(user::Ptr{Cvoid}, p::Ptr{ndf_problem})::Int32
    found = unsafe_pointer_to_objref(user)::Findings
    try
        given(c::Cstring) = c == NULL_TEXT ? nothing : unsafe_string(c)
        push!(found.problems, Problem((field(p, Val(:code)), given(field(p, Val(:path))), given(field(p, Val(:array))),
            field(p, Val(:offset)), given(field(p, Val(:message))), given(field(p, Val(:repair))), field(p, Val(:repaired)) != 0)))
        return 0
    catch e
        found.error = e
        return 1
    end
end

"""
    NDFile.verify(path; repair=false, format, follow_symlinks=false) -> Vector{NDFile.Problem}

Checks a file or folder thoroughly: every chunk, lengths against metadata, and what lies beside, in formats with `:verify`
among their `caps`; of others all elements are read. Gives what is wrong; empty when nothing is. With `repair` it mends
what is certain, as the problems' `repair` says.

An `NDFile.Problem` is a `NamedTuple` of

- `code`: `NDFile.NDF_ERR_CORRUPT`, data cannot be read; `NDF_ERR_LOSS`, something was lost already, as rows of a torn
  append; `NDF_ERR_VALUE`, harmless leftovers;
- `path`, the very file; `array`, a name or `nothing`; `offset`, in bytes, or -1; `message`, what was expected and found;
- `repair`, what a repair does about it, or `nothing` when nothing certain can be done; `repaired`, whether it has.

An error of the call, an [`NDFileError`](@ref), means that checking could not go on. The file must not be changed meanwhile.

# Example
```julia
NDFile.save("x.bcolz", [1, 2, 3])
@assert isempty(NDFile.verify("x.bcolz"))
write(joinpath("x.bcolz", "data", "__1.blp"), "left over")
@assert [p.code for p in NDFile.verify("x.bcolz")] == [NDFile.NDF_ERR_VALUE]
```
"""
function verify(path::AbstractString; repair::Bool=false, format=nothing, follow_symlinks::Bool=false)
    found, n = Findings(Problem[], nothing), Ref{Int64}(0)
    cpath, cformat = ctext(path, "path"), ctext(format, "format")
    GC.@preserve found cformat begin
        options = Ref(cstruct(ndf_verify_options, (repair=repair, follow_symlinks=follow_symlinks, format=ctext_field(cformat))))
        callback = @cfunction(report, Int32, (Ptr{Cvoid}, Ptr{ndf_problem}))
        try
            call(ndf_verify, cpath, options, callback, pointer_from_objref(found), n)
        catch
            found.error === nothing ? rethrow() : throw(found.error)
        end
    end
    return found.problems
end
