# Whole files, one or many in a call: what read! and the many take, what fails, and that calls which come between share nothing.

using Random

const FILES = [
    ["x" => [1, 2, 3]],
    ["x" => [1.5 2.5; 3.5 4.5], "s" => ["a", "žlutý"], "m" => [missing, 2.0]],
    ["x" => fill(7)],
    ["x" => Bool[1, 0], "y" => UInt8[]],
    ["v$i" => [i] for i in 1:50],
    ["x" => collect(1:10_000)],
    ["x" => rand(2^17)],               # 1 MiB: few of these fit into one call
    ["x" => rand(2^20), "y" => [1]],   # too large for a buffer
    ["s" => [randstring(i) for i in 0:99]],
]
# The ways to give them.
const FORMS = [Tuple, pairs -> NDFile.OrderedDict{Any}(pairs...), pairs -> (; (Symbol(name) => x for (name, x) in pairs)...)]

function same_content(found, given)
    return sort(keys(found)) == sort(first.(given)) && all(same(found[name], ndims(x) == 0 ? x[] : x) for (name, x) in given)
end

@testset "many" begin
    @testset "what is saved is read" begin
        given = [FILES[1+i%length(FILES)] for i in 0:699]
        paths = ["$i.ds" for i in eachindex(given)]
        @test NDFile.save_many(paths, [FORMS[1+i%3](arrays) for (i, arrays) in enumerate(given)]) === nothing
        @test all(same_content(found, arrays) for (found, arrays) in zip(NDFile.read_many(paths), given))
        for (path, arrays) in zip(paths, FILES)
            NDFile.save("alone.ds", arrays...)
            @test Base.read(path) == Base.read("alone.ds")
        end
        # Other memory than that of the last call.
        first, again = NDFile.read_many(paths[1:9]), NDFile.read_many(reverse(paths))
        @test same_content(first[1], FILES[1]) && same_content(again[end], FILES[1])
        @test NDFile.read_many(paths[[1, 6, 1]], "x") == [[1, 2, 3], 1:10_000, [1, 2, 3]]
        @test NDFile.read_many(String[]) == [] && NDFile.save_many(String[], []) === nothing
        NDFile.save_many(["pair.ds"], ["x" => [1]])
        @test NDFile.read("pair.ds", "x") == [1]
    end

    @testset "arguments" begin
        arrays = ([i i] for i in 1:3)
        @test NDFile.save_many(("$i.ra" for i in 1:3), arrays; commit=:direct, errors=:return) == [nothing, nothing, nothing]
        @test NDFile.read_many(["3.ra", "1.ra"]) == [[3 3], [1 1]]
        NDFile.save_many(["a.ds", "b.ds"], [(x=[1],), (x=[2],)]; attrs=(n=1,), dims=(x=("t",),), var_attrs=(x=(units="K",),))
        for path in ("a.ds", "b.ds")
            NDFile.open(path) do f
                @test f.attrs["n"] == 1 && f["x"].dims == ("t",) && f["x"].attrs["units"] == "K"
            end
        end
        NDFile.save_many(["s.bcolz"], [["a", "bb"]])
        @test NDFile.read("s.bcolz") == ["a", "bb"]
        NDFile.save_many(["one.other"], [(x=[1],)]; format="ds")
        @test NDFile.read("one.other", "x") == [1]
    end

    @testset "failures" begin
        paths = ["1.ds", "none.ds", "bad.ds", "2.ds"]
        write("bad.ds", "DSF_0000")
        found = NDFile.read_many(paths; errors=:return)
        @test [x isa NDFileError for x in found] == [false, true, true, false]
        @test found[2].code == NDFile.NDF_ERR_NOT_FOUND && occursin("none.ds", found[2].message)
        e = problem(() -> NDFile.read_many(paths))
        @test e isa NDFileError && e.code == NDFile.NDF_ERR_NOT_FOUND
        @test NDFile.read_many(["1.ds"], "no\0name"; errors=:return)[1].code == NDFile.NDF_ERR_NAME

        outcomes = NDFile.save_many(["new.ds", "none/x.ds", "sym.ds"], [(x=[1],), (x=[2],), (x=[:a],)]; errors=:return)
        @test outcomes[1] === nothing && NDFile.read("new.ds", "x") == [1]
        @test [outcomes[2].code, outcomes[3].code] == [NDFile.NDF_ERR_NOT_FOUND, NDFile.NDF_ERR_DTYPE]
        @test occursin("none", outcomes[2].message) && occursin("sym.ds: array \"x\"", outcomes[3].message) && !ispath("sym.ds")
        @test problem(() -> NDFile.save_many(["none/x.ds"], [(x=[2],)])).code == NDFile.NDF_ERR_NOT_FOUND
        for f in (() -> NDFile.save_many(["a.ds"], []), () -> NDFile.save_many("a.ds", [[1]]), () -> NDFile.read_many("1.ds"),
            () -> NDFile.read_many(["1.ds"]; errors=:stop), () -> NDFile.read_many(["a\0b"]),
            () -> NDFile.save_many(["a.ds"], [(x=1,)]; dims=(y=(),)))
            @test problem(f).code == NDFile.NDF_ERR_ARGUMENT
        end
    end
