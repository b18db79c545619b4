# What goes wrong says what and where, and leaves nothing behind.

@testset "errors" begin
    NDFile.save("x.ds", "x" => [1, 2], "m" => [missing, 1.5])
    before = Base.read("x.ds")
    for (code, words, f) in [
        (NDFile.NDF_ERR_NOT_FOUND, ["none.ds"], () -> NDFile.read("none.ds")),
        (NDFile.NDF_ERR_NOT_FOUND, ["none.ds"], () -> NDFile.open("none.ds")),
        (NDFile.NDF_ERR_NOT_FOUND, ["none"], () -> NDFile.save("none/x.ds", "x" => 1)),
        (NDFile.NDF_ERR_NAME, ["x.ds", "nope"], () -> NDFile.read("x.ds", "nope")),
        (NDFile.NDF_ERR_NAME, ["x.ds", "nope"], () -> NDFile.open(f -> f["nope"], "x.ds")),
        (NDFile.NDF_ERR_EXISTS, ["x.ds"], () -> NDFile.save("x.ds", "x" => 1; exclusive=true)),
        (NDFile.NDF_ERR_EXISTS, ["x.ds"], () -> NDFile.open("x.ds", "x")),
        (NDFile.NDF_ERR_NOT_SUPPORTED, ["x.ds"], () -> NDFile.open("x.ds", "r+")),
        (NDFile.NDF_ERR_FORMAT, ["x.what"], () -> NDFile.save("x.what", "x" => 1)),
        (NDFile.NDF_ERR_FORMAT, ["x.ds"], () -> raread("x.ds")),
        (NDFile.NDF_ERR_ARGUMENT, ["mode", "rw"], () -> NDFile.open("x.ds", "rw")),
        (NDFile.NDF_ERR_ARGUMENT, ["commit"], () -> NDFile.save("x.ds", "x" => 1; commit=:soon)),
        (NDFile.NDF_ERR_ARGUMENT, ["dims", "y"], () -> NDFile.save("x.ds", "x" => 1; dims=(y=("a",),))),
        (NDFile.NDF_ERR_ARGUMENT, ["attrs"], () -> NDFile.open("x.ds"; attrs=(a=1,))),
        (NDFile.NDF_ERR_ARGUMENT, ["NUL"], () -> NDFile.read("x\0.ds")),
        (NDFile.NDF_ERR_ARGUMENT, ["NUL"], () -> NDFile.save("x.ds", "x\0" => 1)),
        (NDFile.NDF_ERR_ARGUMENT, ["x.ds", "index by name"], () -> NDFile.open(f -> f.array, "x.ds")),
        (NDFile.NDF_ERR_DTYPE, ["x.ds", "\"x\"", "c16"], () -> NDFile.save("x.ds", "x" => [1.0 + 2im])),
        (NDFile.NDF_ERR_DTYPE, ["x.ds", "\"x\"", "Symbol"], () -> NDFile.save("x.ds", "x" => [:a])),
        (NDFile.NDF_ERR_DTYPE, ["x.ds", "\"x\"", "several"], () -> NDFile.save("x.ds", "x" => Any[1, "a"])),
        (NDFile.NDF_ERR_DTYPE, ["x.ds", "\"x\""], () -> NDFile.save("x.ds", "x" => [missing, missing])),
        (NDFile.NDF_ERR_DTYPE, ["x.ds", "\"x\"", "units", "Complex"], () -> NDFile.save("x.ds", "x" => 1; var_attrs=(x=(units=2im,),))),
        (NDFile.NDF_ERR_READ_ONLY, ["x.ds", "\"x\""], () -> NDFile.open(f -> f["x"][1] = 5, "x.ds")),
        (NDFile.NDF_ERR_READ_ONLY, ["x.ds"], () -> NDFile.open(f -> f["y"] = 5, "x.ds")),
        (NDFile.NDF_ERR_MASKED, ["x.ds", "\"m\""], () -> NDFile.open(f -> NDFile.readblock!(f["m"], zeros(2), 1:2), "x.ds")),
        (NDFile.NDF_ERR_NAME_EXISTS, ["y.ds", "\"x\""], () -> NDFile.open(f -> (f["x"] = 1; f["x"] = 2), "y.ds", "w")),
        (NDFile.NDF_ERR_ORDER, ["y.ds"], () -> NDFile.open(f -> NDFile.create(f, "x", Int8, (3,)), "y.ds", "w")),
    ]
        e = problem(f)
        @test e isa NDFileError && e.code == code
        text = sprint(showerror, e)
        @test startswith(text, "NDFileError ($(NDFile.status_name(code))): ") && all(w -> occursin(w, text), words)
    end
    @test Base.read("x.ds") == before && !ispath("y.ds") && readdir() == ["x.ds"]
    e = problem(() -> NDFile.read("none.ds"))
    @test e.errno == 2 && e.offset == -1
    @test NDFileError(-2, "text").code === Int32(-2) && NDFile.status_name(-12345) == "NDF_ERR_UNKNOWN"

    f = NDFile.open("x.ds")
    a = f["x"]
    close(f)
    close(f)
    NDFile.abort(f)
    close(a)
    for g in (() -> f["x"], () -> keys(f), () -> f.attrs["x"], () -> a[1], () -> a.attrs["x"], () -> a.dims)
        e = problem(g)
        @test e isa NDFileError && e.code == NDFile.NDF_ERR_HANDLE && occursin("x.ds", e.message) && occursin("closed", e.message)
    end
    @test !isopen(f) && sprint(show, f) == "NDFile.File(\"x.ds\": ds dataset, closed)" && endswith(sprint(show, a), "(closed)")

    @testset "the library is not found" begin
        code = "try; @eval using NDFile; catch e; print(sprint(showerror, e)); end"
        for (lib, words) in (("/no/such/lib.so", ["/no/such/lib.so"]), ("", ["NDFile/libndfile", "NDFile/lib/libndfile", "\n  libndfile"]), (joinpath(pwd(), "x.ds"), ["x.ds"]))
            text = Base.read(setenv(`$(Base.julia_cmd()) --project=$(dirname(HERE)) --startup-file=no -e $code`, merge(copy(ENV), Dict("NDFILE_LIB" => lib))), String)
            @test occursin("Set NDFILE_LIB", text) && all(w -> occursin(w, text), words)
        end
    end
end

@testset "narrow reads" begin
    NDFile.save("n.ds", "i" => Int32[1 2 3; 4 70000 6], "x" => [1.5, 1e300], "m" => [1.5, missing])
    NDFile.open("n.ds") do f
        @test NDFile.readnarrow(Int16, f.i, 1:1, 1:3) == Int16[1 2 3] && NDFile.readnarrow(Float32, f.x, 1:1) == [1.5f0]
        @test NDFile.readnarrow(Float64, f.i) == f.i[:, :]
        e = problem(() -> NDFile.readnarrow(Int16, f.i))
        @test e.code == NDFile.NDF_ERR_VALUE && occursin("element [2, 2]", e.message) && occursin("70000", e.message)
        @test occursin("element [2]", problem(() -> NDFile.readnarrow(Float32, f.x)).message)
        @test problem(() -> NDFile.readnarrow(Int8, f.i, 2:2, 1:3)).code == NDFile.NDF_ERR_VALUE
        @test occursin("element [2]", problem(() -> NDFile.readnarrow(Float32, f.m)).message)
        @test_throws BoundsError NDFile.readnarrow(Int16, f.i, 1:3, 1:1)
    end
end
