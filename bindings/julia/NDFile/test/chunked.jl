# Arrays in chunks: created, changed, grown, taken from, reduced, and whole stores.

using Random, Statistics

const CHUNKED = ("bcolz", "zarr0", "zarr2", "zarr3")

# The chunks that a format cuts: bcolz only the last axis.
cut(format, chunks, dims) = format == "bcolz" ? (dims[1:end-1]..., chunks[end]) : chunks

@testset "created" begin
    @testset "$format" for format in CHUNKED
        x = reshape(collect(Int32, 1:70), 7, 10)
        NDFile.open("x-$format", "w"; format=format, attrs=(title="t",)) do f
            chunks = cut(format, (3, 4), (7, 10))
            a = NDFile.create(f, "", ">i4", (7, 10); chunks=chunks, compression=(codec="zstd", level=3, shuffle=:bitshuffle),
                fill=-1, expected_rows=100)
            @test f.kind === :array && f.array === a && a.chunks == chunks && a.fillvalue === Int32(-1)
            @test a.compression == (codec="zstd", level=3, shuffle=:bitshuffle) && NDFile.haschunks(a)
            a[:, 1:6] = x[:, 1:6]
            a[2:2:6, 10] = x[2:2:6, 10]
        end
        x[:, 7:9] .= -1
        x[1:2:7, 10] .= -1
        NDFile.open("x-$format") do f
            a = f.array
            @test f.format == format && a.dtype == ">i4" && a[:, :] == x && f.attrs["title"] == "t"
            places = NDFile.eachchunk(a)
            @test size(places) == cld.(size(a), a.chunks) && last(places) == map((n, c) -> (n-1)÷c*c+1:n, size(a), a.chunks)
            @test all(x[p...] == a[p...] for p in places) && eltype(places) == NTuple{2,UnitRange{Int}}
            @test occursin("chunks of", sprint(show, a)) && occursin("zstd 3 bitshuffle", sprint(show, a))
            @test_throws BoundsError places[1, 1, 2]
        end
        @test isempty(NDFile.verify("x-$format"))
    end
    # Compression and chunks as they can be given.
    for (given, expected) in ("lz4hc" => ("lz4hc", 5, :shuffle), :zlib => ("zlib", 5, :shuffle), ("lz4", 9) => ("lz4", 9, :shuffle),
                              (shuffle=:noshuffle,) => ("lz4", 5, :noshuffle), ("blosclz", 0, :bitshuffle) => ("blosclz", 0, :bitshuffle))
        NDFile.open("c.bcolz", "w") do f
            a = NDFile.create(f, "", Float64, (2, 9); compression=given, chunks=4)
            @test Tuple(a.compression) == expected && a.chunks == (2, 4)
        end
    end
    NDFile.open("f.bcolz", "w") do f # fill values of all kinds
        for (name, type, fill, value) in (("s", "S3", "ab", "ab"), ("u", ">U3", "é", "é"), ("b", Bool, true, true),
                ("c", ComplexF64, 1, 1.0 + 0im), ("m", "<M8[D]", 5, 5), ("v", "V3", (0x01, 0x02, 0x03), (0x01, 0x02, 0x03)))
            a = NDFile.create(f, name, type, (3,); fill=fill)
            @test a.fillvalue == value && all(==(value), a[:])
        end
        @test f.kind === :table && NDFile.nrows(f) == 3 && f["b"].fillvalue === true
    end
    NDFile.save("plain.ds", "x" => [1, 2])
    NDFile.open("plain.ds") do f
        a = f["x"]
        @test a.chunks === nothing && a.compression === nothing && a.fillvalue === nothing && !NDFile.haschunks(a)
        @test NDFile.eachchunk(a) == [(1:2,)] && NDFile.info("plain.ds").arrays["x"].chunks === nothing
    end
    info = NDFile.info("f.bcolz")
    @test info.format == "bcolz" && info.kind === :table && info.nrows == 3 && info.arrays["s"].size == (3,)
    @test info.arrays["u"].dtype == ">U3" && info.arrays["u"].chunks == NDFile.open(f -> f["u"].chunks, "f.bcolz")
    # Texts of one width, where a format has no others.
    NDFile.save("t.bcolz", (s=["a", "žluť", ""], n=[1, 2, 3]))
    NDFile.save("t.zarr", ["x" "yy"]; format="zarr3")
    @test NDFile.read("t.bcolz", "s") == ["a", "žluť", ""] && NDFile.read("t.zarr") == ["x" "yy"]
    @test NDFile.open(f -> f["s"].dtype, "t.bcolz") == "<U4"
