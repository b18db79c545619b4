# What Julia's own collections can do.

using Dates

mode_of(f) = f.mode
group_name(g) = g.name

@testset "names and positions" begin
    NDFile.save("h.ds", "t" => [1.5, 2.5], "path" => [7], "é x" => Int8[3])
    f = NDFile.open("h.ds")
    @test f[:t] === f["t"] === f.t && f.t[end] == 2.5
    @test f.path == "h.ds" && f["path"][1] == 7 # a property goes first
    @test sort(keys(f)) == ["path", "t", "é x"]
    @test f[1] === f[keys(f)[1]] && f[end] === f[keys(f)[3]] && f[begin] === f[1] && firstindex(f) == 1 && lastindex(f) == 3
    @test_throws BoundsError f[0]
    @test_throws BoundsError f[4]
    @test getproperty(f, Symbol("é x"))[1] == 3
    @test :t in propertynames(f) && Symbol("é x") in propertynames(f) && count(==(:path), propertynames(f)) == 1
    @test hasproperty(f, :t) && !hasproperty(f, :u)
    @test problem(() -> f.u).code == problem(() -> f[:u]).code == NDFile.NDF_ERR_NAME
    @test haskey(f, :t) && !haskey(f, :u)
    @test get(f, "t", 0) === get(f, :t, 0) === f.t && get(f, "u", 5) == get(f, :u, 5) == 5 && get(() -> 6, f, :u) == 6
    @test collect(values(f)) == [x for (_, x) in f] && collect(pairs(f)) == collect(f)
    @test (@inferred mode_of(f)) == "r"
    a = f.t
    @test isopen(f) && isopen(a)
    close(f)
    @test !isopen(f) && !isopen(a) && :t in propertynames(f)
    @test problem(() -> f.t).code == NDFile.NDF_ERR_HANDLE

    NDFile.open("h.zarr", "w"; format="zarr3") do f
        f[:a] = [1, 2]
        NDFile.create_group(f, "g")[:b] = [3]
        delete!(f, :a)
        @test keys(f) == ["g/b"] && f.g.b[1] == 3 && get(f.g, :c, nothing) === nothing && :b in propertynames(f.g)
        @test (@inferred group_name(f.g)) == "g" && collect(values(f.g))[1] === f.g.b
        @test problem(() -> f.g.c).code == NDFile.NDF_ERR_NAME
    end
end

@testset "rows" begin
    NDFile.save("p.bcolz", (sym=["A", "BB"], band=[1 2; 3 4], price=[1.5, 2.5]))
    NDFile.open("p.bcolz", "r+") do f
        before = f[end]
        names = keys(f)
        row = (price=3, sym="C", band=[5, 6])
        @test push!(f, row) === f && NDFile.nrows(f) == lastindex(f) == 3
        @test f[end] == (; (Symbol(n) => Base.getproperty((sym="C", band=[5, 6], price=3.0), Symbol(n)) for n in names)...)
        push!(f, Tuple(row[Symbol(n)] for n in names))
        push!(f, Dict("sym" => "D", "band" => [7, 8], "price" => 4.5))
        push!(f, before)
        @test f[end] == before && f[5:end, :price] == f[5:6, "price"] == [4.5, 2.5] && f[end-1, "sym"] == "D" && f[[3, 4], :band] == [5 5; 6 6]
        for (code, row) in [(NDFile.NDF_ERR_ARGUMENT, (1, 2)), (NDFile.NDF_ERR_NAME, (price=3, sym="C", band=[5, 6], x=1)),
            (NDFile.NDF_ERR_SHAPE, (price=3, sym="C", band=5)), (NDFile.NDF_ERR_VALUE, (price=3, sym="LONG", band=[5, 6])),
            (NDFile.NDF_ERR_NOT_SUPPORTED, (price=missing, sym="C", band=[5, 6]))]
            e = problem(() -> push!(f, row))
            @test e isa NDFileError && e.code == code && occursin("p.bcolz", e.message)
        end
        @test problem(() -> push!(f, (price=3, sym="C"))) isa NDFileError
        @test NDFile.nrows(f) == 6
    end
    @test NDFile.read("p.bcolz", "price") == [1.5, 2.5, 3, 3, 4.5, 2.5]
end

