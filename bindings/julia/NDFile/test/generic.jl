# Functions of Base that know nothing of files: their results, and how many reads they take.

using Random, Statistics

# How often elements were read or written.
function calls(f)
    before = NDFile.CALLS[]
    return f(), NDFile.CALLS[] - before
end

alike(x, y) = isequal(x, y)
alike(x::AbstractFloat, y::AbstractFloat) = isequal(x, y) || x ≈ y
alike(x::AbstractArray{<:AbstractFloat}, y::AbstractArray{<:AbstractFloat}) = size(x) == size(y) && all(alike.(x, y))

@testset "generic functions" begin
    Random.seed!(2)
    x = rand(20, 20, 20)
    NDFile.save("g.ds", "x" => x)
    NDFile.open("g.zarr", "w"; format="zarr0") do f
        NDFile.create(f, "", Float64, (20, 20, 20); chunks=(10, 10, 10))[:, :, :] = x
    end
    ds, zarr = NDFile.open("g.ds"), NDFile.open("g.zarr")
    functions = Any[a -> permutedims(a, (2, 3, 1)), a -> permutedims(a, (3, 2, 1)), a -> reshape(a, 400, 20)[:, 3], a -> vec(a) .+ 1, vec,
        a -> findall(>(0.9), a), argmax, findmax, findfirst(>(0.99), x) === nothing ? identity : a -> findfirst(>(0.99), a),
        a -> cumsum(a; dims=1), a -> cumsum(a; dims=3), a -> reverse(a; dims=1), a -> reverse(a; dims=3),
        a -> map(sum, collect(eachslice(a; dims=3))), a -> map(sum, collect(eachslice(a; dims=1))), a -> sum(view(a, 2:5, :, 3)),
        a -> sum(view(a, 3, :, :)), a -> sum(abs2, a), a -> mapreduce(abs2, +, a; dims=2), a -> sum(a; dims=(1, 3)),
        a -> maximum(a; dims=3), a -> mean(a; dims=1), std, a -> extrema(a), a -> sort(vec(a)), a -> copyto!(zeros(8000), 1, a, 1, 8000),
        a -> copyto!(zeros(20, 20, 20), a), a -> collect(view(a, :, 2:3, :)), a -> Array(view(a, 5, :, :)), a -> a .+ 1, a -> a .* a .- x,
        a -> view(a, :, 1, :) .+ 1, a -> [v for v in a], a -> [v for v in view(a, 1, :, :)], a -> collect(zip(a, 1:10)),
        a -> collect(Iterators.reverse(a)), a -> a == x, a -> x == a, a -> isequal(a, a), a -> hash(a) == hash(x), unique, a -> any(>(0.999), a),
        a -> all(isfinite, a), a -> count(>(0.5), a), a -> map(+, a, x), a -> foldl(-, a), a -> accumulate(+, vec(a)), a -> cat(a, a; dims=3),
        a -> hcat(view(a, :, :, 1), view(a, :, :, 2)), a -> selectdim(a, 2, 3)[4, :], a -> dropdims(view(a, :, 1:1, :); dims=2)[:, 2],
        a -> PermutedDimsArray(a, (3, 1, 2))[2, :, :], a -> circshift(a, (1, 2, 3)), a -> rot180(view(a, :, :, 1)), a -> a[x.>0.5],
        a -> a[end, end, end], a -> a[end], a -> first(a), a -> last(a), a -> filter(>(0.9), vec(a)), a -> reinterpret(UInt64, vec(a))[7],
        a -> view(a, :, :, 4)' * view(a, :, :, 5), a -> similar(a) isa Array{Float64,3}, a -> join(view(a, 1:2, 1, 1)),
        a -> (i = shuffle(MersenneTwister(1), 1:20); [a[k, k, k] for k in i]), a -> sum(a[i] for i in eachindex(a)), a -> repr(view(a, 1:2, 1:2, 1))]
    for f in functions, (file, most) in ((ds, 20), (zarr, 32))
        a = file["" in keys(file) ? "" : "x"]
        NDFile.forget!(a.memory)
        got, n = calls(() -> f(a))
        @test (f, alike(got, f(x))) == (f, true)
        @test (f, n <= most) == (f, true)
    end
    # Writing through one object is seen by its elements, and other objects are not disturbed.
    NDFile.open("g.zarr", "r+") do f
        a = f.array
        @test a[1, 1, 1] === x[1, 1, 1] && sum(view(a, :, 1, 1)) ≈ sum(x[:, 1, 1])
        a[1, 1, 1] = 5
        @test a[1, 1, 1] === 5.0
        a[:, 1, 1] .= 6
        @test a[2, 1, 1] === 6.0
        resize!(a, 20, 20, 21)
        @test a[1, 1, 21] === 0.0
        @test_throws BoundsError a[1, 1, 22]
    end
    @test ds["x"][1, 1, 1] === x[1, 1, 1] # and now a window is there
    a = ds["x"]
    close(ds)
    @test_throws NDFileError a[1, 1, 1]
    close(zarr)

    # Tasks that read and one that writes.
    NDFile.open("g.zarr", "r+") do f
        a, wrong = f.array, Threads.Atomic{Int}(0)
        a[:, :, :] = fill(0.0, 20, 20, 21)
        @sync begin
            Threads.@spawn for k in 1:30
                a[:, :, k%21+1] = fill(Float64(k), 20, 20)
                a[1, 1, k%21+1] == k || Threads.atomic_add!(wrong, 1)
            end
            for _ in 1:3
                Threads.@spawn for _ in 1:2000
                    v = a[rand(1:20), rand(1:20), rand(1:21)]
                    0 <= v <= 30 && isinteger(v) || Threads.atomic_add!(wrong, 1)
                end
            end
        end
        @test wrong[] == 0
    end
