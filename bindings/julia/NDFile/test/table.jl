# Tables: columns of one length, rows, conditions.

using Random

@testset "tables" begin
    rng = MersenneTwister(7)
    n = 1000
    day, sym, price = collect(Int32, 1:n), rand(rng, ["A", "BB", "CCC"], n), round.(rand(rng, n) .* 100; digits=1)
    price[5] = NaN
    band = rand(rng, Float32, 3, n)
    NDFile.open("t.bcolz", "w"; attrs=(title="t",)) do f
        @test f.kind === :table && NDFile.nrows(f) == 0
        NDFile.create(f, "day", ">i4", (n,); chunks=100, attrs=(unit="d",))[:] = day
        f["sym"] = sym
        f["price"] = price
        f["band"] = band
        @test f.kind === :table && NDFile.nrows(f) == n
        @test problem(() -> NDFile.create(f, "short", Int8, (3,))).code == NDFile.NDF_ERR_SHAPE
    end
    all_rows = (day=day, sym=sym, price=price, band=band)
    part(i) = (day=day[i], sym=sym[i], price=price[i], band=band[:, i])

    NDFile.open("t.bcolz") do f
        @test keys(f) == ["day", "sym", "price", "band"] && f["day"].dtype == ">i4" && f["day"].attrs["unit"] == "d"
        @test sprint(show, f) == "NDFile.File(\"t.bcolz\": bcolz table of $n rows, mode \"r\", \"day\", \"sym\", \"price\", \"band\")"
        @test isequal(f[:], all_rows) && isequal(f[3:10], part(3:10)) && isequal(f[[900, 2]], part([900, 2])) && isequal(f[7], part(7))
        @test isequal(f[20:-5:1], part(20:-5:1)) && isequal(f[day.<4], part(1:3)) && isequal(f[1:0], part(1:0))
        @test f[2:3, ["sym", "day"]] == (sym=sym[2:3], day=day[2:3]) && f[1, ("day",)] == (day=1,)
        @test_throws BoundsError f[n+1]
        @test_throws BoundsError f[0:3]
        @test problem(() -> f[1, ["nope"]]).code == NDFile.NDF_ERR_NAME
        @test problem(() -> f["nope"]).code == NDFile.NDF_ERR_NAME
        @test problem(() -> append!(f, part(1:2))).code == NDFile.NDF_ERR_READ_ONLY
        @test problem(() -> resize!(f, 2)).code == NDFile.NDF_ERR_READ_ONLY

        @testset "where" begin
            for (terms, holds) in [
                (["price" => (>, 50)], i -> price[i] > 50),
                (["price" => >=(50), "sym" => (==, "BB")], i -> price[i] >= 50 && sym[i] == "BB"),
                (["day" => (<=, 300.5), "day" => (>, 100), "price" => (!=, price[200])], i -> 100 < day[i] <= 300.5 && price[i] != price[200]),
                (["price" => (!=, NaN)], i -> true),
                (["price" => (==, NaN)], i -> false),
                (["day" => (<, 10)], i -> day[i] < 10),
                (Pair[], i -> true),
                (["(price > 50) & ~(sym == 'BB') | day in (3, 5)"], i -> price[i] > 50 && sym[i] != "BB" || day[i] in (3, 5)),
                (["day * 2 + 1 > 300", "price" => (<, 90), "price - 1 >= 20"], i -> day[i] * 2 + 1 > 300 && 21 <= price[i] < 90),
            ]
                want = filter(holds, 1:n)
                @test NDFile.findrows(f, terms...) == want
                @test NDFile.findrows(f, terms...; skip=2, limit=5) == want[3:min(7, end)]
                @test NDFile.findrows(f, terms...; rows=200:400) == filter(in(200:400), want)
                rows, found = NDFile.where(f, terms...; columns=["band", "sym"])
                @test rows == want && isequal(found, (band=band[:, want], sym=sym[want]))
            end
            r = NDFile.where(f, "day" => (==, 3))
            @test r.rows == [3] && isequal(r.columns, part([3]))
            @test NDFile.findrows(f; limit=0) == Int[] && NDFile.findrows(f; rows=5:4) == Int[] && NDFile.findrows(f; rows=1000:1000) == [1000]
            for (code, g) in [
                (NDFile.NDF_ERR_NAME, () -> NDFile.where(f, "nope" => (>, 1))),
                (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.where(f, "day" => (>, "x"))),
                (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.where(f, "day" => (isequal, 1))),
                (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.where(f, "day" => 1)),
                (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.where(f, "day >")),
                (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.findrows(f; limit=-1)),
                (NDFile.NDF_ERR_NOT_SUPPORTED, () -> NDFile.where(f, "band" => (>, 1))),
                (NDFile.NDF_ERR_BOUNDS, () -> NDFile.findrows(f; rows=1:n+1)),
                (NDFile.NDF_ERR_DTYPE, () -> NDFile.where(f, "day" => (>, 1im))),
            ]
                e = problem(g)
                @test e isa NDFileError && e.code == code && (occursin("t.bcolz", e.message) || code == NDFile.NDF_ERR_ARGUMENT)
            end
        end
    end

    # Found in several pages.
    NDFile.save("long.bcolz", (i=collect(1:200_000),))
    @test NDFile.open(f -> NDFile.findrows(f, "i" => (!=, 5)), "long.bcolz") == filter(!=(5), 1:200_000)

    @testset "changed" begin
        NDFile.open("t.bcolz", "r+") do f
            a = f["day"]
            append!(f, (sym=["A", "B"], price=[1, 2], band=ones(3, 2), day=[1001, 1002]))
            @test NDFile.nrows(f) == 1002 && length(a) == 1002 && a[end] == 1002 && f[1002].price === 2.0
            append!(f, Dict("sym" => ["C"], "price" => [3], "band" => zeros(3, 1), "day" => [1003]))
            append!(f, ["sym" => view(["D", "E"], 1:1), "price" => [4], "band" => zeros(3, 1), "day" => 1004:1004])
            for rows in ((sym=["A"],), (sym=["A"], price=[1], band=ones(3, 1), day=[1, 2]), (sym=["A"], price=[1], band=ones(2, 1), day=[1]),
                         (sym=["TOO LONG"], price=[1], band=ones(3, 1), day=[1]), (sym=["A"], price=[1], band=ones(3, 1), day=[1], x=[1]),
                         (sym=[missing], price=[1], band=ones(3, 1), day=[1]))
                e = problem(() -> append!(f, rows))
                @test e isa NDFileError && occursin("t.bcolz", e.message)
            end
            @test NDFile.nrows(f) == 1004 && f["sym"][1001:1004] == ["A", "B", "C", "D"]
            f["price"][2:3] = [7.5, 8.5]
            resize!(f, 1006)
            @test f[1006] == (day=0, sym="", price=0.0, band=zeros(Float32, 3)) && length(a) == 1006
            resize!(f, 3)
            f["flag"] = [true, false, true]
            delete!(f, "band")
            @test keys(f) == ["day", "sym", "price", "flag"] && size(a) == (3,) && !haskey(f, "band")
            @test problem(() -> delete!(f, "band")).code == NDFile.NDF_ERR_NAME
            @test problem(() -> append!(a, [4])).code == NDFile.NDF_ERR_NOT_SUPPORTED
        end
        @test NDFile.open(f -> f[:], "t.bcolz") == (day=day[1:3], sym=sym[1:3], price=[price[1], 7.5, 8.5], flag=[true, false, true])
        @test isempty(NDFile.verify("t.bcolz"))
        NDFile.split("t.bcolz", "u.bcolz" => 3)
        @test NDFile.read("u.bcolz", "day") == 1:3
    end

    # Rows are appended in the byte order of memory.
    @test NDFile.native(">f8") == NDFile.native("<f8") == "<f8" && NDFile.native("|S3") == "|S3"
    @test NDFile.native("[[\">x\", \">i2\", [2]], [\"y\", [[\"z\", \"<f4\"]]]]") == "[[\">x\", \"<i2\", [2]], [\"y\", [[\"z\", \"<f4\"]]]]"

    NDFile.open("wide.bcolz", "w") do f
        foreach(i -> NDFile.create(f, "c$i", Int8, (2,)), 1:NDFile.LARGE+1)
        e = problem(() -> f[:])
        @test e.code == NDFile.NDF_ERR_LIMIT && f[2, ["c1", "c257"]] == (c1=0, c257=0)
    end
    NDFile.save("no.ds", "x" => [1, 2])
    NDFile.open("no.ds") do f
        for g in (() -> NDFile.nrows(f), () -> f[1:1], () -> NDFile.where(f, "x" => (>, 1)))
            @test problem(g).code == NDFile.NDF_ERR_ARGUMENT
        end
        @test problem(() -> append!(f, (x=[1],))).code in (NDFile.NDF_ERR_NOT_SUPPORTED, NDFile.NDF_ERR_READ_ONLY)
    end
end
