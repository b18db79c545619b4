"""
    NDFile.formats() -> Vector{NamedTuple}

The formats of the library: `name`, `extensions` (the usual one first) and `caps`, what it can do, as symbols: `:create`,
`:update` (mode `"r+"`), `:write_once`, `:file_attrs`, `:array_attrs`, `:dims`, `:masked`, `:strings` (of any length),
`:one_shot`, `:map`, `:trailing`, `:chunked`, `:resize`, `:rows` (tables), `:remove`, `:verify`, `:split`,
`:migrate`, `:groups`.
"""
function formats()
    n = Ref{Int32}(0)
    call(ndf_format_count, n)
    return map(0:n[]-1) do i
        info = zeroed(ndf_format_info)
        GC.@preserve info begin
            p = address(info)
            call(ndf_format_get_info, i, p)
            caps = field(p, Val(:caps))
            (name=unsafe_string(field(p, Val(:name))), extensions=Base.split(unsafe_string(field(p, Val(:extensions)))),
                caps=[name for (name, bit) in CAPS if caps & bit != 0])
        end
    end
end

const CAPS = [:create => NDF_CAP_CREATE, :update => NDF_CAP_UPDATE, :write_once => NDF_CAP_WRITE_ONCE,
    :file_attrs => NDF_CAP_FILE_ATTRS, :array_attrs => NDF_CAP_ARRAY_ATTRS, :dims => NDF_CAP_DIMS, :masked => NDF_CAP_MASKED,
    :strings => NDF_CAP_STRINGS, :one_shot => NDF_CAP_ONE_SHOT, :map => NDF_CAP_MAP, :trailing => NDF_CAP_TRAILING,
    :chunked => NDF_CAP_CHUNKED, :resize => NDF_CAP_RESIZE, :rows => NDF_CAP_ROWS, :remove => NDF_CAP_REMOVE,
    :verify => NDF_CAP_VERIFY, :split => NDF_CAP_SPLIT, :migrate => NDF_CAP_MIGRATE, :groups => NDF_CAP_GROUPS]

"""
    NDFile.detect(path) -> String

The name of the format of a file, by its content.
"""
detect(path::AbstractString) = text(ndf_detect, ctext(path, "path"))

"""
    NDFile.info(path; options...) -> NamedTuple

What a file holds, without its elements: `format`, `kind`, `nrows` (of a table, else `nothing`), `attrs`, and `arrays`: by name,
in file order, the properties of [`NDArray`](@ref) `dtype`, `size` (`nothing` where there are no data), `dims`, `masked`,
`chunks`, `compression`, `fillvalue` and `attrs`. Options are those of [`NDFile.open`](@ref).
"""
info(path::AbstractString; options...) = open(path; options...) do f
    arrays = OrderedDict{Any}()
    for (name, a) in f
        arrays[name] = (dtype=a.dtype, size=hasdata(a) ? size(a) : nothing, dims=a.dims, masked=a.masked, chunks=a.chunks,
            compression=a.compression, fillvalue=a.fillvalue, attrs=OrderedDict{Any}(a.attrs...))
    end
    rows = f.kind === :table ? nrows(f) : nothing
    return (format=f.format, kind=f.kind, nrows=rows, attrs=OrderedDict{Any}(f.attrs...), arrays=arrays)
end