end

# Any sequence of changes leaves what the same changes leave of an Array.
@testset "changed" begin
    @testset "$format" for format in CHUNKED
        for seed in 1:3
            rng = MersenneTwister(seed)
            x = rand(rng, Int16, 5, 7)
            NDFile.open("m-$format", "w"; format=format) do f
                NDFile.create(f, "", Int16, (5, 7); chunks=cut(format, (2, 3), (5, 7)), fill=9)[:, :] = x
            end
            f = NDFile.open("m-$format", "r+")
            a = f.array
            for step in 1:25
                kind = rand(rng, 1:6)
                n, m = size(x)
                i, j = rand(rng, 1:n), sort(rand(rng, 1:max(m, 1), 2))
                if kind <= 2 && m > 0
                    v = rand(rng, Int16, i, length(j[1]:j[2]))
                    a[n-i+1:n, j[1]:j[2]] = v
                    x[n-i+1:n, j[1]:j[2]] = v
                elseif kind == 3 && m > 0
                    a[i, j] = x[i, j] = rand(rng, Int16, 2)
                elseif kind == 4
                    v = rand(rng, Int16, n, rand(rng, 0:5))
                    append!(a, v)
                    x = hcat(x, v)
                elseif kind == 5
                    m = rand(rng, 0:m+4)
                    resize!(a, n, m)
                    x = hcat(x, fill(Int16(9), n, 4 + size(x, 2)))[:, 1:m]
                else
                    step % 2 == 0 ? flush(f) : (close(f); f = NDFile.open("m-$format", "r+"); a = f.array)
                end
                size(a) == size(x) && a[:, :] == x || (@test (seed, step, kind, size(a)) == size(x); break)
            end
            @test a[:, :] == x
            close(f)
            @test NDFile.read("m-$format") == x && isempty(NDFile.verify("m-$format"))
        end
    end
    # Other axes, where a format has them.
    NDFile.open("z", "w"; format="zarr0") do f
        a = NDFile.create(f, "", Float32, (3, 2); chunks=(2, 2))
        a[:, :] = ones(3, 2)
        append!(a, fill(2, 2, 2); dims=1)
        resize!(a, 5, 3)
        @test a[:, :] == [1 1 0; 1 1 0; 1 1 0; 2 2 0; 2 2 0]
        @test problem(() -> append!(a, zeros(4, 1))).code == NDFile.NDF_ERR_SHAPE && size(a) == (5, 3)
        @test problem(() -> append!(a, zeros(5, 1); dims=3)).code == NDFile.NDF_ERR_BOUNDS
    end
    NDFile.save("v.bcolz", ["a", "bb"])
    NDFile.open("v.bcolz", "r+") do f
        append!(f.array, ["c", ""])
        @test problem(() -> append!(f.array, ["ccc"])).code == NDFile.NDF_ERR_VALUE
        @test problem(() -> append!(f.array, ["c", missing])).code == NDFile.NDF_ERR_NOT_SUPPORTED
        @test_throws MethodError resize!(f.array, 1, 2)
        f.attrs["n"] = 4
    end
    @test NDFile.read("v.bcolz") == ["a", "bb", "c", ""] && NDFile.open(f -> f.attrs["n"], "v.bcolz") == 4

    # What is flushed is there for others; what is dropped is written by the next call.
    f = NDFile.open("v.bcolz", "r+")
    append!(f.array, ["d"])
    flush(f)
    @test NDFile.read("v.bcolz")[5] == "d"
    append!(f.array, ["e"])
    NDFile.abort(f)
    @test length(NDFile.read("v.bcolz")) == 5
    dropped() = (append!(NDFile.open("v.bcolz", "r+").array, ["f"]); nothing)
    dropped()
    GC.gc()
    GC.gc()
    NDFile.handle_count()
    @test NDFile.read("v.bcolz")[6] == "f"

    # Several tasks write regions of one file, which share chunks.
    NDFile.open("p", "w"; format="zarr0") do f
        a = NDFile.create(f, "", Int, (1000,); chunks=(64,))
        tasks = [Threads.@spawn(for i in t:8:1000 a[i] = i end) for t in 1:8]
        foreach(wait, tasks)
    end
    @test NDFile.read("p") == 1:1000
    NDFile.open(f -> f.array[1] = 0, "p", "r+"; shared=true)
    @test NDFile.read("p") == [0; 2:1000]

    # Who replaces a store waits for those who write to it.
    held = NDFile.open("p", "r+")
    for busy in (() -> NDFile.save("p", [1, 2]; format="zarr0", timeout=0), () -> NDFile.save("p", [1, 2]; format="zarr0", timeout=0.1),
                 () -> NDFile.open("p", "w"; format="zarr0", timeout=0))
        e = problem(busy)
        @test e isa NDFileError && e.code == NDFile.NDF_ERR_BUSY
    end
    close(held)
    NDFile.save("p", [1, 2]; format="zarr0", timeout=0)
    @test NDFile.read("p") == [1, 2]
