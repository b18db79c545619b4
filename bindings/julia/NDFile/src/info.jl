"""
    NDFile.formats() -> Vector{NamedTuple}

The formats of the library: `name`, `extensions` (the usual one first) and `caps`, what it can do, as symbols.
"""
function formats()
    n = Ref{Int32}(0)
    call(ndf_format_count, n)
    return map(0:n[]-1) do i
        info = zeroed(ndf_format_info)
        GC.@preserve info begin
            p = address(info)
            call(ndf_format_at, i, p)
            caps = field(p, Val(:caps))
            (name=unsafe_string(field(p, Val(:name))), extensions=split(unsafe_string(field(p, Val(:extensions)))),
                caps=[name for (name, bit) in CAPS if caps & bit != 0])
        end
    end
end

const CAPS = [:create => NDF_CAP_CREATE, :update => NDF_CAP_UPDATE, :write_once => NDF_CAP_WRITE_ONCE,
    :file_attrs => NDF_CAP_FILE_ATTRS, :array_attrs => NDF_CAP_ARRAY_ATTRS, :dims => NDF_CAP_DIMS, :masked => NDF_CAP_MASKED,
    :strings => NDF_CAP_STRINGS, :one_shot => NDF_CAP_ONE_SHOT, :map => NDF_CAP_MAP, :trailing => NDF_CAP_TRAILING]

"""
    NDFile.detect(path) -> String

The name of the format of a file, by its content.
"""
detect(path::AbstractString) = text(ndf_detect, ctext(path, "path"))
