# What DiskArrays.jl asks of its arrays, in the order of its own tests, on arrays in files; CALLS counts what it counts as accesses.
#
# Left out is what only concerns its own types: GridChunks, RegularChunks and IrregularChunks (here an array of tuples of ranges, see
# NDFile.eachchunk), its strategies for batches, its macros, its estimate of chunks for arrays without, and CachedDiskArray (the
# library caches decoded chunks). zip, cat, reshape, permutedims and generators give arrays and iterators of Base here, whose elements
# are right and whose reads are few; they are not lazy arrays of their own types.

using Statistics

function chunked(x; chunks=size(x))
    path = tempname() * ".zarr"
    NDFile.open(path, "w"; format="zarr3") do f
        NDFile.create(f, "", eltype(x), size(x); chunks=max.(chunks, 1))
        isempty(x) || copyto!(f.array, x)
    end
    push!(OPENED, NDFile.open(path, "r+"))
    return last(OPENED).array
end

const OPENED = NDFile.File[]

stored(a) = read_again(a.file.path)
read_again(path) = NDFile.open(f -> f.array[ntuple(_ -> Colon(), ndims(f.array))...], path)

# The result, and how many reads and writes it took.
function counted(f)
    before = NDFile.CALLS[]
    return f(), NDFile.CALLS[] - before
end

@testset "getindex" begin
    x = reshape(collect(1:20), 4, 5, 1)
    a = chunked(x)
    for index in ((2, 3, 1), (2, 3), (2, 3, 1, 1), (:, 1), (1:2, 1:2, 1, 1), (4:-1:1, 1, 1), (2, 3, 1, 1:1), (2, 3, 1, [1], [1]), (:, 3, 1, [1]),
                  (CartesianIndices((1:2, 1:2)), 1), (CartesianIndex(1, 2), 1), (CartesianIndex(1, 2, 1),), (2:2:4, 1:2:5), ([1, 3, 4], [1, 3], 1),
                  (:,), (11:15,), (20:-1:9,), ([3, 5, 8],), (2:4:14,), (Int[],), (:, Int[], :), (Int[], :, :), (:, CartesianIndex.([(1, 1), (5, 1)])))
        got, n = counted(() -> a[index...])
        @test (index, got) == (index, x[index...])
        @test (index, n <= 1) == (index, true)
    end
    m = falses(4, 5, 1)
    m[2, [1, 2, 3, 5], 1] .= true
    @test a[m] == [2, 6, 10, 18]
    NDFile.allow_scalar(false)
    @test_throws NDFileError a[2, 3, 1]
    @test_throws NDFileError a[5]
    NDFile.allow_scalar(true)
    @test a[2, 3, 1] == 10 && a[5] == 5
    y = rand(100, 100, 100)
    b = chunked(y; chunks=(10, 10, 20))
    rows, mask = findall(rand(100) .<= 0.5), rand(100) .> 0.5
    for index in ((rows, :, :), (:, rows, :), (rows, :, rows), (mask, :, :), (:, mask, mask), ([rand(1:100)], :, :))
        got, n = counted(() -> b[index...])
        @test got == y[index...] && n <= 2
    end
end

@testset "setindex" begin
    a, x = chunked(zeros(Int, 4, 5, 1)), zeros(Int, 4, 5, 1)
    m = falses(4, 5, 1)
    m[4, :, 1] .= true
    for (index, value) in (((1, 1, 1), 1), ((1, 2), 2), ((1, 3, 1, 1), 3), ((2:2, :), [1, 2, 3, 4, 5]), ((3, 3:4, 1, 1), [3, 4]), ((m,), [10, 11, 12, 13, 14]),
                           ((1:2:4, 1:2:5, 1), [1 2 3; 5 6 7]), (([2, 4], 1:2, 1), [1 2; 5 6]), ((CartesianIndex(1, 1, 1),), -10))
        a[index...] = value
        x[index...] = value
    end
    @test stored(a) == x
    v = view(a, 2:3, 2:4, 1)
    @test @inferred(size(v)) == (2, 3)
    v[1:2, 1] = [1, 2]
    v[1:2, 2:3] = [4 4; 4 4]
    @test v[1:2, 1] == [1, 2] && v[1:2, 2:3] == [4 4; 4 4] && stored(a)[2:3, 3:4] == [4 4; 4 4]
    z = chunked(fill(0))
    z[] = 5
    @test z[] == 5
    z[1] = 6
    @test z[] == 6 && z[1] == 6
end

