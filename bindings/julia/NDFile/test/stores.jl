# The stores of pkg/bcolz/testdata and pkg/zarr/testdata, value by value, and broken ones.

# The elements that a description tells: raw bytes in C order and in the byte order of the dtype, decoded here without the
# package.

const LETTERS = Dict("b1" => Bool, "i1" => Int8, "i2" => Int16, "i4" => Int32, "i8" => Int64, "u1" => UInt8, "u2" => UInt16,
    "u4" => UInt32, "u8" => UInt64, "f2" => Float16, "f4" => Float32, "f8" => Float64, "c8" => ComplexF32, "c16" => ComplexF64)

# A decoder of an element at a position of the bytes, and the size of the element.
function decoder(dtype::String)
    letter, n = dtype[2], parse(Int, match(r"\d+", dtype).match)
    swap = dtype[1] == '>' ? bswap : identity
    letter == 'S' && return (b, i) -> String(rstrip(c -> c == '\0', String(b[i:i+n-1]))), n
    letter == 'U' && return (b, i) -> rstrip(join(Char(swap(x)) for x in reinterpret(UInt32, b[i:i+4n-1])), '\0') |> String, 4n
    letter == 'V' && return n > 256 ? ((b, i) -> b[i:i+n-1], n) : ((b, i) -> Tuple(b[i:i+n-1]), n)
    letter in "mM" && return (b, i) -> swap(reinterpret(Int64, b[i:i+7])[1]), 8
    T = LETTERS[dtype[2:end]]
    T === Bool && return (b, i) -> b[i] != 0, 1
    return (b, i) -> swap(reinterpret(T, b[i:i+sizeof(T)-1])[1]), sizeof(T)
end

function decoder(fields::Vector)
    parts = [decoder(f[2]) for f in fields]
    at = cumsum([0; last.(parts)])
    names = Tuple(Symbol(f[1]) for f in fields)
    return (b, i) -> NamedTuple{names}(Tuple(p[1](b, i + o) for (p, o) in zip(parts, at))), at[end]
end

function items(want, path)
    decode, size = decoder(want["dtype"])
    bytes = Base.read(path)
    list = [decode(bytes, i) for i in 1:size:length(bytes)]
    return reshape(list, Tuple(reverse(Int.(want["shape"]))))
end

# Compares what can be without compiling for every type: bits by bytes.
function equal(@nospecialize(a), @nospecialize(b))
    isempty(b) && return isempty(a) && size(a) == size(b)
    eltype(a) == eltype(b) && size(a) == size(b) || return false
    isbitstype(eltype(a)) && !(eltype(a) <: NamedTuple) || return isequal(a, b)
    return memory(a) == memory(b)
end
function memory(@nospecialize(a))
    bytes = Vector{UInt8}(undef, sizeof(a))
    GC.@preserve a unsafe_copyto!(pointer(bytes), Ptr{UInt8}(pointer(a)), length(bytes))
    return bytes
end

const LITERALS = Dict("NaN (literal)" => NaN, "Infinity (literal)" => Inf, "-Infinity (literal)" => -Inf)
attributes(list) = NDFile.OrderedDict{Any}((k => get(LITERALS, v, v) for (k, v) in list)...)

# An error that names the store.
function refused(f, name)
    e = problem(f)
    return e isa NDFileError && e.code != NDFile.NDF_ERR_INTERNAL && occursin(name, e.message)
end

function everything(path)
    NDFile.open(path) do f
        Dict(f.attrs)
        [(NDFile.read(a), Dict(a.attrs)) for (_, a) in f]
    end
end

const BCOLZ, ZARR = joinpath(PACKAGES, "bcolz", "testdata"), joinpath(PACKAGES, "zarr", "testdata", "zarr0")
const ROOTS = expectation(joinpath(BCOLZ, "expected.json"))["roots"]