end

@testset "errors of chunked arrays" begin
    NDFile.save("x.bcolz", [1, 2, 3])
    NDFile.save("x.ds", "x" => [1, 2, 3])
    make(; options...) = NDFile.open(f -> NDFile.create(f, "", Int8, (3, 4); options...), "e", "w"; format="zarr0")
    for (code, words, f) in [
        (NDFile.NDF_ERR_SHAPE, ["chunks"], () -> make(chunks=(1, 2, 3))),
        (NDFile.NDF_ERR_SHAPE, ["chunk"], () -> make(chunks=(0, 2))),
        (NDFile.NDF_ERR_ARGUMENT, ["compression"], () -> make(compression=(1, 2, 3, 4))),
        (NDFile.NDF_ERR_ARGUMENT, ["compression"], () -> make(compression=(level=3, order=2))),
        (NDFile.NDF_ERR_ARGUMENT, ["compression"], () -> make(compression=("lz4", 5, :twice))),
        (NDFile.NDF_ERR_ARGUMENT, ["compression"], () -> make(compression=(shuffle=1,))),
        (NDFile.NDF_ERR_ARGUMENT, ["compression"], () -> make(compression=5)),
        (NDFile.NDF_ERR_ARGUMENT, ["codec"], () -> make(compression="gzip")),
        (NDFile.NDF_ERR_VALUE, ["fill"], () -> make(fill=[1, 2])),
        (NDFile.NDF_ERR_VALUE, ["fill"], () -> make(fill=missing)),
        (NDFile.NDF_ERR_NOT_SUPPORTED, ["x2.ds", "chunks"], () -> NDFile.open(f -> NDFile.create(f, "x", Int8, (3,); chunks=2), "x2.ds", "w")),
        (NDFile.NDF_ERR_NOT_SUPPORTED, ["x2.ds"], () -> NDFile.open(f -> append!(NDFile.create(f, "x", Int, (1,)), [4]), "x2.ds", "w")),
        (NDFile.NDF_ERR_READ_ONLY, ["x.bcolz"], () -> NDFile.open(f -> append!(f.array, [4]), "x.bcolz")),
        (NDFile.NDF_ERR_READ_ONLY, ["x.bcolz"], () -> NDFile.open(f -> resize!(f.array, 4), "x.bcolz")),
        (NDFile.NDF_ERR_READ_ONLY, ["x.bcolz"], () -> NDFile.open(f -> f.array[1] = 4, "x.bcolz")),
        (NDFile.NDF_ERR_READ_ONLY, ["x.bcolz"], () -> NDFile.open(flush, "x.bcolz")),
        (NDFile.NDF_ERR_READ_ONLY, ["x.bcolz"], () -> NDFile.open(f -> NDFile.writechunk!(f.array, UInt8[], 1), "x.bcolz")),
        (NDFile.NDF_ERR_CORRUPT, ["x.bcolz"], () -> NDFile.open(f -> NDFile.writechunk!(f.array, UInt8[1, 2], 1), "x.bcolz", "r+")),
        (NDFile.NDF_ERR_BOUNDS, ["x.bcolz"], () -> NDFile.open(f -> NDFile.readchunk(f.array, 2), "x.bcolz")),
        (NDFile.NDF_ERR_NOT_SUPPORTED, ["x.ds"], () -> NDFile.open(f -> NDFile.readchunk(f["x"], 1), "x.ds")),
        (NDFile.NDF_ERR_NOT_SUPPORTED, ["x.bcolz"], () -> NDFile.open(f -> NDFile.mmap(f.array), "x.bcolz")),
        (NDFile.NDF_ERR_ARGUMENT, ["shared"], () -> NDFile.open("y.bcolz", "w"; shared=true)),
        (NDFile.NDF_ERR_FORMAT, ["y.zarr"], () -> NDFile.save("y.zarr", [1])),
    ]
        e = problem(f)
        @test e isa NDFileError && (e.code, words) == (code, filter(w -> occursin(w, e.message), words))
    end
    @test NDFile.read("x.bcolz") == 1:3 && sort(readdir()) == sort(unique(readdir())) && !ispath("y.bcolz")