@testset "dates" begin
    days = [Date(2024, 2, 29), Date(1969, 12, 31), Date(1, 1, 1), Date(9999, 12, 31)]
    times = [DateTime(2024, 2, 29, 23, 59, 59, 999), DateTime(1970), DateTime(1900, 3, 1, 12), DateTime(2262)]
    NDFile.save("d.bcolz", (day=days, time=times))
    NDFile.open("d.bcolz", "r+") do f
        @test endswith(f.day.dtype, "M8[D]") && endswith(f.time.dtype, "M8[ms]")
        @test eltype(f.day) == Int64 && f.day[2] == -1 && f.time[2] == 0
        @test NDFile.dates(f.day) == days && eltype(NDFile.dates(f.day)) == Date
        @test NDFile.dates(f.time) == times && eltype(NDFile.dates(f.time)) == DateTime
        push!(f, (day=Date(2000), time=DateTime(2000)))
        f.day[1:2] = [Date(2001), Date(2002)]
        f.day[3] = Date(2003)
        @test NDFile.dates(f.day) == [Date(2001), Date(2002), Date(2003), days[4], Date(2000)]
        @test NDFile.findrows(f, "day" => >=(Date(2002)), "day" => (<, DateTime(2004))) == [2, 3]
        f.day[1] = typemin(Int64) # NaT
        @test isequal(NDFile.dates(f.day)[1:2], [missing, Date(2002)]) && NDFile.dates(f.day[1], "D") === missing
    end
    # Other units, in an array that is there.
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "25s", "ms", "us", "ns")
        NDFile.open("u.zarr", "w"; format="zarr2") do f
            a = NDFile.create(f, "", "<M8[$unit]", (2, 1))
            t = unit == "W" ? DateTime(1970, 1, 15) : unit == "25s" ? DateTime(1969, 12, 31, 23, 59, 10) : DateTime(1960)
            a[:, 1] = [t, DateTime(1970)]
        end
        NDFile.open("u.zarr") do f
            got = NDFile.dates(f.array)
            @test got[1] == (unit == "W" ? Date(1970, 1, 15) : unit == "25s" ? DateTime(1969, 12, 31, 23, 59, 10) : DateTime(1960))
            @test size(got) == (2, 1) && got[2] == Date(1970) && eltype(got) == (unit in ("Y", "M", "W", "D") ? Date : DateTime)
            @test NDFile.dates(f.array[:, 1], NDFile.timeunit(f.array)) == got[:, 1]
        end
    end
    NDFile.open("c.zarr", "w"; format="zarr2") do f
        a = NDFile.create(f, "", Date, (3,))
        a[:] = days[1:3]
        @test endswith(a.dtype, "M8[D]")
        e = problem(() -> a[1:1] = [DateTime(2000, 1, 1, 12)])
        @test e isa NDFileError && e.code == NDFile.NDF_ERR_VALUE && occursin("c.zarr", e.message)
    end
    @test NDFile.dates(NDFile.read("c.zarr"), "D") == days[1:3]
    @test NDFile.dates([13, -1], "M") == [Date(1971, 2), Date(1969, 12)] && NDFile.dates(Union{Missing,Int}[missing], "s")[1] === missing
    for (code, g) in [(NDFile.NDF_ERR_VALUE, () -> NDFile.dates([1], "us")), (NDFile.NDF_ERR_VALUE, () -> NDFile.dates([typemax(Int64)], "D")),
        (NDFile.NDF_ERR_VALUE, () -> NDFile.dates([typemax(Int64)], "Y")), (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.dates([1], "")),
        (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.dates([1], "0s")), (NDFile.NDF_ERR_ARGUMENT, () -> NDFile.dates([1], "x")),
        (NDFile.NDF_ERR_DTYPE, () -> NDFile.save("d.ds", "d" => days))]
        e = problem(g)
        @test e isa NDFileError && e.code == code
    end
end

@testset "missing elements count from 1" begin
    NDFile.save("m.ds", "m" => Union{Missing,Float64}[1 2 3; 4 missing 6], "s" => [missing, "a"])
    NDFile.open("m.ds") do f
        for (box, size) in (((1:2, 1:3), (2, 3)), ((2:2, 2:3), (1, 2)))
            e = problem(() -> NDFile.readblock!(f.m, zeros(size), box...))
            @test e.code == NDFile.NDF_ERR_MASKED && occursin("m.ds", e.message) && occursin("element [2, 2] is missing", e.message)
        end
        e = problem(() -> NDFile.readblock!(f.s, fill("", 2), 1:2))
        @test e.code == NDFile.NDF_ERR_MASKED && occursin("element [1]", e.message)
    end
end

@testset "allow_scalar" begin
    NDFile.open("shown.zarr", "w"; format="zarr2") do f
        f["x"] = reshape(1:12, 3, 4)
        f["n"] = 5
    end
    f = NDFile.open("shown.zarr", "r+")
    x = f.x
    NDFile.allow_scalar(false)
    try
        for g in (() -> x[1, 2], () -> x[5], () -> x[2, 2] = 3, () -> first(x), () -> foreach(identity, x))
            e = problem(g)
            @test e isa NDFileError && e.code == NDFile.NDF_ERR_ARGUMENT && occursin("allow_scalar", e.message) && occursin("shown.zarr", e.message)
        end
        x[1:1, 2] = [40]
        x[3, :] .= 9
        @test x[1:1, 2] == [40] && x[:, :] == collect(x) == [1 40 7 10; 2 5 8 11; 9 9 9 9] && sum(x) == 120 && f.n[] == 5
        @test [sum(x[box...]) for box in NDFile.eachchunk(x)] == [120][:, :] # a small array is one chunk
    finally
        NDFile.allow_scalar(true)
    end
    @test x[1, 2] == 40
    close(f)