@testset "bcolz" begin
    @test length(ROOTS) > 80
    @testset "$(basename(want["root"]))" for want in ROOTS
        path = joinpath(BCOLZ, want["root"])
        if haskey(want, "expect")
            @test refused(() -> NDFile.read(path), path)
            continue
        end
        NDFile.open(path) do f
            @test f.format == "bcolz" && same(NDFile.OrderedDict{Any}(f.attrs...), attributes(want["attrs"]))
            if want["kind"] == "carray"
                a, x = f.array, items(want, joinpath(BCOLZ, want["raw"]))
                @test f.kind === :array && equal(NDFile.read(a), x)
                @test a.chunks[1:end-1] == size(a)[1:end-1] && NDFile.chunkencoding(a) == "blosc1"
            else
                @test f.kind === :table && NDFile.nrows(f) == want["length"] && keys(f) == want["names"]
                for name in want["names"]
                    column = want["columns"][name]
                    x = items(column, joinpath(BCOLZ, column["raw"]))
                    @test equal(NDFile.read(f[name]), x)
                    @test same(NDFile.OrderedDict{Any}(f[name].attrs...), attributes(column["attrs"]))
                end
            end
        end
    end

    # In one call, rows, and columns that are opened alone.
    for want in filter(w -> get(w, "kind", "") == "ctable" && basename(w["root"]) in ("t_basic", "t_evolved"), ROOTS)
        path = joinpath(BCOLZ, want["root"])
        arrays = NDFile.read(path)
        @test collect(keys(arrays)) == want["names"]
        rows = NDFile.open(f -> f[:], path)
        for (name, x) in arrays
            @test equal(x, items(want["columns"][name], joinpath(BCOLZ, want["columns"][name]["raw"])))
            @test isequal(rows[Symbol(name)], x) && isequal(NDFile.read(joinpath(path, name)), x)
        end
    end

    malformed = expectation(joinpath(BCOLZ, "malformed.json"))["roots"]
    @testset "$(basename(want["root"]))" for want in malformed
        path = joinpath(BCOLZ, want["root"])
        if occursin("shortest length", get(want, "note", ""))
            NDFile.open(f -> (@test all(length(a) == NDFile.nrows(f) for (_, a) in f)), path)
            @test all(p -> p.code == NDFile.NDF_ERR_LOSS && p.repair !== nothing && !p.repaired, NDFile.verify(path))
            @test !isempty(NDFile.verify(path))
        else
            @test refused(() -> everything(path), path)
        end
    end
end

@testset "zarr" begin
    valid = expectation(joinpath(ZARR, "valid", "manifest.json"))["cases"]
    @test length(valid) > 40
    @testset "$(want["name"])" for want in valid
        NDFile.open(joinpath(ZARR, "valid", want["name"])) do f
            a = f.array
            @test f.format == "zarr0" && f.kind === :array
            @test equal(NDFile.read(a), items(want, joinpath(ZARR, "valid", want["expected"])))
            @test a.chunks == Tuple(reverse(want["chunks"])) && size(NDFile.eachchunk(a)) == Tuple(reverse(want["grid"]))
            @test a.compression == (codec=want["cname"], level=want["clevel"], shuffle=(:noshuffle, :shuffle, :bitshuffle)[want["shuffle"]+1])
            haskey(want, "attrs") && @test same(NDFile.OrderedDict{Any}(f.attrs...), want["attrs"])
            fill = NDFile.parse_json(want["fill_value_json"])
            @test fill === nothing ? a.fillvalue === nothing : fill isa String ? a.fillvalue == fill :
                  !(eltype(a) <: Number) || isequal(a.fillvalue, eltype(a)(fill))
        end
    end

    @testset "$(want["name"])" for want in expectation(joinpath(ZARR, "malformed", "manifest.json"))["cases"]
        path = joinpath(ZARR, "malformed", want["name"])
        if want["name"] == "huge_lazy"
            NDFile.open(path) do f
                @test f.array[1:2, 6:8] == fill(1.25, 2, 3) && size(f.array) == (1000, 2^40) && f.array[end, end] == 1.25
                @test length(NDFile.eachchunk(f.array)) == 100 * 2^30 && NDFile.readchunk(f.array, 1, 2^30) === nothing
                @test f.array[[1000, 1], [2^40, 3, 2^39]] == fill(1.25, 2, 3)
                @test_throws OutOfMemoryError f.array[:, :]
            end
        elseif want["name"] == "names_outside"
            @test NDFile.read(path) == 0:19
        else
            @test refused(() -> everything(path), path)
            # Only what lies in a broken chunk cannot be read.
            startswith(want["name"], "chunk_") && NDFile.open(path) do f
                n = f.array.chunks[1]
                @test length(f.array[1:n]) == n && refused(() -> f.array[n+1], "1.blosc")
            end
        end
    end
end