end

@testset "links" begin
    NDFile.open("l", "w"; format="zarr0") do f
        NDFile.create(f, "", Int, (4,); chunks=(2,))[:] = 1:4
    end
    chunk = joinpath("l", "__zdata__", "0.blosc")
    mv(chunk, "elsewhere")
    symlink(abspath("elsewhere"), chunk)
    @test problem(() -> NDFile.read("l")) isa NDFileError
    @test NDFile.open(f -> f.array[:], "l"; follow_symlinks=true) == 1:4
    @test isempty(NDFile.verify("l"; follow_symlinks=true)) && !isempty(NDFile.verify("l"))
end

@testset "take" begin
    x = rand(Int32, 3, 4, 500)
    m = Union{Missing,Float64}[i % 3 == 0 ? missing : i for i in 1:300]
    NDFile.open("t", "w"; format="zarr0") do f
        NDFile.create(f, "", Int32, size(x); chunks=(2, 2, 7))[:, :, :] = x
    end
    NDFile.save("t.ds", "m" => m, "s" => string.(1:300), "b" => isodd.(1:300))
    NDFile.open("t") do f
        a = f.array
        for rows in ([500, 1, 1, 250], [7], [1 500; 250 3], rand(1:500, 900)), rest in ((:, :), (2:3, 4))
            @test a[rest..., rows] == x[rest..., rows]
        end
        few = falses(500)
        few[[3, 499]] .= true
        @test a[:, :, few] == x[:, :, few] && a[:, :, Int[]] == x[:, :, Int[]] && a[:, :, [1, 500], 1] == x[:, :, [1, 500], 1]
        @test_throws BoundsError a[:, :, [1, 501]]
        @test_throws BoundsError a[:, :, [0, 400]]
    end
    NDFile.open("t.ds") do f
        @test isequal(f["m"][[300, 1, 2]], m[[300, 1, 2]]) && f["s"][[300, 7]] == ["300", "7"] && f["b"][[300, 1]] == [false, true]
    end
end

