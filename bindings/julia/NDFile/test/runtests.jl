# Needs libndfile (NDFILE_LIB) and the standard library only:
#   NDFILE_LIB=build/lib/libndfile.so julia --project=bindings/julia/NDFile bindings/julia/NDFile/test/runtests.jl

using NDFile, Test

const HERE = @__DIR__

# Fixtures are those of the Go packages, with their descriptions.
const PACKAGES = normpath(HERE, "..", "..", "..", "..", "pkg")
expectation(path) = NDFile.parse_json(Base.read(path, String))

# Equality that sees NaN bits, the sign of zero, and types.
same(a, b) = typeof(a) == typeof(b) && isequal(a, b)
same(a::T, b::T) where {T<:Union{Float16,Float32,Float64}} = reinterpret(Unsigned, a) == reinterpret(Unsigned, b)
same(a::T, b::T) where {T<:Complex} = same(real(a), real(b)) && same(imag(a), imag(b))
same(a::AbstractArray, b::AbstractArray) = eltype(a) == eltype(b) && size(a) == size(b) && all(same(x, y) for (x, y) in zip(a, b))
same(a::AbstractDict, b::AbstractDict) = collect(keys(a)) == collect(keys(b)) && all(same(a[k], b[k]) for k in keys(a))
Base.reinterpret(::Type{Unsigned}, x::Float16) = reinterpret(UInt16, x)

# What a function gives, or throws.
outcome(f) = try
    f()
catch e
    e
end

# What a function throws; nothing when it does not.
problem(f) = try
    f()
    nothing
catch e
    e
end

@testset "NDFile" begin
    for part in (isempty(ARGS) ? ["json", "fixtures", "stores", "roundtrip", "groups", "many", "indexing", "generic", "diskarrays", "chunked", "table", "habits", "errors",
                                    "lifetime", "mmap", "docs"] : ARGS)
        mktempdir() do folder
            cd(() -> include(joinpath(HERE, "$part.jl")), folder)
        end
    end
    GC.gc()
    @test NDFile.handle_count() == 0
end
