# Finding the library, and calling it.

const LIBRARY = Sys.isapple() ? "libndfile.1.dylib" : Sys.iswindows() ? "ndfile.dll" : "libndfile.so.1"
const MAJOR = 1

# Where the library may lie, in the order of trying.
function candidates()
    explicit = get(ENV, "NDFILE_LIB", "")
    isempty(explicit) || return [explicit]
    package = dirname(@__DIR__)
    return [joinpath(package, LIBRARY), joinpath(package, "lib", LIBRARY), LIBRARY]
end

# Refuses to load what would end the process: the Go runtime does when it gets too few addresses at its start.
function check_addresses()
    (Sys.islinux() && isfile("/proc/self/statm")) || return nothing
    limit = Ref((typemax(UInt), typemax(UInt)))                # struct rlimit
    RLIMIT_AS = 9
    ccall(:getrlimit, Cint, (Cint, Ptr{Cvoid}), RLIMIT_AS, limit) == 0 || return nothing
    most = limit[][1]
    most == typemax(UInt) && return nothing
    used = parse(UInt, first(Base.split(read("/proc/self/statm", String)))) * UInt(ccall(:getpagesize, Cint, ()))
    left, needed = most - min(used, most), UInt(NDF_ADDRESS_MIB) << 20
    left >= needed || error("too little address space for the library libndfile: RLIMIT_AS (ulimit -v) is $(Int(most >> 10)) KiB, ",
        "of which $(Int(left >> 10)) KiB are left; $(Int(needed >> 10)) KiB are needed to load it")
    return nothing
end

# Loads the first library that fits, or says why none does.
function load_library()
    check_addresses()
    tried = String[]
    for path in candidates()
        try
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL)
            bind!(library)
            found = version()
            found.major == MAJOR && return nothing
            push!(tried, "$path: version $found, expected $MAJOR.x")
        catch e
            reason = last(Base.split(sprint(showerror, e), '\n'))
            push!(tried, startswith(reason, path) ? reason : "$path: $reason")
        end
    end
    error("the library libndfile was not found. Set NDFILE_LIB to its path. Tried:\n  ", join(tried, "\n  "))
end

"The version of the loaded library."
version() = VersionNumber(unsafe_string(ndf_version()))

# C structs are filled and read in place: as Julia values their long tuples would be slow to compile.

address(r::Ref{T}) where {T} = Ptr{T}(pointer_from_objref(r))

# One field of a struct in memory; of an array or a struct in a struct, its address.
@generated function field(p::Ptr{S}, ::Val{name}) where {S,name}
    i = Base.fieldindex(S, name)
    T, at = fieldtype(S, i), :(p + $(fieldoffset(S, i)))
    T <: Tuple && return :(Ptr{$(eltype(T))}($at))
    return isstructtype(T) ? :(Ptr{$T}($at)) : :(unsafe_load(Ptr{$T}($at)))
end

# A struct for C with the fields of a NamedTuple and its size; what is not named is zero, the default.
@generated function cstruct(::Type{S}, given::NamedTuple{names}) where {S,names}
    function value(name, T)
        name === :struct_size && return sizeof(S)
        name in names && return :(given.$name)
        return T <: Union{Ptr,Cstring} ? :($T(C_NULL)) : zero(T)
    end
    return :(S($(map(value, fieldnames(S), fieldtypes(S))...)))
end

# Calls a C function whose last parameter is the error, and throws what it reports. The caller keeps alive what
# pointers point to. Objects that the garbage collector has found since the last call are closed first.
function call(f::F, args::Vararg{Any,N}) where {F,N}
    collect_released()
    s = take_scratch()
    status = f(args..., s.err)
    status == NDF_OK || refuse(s, status)
    return give_back(s)
end

# Calls a C function that fills a buffer, which comes with its length before the error.
function content(f::F, args::Vararg{Any,N}) where {F,N}
    s = take_scratch()
    while true
        s.need[] = length(s.buf)
        status = f(args..., s.buf, s.need, s.err)
        if status == NDF_OK
            bytes = s.buf[1:s.need[]]
            give_back(s)
            return bytes
        end
        status == NDF_ERR_BUFFER && s.need[] > length(s.buf) || refuse(s, status)
        make_room!(s, s.need[], 0)
    end
end

# The same for functions that give text.
text(f::F, args...) where {F} = String(content(f, args...))

const NULL_TEXT = Cstring(C_NULL)

# Text for C, which ends at a NUL; nothing is NULL.
ctext(::Nothing, what) = NULL_TEXT
function ctext(s::AbstractString, what)
    t = String(s)
    '\0' in t && throw(NDFileError(NDF_ERR_ARGUMENT, "$what $(repr(t)): a NUL character cannot be passed to the library"))
    return t
end

# The same as a field of a struct. The caller keeps s alive.
ctext_field(s::String) = Base.unsafe_convert(Cstring, s)
ctext_field(::Cstring) = NULL_TEXT