@testset "reductions" begin
    x = rand(10, 20, 2)
    a = chunked(x; chunks=(5, 4, 2))
    for f in (minimum, maximum, prod, sum, (i; k...) -> all(v -> v > 0.1, i; k...), (i; k...) -> any(v -> v < 0.1, i; k...),
              (i; k...) -> count(v -> v < 0.1, i; k...), (i; k...) -> mapreduce(v -> 2v, +, i; k...)), (lazy, plain) in ((a, x), (a .+ 1, x .+ 1))
        for options in ((), (dims=2,), (dims=(1, 3),))
            lazy isa NDArray && NDFile.forget!(a.memory)
            got, n = counted(() -> f(lazy; options...))
            @test all(isapprox.(got, f(plain; options...))) && n <= 12
        end
    end
    yes, no = chunked(fill(true, 10); chunks=(2,)), chunked(fill(false, 10); chunks=(2,))
    @test any(yes) && any(==(true), yes) && !all(no) && !all(==(true), no)
end

@testset "broadcast" begin
    x, y, m = rand(10, 9, 2), rand(1:10, 1, 9), reshape(1:2, 1, 1, 2)
    a, b, out = chunked(x; chunks=(5, 3, 2)), chunked(y; chunks=(1, 3)), chunked(zeros(10, 9, 2); chunks=(5, 3, 2))
    want = (x .+ y) ./ m
    (s, s2), n = counted(() -> (s = a .+ b .* Ref(2) ./ (2,); (s, s ./ m)))
    @test n == 0 && s isa NDFile.LazyBroadcast && size(s) == (10, 9, 2) && eltype(s) == Float64 && eltype(s2) == Float64
    memory = zeros(10, 9, 2)
    _, n = counted(() -> memory .= s2 .* 2 ./ Ref(2))
    @test memory == want && n <= 12
    _, n = counted(() -> out .= s ./ m)
    @test stored(out) == want && n <= 18
    r, n = counted(() -> sum(s2; dims=(1, 2)))
    @test r ≈ sum(want; dims=(1, 2)) && n <= 12
    for index in ((2:3, 5, :), (10:-2:1, 1, 1), (3, 4, 2), (:, :, :), (1:0, :, 1), ([3, 1], :, 1))
        @test s2[index...] == want[index...]
    end
    @test collect(s2) == Array(s2) == copy(s2) == want && s2 == want && findall(s2 .> 5) == findall(want .> 5) && x[a.>0.5] == x[x.>0.5]
    @test maximum(s2; dims=3) == maximum(want; dims=3) && mean(s2; dims=1) ≈ mean(want; dims=1) && std(s2) ≈ std(want) && sum(a .> 0.5) == sum(x .> 0.5)
    @test collect(view(a, 2:5, :, 1) .+ 1) == x[2:5, :, 1] .+ 1 && collect(view(a, :, 3, :) .* view(a, :, 2, :)) == x[:, 3, :] .* x[:, 2, :]
    @test size(collect(chunked(rand(10, 9, 1); chunks=(5, 3, 1)) .+ b)) == (10, 9, 1) && chunked(fill(3)) .+ 1 === 4
    @test occursin("LazyBroadcast", sprint(show, MIME("text/plain"), s2))
    @test_throws DimensionMismatch a .+ zeros(3)
    @test_throws DimensionMismatch zeros(3) .= a .+ 1
    # The result may be an argument, also in another order.
    z = copy(x)
    z .= view(z, 10:-1:1, :, :) .+ a
    @test z == x[10:-1:1, :, :] .+ x
    out .= 0
    out .+= a
    @test stored(out) == x
    a .= view(a, 10:-1:1, :, :)
    @test stored(a) == x[10:-1:1, :, :]
    path = tempname() * ".ds"
    NDFile.save(path, "m" => [1, missing, 3], "s" => ["a", "b"], "e" => zeros(0, 3), "twice" => out .* 2)
    NDFile.open(path) do f
        @test isequal(collect(f["m"] .+ 1), [2, missing, 4]) && collect(f["s"] .* "x") == ["ax", "bx"] && f["twice"][:, :, :] == 2x
        @test size(collect(f["e"] .+ 1)) == (0, 3) && sum(f["e"] .+ 1) == 0 && sum(f["e"] .+ 1; dims=1) == zeros(1, 3)
    end
    # More than the budget, from and to files: piece by piece, also where single elements are refused.
    n = (300, 200, 60)
    big, to = chunked(reshape(collect(1.0:prod(n)), n); chunks=(100, 100, 7)), chunked(zeros(n); chunks=(100, 100, 7))
    NDFile.allow_scalar(false)
    _, calls = counted(() -> to .= big .* 2 .+ 1)
    total, more = counted(() -> sum(big .* 2; dims=3))
    NDFile.allow_scalar(true)
    @test calls <= 8
    @test more <= 8 # the last element of a large box is tried first
    @test total[5, 7] == 2sum(big[5, 7, :])
    @test to[300, 200, 60] == 2prod(n) + 1 && to[1, 1, 1] == 3
