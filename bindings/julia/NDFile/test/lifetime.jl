# Handles: closed by hand, by blocks, by the garbage collector, and at exit.

# Runs a script in a new process; crashes and failed tests make it fail.
function in_process(script, arguments...; threads=1)
    command = `$(Base.julia_cmd()) --project=$(dirname(HERE)) --startup-file=no --threads=$threads $script $arguments`
    return success(pipeline(command, stdout=stdout, stderr=stderr))
end

@testset "lifetime" begin
    NDFile.save("x.ds", "x" => collect(1:100), "y" => [1.5])
    GC.gc()
    start = NDFile.handle_count()

    @testset "closing" begin
        f = NDFile.open("x.ds")
        a = f["x"], f["y"]
        @test NDFile.handle_count() == start + 3
        close(f)
        @test NDFile.handle_count() == start
        @test NDFile.open(f -> f["x"][3], "x.ds") == 3
        @test_throws ErrorException NDFile.open(f -> (f["x"][3]; error("stop")), "x.ds")
        @test NDFile.handle_count() == start
    end

    @testset "created files" begin
        @test_throws ErrorException NDFile.open(f -> (f["a"] = [1]; error("stop")), "new.ds", "w")
        @test_throws ErrorException NDFile.open(f -> (f["a"] = [1]; error("stop")), "x.ds", "w")
        f = NDFile.open("new.ds", "w")
        f["a"] = [1]
        @test !ispath("new.ds")
        NDFile.abort(f)
        close(f)
        @test !ispath("new.ds") && NDFile.read("x.ds", "y") == [1.5] && readdir() == ["x.ds"]
        for commit in (:atomic, :direct), sync in (false, true)
            NDFile.open(f -> f["a"] = [1], "new.ds", "w"; commit=commit, sync=sync)
            NDFile.save("new.ds", "a" => [2]; commit=commit, sync=sync)
            @test NDFile.read("new.ds", "a") == [2]
            rm("new.ds")
        end
        @test NDFile.handle_count() == start
    end

    @testset "forgotten files" begin
        code = """
            using NDFile
            forget(mode) = (f = NDFile.open(ARGS[1], mode; format="zarr2"); mode == "r+" || (f[""] = [1]); nothing)
            forget(ARGS[2])
            ARGS[3] == "collected" ? (GC.gc(); GC.gc(); NDFile.handle_count()) : (global kept = NDFile.open(ARGS[1] * "2", "w"; format="zarr2"))
            """
        for (mode, how, wanted) in (("w", "collected", "nothing is written"), ("x", "kept", "nothing is written"), ("r+", "collected", "is written now"))
            path = joinpath(mktempdir(), "forgotten.zarr")
            mode == "r+" && NDFile.save(path, [1]; format="zarr2")
            command = `$(Base.julia_cmd()) --project=$(dirname(HERE)) --startup-file=no -e $code $path $mode $how`
            said = read(pipeline(ignorestatus(command); stderr=joinpath(dirname(path), "said")), String)
            said = read(joinpath(dirname(path), "said"), String)
            @test occursin("$path was never closed: ", said) && occursin(wanted, said)
            @test how == "collected" || occursin("$(path)2 was never closed", said)
            @test ispath(path) == (mode == "r+")
        end
    end

    @testset "dropped files" begin
        drop(path, mode) = (f = NDFile.open(path, mode); mode == "w" ? (f["a"] = [1]) : f["x"][1]; nothing)
        for _ in 1:200
            drop("x.ds", "r")
            drop("dropped.ds", "w")
        end
        GC.gc()
        GC.gc()
        # Finalizers close nothing themselves, the next call does.
        @test NDFile.handle_count() == start
        @test readdir() == ["x.ds"]
        # An array keeps its file.
        a = NDFile.open("x.ds")["x"]
        GC.gc()
        @test sum(a) == 5050
        close(a.file)
    end

    @testset "a finalizer does not wait" begin
        # While another thread is in the library, or holds a lock: the list takes the handle, whoever runs the finalizer.
        f = NDFile.open("x.ds")
        h = getfield(f, :handle)
        lock(f.lock)
        finalize(h)
        @test !isopen(f) && NDFile.RELEASED[] != 0
        unlock(f.lock)
        @test NDFile.handle_count() == start && NDFile.RELEASED[] == 0
        close(f)
    end

    @testset "at exit" begin
        write("exit.jl", """
            using NDFile
            f = NDFile.open("left.ds", "w")
            f["a"] = rand(100_000)
            g = NDFile.open("x.ds")
            g["x"]
        """)
        @test in_process("exit.jl")
        @test readdir() == ["exit.jl", "x.ds"]
        rm("exit.jl")
    end

    @testset "threads, tasks and both garbage collectors" begin
        @test in_process(joinpath(HERE, "stress.jl"); threads=4)
    end
end