end

@testset "read!" begin
    NDFile.save("r.ds", "x" => [1 2; 3 4], "m" => [1.5, missing], "b" => [true, false], "s" => ["a", "b"], "z" => fill(5),
        "big" => collect(1:2^20))
    rawrite(Float32[1 2 3], "r.ra")
    out = zeros(Int, 2, 2)
    @test NDFile.read!("r.ds", "x", out) === out == [1 2; 3 4]
    @test NDFile.read!("r.ds", "x", zeros(2, 2)) == [1 2; 3 4]
    cube = zeros(Int, 2, 2, 2)
    NDFile.read!("r.ds", "x", view(cube, :, :, 2))
    NDFile.read!("r.ds", "x", view(cube, 2:-1:1, :, 1))
    @test cube[:, :, 2] == [1 2; 3 4] && cube[:, :, 1] == [3 4; 1 2]
    @test isequal(NDFile.read!("r.ds", "m", Vector{Union{Missing,Float64}}(undef, 2)), [1.5, missing])
    @test NDFile.read!("r.ds", "b", falses(2)) == [true, false] && NDFile.read!("r.ds", "s", ["", ""]) == ["a", "b"]
    @test NDFile.read!("r.ds", "z", fill(0))[] == 5 && NDFile.read!("r.ds", "big", zeros(Int, 2^20)) == 1:2^20
    @test NDFile.read!("r.ra", zeros(Float32, 1, 3)) == [1 2 3]
    @test_throws DimensionMismatch NDFile.read!("r.ds", "x", zeros(Int, 4))
    @test_throws InexactError NDFile.read!("r.ds", "x", zeros(Bool, 2, 2))
    for (code, f) in [(NDFile.NDF_ERR_MASKED, () -> NDFile.read!("r.ds", "m", zeros(2))),
        (NDFile.NDF_ERR_NAME, () -> NDFile.read!("r.ds", "y", out)),
        (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.read!("r.ds", out)), (NDFile.NDF_ERR_NOT_FOUND, () -> NDFile.read!("none.ra", out))]
        @test problem(f).code == code
    end
end

# The memory that calls share is taken by one of them at a time, and what they give does not lie in it.
@testset "calls that come between" begin
    NDFile.save("a.ds", "x" => [1, 2])
    NDFile.save("b.ds", "x" => ["text", "more"], "y" => [missing, 1.5])
    s = NDFile.take_scratch()
    x, y = NDFile.read("a.ds", "x"), NDFile.read("b.ds")
    @test x == [1, 2] && y["x"] == ["text", "more"] && isequal(y["y"], [missing, 1.5])
    NDFile.give_back(s)
    @test NDFile.take_scratch() === s && NDFile.take_scratch() !== s
    NDFile.give_back(s)
    @test problem(() -> NDFile.read("none.ds")).code == NDFile.NDF_ERR_NOT_FOUND && NDFile.read("a.ds", "x") == [1, 2]
    NDFile.read("b.ds")
    @test x == [1, 2]
end

@testset "progress" begin
    paths = ["p$i.ds" for i in 1:600]
    seen = Tuple{Int,Int}[]
    note(done, total) = (push!(seen, (done, total)); nothing)
    told(total) = issorted(seen) && first(seen)[1] == 0 && last(seen) == (total, total) && (empty!(seen); true)
    NDFile.save_many(paths, [(x=collect(1:i),) for i in 1:600]; progress=note)
    @test told(600)
    @test NDFile.read_many(paths, "x"; progress=note)[600] == 1:600 && told(600)
    NDFile.save("big.ds", "x" => rand(100_000), "y" => rand(100_000))
    NDFile.convert("big.ds", "big.bcolz"; progress=note)
    @test !isempty(seen) && issorted(seen) && last(seen)[1] == last(seen)[2] && (empty!(seen); true)
    @test isempty(NDFile.verify("big.bcolz"; progress=note)) && !isempty(seen)
    stop(done, total) = false
    for f in (progress -> NDFile.save_many(paths, [1 for _ in paths]; progress=progress),
              progress -> NDFile.read_many(paths; progress=progress),
              progress -> NDFile.convert("big.ds", "none.bcolz"; progress=progress),
              progress -> NDFile.verify("big.bcolz"; progress=progress))
        @test problem(() -> f(stop)).code == NDFile.NDF_ERR_CANCELED
        @test problem(() -> f((_, _) -> throw(KeyError(:mine)))) == KeyError(:mine)
        f((_, _) -> (GC.gc(false); NDFile.read("big.ds", "x"); true)) # which may call the package
    end
    @test NDFile.read("big.bcolz", "y") == NDFile.read("big.ds", "y")
end
