# read_many and save_many: many small files in a few calls of the library, which works in parallel.

# Files of one call, so that memory stays small whatever their number is.
const BATCH = 256

"""
    NDFile.read_many(paths; errors=:raise, progress=nothing) -> Vector
    NDFile.read_many(paths, name; errors=:raise, progress=nothing) -> Vector

What `NDFile.read.(paths)`, or `NDFile.read.(paths, name)`, gives, but faster: the files are read in parallel.

`errors` says what becomes of files that cannot be read. `:raise`: the error of the first one is thrown; `:return`: the
[`NDFileError`](@ref)s stand in the result. `progress` is a function of the files that are done and of all, as for
[`NDFile.convert`](@ref); when it gives `false` the call ends with `NDF_ERR_CANCELED`.

# Example
```julia
NDFile.save_many(["one.ds", "two.ds"], [(x=[1],), (x=[2, 2],)])
@assert NDFile.read_many(["one.ds", "two.ds"], "x") == [[1], [2, 2]]
@assert NDFile.read_many(["one.ds", "three.ds"]; errors=:return)[2].code == NDFile.NDF_ERR_NOT_FOUND
```
"""
read_many(paths; errors::Symbol=:raise, progress=nothing) = load_many(list_paths(paths), NULL_TEXT, errors, progress)
read_many(paths, name::AbstractString; errors::Symbol=:raise, progress=nothing) =
    load_many(list_paths(paths), String(name), errors, progress)

function load_many(paths::Vector{String}, name::Union{String,Cstring}, errors::Symbol, progress)
    check_errors(errors)
    name isa String && '\0' in name && return Any[load_alone(path, name, errors) for path in paths]
    arrays = Vector{Any}(undef, length(paths))
    watched(progress, length(paths)) do members, watch
        options = many_options(members)
        first, count = 1, BATCH
        while first <= length(paths)
            batch = first:min(first + count - 1, length(paths))
            watch === nothing || (watch.done = first - 1)
            bytes, infos = load_batch!(arrays, paths, batch, name, options)
            for i in batch
                isassigned(arrays, i) || (arrays[i] = load_alone(paths[i], name, errors)) # it needs more room, or tells why it fails
            end
            # The next files may be like these.
            count = clamp(min(length(batch) * MOST_BYTES ÷ max(bytes, 1), length(batch) * MOST_INFOS ÷ max(infos, 1)), 1, BATCH)
            first = last(batch) + 1
        end
    end
    return arrays
end

many_options(members) = isempty(members) ? C_NULL : Ref(cstruct(ndf_many_options, members))

# Reads those files of a batch that there is room for, and gives the bytes and infos that all would have taken.
function load_batch!(arrays, paths, batch, name, options)
    collect_released()
    s = take_scratch()
    make_room!(s, MOST_BYTES, MOST_INFOS)
    set_room!(s)
    results = Vector{ndf_load_result}(undef, length(batch))
    GC.@preserve paths results begin
        cpaths = Cstring[ctext_field(paths[i]) for i in batch]
        unsafe_store!(Ptr{UInt32}(pointer(results)), UInt32(sizeof(ndf_load_result)))
        s.need[] = length(s.buf)
        status = ndf_load_many(cpaths, length(cpaths), name, s.buf, s.need, s.infos, s.count, results, C_NULL,
            options, s.err)
        (s.need[] < 0 || status == NDF_ERR_CANCELED) && refuse(s, status)
    end
    for (i, r) in zip(batch, results)
        r.status == NDF_OK || continue
        try
            arrays[i] = loaded(s, Int(r.first_info) + 1, Int(r.ninfos), name isa String)
        catch e
            e isa NDFileError || rethrow()
        end
    end
    give_back(s)
    return s.need[], s.count[]
end

function load_alone(path, name, errors)
    try
        return load_file(path, name)
    catch e
        errors === :return && e isa NDFileError || rethrow()
        return e
    end
end