@testset "reduce" begin
    types = (Bool, Int8, UInt64, Float16, Float64, ComplexF32)
    arrays = Dict(string(T) => rand(MersenneTwister(1), T, 12, 40) for T in types)
    arrays["UInt64"] .÷= UInt64(1) << 12
    arrays["Float64"][7] = -Inf
    arrays["Float16"][7] = NaN
    NDFile.open("r.bcolz", "w") do f
        for (name, x) in arrays
            NDFile.create(f, name, eltype(x), size(x); chunks=7)[:, :] = x
        end
    end
    NDFile.open("r.bcolz") do f
        for (name, x) in arrays
            a = f[name]
            T = eltype(x)
            alike(u, v) = typeof(u) == typeof(v) && (T <: Union{AbstractFloat,Complex} ? isapprox(u, v; nans=true, rtol=1e-3) : u == v)
            @test alike(sum(a), sum(x))
            @test typeof(mean(a)) == typeof(mean(x)) && isapprox(mean(a), mean(x); nans=true, rtol=1e-3)
            T <: Complex && continue
            @test isequal(minimum(a), minimum(x)) && isequal(maximum(a), maximum(x)) && isequal(extrema(a), extrema(x))
        end
        a, x = f["Int8"], arrays["Int8"]
        @test sum(a; dims=2) == sum(x; dims=2) && sum(abs, a) == sum(abs, x) && maximum(a; dims=1) == maximum(x; dims=1)
        @test mean(a; dims=1) ≈ mean(x; dims=1)
    end
    NDFile.save("o.ra", [typemax(Int64), 1])
    NDFile.open("o.ra") do f
        @test problem(() -> sum(f.array)).code == NDFile.NDF_ERR_VALUE && mean(f.array) == 2.0^62
    end
    m = [missing 2.5 -1; 4 missing 8]
    NDFile.save("m.ds", "m" => m, "i" => Int16[3, 5], "none" => Union{Missing,Int}[1, missing][1:1], "e" => Float32[])
    NDFile.open("m.ds") do f
        @test ismissing(sum(f["m"])) && ismissing(maximum(f["m"])) && ismissing(mean(f["m"]))
        s = skipmissing(f["m"])
        @test sum(s) === 13.5 && minimum(s) === -1.0 && maximum(s) === 8.0 && extrema(s) === (-1.0, 8.0) && mean(s) === 13.5 / 4
        @test sum(skipmissing(f["i"])) === 8 && mean(f["i"]) === 4.0 && sum(f["e"]) === 0f0 && isnan(mean(f["e"]))
        @test problem(() -> minimum(f["e"])).code == NDFile.NDF_ERR_VALUE
    end
    # What is stored as numbers, and is none in Julia: Julia's own, on what Julia shows.
    NDFile.open("b.ra", "w") do f
        NDFile.create(f, "", "bfloat16", (2,))[:] = [0x3f80, 0x4000]
    end
    NDFile.save("i.ra", Int128[1, 2])
    @test NDFile.open(f -> sum(f.array), "b.ra") == 0x7f80 && NDFile.open(f -> sum(f.array), "i.ra") === Int128(3)
end

@testset "stored bytes" begin
    x = reshape(collect(1.0:60.0), 3, 20)
    NDFile.open("a.bcolz", "w") do f
        NDFile.create(f, "", Float64, (3, 20); chunks=8)[:, :] = x
    end
    NDFile.open("a.bcolz") do f
        a = f.array
        @test NDFile.chunkencoding(a) == "blosc1"
        bytes, out, len = NDFile.readchunk(a, 1, 2), zeros(3, 8), Ref{Int64}(3 * 8 * 8)
        NDFile.call(NDFile.ndf_blosc_decompress, bytes, length(bytes), 1, out, len)
        @test len[] == sizeof(out) && out == x[:, 9:16]
        NDFile.open("b", "w"; format="zarr0") do g
            b = NDFile.create(g, "", Float64, (3, 16); chunks=(3, 8), fill=0)
            NDFile.writechunk!(b, bytes, 1, 2)
            @test NDFile.readchunk(b, 1, 1) === nothing && NDFile.readchunk(b, 1, 2) == bytes
        end
        @test NDFile.read("b") == [zeros(3, 8) x[:, 9:16]]
    end
end

@testset "verify" begin
    NDFile.open("v.bcolz", "w") do f
        NDFile.create(f, "", Int, (10,); chunks=4)[:] = 1:10
    end
    @test NDFile.verify("v.bcolz") == NDFile.Problem[] && NDFile.verify("v.bcolz"; format="bcolz") == []
    chunk = joinpath("v.bcolz", "data", "__1.blp")
    bytes = Base.read(chunk)
    write(chunk, bytes[1:end-3])
    write(joinpath("v.bcolz", "data", "__9.blp"), "stale")
    found = NDFile.verify("v.bcolz"; repair=true)
    @test [(p.code, basename(p.path), p.repaired) for p in sort(found; by=p -> p.path)] ==
        [(NDFile.NDF_ERR_CORRUPT, "__1.blp", false), (NDFile.NDF_ERR_CORRUPT, "__9.blp", false)]
    @test all(p -> p.array === nothing && !isempty(p.message), found) && length(NDFile.verify("v.bcolz")) == 2
    NDFile.save("v.ds", "x" => [1])
    @test isempty(NDFile.verify("v.ds"))
    @test problem(() -> NDFile.verify("none")).code == NDFile.NDF_ERR_NOT_FOUND
    @test problem(() -> NDFile.verify("v.ds"; format="nope")).code == NDFile.NDF_ERR_FORMAT
