"""
n-dimensional arrays in files: ds, RawArray, bcolz, Zarr and more, through the C library libndfile.

- [`NDFile.read`](@ref) and [`NDFile.save`](@ref) read and write whole files, [`NDFile.open`](@ref) gives lazy arrays.
  [`NDFile.read_many`](@ref) and [`NDFile.save_many`](@ref) are for many small files, [`NDFile.read!`](@ref) is for memory that is
  there already.
- In chunked stores regions are written, arrays grow ([`NDFile.create`](@ref), `append!`, `resize!`), and tables have rows
  ([`NDFile.nrows`](@ref), [`NDFile.where`](@ref)).
- [`NDFile.convert`](@ref), [`NDFile.split`](@ref), [`NDFile.concat`](@ref) and [`NDFile.verify`](@ref) work on whole files.
- [`raread`](@ref), [`rawrite`](@ref) and [`raquery`](@ref) are those of RawArray.jl.
- Errors are [`NDFileError`](@ref).

Sizes, indices and names of axes are in Julia's order, in which the first axis varies fastest: the file's in reverse. No data
moves. Results are ordinary arrays, which are yours.

The library is found when the package is loaded: the path in the environment variable `NDFILE_LIB`, else beside the package, else
by the system's loader.

```julia
using NDFile
t = [271.25 272.5; 268.0 missing; 270.5 271.0]
NDFile.save("weather.ds", "t" => t, "station" => ["Praha", "Oslo", "Brno"];
    attrs=(title="three stations",), dims=(t=("station", "time"),))

arrays = NDFile.read("weather.ds")                   # names to arrays
@assert isequal(arrays["t"], t)

NDFile.open("weather.ds") do f                       # lazy: nothing is read until you index
    @assert f["t"][1, :] == [271.25, 272.5]
    @assert f["t"].dims == ("station", "time") && f.attrs["title"] == "three stations"
end

rawrite(rand(Float32, 4, 3), "x.ra")
@assert size(raread("x.ra")) == (4, 3)
```
"""
module NDFile

export NDArray, NDFileError, bfloat16, raquery, raread, rawrite

# Most of the time of a session's first calls is the compiler's.
Base.Experimental.@optlevel 1

import Statistics
using Dates: Dates, Date, DateTime, year

include("capi.jl")
include("interrupt.jl")
include("errors.jl")
include("ordered.jl")
include("json.jl")
include("dtypes.jl")
include("scratch.jl")
include("lib.jl")
include("handles.jl")
include("elements.jl")
include("spec.jl")
include("file.jl")
include("groups.jl")
include("names.jl")
include("window.jl")
include("array.jl")
include("scalar.jl")
include("indexing.jl")
include("writing.jl")
include("broadcast.jl")
include("chunks.jl")
include("show.jl")
include("growing.jl")
include("items.jl")
include("table.jl")
include("dates.jl")
include("reduce.jl")
include("mmap.jl")
include("attrs.jl")
include("oneshot.jl")
include("progress.jl")
include("many.jl")
include("rawarray.jl")
include("info.jl")
include("verify.jl")
include("convert.jl")
include("settings.jl")

include("precompile.jl")

function __init__()
    load_library()
    watch_interrupts()
    prepare_spares()
    atexit(exiting)
end

end
