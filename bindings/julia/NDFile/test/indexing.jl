# Indexing a lazy array gives what indexing an Array gives: values, shape, element type, and errors.

using Random

# An index of one axis of n elements, of every kind that an Array takes.
# (Each combination of types compiles anew, here and in Base.)
function random_index(n)
    n == 0 && return rand([1:0, Int[]])
    i, j = minmax(rand(1:n), rand(1:n))
    return rand((Colon(), i, i:j, i:rand(1:3):j, j:-rand(1:3):i, rand(1:n, rand(0:4)), rand(Bool, n)))
end

@testset "indexing" begin
    Random.seed!(1)
    models = Dict("a" => rand(Int32, 7), "b" => rand(5, 4), "c" => rand(Int16, 3, 4, 5), "d" => rand(2, 1, 3, 2),
        "e" => rand(3, 0, 2), "s" => fill(1.5), "t" => [randstring(i + 2j) for i in 0:3, j in 0:4], "z" => rand(Bool, 5, 3),
        "m" => Array{Union{Missing,Float32}}([rand() < 0.3 ? missing : rand(Float32) for _ in 1:4, _ in 1:6]))
    NDFile.save("i.ds", models)
    f = NDFile.open("i.ds")
    @testset "$name" for (name, x) in models
        a = f[name]
        @test a isa AbstractArray && size(a) == size(x) && eltype(a) == eltype(x) && ndims(a) == ndims(x)
        for _ in 1:15
            index = Tuple(random_index(n) for n in size(x))
            @test isequal(a[index...], x[index...]) && typeof(a[index...]) == typeof(x[index...])
        end
        name in ("a", "c", "m", "s") || continue
        n, ones = length(x), ntuple(_ -> 1, ndims(x))
        for index in Any[(:,), (1:min(3, n),), (n:-2:1,), ([],), (UInt8(1):UInt8(min(2, n)),), ([1 1; 1 1],), (trues(size(x)),),
            (CartesianIndices(x),), (CartesianIndices(x)[:],), ([CartesianIndex(ones)],), (axes(x)..., 1), (axes(x)..., 1:1),
            (axes(x)..., 2), (1,), (n,), (0,), (n + 1,), (ones..., 1), map(_ -> 0:1, ones), map(_ -> [1, 99], ones), ("x",), (1.5,)]
            got, want = outcome(() -> a[index...]), outcome(() -> x[index...])
            if want isa Exception
                @test typeof(got) == typeof(want)
            else
                @test isequal(got, want) && typeof(got) == typeof(want)
            end
        end
        @test all(y -> isequal(y, x), (Array(a), collect(a), copy(a), a, [v for v in a], map(identity, a), view(a, axes(a)...)))
        @test isequal(a .== a, x .== x) && isequal(vec(a), vec(x)) && isequal(x, a)
        ndims(x) == 0 && @test a[] === x[]
    end
    @test sum(f["b"]) ≈ sum(models["b"]) && sum(f["b"]; dims=1) ≈ sum(models["b"]; dims=1)
    @test maximum(f["c"]) == maximum(models["c"]) && f["b"] .+ 1 == models["b"] .+ 1
    @test f["c"][end, begin+1, end-1] == models["c"][3, 2, 4]

    @testset "readblock!" begin
        c, x = f["c"], models["c"]
        out = zeros(Int16, 2, 2, 3)
        @test NDFile.readblock!(c, out, 2:3, 1:2:3, 3:5) === nothing && out == x[2:3, 1:2:3, 3:5]
        wide = zeros(2, 2, 3)
        NDFile.readblock!(c, wide, 2:3, 1:2:3, 3:5)
        @test wide == out
        part = zeros(Int16, 4, 4, 4)
        NDFile.readblock!(c, view(part, 2:3, 1:2, 2:4), 2:3, 1:2:3, 3:5)
        @test part[2:3, 1:2, 2:4] == out && sum(!iszero, part) == sum(!iszero, out)
        m = Array{Union{Missing,Float32}}(undef, 4, 1)
        NDFile.readblock!(f["m"], m, 1:4, 2:2)
        @test isequal(m, models["m"][:, 2:2])
        full = [c for c in CartesianIndices(models["m"]) if !ismissing(models["m"][c])][1]
        one = zeros(Float32, 1, 1)
        NDFile.readblock!(f["m"], one, full[1]:full[1], full[2]:full[2])
        @test one[1] == models["m"][full]
        @test_throws NDFileError NDFile.readblock!(f["m"], zeros(Float32, 4, 6), 1:4, 1:6)
        @test_throws DimensionMismatch NDFile.readblock!(c, out, 1:3, 1:2, 3:5)
        @test_throws BoundsError NDFile.readblock!(c, out, 3:4, 1:2, 3:5)
        @test_throws NDFileError NDFile.readblock!(c, out, 3:-1:2, 1:2, 3:5)
    end
    close(f)

    # RawArray files take boxes in any order, each element once.
    @testset "assignment" begin
        for _ in 1:40
            x = rand(Int32, rand(1:4), rand(1:5), rand(1:3))
            NDFile.open("w.ra", "w") do f
                a = NDFile.create(f, "", Int32, size(x))
                d = rand(1:3)
                halves = (1:2:size(x, d), 2:2:size(x, d))
                for h in shuffle!([halves...])
                    r = rand((identity, reverse, collect, shuffle))(h)
                    index = ntuple(k -> k == d ? r : rand(Any[Colon(), 1:size(x, k), size(x, k):-1:1, [1:size(x, k);]]), 3)
                    a[index...] = x[index...]
                end
            end
            @test raread("w.ra") == x
        end
        y = rand(Float32, 4, 6)
        NDFile.open("w.ra", "w") do f
            a = NDFile.create(f, "", Float32, (4, 6))
            a[1, :] = y[1, :]
            a[2, 1] = y[2, 1]
            a[2:2, 2:6] = y[2:2, 2:6]
            a[3, :] .= 7
            a[4, 1:3] = 8
            a[[CartesianIndex(4, 4)]] = [9]
            a[[20, 24]] = [10, 11] # counting elements
            NDFile.writeblock!(a, fill(12.0, 0, 0), 1:0, 3:2)
        end
        y[3, :] .= 7
        y[4, 1:3] .= 8
        y[4, 4:6] = [9, 10, 11]
        @test raread("w.ra") == y

        NDFile.open("e.ds", "w") do f
            a = NDFile.create(f, "a", Int8, (2, 3))
            @test_throws BoundsError a[:, 4] = [1, 2]
            @test_throws DimensionMismatch a[:, 1] = [1, 2, 3]
            @test_throws DimensionMismatch a[:, :] = zeros(3, 2)
            @test_throws InexactError a[:, 1] = [300, 1]
            @test_throws InexactError a[:, 1] = [1.5, 1]
            @test_throws NDFileError a[:, 1] = [missing, 1]
            a[:, 1] = [1, 2]
            a[:, 2:3] = [3 5; 4 6]
            @test_throws NDFileError a[1, 1]
            b = NDFile.create(f, "b", Union{Missing,Int8}, (3,))
            @test_throws NDFileError b[2:3] = [missing, 3] # elements that can be missing come in order
            b[:] = [1, missing, 3]
            t = NDFile.create(f, "t", "str", (2,); masked=true)
            t[1:1] = [missing]
            t[2] = "x"
        end
        d = NDFile.read("e.ds")
        @test d["a"] == [1 3 5; 2 4 6] && isequal(d["b"], [1, missing, 3]) && isequal(d["t"], [missing, "x"])
    end
end

@testset "no ambiguities" begin
    @test isempty(Test.detect_ambiguities(NDFile))
end