end

@testset "large arrays in pieces" begin
    # More than the window holds, in every order of axes.
    n = (300, 200, 60)
    x = reshape(collect(1.0:prod(n)), n)
    NDFile.open("l.ra", "w") do f
        NDFile.create(f, "", Float64, n)[:, :, :] = x
    end
    NDFile.open("l.ra") do f
        a = f.array
        @test length(a) > NDFile.budget(a)
        for (g, most) in ((a -> sum(x for x in a), 20), (a -> permutedims(a, (3, 2, 1)), 200), (a -> permutedims(a, (2, 1, 3)), 200),
                          (a -> a .+ 1, 20), (a -> sum(a; dims=2), 20), (a -> count(v -> v % 2 == 1, view(a, 7, :, :)), 40))
            NDFile.forget!(a.memory)
            got, k = calls(() -> g(a))
            @test got == g(x)
            k <= most || @info "calls" k most
            @test k <= most
        end
    end
    NDFile.open("l.ra", "w") do f
        a = NDFile.create(f, "", Float64, n)
        _, k = calls(() -> a .= x .* 2)
        @test k <= 4
    end
    @test raread("l.ra") == 2x
    rm("l.ra")
end

@testset "writing without indices" begin
    n = (4, 3, 5)
    x = reshape(collect(1.0:60.0), n)
    fresh(fn) = begin
        NDFile.open("w.zarr", "w"; format="zarr2") do f
            a = NDFile.create(f, "", Float64, n; chunks=(2, 2, 2))
            _, k = calls(() -> fn(a))
            @test k <= 8
        end
        NDFile.read("w.zarr")
    end
    model(fn) = (y = zeros(n); fn(y); y)
    for fn in Any[a -> fill!(a, 7), a -> copyto!(a, x), a -> a[:] = vec(x), a -> a[:] = x, a -> a .= x .+ 1, a -> copyto!(a, 5, 1:7),
                  a -> copyto!(a, 5, vec(x), 3, 40), a -> a[3:50] = 1:48, a -> a[:, :, :] = x, a -> a[:, 2, :] .= 9, a -> fill!(view(a, :, 2, :), 9),
                  a -> copyto!(view(a, :, :, 2), x[:, :, 3]), a -> copyto!(a, [1, 2, 3]), a -> a[7:7] = [1], a -> copyto!(a, view(x, :, :, :)), a -> a .+= 1,
                  a -> view(a, 1:2, :, 3) .= [1, 2], a -> copyto!(a, 1, x, 1, 0), a -> a[:, :, 2] = 1:12]
        got, want = fresh(a -> outcome(() -> fn(a))), model(y -> outcome(() -> fn(y)))
        @test got == want
    end
    NDFile.open("w.zarr", "r+") do f
        a = f.array
        @test_throws BoundsError copyto!(a, 58, 1:4)
        @test_throws BoundsError copyto!(a, zeros(61))
        @test_throws DimensionMismatch a[:] = 1:59
        @test_throws ArgumentError copyto!(a, 1, x, 1, -1)
        @test a == model(y -> y[:, :, 2] = 1:12)
    end
end

@testset "inferred types" begin
    NDFile.save("t.ds", "x" => rand(4, 3, 2), "m" => [1.5 missing; 2.5 3.5], "s" => ["a" "b"; "c" "d"], "b" => [true false], "z" => fill(Int16(3)))
    NDFile.open("t.ds") do f
        a, m, s, b, z = f["x"], f["m"], f["s"], f["b"], f["z"]
        for index in ((1, 1, 1), (:, :, 1), (2:3, 1, :), (:, :, :), ([1, 2], :, 1), (3:-1:1, :, :), (5,), (:,), (1:4,), (1, 1, :), (4, 1:2, [2, 1]))
            @test (@inferred a[index...]) == a[index...]
        end
        @test @inferred(a[trues(4, 3, 2)]) isa Vector{Float64}
        @test @inferred(Union{Missing,Float64}, m[1, 2]) === missing && @inferred(m[:, 1]) isa Vector{Union{Missing,Float64}}
        @test @inferred(s[1, 2]) == "b" && @inferred(s[:, 1]) == ["a", "c"] && @inferred(b[:, 1]) == [true] && @inferred(z[]) === Int16(3)
        @test @inferred(sum(a)) isa Float64 && @inferred(sum(b)) === 1 && @inferred(extrema(a)) isa Tuple{Float64,Float64}
        @test @inferred(Array(a)) == a && @inferred(size(a)) == (4, 3, 2) && @inferred(collect(a .+ 1)) isa Array{Float64,3}
        total(a) = (t = 0.0; for i in eachindex(a); t += a[i]; end; t)
        total(a)
        @test (@allocated total(a)) <= 2 * 16 * length(a) # without optimization each index is an object
    end
end