end

@testset "iteration, zip and cat" begin
    x, y = rand(10, 9, 2), rand(10, 9, 2)
    a, b = chunked(x; chunks=(5, 3, 2)), chunked(y; chunks=(2, 3, 1))
    got, n = counted(() -> collect(zip(a, b)))
    @test got == collect(zip(x, y)) && n <= 12
    @test collect(zip(x, a, x)) == collect(zip(x, x, x)) && collect(zip(a, a, b)) == collect(zip(x, x, y))
    w = collect(reshape(1:24, 4, 6, 1))
    d = chunked(w)
    for dims in (1, 2, 3, 4, (1,), (2,)), (p, q) in ((view(d, :, 1:3, :), view(d, :, 4:6, :)), (view(d, :, 1:3, :), w[:, 4:6, :]), (w[:, 1:3, :], view(d, :, 4:6, :)))
        @test cat(p, q; dims=dims) == cat(w[:, 1:3, :], w[:, 4:6, :]; dims=dims)
    end
    c = chunked(collect(reshape(1:90, 10, 9)); chunks=(5, 3))
    got, n = counted(() -> [v for v in c])
    @test got == reshape(1:90, 10, 9) && n <= 6
    @test [v for v in c if v > 40] == 41:90 && size(Base.Generator(identity, c)) == (10, 9) && length(eachindex(c)) == 90
    got, n = counted(() -> map(v -> v * 5.0, c))
    @test got == 5.0 * reshape(1:90, 10, 9) && n <= 6
    @test (@inferred map(identity, c)) == reshape(1:90, 10, 9)
end

@testset "array methods" begin
    x = collect(reshape(1:90, 10, 9))
    a = chunked(x; chunks=(5, 3))
    out = zero(x)
    @test copyto!(out, a) == x
    copyto!(out, CartesianIndices((1:3, 1:2)), a, CartesianIndices((8:10, 8:9)))
    @test out[1:3, 1:2] == x[8:10, 8:9]
    copyto!(Matrix{Int}(undef, 0, 2), CartesianIndices((1:0, 1:2)), a, CartesianIndices((8:7, 8:9)))
    @test_throws ArgumentError copyto!(out, CartesianIndices((1:1, 1:2)), a, CartesianIndices((4:6, 8:9)))
    for f in (collect, Array, v -> reverse(v; dims=2), v -> reverse(view(v, :, 1)), v -> reverse(view(v, :, 1), 5), v -> reverse(view(v, :, 1), 5, 10),
              v -> replace(v, 1 => 2), rotr90, rotl90, rot180, extrema, mean, v -> mean(v; dims=1), std, median, v -> median(v; dims=1), v -> median(v; dims=2),
              v -> vcat(v, v), v -> hcat(v, v), v -> cat(v, v; dims=3), v -> circshift(v, 2), v -> reshape(v, 5, 18)[5, :], v -> permutedims(v)[3, 4:5])
        NDFile.forget!(a.memory)
        got, n = counted(() -> f(a))
        @test got == f(x) && n <= 32
    end
    for (chunks, from) in (((1, 2), (3, 4)), ((3, 4), (6, 8)), ((6, 8), (1, 1)), ((5, 7), (2, 3))) # grids that do not match
        p, q = chunked(zeros(24, 16); chunks=chunks), chunked((2.0:25) * (1:16)'; chunks=from)
        p .= q
        @test stored(p) == (2.0:25) * (1:16)'
        p .= view(chunked((1.0:30) * (1:21)'; chunks=(5, 7)), 3:26, 2:17)
        @test stored(p) == (3.0:26) * (2:17)'
    end
    e = chunked(Int[]; chunks=(5,))
    append!(e, 1:5)
    @test e == 1:5 && size(e) == (5,)
    _, n = counted(() -> sprint(show, [a, a]))
    @test n <= 2
    @test size(NDFile.eachchunk(a)) == (2, 3) && NDFile.haschunks(a)
end

foreach(close, OPENED)
foreach(f -> rm(f.path; recursive=true), OPENED)
empty!(OPENED)