end

@testset "what is shown" begin
    shown(a) = sprint(show, "text/plain", a)
    NDFile.open("values.zarr", "w"; format="zarr3") do f
        a = NDFile.create(f, "a", Int16, (20, 3, 2); chunks=(7, 3, 1))
        a[:, :, :] = reshape(1:120, 20, 3, 2)
        lines = Base.split(shown(a), '\n')
        @test startswith(lines[1], "20×3×2 NDArray{Int16,3} \"a\"") && occursin("chunks of 7×3×1", lines[1]) && endswith(lines[1], "(3×1×2 of them):")
        @test Base.split(lines[2]) == ["1", "21", "41"] && Base.split(lines[11]) == ["10", "30", "50"]
        @test lines[12] == "  the first 10×3×1 of 120 elements" && length(lines) == 12
        before = NDFile.CALLS[]
        shown(a)
        @test NDFile.CALLS[] - before == 1
        NDFile.allow_scalar(false)
        @test shown(a) == join(lines, '\n')
        NDFile.allow_scalar(true)
    end
    NDFile.save("shown.ds", "m" => [1.5, missing], "e" => zeros(0, 3), "s" => ["é"], "z" => fill(7))
    NDFile.open("shown.ds") do f
        @test endswith(shown(f.m), ":\n 1.5\n  missing") && endswith(shown(f.e), "of \"shown.ds\"") && endswith(shown(f.s), ":\n \"é\"") && endswith(shown(f.z), ":\n7")
    end
end

@testset "from a stream" begin
    NDFile.save("i.ds", "a" => [1 2; 3 4], "b" => ["x"])
    @test Base.open(NDFile.read, "i.ds")["a"] == [1 2; 3 4]
    @test NDFile.read(IOBuffer(Base.read("i.ds")), "b") == ["x"]
    @test problem(() -> NDFile.read(IOBuffer("no file of ours"))).code == NDFile.NDF_ERR_FORMAT
end

@testset "chunks of several sizes" begin
    # The grid "rectilinear" of Zarr 3, as its specification writes it: 3 rows of chunks of 1, 3 and 2 rows, 2 of 2 and 3 columns.
    x = reshape(Int32.(1:30), 5, 6) # as Julia has it
    mkpath("r.zarr")
    write("r.zarr/zarr.json", """{"zarr_format": 3, "node_type": "array", "shape": [6, 5], "data_type": "int32", "chunk_grid": {"name": "rectilinear",
        "configuration": {"kind": "inline", "chunk_shapes": [[1, 3, 2], [2, 3]]}}, "chunk_key_encoding": {"name": "default", "configuration":
        {"separator": "/"}}, "fill_value": -1, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}""")
    for (i, rows) in enumerate([1:1, 2:4, 5:6]), (j, columns) in enumerate([1:2, 3:5])
        mkpath("r.zarr/c/$(i - 1)")
        write("r.zarr/c/$(i - 1)/$(j - 1)", x[columns, rows])
    end
    NDFile.open("r.zarr") do f
        a = f.array
        @test a.chunks === nothing && !NDFile.haschunks(a) && collect(NDFile.eachchunk(a)) == reshape([(1:5, 1:6)], 1, 1)
        @test a[:, :] == x && a[2, 3] == x[2, 3] && a[4:-1:1, [6, 1]] == x[4:-1:1, [6, 1]] && sum(a) == sum(x)
        @test permutedims(a, (2, 1)) == permutedims(x) && a .+ 1 == x .+ 1 && maximum(a; dims=1) == maximum(x; dims=1)
        @test startswith(sprint(show, "text/plain", a), "5×6 NDArray{Int32,2}")
    end
end

@testset "Ctrl-C ends a long call" begin
    mktempdir() do dir
        path = joinpath(dir, "x.zarr")
        NDFile.open(f -> NDFile.create(f, "", Float64, (2^44,); chunks=(2^20,)), path, "w"; format="zarr3")
        code = """
            using NDFile
            Base.exit_on_sigint(false)
            run(`sh -c "sleep 0.3; kill -INT \$(getpid())"`; wait=false)
            try
                NDFile.open(f -> sum(f[""]), $(repr(path)))
            catch e
                println(typeof(e), ' ', NDFile.open(f -> size(f[""]), $(repr(path))))
            end
            """
        command = `timeout 60 $(Base.julia_cmd()) --project=$(dirname(HERE)) --startup-file=no -e $code`
        @test chomp(Base.read(command, String)) == "InterruptException (17592186044416,)"
    end
end
