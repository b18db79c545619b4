const Problem = NamedTuple{(:code, :path, :array, :offset, :message, :repair, :repaired, :class),
    Tuple{Int32,String,Union{Nothing,String},Int64,String,Union{Nothing,String},Bool,Symbol}}

const PROBLEM_CLASSES = (:damage, :stale, :foreign)

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
            field(p, Val(:offset)), given(field(p, Val(:message))), given(field(p, Val(:repair))), field(p, Val(:repaired)) != 0,
            PROBLEM_CLASSES[field(p, Val(:problem_class))+1])))
        return 0
    catch e
        found.error = e
        return 1
    end
end

"""
    NDFile.verify(path; repair=false, undo=false, sealed=false, format, follow_symlinks=false, progress=nothing) -> Vector{NDFile.Problem}

Checks a file or folder thoroughly: every chunk, lengths against metadata, and what lies beside, in formats with `:verify`
among their `caps`; of others all elements are read. Gives what is wrong; empty when nothing is. With `repair` it mends
what is certain, as the problems' `repair` says; nothing is deleted: what is taken away or written anew is kept in a new
folder beside the store, PATH.ndf-removed-N, and `undo=true` gives it back. `sealed=true` compares all files with what
[`NDFile.seal`](@ref) has written, and nothing else.

An `NDFile.Problem` is a `NamedTuple` of

- `code`: `NDFile.NDF_ERR_CORRUPT`, data cannot be read; `NDF_ERR_LOSS`, something was lost already, as rows of a torn
  append; `NDF_ERR_VALUE`, what is stale or foreign;
- `path`, the very file; `array`, a name or `nothing`; `offset`, in bytes, or -1; `message`, what was expected and found;
- `repair`, what a repair does about it, or `nothing` when nothing certain can be done; `repaired`, whether it has;
- `class`: `:damage`, data cannot be read, were lost, or are not counted where they should be; `:stale`, harmless leftovers
  of a writer that was stopped; `:foreign`, something that is no part of the format.

`progress` is a function of the chunks or blocks that are done and of all, as for [`NDFile.convert`](@ref).

An error of the call, an [`NDFileError`](@ref), means that checking could not go on. The file must not be changed meanwhile.

# Example
```julia
NDFile.save("x.bcolz", [1, 2, 3])
@assert isempty(NDFile.verify("x.bcolz"))
write(joinpath("x.bcolz", "data", "__1.blp"), "left over")
@assert [p.code for p in NDFile.verify("x.bcolz")] == [NDFile.NDF_ERR_VALUE]
```
"""
function verify(path::AbstractString; repair::Bool=false, undo::Bool=false, sealed::Bool=false, format=nothing,
    follow_symlinks::Bool=false, progress=nothing)
    found, n = Findings(Problem[], nothing), Ref{Int64}(0)
    cpath, cformat = ctext(path, "path"), ctext(format, "format")
    GC.@preserve found cformat begin
        members = (repair=repair, undo=undo, sealed=sealed, follow_symlinks=follow_symlinks, format=ctext_field(cformat))
        callback = @cfunction(report, Int32, (Ptr{Cvoid}, Ptr{ndf_problem}))
        try
            watched(progress) do watch, _
                call(ndf_verify, cpath, Ref(cstruct(ndf_verify_options, merge(members, watch))), callback, pointer_from_objref(found), n)
            end
        catch
            found.error === nothing ? rethrow() : throw(found.error)
        end
    end
    return found.problems
end

"""
    NDFile.seal(path; follow_symlinks=false) -> Int

Writes the SHA-256 of every file of a store, or of one file, to PATH.ndf-seal beside it, and gives the number of files.
`NDFile.verify(path; sealed=true)` compares: it finds what nothing else can, values that changed silently. The seal is a text
that `sha256sum -c` understands. A change of the store does not change its seal: seal it again.

# Example
```julia
NDFile.save("x.ds", "x" => [1, 2, 3])
@assert NDFile.seal("x.ds") == 1 && isempty(NDFile.verify("x.ds"; sealed=true))
```
"""
function seal(path::AbstractString; follow_symlinks::Bool=false)
    n = Ref{Int64}(0)
    call(ndf_seal, ctext(path, "path"), Ref(cstruct(ndf_verify_options, (follow_symlinks=follow_symlinks,))), n)
    return Int(n[])
end
