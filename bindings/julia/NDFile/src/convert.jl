# Whole stores to other stores, without taking them through Julia.

"""
    NDFile.convert(src, dst; format, from_format, name, allow_loss=false, check=true, overwrite=false, follow_symlinks=false,
                   default_fill=false, commit=:atomic, sync=false, shard_size=nothing, progress=nothing) -> Vector of (array, what, why)

Writes what a file holds in another format, or the same. What memory it takes does not depend on the size of the file, and
compressed chunks are copied as they are where both formats have them alike. `dst` appears when it is whole, and is then read
back and compared. A single array is called `"data"` in a dataset.

With `src` and `dst` the same, a `zarr0` store becomes `zarr2` or `zarr3` in place, and a `zarr2` store `zarr3`.

# Arguments
- `format`, `from_format`: the formats of `dst` and `src`; default: by extension, by content.
- `name`: the only array to convert; needed where a format of single arrays shall take one of several.
- `allow_loss`: convert also when something cannot be carried over, such as attributes or masks. It is then listed in the
  result; without `allow_loss` it is `NDF_ERR_LOSS`, and nothing is written.
- `check`: read the result back and compare. `overwrite`: `dst` may exist, and is replaced.
- `follow_symlinks`, `default_fill`, `commit`, `sync`: as for [`NDFile.open`](@ref).
- `shard_size`: as many chunks make a shard of `zarr3` as take about so many bytes decoded, 0: no shards; default: as in `src`.
- `progress`: a function of the bytes of elements that are done and of all, called at the start, about every 50 ms and at the end.
  When it gives `false` the call ends with `NDF_ERR_CANCELED`, and nothing is written; what it throws comes out of the call.

# Example
```julia
NDFile.save("old.ds", "x" => [1.5, 2.5], "y" => [1, 2]; attrs=(title="example",))
@assert isempty(NDFile.convert("old.ds", "new.bcolz"))
@assert NDFile.read("new.bcolz") == NDFile.read("old.ds")
@assert NDFile.convert("old.ds", "converted.ra"; name="x", allow_loss=true)[1].what == "file attributes"
```
"""
function convert(src::AbstractString, dst::AbstractString; format=nothing, from_format=nothing, name=nothing,
                 allow_loss::Bool=false, check::Bool=true, overwrite::Bool=false, follow_symlinks::Bool=false,
                 default_fill::Bool=false, commit::Symbol=:atomic, sync::Bool=false, shard_size::Union{Integer,Nothing}=nothing,
                 progress=nothing)
    paths = ctext(src, "path"), ctext(dst, "path")
    texts = (from=ctext(from_format, "format"), to=ctext(format, "format"), name=ctext(name, "name"))
    how = write_options(commit, sync, false)[]
    losses, len, err = UInt8[], Ref{Int64}(0), Ref{ndf_error}()
    collect_released()
    function run(allow, watch)
        GC.@preserve texts begin
            options = Ref(cstruct(ndf_convert_options, merge((allow_loss=allow, no_check=!check, overwrite=overwrite,
                commit=how.commit, sync=how.sync, follow_symlinks=follow_symlinks, default_fill=default_fill,
                shard_size=shard_size === nothing ? 0 : shard_size == 0 ? -1 : shard_size), watch, map(ctext_field, texts))))
            return ndf_convert(paths..., options, losses, len, err)
        end
    end
    watched(progress) do watch, _
        status = run(false, watch)
        if status == NDF_ERR_LOSS && allow_loss # nothing is written yet, and now it is known how much room the list takes
            resize!(losses, len[])
            status = run(true, watch)
        end
        status == NDF_OK || throw(failure(status, err))
    end
    list = isempty(losses) ? [] : parse_json(String(resize!(losses, len[])))
    return [(array=loss["array"]::String, what=loss["what"]::String, why=loss["why"]::String) for loss in list]
end

"""
    NDFile.split(src, path => rows...; format, follow_symlinks=false, commit=:atomic, sync=false, exclusive=false)

Cuts a store along the last axis (the rows of a table) into several, in formats with `:split` among their `caps`. Files of
chunks are copied as they are, attributes go into every part, and `src` stays. The parts together have all rows, and all but
the last end between chunks of every column: the error names the nearest numbers of rows that do.

`exclusive`: nothing may exist at the new paths yet; the rest is as for [`NDFile.open`](@ref).

# Example
```julia
NDFile.open("year.bcolz", "w") do f
    NDFile.create(f, "", Int, (10,); chunks=4)[:] = 1:10
end
NDFile.split("year.bcolz", "first.bcolz" => 8, "last.bcolz" => 2)
@assert NDFile.read("last.bcolz") == [9, 10]
NDFile.concat(["first.bcolz", "last.bcolz"], "again.bcolz")
@assert NDFile.read("again.bcolz") == 1:10
```
"""
function split(src::AbstractString, parts::Pair{<:AbstractString,<:Integer}...; options...)
    paths = [ctext(path, "path") for (path, _) in parts]
    GC.@preserve paths begin
        cut = [cstruct(ndf_part, (path=ctext_field(path), nrows=Int64(n))) for (path, (_, n)) in zip(paths, parts)]
        splitting(ndf_split, ctext(src, "path"), cut, length(cut); options...)
    end
end

"""
    NDFile.concat(srcs, dst; format, follow_symlinks=false, commit=:atomic, sync=false, exclusive=false)

Makes one store of several, one after the other along the last axis (the rows of tables), without touching compressed data.
Names, dtypes, chunks and the size of an entry have to be the same, and all but the last have to end between chunks, as
[`NDFile.split`](@ref) cuts them. Attributes are those of the first; the stores stay.
"""
function concat(srcs, dst::AbstractString; options...)
    paths = [ctext(path, "path") for path in srcs]
    GC.@preserve paths splitting(ndf_concat, map(ctext_field, paths), length(paths), ctext(dst, "path"); options...)
end

function splitting(f, args...; format=nothing, follow_symlinks::Bool=false, commit::Symbol=:atomic, sync::Bool=false,
                   exclusive::Bool=false)
    how, cformat = write_options(commit, sync, exclusive)[], ctext(format, "format")
    GC.@preserve cformat begin
        options = Ref(cstruct(ndf_split_options, (commit=how.commit, sync=how.sync, exclusive=how.exclusive,
            follow_symlinks=follow_symlinks, format=ctext_field(cformat))))
        call(f, args..., options)
    end
    return nothing
end