"""
    NDFile.save_many(paths, arrays; dims, attrs, var_attrs, format, commit=:atomic, sync=false, exclusive=false, errors=:raise,
                     progress=nothing)

Writes many files, as [`NDFile.save`](@ref) does each, but in parallel. `arrays` has for each path what `save` takes: named
arrays, as a `Dict`, a `NamedTuple`, a pair or a tuple of pairs, or one array. What the other arguments give is the same for
all files. A path that comes twice holds one or the other afterwards.

A file that fails does not stop the others. `errors`: with `:raise` the error of the first one is thrown in the end; with
`:return` the result is a vector of `nothing` or an [`NDFileError`](@ref) for each path. `progress` is as for
[`NDFile.read_many`](@ref): files that are written stay.

# Example
```julia
NDFile.save_many(["day\$i.ds" for i in 1:3], [(t=fill(i, 2),) for i in 1:3])
@assert NDFile.read("day2.ds", "t") == [2, 2]
```
"""
function save_many(paths, arrays; dims=nothing, var_attrs=nothing, attrs=nothing, format=nothing, commit::Symbol=:atomic,
                   sync::Bool=false, exclusive::Bool=false, errors::Symbol=:raise, progress=nothing)
    check_errors(errors)
    listed, values = list_paths(paths), arrays isa AbstractVector ? arrays : collect(Any, arrays)
    length(listed) == length(values) ||
        throw(NDFileError(NDF_ERR_ARGUMENT, "$(length(listed)) paths, but arrays for $(length(values)) files"))
    outcomes = Union{Nothing,NDFileError}[nothing for _ in listed]
    texts = (format=ctext(format, "format"), attrs_json=attrs_json(attrs, "all files"))
    options = write_options(commit, sync, exclusive)
    watched(progress, length(listed)) do members, watch
        many = many_options(members)
        for batch in Iterators.partition(1:length(listed), BATCH)
            list = ItemList(0)
            starts = put_files!(list, outcomes, batch, listed, values, dims, var_attrs, format)
            watch === nothing || (watch.done = first(batch) - 1)
            save_batch!(outcomes, listed, list, starts, texts, options, many)
        end
    end
    errors === :return && return outcomes
    i = findfirst(!isnothing, outcomes)
    i === nothing || throw(outcomes[i])
    return nothing
end

# Puts the arrays of a batch of files into a list. Gives the numbers of the files for which that went well, each with the place of
# its first array, and at the end the place behind the last.
function put_files!(l::ItemList, outcomes, batch, paths, values, dims, var_attrs, format)
    starts = Tuple{Int,Int}[]
    for i in batch
        n = length(l.list)
        try
            given = described(values[i]; dims=dims, var_attrs=var_attrs)
            resize!(l.list, n + length(given.items))
            put_items!(l, n, paths[i], given, format)
            push!(starts, (i, n + 1))
        catch e
            e isa NDFileError || rethrow()
            outcomes[i] = e
            resize!(l.list, n)
        end
    end
    return push!(starts, (0, length(l.list) + 1))
end

described(array; options...) = single(array; options...)
described(arrays::Union{AbstractDict,NamedTuple,Pair,Tuple{Vararg{Pair}}}; options...) = Described(items(arrays); options...)

function save_batch!(outcomes, paths, l::ItemList, starts, texts, options, many)
    n = length(starts) - 1
    n == 0 && return nothing
    statuses, reasons, err = ones(Int32, n), Vector{ndf_error}(undef, n), Ref{ndf_error}()
    GC.@preserve paths l texts reasons begin
        shared = map(ctext_field, texts)
        files = map(1:n) do k
            (i, start), (_, stop) = starts[k], starts[k+1]
            parts = (path=ctext_field(paths[i]), items=pointer(l.list, start), nitems=stop - start)
            cstruct(ndf_save_file, merge(shared, parts))
        end
        collect_released()
        status = ndf_save_many(files, n, options, statuses, reasons, many, err)
        (statuses[1] > 0 || status == NDF_ERR_CANCELED) && throw(failure(status, err)) # it has not begun, or was ended
        for (k, (i, _)) in enumerate(starts[1:n])
            statuses[k] == NDF_OK || (outcomes[i] = failure(statuses[k], pointer(reasons, k)))
        end
    end
    return nothing
end

list_paths(paths) = String[ctext(path, "path") for path in paths]
list_paths(path::AbstractString) =
    throw(NDFileError(NDF_ERR_ARGUMENT, "paths: expected a collection of paths, found one path, $(repr(path))"))

check_errors(errors) = errors in (:raise, :return) ||
    throw(NDFileError(NDF_ERR_ARGUMENT, "errors: expected :raise or :return, found $(repr(errors))"))