end

@testset "convert, split, concat" begin
    x = rand(Float32, 4, 30)
    NDFile.open("a.bcolz", "w") do f
        NDFile.create(f, "", Float32, (4, 30); chunks=10, compression="zstd")[:, :] = x
        f.attrs["k"] = "v"
    end
    for format in ("zarr0", "zarr2", "zarr3")
        @test isempty(NDFile.convert("a.bcolz", format; format=format, from_format="bcolz"))
        @test NDFile.read(format) == x && NDFile.detect(format) == format && NDFile.open(f -> f.attrs["k"], format) == "v"
    end
    @test isempty(NDFile.convert("zarr0", "zarr0"; format="zarr2")) && NDFile.detect("zarr0") == "zarr2" && NDFile.read("zarr0") == x
    @test isempty(NDFile.convert("a.bcolz", "a.ds"; name="x")) && NDFile.read("a.ds", "x") == x
    e = problem(() -> NDFile.convert("a.bcolz", "a.ra"))
    @test e isa NDFileError && e.code == NDFile.NDF_ERR_LOSS && occursin("attributes", e.message) && !ispath("a.ra")
    losses = NDFile.convert("a.bcolz", "a.ra"; allow_loss=true, check=false)
    @test length(losses) == 1 && losses[1].array == "" && occursin("attributes", losses[1].what) && raread("a.ra") == x
    @test problem(() -> NDFile.convert("a.bcolz", "a.ds")).code == NDFile.NDF_ERR_EXISTS
    @test isempty(NDFile.convert("a.bcolz", "a.ds"; overwrite=true, commit=:direct)) && NDFile.read("a.ds", "data") == x

    NDFile.split("a.bcolz", "1.bcolz" => 20, "2.bcolz" => 10)
    @test NDFile.read("1.bcolz") == x[:, 1:20] && NDFile.read("2.bcolz") == x[:, 21:30]
    NDFile.concat(["1.bcolz", "2.bcolz"], "b.bcolz"; sync=true)
    @test NDFile.read("b.bcolz") == x && isempty(NDFile.verify("b.bcolz"))
    @test problem(() -> NDFile.split("a.bcolz", "3.bcolz" => 15, "4.bcolz" => 15)).code == NDFile.NDF_ERR_SHAPE && !ispath("3.bcolz")
    @test problem(() -> NDFile.concat(["1.bcolz", "2.bcolz"], "b.bcolz"; exclusive=true)).code == NDFile.NDF_ERR_EXISTS
    @test problem(() -> NDFile.split("a.ds", "3.ds" => 30)).code == NDFile.NDF_ERR_NOT_SUPPORTED
end

@testset "settings" begin
    NDFile.save("s.ds", "x" => [1]; attrs=(long="x"^5000,))
    NDFile.set_threads(1)
    NDFile.set_limits(max_header=4096)
    @test problem(() -> NDFile.read("s.ds")).code == NDFile.NDF_ERR_LIMIT
    NDFile.set_limits()
    NDFile.set_threads(0)
    @test NDFile.read("s.ds", "x") == [1]
    @test problem(() -> NDFile.set_threads(-1)).code == NDFile.NDF_ERR_ARGUMENT
    @test problem(() -> NDFile.set_limits(max_header=-1)).code == NDFile.NDF_ERR_ARGUMENT
    NDFile.set_cache_limit(1000)
    @test NDFile.cache_info().limit == 1000 && NDFile.cache_info().used <= 1000
    NDFile.set_cache_limit(nothing)
    @test NDFile.cache_info().limit == 64 << 20
    @test problem(() -> NDFile.set_cache_limit(-2)).code == NDFile.NDF_ERR_ARGUMENT
end
